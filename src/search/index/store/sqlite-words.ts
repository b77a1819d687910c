/** Searches the SQLite index by words. */
import type { Database } from '#storage/database/sqlite.ts';
import { type Filters, isUnfiltered } from '../query/filters.ts';
import type { Slot } from '../text/terms.ts';
import { FIELD_WEIGHTS } from './fields.ts';
import type { WeightedSlot, WordMatch, WordMatches } from './index-store.ts';
import { type Conditions, conditionsOf, marks, matchOf } from './sqlite-conditions.ts';
import { idsOf } from './sqlite-pages.ts';

const BM25 = `bm25(terms, ${Object.values(FIELD_WEIGHTS).join(', ')})`;
/** A word is frequent if more than this share of all passages contain it, and at least this many passages. */
const FREQUENT_SHARE = 1 / 8;
const FREQUENT_AT_LEAST = 2_000;
/** How many times as many matches as wanted are ranked before their owners are looked up. */
const RANKED_FOR_OWNERS = 2;
/** How long the number of passages is cached, in milliseconds. It is counted each time while it is small. */
const COUNT_FRESH_MS = 10_000;

export function createWordSearch(database: Database) {
  let passages = { count: 0, until: 0 };

  function countPassages(): number {
    if (passages.until < Date.now()) {
      const { count } = database.get<{ count: number }>('SELECT count(*) AS count FROM passages')!;
      passages = { count, until: count < FREQUENT_AT_LEAST ? 0 : Date.now() + COUNT_FRESH_MS };
    }
    return passages.count;
  }

  /** Returns the number of passages that contain each term of a slot, summed over the terms. */
  function frequencyOf(slot: Slot): number {
    if (slot.prefix) {
      const counted = 'SELECT count(*) AS sum FROM terms WHERE terms MATCH ?';
      return database.get<{ sum: number }>(counted, matchOf(slot))!.sum;
    }
    return database.get<{ sum: number }>(
      'SELECT coalesce(sum(doc), 0) AS sum FROM term_counts WHERE term IN (SELECT value FROM json_each(?))',
      JSON.stringify(slot.terms),
    )!.sum;
  }

  /**
   * Returns the slots with their weights. Omits frequent words if there are rarer ones, because scoring takes time for
   * each passage that contains a word.
   */
  function weigh(slots: readonly Slot[]): WeightedSlot[] {
    const total = countPassages();
    const bound = Math.max(FREQUENT_AT_LEAST, total * FREQUENT_SHARE);
    const counted = slots.map((slot) => ({ slot, count: frequencyOf(slot) }));
    if (!counted.some(({ count }) => count > 0)) return [];
    const rare = counted.filter(({ count }) => count <= bound);
    return (rare.some(({ count }) => count > 0) ? rare : counted).map(({ slot, count }) => ({
      slot,
      weight: Math.log(1 + (Math.max(total, count) - count + 0.5) / (count + 0.5)),
    }));
  }

  function byWords(given: readonly Slot[], filters: Filters, limit: number): WordMatches {
    const slots = weigh(given);
    if (slots.length === 0) return { matches: [], slots };
    const match = slots.map(({ slot }) => matchOf(slot)).join(' OR ');
    const total = slots.reduce((sum, { weight }) => sum + weight, 0);
    const matches = bestOf(match, filters, limit);
    return { matches: matches.map(({ id, page, score }) => ({ id, page, score: score / total })), slots };
  }

  /** Returns the best matches of a full-text expression, with scores of BM25. */
  function bestOf(match: string, filters: Filters, limit: number): WordMatch[] {
    if (isUnfiltered(filters)) {
      return filters.owners ? bestOwned(match, filters.owners, limit) : rank(match, { sql: '', values: [] }, limit);
    }
    const where = conditionsOf(filters);
    // The unary plus makes SQLite look up the words once, instead of for each passage that matches the filters.
    const sql = `AND +rowid IN (SELECT p.id FROM passages p JOIN pages g ON g.id = p.page WHERE ${where.sql})`;
    return rank(match, { sql, values: where.values }, limit);
  }

  function rank(match: string, { sql, values }: Conditions, limit: number): WordMatch[] {
    return database.all<WordMatch>(
      `SELECT m.id, p.page, m.score FROM (
         SELECT rowid AS id, -${BM25} AS score FROM terms WHERE terms MATCH ? ${sql} ORDER BY score DESC, id LIMIT ?
       ) m CROSS JOIN passages p INDEXED BY passages_with_page ON p.id = m.id ORDER BY m.score DESC, m.id`,
      match,
      ...values,
      limit,
    );
  }

  /**
   * Returns the best matches among the pages of some owners. Looking up the owner of a match takes twice as long as
   * scoring it, so first only the owners of the best matches are looked up. If too many of those belong to others, the
   * owner of each match is.
   */
  function bestOwned(match: string, owners: readonly string[], limit: number): WordMatch[] {
    const allowed = `IN (${marks(owners)})`;
    const ranked = limit * RANKED_FOR_OWNERS;
    const best = database.all<WordMatch & { readonly ranked: number }>(
      `WITH ranked AS MATERIALIZED (
         SELECT rowid AS id, -${BM25} AS score FROM terms WHERE terms MATCH ? ORDER BY score DESC, id LIMIT ?
       ) SELECT m.id, p.page, m.score, (SELECT count(*) FROM ranked) AS ranked
         FROM ranked m CROSS JOIN passages p INDEXED BY passages_with_page ON p.id = m.id
         CROSS JOIN pages g INDEXED BY pages_with_owner ON g.id = p.page
         WHERE +g.owner ${allowed} ORDER BY m.score DESC, m.id LIMIT ?`,
      match,
      ranked,
      ...owners,
      limit,
    );
    const isComplete = best.length === limit || (best.length > 0 && best[0]!.ranked < ranked);
    if (isComplete) return best;
    const sql = `AND (SELECT +g.owner FROM passages p INDEXED BY passages_with_page
      CROSS JOIN pages g INDEXED BY pages_with_owner ON g.id = p.page WHERE p.id = terms.rowid) ${allowed}`;
    return rank(match, { sql, values: [...owners] }, limit);
  }

  function coverage(slots: readonly WeightedSlot[], ids: readonly number[]): Map<number, number> {
    const weights = new Map<number, number>();
    const list = JSON.stringify(ids);
    const having = 'SELECT rowid AS id FROM terms WHERE terms MATCH ? AND +rowid IN (SELECT value FROM json_each(?))';
    for (const { slot, weight } of slots) {
      for (const id of idsOf(database, having, [matchOf(slot), list])) weights.set(id, (weights.get(id) ?? 0) + weight);
    }
    return weights;
  }

  return { byWords, coverage };
}
