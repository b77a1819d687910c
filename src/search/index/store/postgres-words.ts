/**
 * Searches the PostgreSQL index by words. PostgreSQL ranks by reading each matching passage, so the number of ranked
 * passages is limited: those with the rarest words of the query come first, then those with several of its words, then
 * those with a word in their title or heading. The best of them are ranked again by BM25, which ts_rank is not.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { saturation } from '../../bm25.ts';
import { type Filters, isUnfiltered } from '../query/filters.ts';
import { FIELD_WEIGHTS } from './fields.ts';
import type { WordMatch, WordMatches } from './index-store.ts';
import { conditionsOf } from './postgres-conditions.ts';
import type { Weighted } from './postgres-frequencies.ts';

/** The tsvector weights D, C, B and A: for URLs and variants, for text, for headings, and for titles. */
const WEIGHTS = '{0.2, 0.33, 0.67, 1}';
/** What a hit of each tsvector weight counts in BM25. */
const HIT_WEIGHTS: Readonly<Record<string, number>> = {
  A: FIELD_WEIGHTS.title,
  B: FIELD_WEIGHTS.heading,
  C: FIELD_WEIGHTS.body,
  D: FIELD_WEIGHTS.also,
};
/**
 * Brings ts_rank to the scale of PassageSignals.words: a word that occurs once in the text of a passage of 150 words has
 * the rank 0.33 / 1.645 / (1 + ln 150).
 */
const RANK_SCALE = (1.645 / 0.33) * (1 + Math.log(150));
/** Maximum number of passages that are ranked because of rare words. */
export const MAX_CANDIDATES = 10_000;
/** Maximum share of MAX_CANDIDATES for each of the other ways to choose passages. */
const OTHER_SHARE = 0.5;
/** Number of words whose pairs are looked up: the rarest ones. */
const PAIRED = 6;

/** Selects the ids of passages to rank. */
type Choice = RawBuilder<unknown>;

/**
 * Number of passages that are ranked by BM25. PostgreSQL has to read all the terms of each of them; those that ts_rank
 * puts after so many are rarely among the best ten.
 */
const RANKED_AGAIN = 150;

/** Finds the passages with any of the words that rank best. Needs a transaction of its own. */
export async function findByWords(
  within: Kysely<never>,
  weighted: readonly Weighted[],
  { filters, limit, maxCandidates, averageTerms }: WordLookup,
): Promise<WordMatches> {
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  const terms = weighted.map(
    ({ query, weight }) => sql`${weight}::float8 * ts_rank(${sql.lit(WEIGHTS)}::real[], p.terms, ${query}::tsquery, 1)`,
  );
  // The planner takes a scan of the whole table for cheaper than it is, because it does not know what it costs to read
  // the terms of a passage; and compiling the statement takes longer than running it.
  await sql`SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`.execute(within);
  const { rows: matches } = await sql<WordMatch>`
    WITH chosen AS MATERIALIZED (${sql.join(choicesOf(weighted, { filters, limit, maxCandidates }), sql` UNION `)})
    SELECT p.id, p.page, ${RANK_SCALE / total}::float8 * (${sql.join(terms, sql` + `)}) AS score
    FROM chosen JOIN index_passages p ON p.id = chosen.id ORDER BY score DESC, p.id LIMIT ${limit}`.execute(within);
  const first = matches.slice(0, RANKED_AGAIN);
  const passages = await hitsOf(within, weighted, first);
  const scored = first.map((match) => ({
    ...match,
    score: bm25(passages.get(match.id)!, weighted, averageTerms) / total,
  }));
  scored.sort((a, b) => b.score - a.score || a.id - b.id);
  const least = scored.at(-1)?.score ?? 0;
  const rest = matches.slice(RANKED_AGAIN).map((match) => ({ ...match, score: Math.min(match.score, least) }));
  return { matches: [...scored, ...rest], slots: weighted };
}

interface RankedPassage {
  /** Number of terms, with repetitions. */
  readonly terms: number;
  /** Number of occurrences of each wanted term, each counted with the weight of its field. */
  readonly hits: ReadonlyMap<string, number>;
}

function bm25({ terms, hits }: RankedPassage, weighted: readonly Weighted[], averageTerms: number): number {
  let score = 0;
  for (const { slot, weight } of weighted) {
    let count = 0;
    for (const [term, hit] of hits)
      if (slot.prefix ? slot.terms.some((prefix) => term.startsWith(prefix)) : slot.terms.includes(term)) count += hit;
    score += weight * saturation(count, terms / averageTerms);
  }
  return score;
}

