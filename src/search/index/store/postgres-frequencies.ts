/** Counts the passages in the PostgreSQL index that contain a word, and weights the words of a query accordingly. */
import { type RawBuilder, sql } from 'kysely';
import type { Slot } from '../text/terms.ts';
import type { WeightedSlot } from './index-store.ts';
import { anyOf } from './postgres-conditions.ts';

/** How long the counts of passages and words are cached, in milliseconds. */
const COUNTS_FRESH_MS = 60_000;
const MAX_CACHED_COUNTS = 10_000;
/** A word is frequent if more than this share of all passages contain it, and at least this many passages. */
const FREQUENT_SHARE = 1 / 8;
const FREQUENT_AT_LEAST = 2_000;

/** Runs a query and returns its rows. */
export type RunQuery = <Row>(query: RawBuilder<Row>) => Promise<Row[]>;

interface Weighted extends WeightedSlot {
  readonly query: string;
}

/**
 * Adds inverse document frequency, which ts_rank does not use. Passages that contain the word are counted only up to
 * the threshold for frequent words.
 */
export function createWordFrequencies(rows: RunQuery) {
  let passages = { count: 0, until: 0 };
  const cached = new Map<string, { readonly count: number; readonly until: number }>();

  async function countAll(): Promise<number> {
    if (passages.until < Date.now()) {
      const [found] = await rows<{ count: number }>(sql`SELECT count(*) AS count FROM index_passages`);
      // Not cached while the index is small, because it may grow quickly.
      passages = { count: found!.count, until: found!.count < FREQUENT_AT_LEAST ? 0 : Date.now() + COUNTS_FRESH_MS };
    }
    return passages.count;
  }

  async function countOf(queries: readonly string[], bound: number): Promise<void> {
    const now = Date.now();
    const unknown = queries.filter((query) => (cached.get(query)?.until ?? 0) < now);
    if (unknown.length === 0) return;
    const found = await rows<{ query: string; count: number }>(sql`
      SELECT s.query, (
        SELECT count(*) FROM (
          SELECT 1 FROM index_passages p WHERE p.terms @@ s.query::tsquery LIMIT ${bound}
        ) has
      ) AS count FROM unnest(${unknown}::text[]) AS s (query)`);
    if (cached.size > MAX_CACHED_COUNTS) cached.clear();
    const until = passages.until === 0 ? 0 : now + COUNTS_FRESH_MS;
    for (const { query, count } of found) cached.set(query, { count, until });
  }

  return {
    /** Returns the slots with their weights. Frequent slots are omitted if there are rarer ones. */
    async weigh(slots: readonly Slot[]): Promise<Weighted[]> {
      if (slots.length === 0) return [];
      const queries = slots.map((slot) => anyOf(slot));
      const total = await countAll();
      const bound = Math.ceil(Math.max(FREQUENT_AT_LEAST, total * FREQUENT_SHARE));
      await countOf(queries, bound);
      const counted = queries.map((query, at) => ({ query, slot: slots[at]!, count: cached.get(query)?.count ?? 0 }));
      const present = counted.filter(({ count }) => count > 0);
      if (present.length === 0) return [];
      const rare = counted.filter(({ count }) => count < bound);
      return (rare.some(({ count }) => count > 0) ? rare : counted).map(({ query, slot, count }) => ({
        query,
        slot,
        weight: Math.log(1 + (Math.max(total, count) - count + 0.5) / (count + 0.5)),
      }));
    },
    forget() {
      passages = { count: 0, until: 0 };
      cached.clear();
    },
  };
}
