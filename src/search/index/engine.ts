/**
 * The index at work, whatever keeps it: pages are prepared and written in groups, vectors are made for what was written,
 * and a query is looked up by words and by meaning. Runs in a thread of its own.
 */

import type { SearchQuery } from '../query.ts';
import { demandsNothing, type Filters, filtersOf } from './filters.ts';
import type { IndexStore, PassageRow } from './index-store.ts';
import { guessLanguage, languageOfTag } from './language.ts';
import type { IndexablePage, IndexEmbedder, IndexStats, Retriever } from './local-index.ts';
import { createMeaning } from './meaning.ts';
import { addressOf, preparePage } from './prepare.ts';
import { fuse, type RankedList } from './rank-fusion.ts';
import { type Slot, slotsOf, surfaceOf } from './terms.ts';
import { createWriter } from './writer.ts';

export interface Engine {
  add(page: IndexablePage): Promise<boolean>;
  remove(url: string): Promise<boolean>;
  /** Only pages of `owners`, or of all when undefined. */
  find(query: SearchQuery, by: readonly Retriever[], owners: readonly string[] | undefined): Promise<Found>;
  settled(): Promise<void>;
  stats(): Promise<IndexStats>;
  prune(maxBytes?: number): Promise<number>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Plain data: it crosses threads. */
export interface Found {
  /** Best first, the best passages of each. */
  readonly pages: readonly FoundPage[];
  /** What the words of the query are looked up as. */
  readonly terms: readonly string[];
}

export interface FoundPage {
  /** Between 0 and 1. */
  readonly score: number;
  /** At least one, best first. */
  readonly passages: readonly (PassageRow & { readonly score: number })[];
}

export interface EngineOptions {
  readonly store: IndexStore;
  readonly embedder?: IndexEmbedder | undefined;
  /** What all pages together may take; the oldest make room. */
  readonly maxBytes: number;
  readonly clock?: () => number;
}

/** Longer queries are looked up by their first words. */
const MAX_SLOTS = 64;
const CANDIDATES = { words: 200, meaning: 100 };
/** Passages looked at for each result that is asked for, as several may be of one page. */
const CANDIDATES_A_RESULT = 5;
const MAX_CANDIDATES = 2_000;
/** Given on: as many pages as may have to be reranked, or as are asked for. */
const MIN_PAGES = 50;
const PASSAGES_A_PAGE = 3;
/** Languages whose stems a query is looked up by: those of at least this share of the pages. */
const MIN_LANGUAGE_SHARE = 0.02;
const MAX_LANGUAGES = 6;
const LANGUAGES_FRESH_MS = 10_000;
/** A search does not wait longer than this for what is being written. */
const PATIENCE_MS = 500;

export function createEngine({ store, embedder, maxBytes, clock = Date.now }: EngineOptions): Engine {
  const meaning = embedder && createMeaning(store, embedder);
  const writer = createWriter({ store, maxBytes, onWritten: () => meaning?.catchUp() });
  let languages: { readonly list: readonly string[]; readonly until: number } | undefined;
  let closing: Promise<void> | undefined;

  async function languagesOfPages(): Promise<readonly string[]> {
    if (languages && languages.until > clock()) return languages.list;
    const { languages: counts, pages } = await store.stats(undefined);
    const list = Object.entries(counts)
      .filter(([, count]) => count >= pages * MIN_LANGUAGE_SHARE)
      .map(([language]) => language)
      .slice(0, MAX_LANGUAGES);
    languages = { list, until: clock() + LANGUAGES_FRESH_MS };
    return list;
  }

  /** A query is too short to tell its language surely, so its words are looked up by all that pages are in. */
  async function languagesOf(query: SearchQuery): Promise<string[]> {
    const told = [languageOfTag(query.language), guessLanguage(query.words)];
    return [...new Set([...told, ...(await languagesOfPages())])].filter((language) => language !== undefined);
  }

  async function find(
    query: SearchQuery,
    by: readonly Retriever[],
    owners: readonly string[] | undefined,
  ): Promise<Found> {
    await patiently(writer.flush());
    const known = await languagesOf(query);
    const filters = filtersOf(query, known, owners);
    const slots = slotsOf(query.words, known, MAX_SLOTS);
    const results = query.page * (query.count || 20);
    const lists = await lookUp(query, {
      slots,
      filters,
      by,
      limit: Math.min(MAX_CANDIDATES, results * CANDIDATES_A_RESULT),
    });
    const rows = await store.rows([...new Set(lists.flatMap(({ ids }) => ids))]);
    return {
      pages: await withPhrases(pagesOf(lists, rows), filters, Math.max(MIN_PAGES, results)),
      terms: [...new Set(slots.filter(({ common }) => !common).flatMap(({ terms }) => terms))],
    };
  }

  interface Lookup {
    readonly slots: readonly Slot[];
    readonly filters: Filters;
    readonly by: readonly Retriever[];
    readonly limit: number;
  }

  /** Passages as each way of finding orders them. */
  async function lookUp(query: SearchQuery, { slots, filters, by, limit }: Lookup): Promise<RankedList[]> {
    if (slots.length === 0) {
      const ids = demandsNothing(filters) ? [] : await store.newest(filters, limit);
      return [{ ids, weight: 1 }];
    }
    const telling = slots.filter(({ common }) => !common);
    const looked = unique(telling.length > 0 ? telling : slots);
    const [byWords, byMeaning] = await Promise.all([
      by.includes('words') ? store.byWords(looked, filters, Math.max(CANDIDATES.words, limit)) : [],
      by.includes('meaning') && meaning
        ? meaning.nearest(query.words, filters, Math.max(CANDIDATES.meaning, limit))
        : [],
    ]);
    return [
      { ids: byWords, weight: 1 },
      { ids: byMeaning, weight: embedder?.weight ?? 1 },
    ];
  }

  /** Stems stand for several words: a phrase is only where it stands word for word. Looks at no more pages than it must. */
  async function withPhrases(pages: readonly FoundPage[], { phrases }: Filters, most: number): Promise<FoundPage[]> {
    if (phrases.length === 0) return pages.slice(0, most);
    const kept: FoundPage[] = [];
    for (const found of pages) {
      if (kept.length >= most) break;
      const { page, title } = found.passages[0]!;
      const texts = [title, ...(await store.textsOf(page))].map(surfaceOf);
      const has = (surface: string) => texts.some((text) => text.includes(surface) || hasUnspaced(text, surface));
      if (phrases.every(({ surface }) => has(surface))) kept.push(found);
    }
    return kept;
  }

  return {
    async add(page) {
      const prepared = preparePage(page, clock(), meaning?.bytesEach ?? 0);
      return prepared ? writer.write(prepared) : false;
    },
    async remove(url) {
      const address = addressOf(url);
      await writer.flush();
      return address ? store.remove(address.href) : false;
    },
    find,
    async settled() {
      await writer.flush();
      await meaning?.catchUp();
    },
    async stats() {
      await writer.flush();
      return store.stats(embedder?.id);
    },
    async prune(bytes = maxBytes) {
      await writer.flush();
      return store.prune(bytes);
    },
    async clear() {
      await writer.flush();
      await meaning?.pause();
      await store.clear();
      meaning?.forget();
      languages = undefined;
    },
    close() {
      closing ??= (async () => {
        await writer.flush();
        await meaning?.close();
        await store.close();
      })();
      return closing;
    },
  };
}

/** Pages in the order of their best passages: several middling ones are no better than a good one. */
function pagesOf(lists: readonly RankedList[], rows: readonly PassageRow[]): FoundPage[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const known = lists.map(({ ids, weight }) => ({ ids: ids.filter((id) => byId.has(id)), weight }));
  const passages = new Map<number, (PassageRow & { readonly score: number })[]>();
  for (const { id, score } of fuse(known)) {
    const row = byId.get(id)!;
    const own = passages.get(row.page);
    if (!own) passages.set(row.page, [{ ...row, score }]);
    else if (own.length < PASSAGES_A_PAGE) own.push({ ...row, score });
  }
  const pages = known.map(({ ids, weight }) => ({ ids: [...new Set(ids.map((id) => byId.get(id)!.page))], weight }));
  return fuse(pages).map(({ id, score }) => ({ score, passages: passages.get(id)! }));
}

/** Letters without spaces between them stand in longer runs than the phrase. */
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

async function patiently(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS);
  });
  await Promise.race([work.catch(() => {}), patience]);
  clearTimeout(timer);
}
