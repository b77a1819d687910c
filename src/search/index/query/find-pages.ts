/**
 * Finds the pages for a query: looks up its words in the store, searches the vectors for its meaning, ranks the
 * passages by both, and groups them by page.
 */
import type { SearchQuery } from '../../query.ts';
import { meaningWeight, relevanceOf, SIMILARITY_FLOOR, scoreOf } from '../../relevance.ts';
import type { Retriever } from '../local-index.ts';
import type { IndexStore, PassageRow, WordMatches } from '../store/index-store.ts';
import { guessLanguage, languageFromTag } from '../text/guess-language.ts';
import { querySlots, type Slot, surfaceText } from '../text/terms.ts';
import type { Comparison, VectorSearch } from '../vectors/vector-search.ts';
import { type Filters, filtersOf, isUnfiltered } from './filters.ts';

/** Only plain data, because it is sent between threads. */
export interface FoundPages {
  /** Best first, each with its best passages. */
  readonly pages: readonly FoundPage[];
  /** The terms that were looked up for the words of the query. */
  readonly terms: readonly string[];
  /** Whether no page has a word of the query, so that these were found by their meaning alone. */
  readonly byMeaningOnly: boolean;
}

export interface FoundPage {
  /** Relevance between 0 and 1. */
  readonly score: number;
  /** Passages, best first; there is at least one. */
  readonly passages: readonly (PassageRow & { readonly score: number })[];
}

export interface FindRequest {
  readonly by: readonly Retriever[];
  /** Finds pages of these owners; of all owners if `undefined`. */
  readonly owners: readonly string[] | undefined;
  /** Minimum number of pages to return, if there are so many. */
  readonly minPages: number;
}

export interface PageFinder {
  find(query: SearchQuery, request: FindRequest): Promise<FoundPages>;
  /** Clears cached data about the pages. Called after all pages have been removed. */
  forget(): void;
}

export interface PageFinderOptions {
  readonly store: IndexStore;
  readonly vectors: Pick<VectorSearch, 'compare'> | undefined;
  /** Weight of the meaning, relative to the built-in model. */
  readonly modelWeight: number;
  readonly clock: () => number;
}

/** Only the first words of a longer query are looked up. */
const MAX_SLOTS = 64;
/**
 * Number of passages that are ranked by words and meaning together: the best of each. It does not depend on the
 * requested page of results, so that the order is the same on every page. Passages after them are ranked by words.
 */
const RANKED = { words: 200, meaning: 100 };
/** Minimum number of passages found by words, and their number for each result: several may belong to one page. */
const MIN_MATCHES = 1_000;
const MATCHES_PER_RESULT = 5;
const MAX_MATCHES = 2_000;
const PASSAGES_PER_PAGE = 3;
/** A query is stemmed for each language that at least this share of the pages use. */
const MIN_LANGUAGE_SHARE = 0.02;
const MAX_LANGUAGES = 6;
const LANGUAGES_FRESH_MS = 10_000;
const MANY_PAGES = 10_000;
const MANY_LANGUAGES_FRESH_MS = 300_000;