/** Counts the terms of passages, and their hits of the words. */
async function hitsOf(
  within: Kysely<never>,
  weighted: readonly Weighted[],
  matches: readonly WordMatch[],
): Promise<ReadonlyMap<number, RankedPassage>> {
  const wanted = weighted.flatMap(({ slot }) => (slot.prefix ? [] : slot.terms));
  const prefixes = weighted.flatMap(({ slot }) => (slot.prefix ? slot.terms : []));
  const { rows } = await sql<{ id: number; size: number; hits: string | null }>`
    SELECT p.id, sum(cardinality(t.positions))::int AS size,
      string_agg(CASE WHEN t.lexeme = ANY(${wanted}::text[]) OR t.lexeme ^@ ANY(${prefixes}::text[])
        THEN t.lexeme || ':' || array_to_string(t.weights, '') END, ' ') AS hits
    FROM index_passages p CROSS JOIN unnest(p.terms) t
    WHERE p.id = ANY(${matches.map(({ id }) => id)}::bigint[]) GROUP BY p.id`.execute(within);
  return new Map(
    rows.map(({ id, size, hits }) => {
      const counted = (hits ?? '').split(' ').map((hit): readonly [string, number] => {
        const [term = '', marks = ''] = hit.split(':');
        return [term, [...marks].reduce((sum, mark) => sum + HIT_WEIGHTS[mark]!, 0)];
      });
      return [id, { terms: size, hits: new Map(counted) }];
    }),
  );
}

export interface WordLookup {
  readonly filters: Filters;
  /** Number of matches to return. */
  readonly limit: number;
  readonly maxCandidates: number;
  /** Average number of terms in a passage. */
  readonly averageTerms: number;
}

function choicesOf(
  weighted: readonly Weighted[],
  { filters, limit, maxCandidates }: Omit<WordLookup, 'averageTerms'>,
): Choice[] {
  const where = conditionOf(filters);
  const choose = (condition: RawBuilder<unknown>, atMost: number | undefined): Choice =>
    sql`(SELECT p.id FROM index_passages p WHERE ${condition} ${where} ${atMost === undefined ? sql`` : sql`LIMIT ${atMost}`})`;
  const having = (query: string) => sql`p.terms @@ ${query}::tsquery`;
  const byCount = [...weighted].sort((a, b) => a.count - b.count);
  let found = 0;
  const rare = byCount.filter(({ count }) => {
    found += count;
    return found <= maxCandidates;
  });
  const others = byCount.slice(rare.length);
  const choices = rare.length > 0 ? [choose(having(anyQuery(rare)), undefined)] : [];
  if (others.length === 0) return choices;

  const atMost = Math.ceil(maxCandidates * OTHER_SHARE);
  if (byCount.length > 1) choices.push(choose(having(pairQuery(byCount.slice(0, PAIRED))), atMost));
  choices.push(choose(sql`${IN_TITLES} @@ ${anyQuery(others)}::tsquery`, atMost));
  // Whatever has the rarest of the frequent words fills up a list that would otherwise be shorter than requested.
  const known = rare.reduce((sum, { count }) => sum + count, 0);
  if (known < limit || !isUnfiltered(filters)) choices.push(choose(having(others[0]!.query), atMost));
  return choices;
}

/** The terms in titles and headings. The migrations create an index of this expression. */
export const IN_TITLES = sql`ts_filter(p.terms, '{a,b}')`;

const anyQuery = (slots: readonly Weighted[]): string => slots.map(({ query }) => query).join(' | ');

/** Matches passages with at least two of the slots. */
const pairQuery = (slots: readonly Weighted[]): string =>
  slots
    .slice(0, -1)
    .map(({ query }, at) => `(${query} & (${anyQuery(slots.slice(at + 1))}))`)
    .join(' | ');

function conditionOf(filters: Filters): RawBuilder<unknown> {
  if (!isUnfiltered(filters)) return sql`AND p.page IN (SELECT g.id FROM index_pages g WHERE ${conditionsOf(filters)})`;
  if (!filters.owners) return sql``;
  // Most pages match, so the owner is looked up for each passage instead of collecting all pages of the owners.
  return sql`AND (SELECT g.owner FROM index_pages g WHERE g.id = p.page) = ANY(${filters.owners}::text[])`;
}
