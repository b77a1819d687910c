/**
 * Searches the documentation: BM25 over headings, page titles and text, with prefixes and typing errors. Matches in
 * headings have the highest weight.
 */
import MiniSearch, { type AsPlainObject, type Options, type SearchOptions, type SearchResult } from 'minisearch';

type Page = readonly [url: string, title: string];
/**
 * `title` is a heading, or the comma-separated names of a table row. `text` is the start of the text, for display.
 * `level` is the level of the heading; 0 for a table row.
 */
type Entry = readonly [page: number, id: string, title: string, text: string, level: number];

/** The search index that scripts/site/build.ts writes. */
export interface Index {
  readonly pages: readonly Page[];
  readonly entries: readonly Entry[];
  /** The words of the entries, as MiniSearch stores them. */
  readonly words: AsPlainObject;
}

/** An entry with its complete text. */
export interface IndexedEntry {
  readonly page: number;
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly level: number;
}

export interface Found {
  readonly url: string;
  readonly title: string;
  readonly page: string;
  readonly text: string;
}

export type Search = (query: string) => Found[];

const MAX_RESULTS = 12;
/** Number of characters of an entry that are stored for display. */
const MAX_SHOWN_CHARACTERS = 240;
const CONTEXT = 70;

const SEPARATORS = /[^\p{L}\p{N}]+/u;

/**
 * Returns the words of a text. A name such as `withLinksSummary` or `LECTERN_PORT` is a word, and so is each of its
 * parts.
 */
function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_.-]+/u).flatMap((name) => {
    const parts = partsOf(name);
    return parts.length > 1 ? [parts.join(''), ...parts] : parts;
  });
}

const partsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(SEPARATORS)
    .filter(Boolean);

/** Words in most entries. They find nothing, and would take a third of the index. */
const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from has have how i if in is it its my no not of on or so such that the their then there they this to was what when where which who why will with without you your'.split(
    ' ',
  ),
);

const OPTIONS: Options<{ id: number; title: string; page: string; text: string }> = {
  fields: ['title', 'page', 'text'],
  tokenize: wordsOf,
  processTerm: (word) => indexed(word.toLowerCase()),
};

const SEARCH: SearchOptions = {
  tokenize: (query) => query.split(/\s+/).flatMap((word) => word.split(SEPARATORS)),
  boost: { title: 8, page: 3 },
  prefix: true,
  combineWith: 'AND',
};
/** Short words have too many neighbors to correct them. */
const MIN_CORRECTED_LENGTH = 4;
/** Swapped letters are two changes. */
const CORRECTED: SearchOptions = {
  ...SEARCH,
  fuzzy: (word) => (word.length >= MIN_CORRECTED_LENGTH ? 0.25 : false),
  maxFuzzy: 2,
};
/** How to search, in this order, until something is found. */
const ATTEMPTS: readonly SearchOptions[] = [SEARCH, CORRECTED, { ...CORRECTED, combineWith: 'OR' }];

function indexed(word: string): string | null {
  return word === '' || STOP_WORDS.has(word) ? null : word;
}

export function buildIndex(pages: readonly Page[], entries: readonly IndexedEntry[]): Index {
  const words = new MiniSearch(OPTIONS);
  words.addAll(entries.map(({ page, title, text }, id) => ({ id, title, page: pages[page]![1], text })));
  return {
    pages,
    entries: entries.map(({ page, id, title, text, level }) => [page, id, title, shortened(text), level]),
    words: words.toJSON(),
  };
}

const shortened = (text: string) =>
  text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;

/** Returns a function that finds the best entries for a query, best first. */
export function openSearch({ pages, entries, words }: Index): Search {
  const index = MiniSearch.loadJS(words, OPTIONS);
  return (query) => {
    if (query.trim() === '') return [];
    let found: SearchResult[] = [];
    for (const options of ATTEMPTS) if (found.length === 0) found = index.search(query, options);
    return found
      .map((result) => ({ result, score: result.score * preference(query.trim(), entries[result.id]!, pages) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, MAX_RESULTS)
      .map(({ result }) => toFound(result, entries[result.id]!, pages));
  };
}

/** The pages that define options, settings and errors. */
const DEFINING_PAGES = /\/reference\/(?:options|config|errors)$/;
const DEFINITION = 1000;
const EXACT_NAME = 40;
const SAME_NAME = 30;
const WHOLE_TITLE = 4;
const REFERENCE = 1.5;
/** Decisions, benchmarks and examples rank below the guides. */
const BACKGROUND = 0.5;
const BACKGROUND_PAGES = /^\/docs\/(?:decisions|project)\//;

/** Factors of headings by their level. Table rows have none. */
const LEVELS = [1, 2.5, 2, 1.5, 1.2];

/** The factor of an entry that is named exactly as the query. The reference ranks above guides that mention a name. */
function preference(query: string, [page, , title, , level]: Entry, pages: readonly Page[]): number {
  const names = title.split(', ');
  const wanted = query.toLowerCase();
  const [url] = pages[page]!;
  const heading = LEVELS[level] ?? 1;
  const reference = level === 0 && url.includes('/reference/') ? REFERENCE : heading;
  if (names[0] === query && DEFINING_PAGES.test(url)) return DEFINITION;
  // A setting and its metric may differ only in case.
  if (names.includes(query)) return EXACT_NAME * reference;
  if (names.some((name) => name.toLowerCase() === wanted)) return SAME_NAME * reference;
  const words = (text: string) => partsOf(text).join(' ').toLowerCase();
  const isWhole = [title, ...names].some((name) => words(name) === words(query));
  const background = BACKGROUND_PAGES.test(url) ? BACKGROUND : 1;
  return (isWhole ? WHOLE_TITLE : 1) * background * heading;
}

function toFound({ terms }: SearchResult, [page, id, title, text]: Entry, pages: readonly Page[]): Found {
  const [url, name] = pages[page]!;
  return { url: `${url}#${id}`, title, page: name, text: excerpt(text, terms) };
}

/** The part of the text around the first word that was found. */
function excerpt(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const at = places.length > 0 ? Math.min(...places) : 0;
  const from = Math.max(0, at - CONTEXT);
  return `${from ? '…' : ''}${text.slice(from, at + 2 * CONTEXT)}${at + 2 * CONTEXT < text.length ? '…' : ''}`;
}