export function createPageFinder({ store, vectors, modelWeight, clock }: PageFinderOptions): PageFinder {
  let languages: { readonly list: readonly string[]; readonly until: number } | undefined;

  async function pageLanguages(): Promise<readonly string[]> {
    if (languages && languages.until > clock()) return languages.list;
    const counts = await store.languages();
    const pages = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const list = [...counts]
      .filter(([language, count]) => language !== '' && count >= pages * MIN_LANGUAGE_SHARE)
      .map(([language]) => language)
      .slice(0, MAX_LANGUAGES);
    // The languages of many pages take longer to count and change slowly.
    languages = { list, until: clock() + (pages < MANY_PAGES ? LANGUAGES_FRESH_MS : MANY_LANGUAGES_FRESH_MS) };
    return list;
  }

  /** A query is too short for reliable language detection, so the most common languages of the pages are added. */
  async function queryLanguages(query: SearchQuery): Promise<string[]> {
    const detected = [languageFromTag(query.language), guessLanguage(query.words)];
    return [...new Set([...detected, ...(await pageLanguages())])].filter((language) => language !== undefined);
  }

  async function find(query: SearchQuery, { by, owners, minPages }: FindRequest): Promise<FoundPages> {
    const known = await queryLanguages(query);
    const filters = filtersOf(query, known, owners);
    const slots = querySlots(query.words, known, MAX_SLOTS);
    const results = query.page * (query.count || 20);
    const wanted = Math.max(minPages, results);
    const found = await rankPassages(query, { slots, filters, by, results });
    const grouped = groupByPage(found.ranked);
    // Phrases are looked up in the text of every page.
    const shown = filters.phrases.length > 0 ? grouped : grouped.slice(0, wanted);
    const rows = await store.rows(shown.flatMap(({ passages }) => passages.map(({ id }) => id)));
    return {
      pages: await withPhrases(withRows(shown, rows), filters, wanted),
      terms: [...new Set(slots.filter(({ common }) => !common).flatMap(({ terms }) => terms))],
      byMeaningOnly: found.byMeaningOnly,
    };
  }

  async function rankPassages(
    query: SearchQuery,
    { slots, filters, by, results }: Lookup,
  ): Promise<{ readonly ranked: readonly RankedPassage[]; readonly byMeaningOnly: boolean }> {
    const limit = Math.min(MAX_MATCHES, Math.max(MIN_MATCHES, results * MATCHES_PER_RESULT));
    if (slots.length === 0) {
      const ids = isUnfiltered(filters) ? [] : await store.newest(filters, limit);
      const pages = await store.pagesOf(ids);
      const ranked = ids.map((id, rank) => ({ id, page: pages.get(id)!, score: 1 / (2 + rank) }));
      return { ranked, byMeaningOnly: false };
    }
    const specific = slots.filter(({ common }) => !common);
    const searched = unique(specific.length > 0 ? specific : slots);
    const [words, meaning] = await Promise.all([
      by.includes('words') ? store.byWords(searched, filters, limit) : NO_MATCHES,
      by.includes('meaning') ? vectors?.compare(query.words, filters, RANKED.meaning) : undefined,
    ]);
    const byMeaningOnly = by.includes('words') && words.matches.length === 0 && (meaning?.near.length ?? 0) > 0;
    if (!meaning) {
      const ranked = words.matches.map(({ id, page, score }) => ({ id, page, score: scoreOf(score) }));
      return { ranked, byMeaningOnly };
    }
    const all = { ...words, isComplete: words.matches.length < limit };
    return { ranked: await fuse(all, meaning, meaningWeight(searched.length, modelWeight)), byMeaningOnly };
  }

  /** Ranks the best passages of both retrievers by both, followed by the other passages found by words. */
  async function fuse(words: AllMatches, meaning: Comparison, weight: number): Promise<RankedPassage[]> {
    const { matches, slots } = words;
    const scores = new Map(matches.map(({ id, score }) => [id, score]));
    const first = matches.slice(0, RANKED.words).map(({ id }) => id);
    const similarities = new Map(meaning.near.map(({ id, similarity }) => [id, similarity]));
    const floor = matches.length > 0 ? SIMILARITY_FLOOR : 0;
    const near = meaning.near.filter(({ similarity }) => similarity >= floor).map(({ id }) => id);
    const ids = [...new Set([...first, ...near])];
    const [coverage, others, pages] = await Promise.all([
      coverageOf(words, ids),
      meaning.similarities(first.filter((id) => !similarities.has(id))),
      store.pagesOf(ids),
    ]);
    for (const [id, similarity] of others) similarities.set(id, similarity);
    // A passage that has not been embedded yet is taken to be as similar as the others.
    const usual = meanOf(first.flatMap((id) => similarities.get(id) ?? []));
    const total = slots.reduce((sum, slot) => sum + slot.weight, 0) || 1;
    const relevances = ids.flatMap((id) => {
      const page = pages.get(id);
      if (page === undefined) return [];
      const signals = {
        words: scores.get(id) ?? 0,
        coverage: (coverage.get(id) ?? 0) / total,
        similarity: similarities.get(id) ?? usual,
      };
      return [{ id, page, relevance: relevanceOf(signals, weight) }];
    });
    relevances.sort((a, b) => b.relevance - a.relevance || a.id - b.id);
    const ranked = relevances.map(({ id, page, relevance }) => ({ id, page, score: scoreOf(relevance) }));
    const least = ranked.at(-1)?.score ?? 1;
    const seen = new Set(ids);
    const rest = matches.filter(({ id }) => !seen.has(id));
    return [...ranked, ...rest.map(({ id, page, score }) => ({ id, page, score: Math.min(least, scoreOf(score)) }))];
  }

  /** Returns the total weight of the slots that each passage contains. Passages without any may be missing. */
  async function coverageOf({ slots, matches, isComplete }: AllMatches, ids: readonly number[]) {
    const [only, ...more] = slots;
    if (!only) return new Map<number, number>();
    // Looking a word up in some passages takes as long as finding all passages that contain it.
    if (more.length === 0 && isComplete) return new Map(matches.map(({ id }) => [id, only.weight]));
    return store.coverage(slots, ids);
  }

  /**
   * Returns only the pages that contain each phrase verbatim, which cannot be determined from stems. Stops at `limit`
   * pages.
   */
  async function withPhrases(pages: readonly FoundPage[], { phrases }: Filters, limit: number): Promise<FoundPage[]> {
    if (phrases.length === 0) return pages.slice(0, limit);
    const selected: FoundPage[] = [];
    for (const found of pages) {
      if (selected.length >= limit) break;
      const { page, title } = found.passages[0]!;
      const texts = [title, ...(await store.textsOf(page))].map(surfaceText);
      const has = (surface: string) => texts.some((text) => text.includes(surface) || hasUnspaced(text, surface));
      if (phrases.every(({ surface }) => has(surface))) selected.push(found);
    }
    return selected;
  }

  return {
    find,
    forget() {
      languages = undefined;
    },
  };
}

