/**
 * Estimates how many passages in the PostgreSQL index contain a word, and weights the words of a query accordingly.
 * Frequent words are counted in a sample: an exact count of them would read a large part of the index.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Slot } from '../text/terms.ts';
import type { WeightedSlot } from './index-store.ts';
import { anyOf } from './postgres-conditions.ts';

/** How long the counts of passages and words are cached, in milliseconds. */
const COUNTS_FRESH_MS = 60_000;
/** How long a sample is used. The share of a word changes slowly in a large index. */
const SAMPLE_FRESH_MS = 600_000;
const MAX_CACHED_COUNTS = 10_000;
/** A word is frequent if more than this share of all passages contain it, and at least this many passages. */
const FREQUENT_SHARE = 1 / 8;
const FREQUENT_AT_LEAST = 2_000;
/** Passages are counted exactly up to this number, and words only counted exactly, without a sample. */
const EXACT_BELOW = 20_000;
/** Number of passages in a sample. */
const SAMPLE = 2_000;
/** Number of passages whose terms are counted for the average. */
const AVERAGED = 200;
/** Stands for the average if the sample is empty. */
const TYPICAL_TERMS = 150;
/** The average is measured again when the number of passages has changed by this factor. */
const AVERAGE_CHANGE = 1.1;
/** A word that occurs this often in the sample is not counted: the error of its share is about 25 %. */
const SAMPLED_AT_LEAST = 16;

/** Runs a query and returns its rows. */
export type RunQuery = <Row>(query: RawBuilder<Row>) => Promise<Row[]>;

export interface Weighted extends WeightedSlot {
  /** The tsquery of the slot. */
  readonly query: string;
  /** Number of passages with the slot, estimated if it is large. */
  readonly count: number;
}

interface Sample {
  /** Share of the passages that contain a term, for frequent terms. */
  readonly shares: ReadonlyMap<string, number>;
  readonly until: number;
}

/** Adds inverse document frequency, which ts_rank does not use. */
export function createWordFrequencies(rows: RunQuery) {
  let passages = { count: 0, until: 0 };
  let average: { readonly terms: number; readonly count: number; readonly until: number } | undefined;
  let sample: Sample | undefined;
  let sampling: Promise<Sample> | undefined;
  const cached = new Map<string, { readonly count: number; readonly until: number }>();

  async function countAll(): Promise<number> {
    if (passages.until < Date.now()) {
      const estimate = await estimateAll();
      const count = estimate < EXACT_BELOW ? await countExactly() : estimate;
      // Not cached while the index is small, because it may grow quickly.
      passages = { count, until: count < FREQUENT_AT_LEAST ? 0 : Date.now() + COUNTS_FRESH_MS };
    }
    return passages.count;
  }

  /** As the planner of PostgreSQL estimates it; 0 if the table has not been analyzed yet. */
  async function estimateAll(): Promise<number> {
    const [found] = await rows<{ count: number }>(sql`
      SELECT CASE WHEN reltuples > 0 AND relpages > 0 THEN (
        reltuples / relpages * (pg_relation_size(oid) / current_setting('block_size')::int)
      )::bigint ELSE 0 END AS count
      FROM pg_class WHERE oid = 'index_passages'::regclass`);
    return Number(found!.count);
  }

  async function countExactly(): Promise<number> {
    const [found] = await rows<{ count: number }>(sql`SELECT count(*) AS count FROM index_passages`);
    return found!.count;
  }

  async function takeSample(total: number): Promise<Sample> {
    const found = await rows<{ term: string; count: number; size: number }>(sql`
      WITH sample AS MATERIALIZED (
        SELECT terms FROM index_passages TABLESAMPLE SYSTEM (${Math.min(100, (100 * SAMPLE) / total)}::float8)
      )
      SELECT t.lexeme AS term, count(*) AS count, (SELECT count(*) FROM sample) AS size
      FROM sample, unnest(sample.terms) t GROUP BY t.lexeme HAVING count(*) >= ${SAMPLED_AT_LEAST}`);
    const shares = new Map(found.map(({ term, count, size }) => [term, count / size]));
    return { shares, until: Date.now() + SAMPLE_FRESH_MS };
  }

  /** A sample that is too old is used until the next one has been taken. */
  async function shares(total: number): Promise<Sample['shares']> {
    if (total < EXACT_BELOW) return NO_SHARES;
    if (!sample || sample.until < Date.now()) {
      sampling ??= takeSample(total).finally(() => {
        sampling = undefined;
      });
      const taken = sampling.then((next) => {
        sample = next;
      });
      if (!sample) await taken;
      else taken.catch(() => {});
    }
    return sample!.shares;
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
    /** Returns the average number of terms in a passage, measured in a sample. */
    async averageTerms(): Promise<number> {
      const total = await countAll();
      const isClose = average && total < average.count * AVERAGE_CHANGE && total * AVERAGE_CHANGE > average.count;
      if (average && isClose && average.until > Date.now()) return average.terms;
      const [found] = await rows<{ terms: number | null }>(sql`
        SELECT avg((SELECT sum(cardinality(t.positions)) FROM unnest(s.terms) t))::float8 AS terms
        FROM index_passages s TABLESAMPLE SYSTEM (${Math.min(100, (100 * AVERAGED) / Math.max(1, total))}::float8)`);
      average = { terms: found?.terms || TYPICAL_TERMS, count: total, until: Date.now() + SAMPLE_FRESH_MS };
      return average.terms;
    },
    /** Returns the slots with their weights. Frequent slots are omitted if there are rarer ones. */
    async weigh(slots: readonly Slot[]): Promise<Weighted[]> {
      if (slots.length === 0) return [];
      const total = await countAll();
      const known = await shares(total);
      const bound = Math.ceil(Math.max(FREQUENT_AT_LEAST, total * FREQUENT_SHARE));
      const sampled = slots.map(({ terms, prefix }) =>
        prefix
          ? 0
          : Math.round(
              Math.min(
                1,
                terms.reduce((sum, term) => sum + (known.get(term) ?? 0), 0),
              ) * total,
            ),
      );
      const queries = slots.map((slot) => anyOf(slot));
      await countOf(
        queries.filter((_, at) => sampled[at] === 0),
        bound,
      );
      const counted = queries.map((query, at) => ({
        query,
        slot: slots[at]!,
        count: sampled[at] || (cached.get(query)?.count ?? 0),
      }));
      const present = counted.filter(({ count }) => count > 0);
      if (present.length === 0) return [];
      const rare = counted.filter(({ count }) => count < bound);
      return (rare.some(({ count }) => count > 0) ? rare : counted).map(({ query, slot, count }) => ({
        query,
        slot,
        count,
        weight: Math.log(1 + (Math.max(total, count) - count + 0.5) / (count + 0.5)),
      }));
    },
    forget() {
      passages = { count: 0, until: 0 };
      average = undefined;
      sample = undefined;
      cached.clear();
    },
  };
}

const NO_SHARES: Sample['shares'] = new Map();
