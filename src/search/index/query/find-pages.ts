/**
 * Finds the pages for a query: looks up its words in the store, searches the vectors for its meaning, fuses both
 * rankings, and groups the passages by page.
 */
import type { SearchQuery } from '../../query.ts';
import { fuseRanks } from '../../rank-fusion.ts';
import type { Retriever } from '../local-index.ts';
import type { IndexStore, PassageRow } from '../store/index-store.ts';
import { guessLanguage, languageFromTag } from '../text/guess-language.ts';
import { querySlots, type Slot, surfaceText } from '../text/terms.ts';
import type { VectorSearch } from '../vectors/vector-search.ts';
import { type Filters, filtersOf, isUnfiltered } from './filters.ts';

/** Only plain data, because it is sent between threads. */
export interface FoundPages {
  /** Best first, each with its best passages. */
  readonly pages: readonly FoundPage[];
  /** The terms that were looked up for the words of the query. */
  readonly terms: readonly string[];
}

export interface FoundPage {
  /** Relevance between 0 and 1. */
  readonly score: number;
  /** Passages, best first; there is at least one. */
  readonly passages: readonly (PassageRow & { readonly score: number })[];
}

export interface PageFinder {
  /** Finds pages of `owners`, or of all owners if `undefined`. */
  find(query: SearchQuery, by: readonly Retriever[], owners: readonly string[] | undefined): Promise<FoundPages>;
  /** Clears cached data about the pages. Called after all pages have been removed. */
  forget(): void;
}

export interface PageFinderOptions {
  readonly store: IndexStore;
  readonly vectors: Pick<VectorSearch, 'nearest'> | undefined;
  /** Weight of the semantic ranking relative to the ranking by words. */
  readonly vectorWeight: number;
  readonly clock: () => number;
}

/** Only the first words of a longer query are looked up. */
const MAX_SLOTS = 64;
/** Minimum number of passages that each retriever returns. */
const CANDIDATES = { words: 200, meaning: 100 };
/** Number of passages retrieved for each result, because several may belong to one page. */
const CANDIDATES_PER_RESULT = 5;
const MAX_CANDIDATES = 2_000;
/** Minimum number of pages returned, so that a reranker has enough candidates. */
const MIN_PAGES = 50;
const PASSAGES_PER_PAGE = 3;
/** A query is stemmed for each language that at least this share of the pages use. */
const MIN_LANGUAGE_SHARE = 0.02;
const MAX_LANGUAGES = 6;
const LANGUAGES_FRESH_MS = 10_000;

export function createPageFinder({ store, vectors, vectorWeight, clock }: PageFinderOptions): PageFinder {
  let languages: { readonly list: readonly string[]; readonly until: number } | undefined;

  async function pageLanguages(): Promise<readonly string[]> {
    if (languages && languages.until > clock()) return languages.list;
    const { languages: counts, pages } = await store.stats(undefined);
    const list = Object.entries(counts)
      .filter(([, count]) => count >= pages * MIN_LANGUAGE_SHARE)
      .map(([language]) => language)
      .slice(0, MAX_LANGUAGES);
    languages = { list, until: clock() + LANGUAGES_FRESH_MS };
    return list;
  }

  /** A query is too short for reliable language detection, so the most common languages of the pages are added. */
  async function queryLanguages(query: SearchQuery): Promise<string[]> {
    const detected = [languageFromTag(query.language), guessLanguage(query.words)];
    return [...new Set([...detected, ...(await pageLanguages())])].filter((language) => language !== undefined);
  }

  async function find(
    query: SearchQuery,
    by: readonly Retriever[],
    owners: readonly string[] | undefined,
  ): Promise<FoundPages> {
    const known = await queryLanguages(query);
    const filters = filtersOf(query, known, owners);
    const slots = querySlots(query.words, known, MAX_SLOTS);
    const results = query.page * (query.count || 20);
    const lists = await lookUp(query, {
      slots,
      filters,
      by,
      limit: Math.min(MAX_CANDIDATES, results * CANDIDATES_PER_RESULT),
    });
    const rows = await store.rows([...new Set(lists.flatMap(({ ids }) => ids))]);
    return {
      pages: await withPhrases(pagesOf(lists, rows), filters, Math.max(MIN_PAGES, results)),
      terms: [...new Set(slots.filter(({ common }) => !common).flatMap(({ terms }) => terms))],
    };
  }

  /** Returns each retriever's ranking of the passages. */
  async function lookUp(query: SearchQuery, { slots, filters, by, limit }: Lookup): Promise<PassageRanking[]> {
    if (slots.length === 0) {
      const ids = isUnfiltered(filters) ? [] : await store.newest(filters, limit);
      return [{ ids, weight: 1 }];
    }
    const specific = slots.filter(({ common }) => !common);
    const searchSlots = unique(specific.length > 0 ? specific : slots);
    const [byWords, byMeaning] = await Promise.all([
      by.includes('words') ? store.byWords(searchSlots, filters, Math.max(CANDIDATES.words, limit)) : [],
      by.includes('meaning') && vectors
        ? vectors.nearest(query.words, filters, Math.max(CANDIDATES.meaning, limit))
        : [],
    ]);
    return [
      { ids: byWords, weight: 1 },
      { ids: byMeaning, weight: vectorWeight },
    ];
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
  readonly limit: number;
}

interface PassageRanking {
  /** Best first, without duplicates. */
  readonly ids: readonly number[];
  readonly weight: number;
}

const fuseIds = (rankings: readonly PassageRanking[]) =>
  fuseRanks(
    rankings.map(({ ids, weight }) => ({ items: ids, weight })),
    (id) => id,
  );

/** Ranks pages by their best passage, so that several mediocre passages do not outrank one good passage. */
function pagesOf(lists: readonly PassageRanking[], rows: readonly PassageRow[]): FoundPage[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const known = lists.map(({ ids, weight }) => ({ ids: ids.filter((id) => byId.has(id)), weight }));
  const passages = new Map<number, (PassageRow & { readonly score: number })[]>();
  for (const { key: id, score } of fuseIds(known)) {
    const row = byId.get(id)!;
    const own = passages.get(row.page);
    if (!own) passages.set(row.page, [{ ...row, score }]);
    else if (own.length < PASSAGES_PER_PAGE) own.push({ ...row, score });
  }
  const pages = known.map(({ ids, weight }) => ({ ids: [...new Set(ids.map((id) => byId.get(id)!.page))], weight }));
  return fuseIds(pages).map(({ key: page, score }) => ({ score, passages: passages.get(page)! }));
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