interface Lookup {
  readonly slots: readonly Slot[];
  readonly filters: Filters;
  readonly by: readonly Retriever[];
  /** Number of results up to the end of the requested page. */
  readonly results: number;
}

interface RankedPassage {
  readonly id: number;
  readonly page: number;
  /** Between 0 and 1. */
  readonly score: number;
}

interface AllMatches extends WordMatches {
  /** Whether no other passage contains a word of the query. */
  readonly isComplete: boolean;
}

const NO_MATCHES: WordMatches = { matches: [], slots: [] };

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

interface PageGroup {
  readonly score: number;
  readonly passages: RankedPassage[];
}

/** Ranks pages by their best passage, so that several mediocre passages do not outrank one good passage. */
function groupByPage(ranked: readonly RankedPassage[]): PageGroup[] {
  const pages = new Map<number, PageGroup>();
  for (const passage of ranked) {
    const own = pages.get(passage.page);
    if (!own) pages.set(passage.page, { score: passage.score, passages: [passage] });
    else if (own.passages.length < PASSAGES_PER_PAGE) own.passages.push(passage);
  }
  return [...pages.values()];
}

/** Omits passages that have been removed in the meantime. */
function withRows(groups: readonly PageGroup[], rows: readonly PassageRow[]): FoundPage[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return groups.flatMap(({ score, passages }) => {
    const known = passages.flatMap(({ id, score: own }) => {
      const row = byId.get(id);
      return row ? [{ ...row, score: own }] : [];
    });
    return known.length > 0 ? [{ score, passages: known }] : [];
  });
}

/** In scripts without spaces, a phrase may be part of a longer run of letters. */
const hasUnspaced = (text: string, surface: string): boolean => {
  const run = surface.trim();
  return UNSPACED_ONLY.test(run) && text.includes(run);
};
const UNSPACED_ONLY = /^[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+$/;

function unique(slots: readonly Slot[]): Slot[] {
  const seen = new Set<string>();
  return slots.filter(({ terms }) => {
    const key = terms.join(' ');
    return !seen.has(key) && seen.add(key);
  });
}
