/** Searches the SQLite index by words. */
import type { Database } from '#storage/database/sqlite.ts';
import { type Filters, isUnfiltered } from '../query/filters.ts';
import type { Slot } from '../text/terms.ts';
import { conditionsOf, marks, matchOf } from './sqlite-conditions.ts';
import { FIELD_WEIGHTS } from './sqlite-migrations.ts';
import { idsOf } from './sqlite-pages.ts';

const BM25 = `bm25(terms, ${Object.values(FIELD_WEIGHTS).join(', ')})`;
/** A word is frequent if more than this share of all passages contain it, and at least this many passages. */
const FREQUENT_SHARE = 1 / 8;
const FREQUENT_AT_LEAST = 2_000;

export function createWordSearch(database: Database) {
  /** Returns the number of passages that contain each term of a slot, summed over the terms. */
  function frequencyOf({ terms, prefix }: Slot): number {
    if (prefix) return 0;
    return database.get<{ sum: number }>(
      'SELECT coalesce(sum(doc), 0) AS sum FROM term_counts WHERE term IN (SELECT value FROM json_each(?))',
      JSON.stringify(terms),
    )!.sum;
  }

  /** Omits frequent words if there are rarer ones, because scoring takes time for each passage that contains a word. */
  function dropFrequent(slots: readonly Slot[]): readonly Slot[] {
    const { last } = database.get<{ last: number }>('SELECT coalesce(max(id), 0) AS last FROM passages')!;
    const bound = Math.max(FREQUENT_AT_LEAST, last * FREQUENT_SHARE);
    const rare = slots.filter((slot) => frequencyOf(slot) <= bound);
    return rare.some((slot) => slot.prefix || frequencyOf(slot) > 0) ? rare : slots;
  }

  function byWords(slots: readonly Slot[], filters: Filters, limit: number): number[] {
    if (slots.length === 0) return [];
    const match = dropFrequent(slots).map(matchOf).join(' OR ');
    if (isUnfiltered(filters)) {
      const { owners } = filters;
      // The owner is looked up for each match, because the owner condition is true for most pages.
      const owned = owners
        ? `AND (SELECT g.owner FROM passages p JOIN pages g ON g.id = p.page WHERE p.id = terms.rowid) IN (${marks(owners)})`
        : '';
      const sql = `SELECT rowid AS id FROM terms WHERE terms MATCH ? ${owned} ORDER BY ${BM25} LIMIT ?`;
      return idsOf(database, sql, [match, ...(owners ?? []), limit]);
    }
    const where = conditionsOf(filters);
    // The unary plus makes SQLite look up the words once, instead of for each passage that matches the filters.
    const sql = `SELECT rowid AS id FROM terms WHERE terms MATCH ? AND +rowid IN (
      SELECT p.id FROM passages p JOIN pages g ON g.id = p.page WHERE ${where.sql}) ORDER BY ${BM25} LIMIT ?`;
    return idsOf(database, sql, [match, ...where.values, limit]);
  }

  return { byWords };
}
