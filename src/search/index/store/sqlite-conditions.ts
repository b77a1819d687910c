/** Translates query slots into FTS5 match expressions, and filters into SQL conditions. */
import type { SqlValue } from '#storage/database/sqlite.ts';
import { type Filters, GENERAL_DOMAINS, type Site } from '../query/filters.ts';
import { phraseAlternatives, type Slot } from '../text/terms.ts';

const termOf = (term: string, prefix: boolean): string => `"${term}"${prefix ? '*' : ''}`;

export function matchOf({ terms, prefix }: Slot): string {
  const any = terms.map((term) => termOf(term, prefix));
  return any.length === 1 ? any[0]! : `(${any.join(' OR ')})`;
}

/** Matches all slots in sequence. */
const phraseOf = (slots: readonly Slot[]): string =>
  phraseAlternatives(slots)
    .map((terms) => termOf(terms.join(' '), slots.length === 1 && slots[0]!.prefix))
    .join(' OR ');

export interface Conditions {
  readonly sql: string;
  readonly values: SqlValue[];
}

const PAGES_WITH = 'SELECT p2.page FROM terms JOIN passages p2 ON p2.id = terms.rowid WHERE terms MATCH ?';

export const marks = (values: readonly unknown[]): string => values.map(() => '?').join(', ');

/** Builds SQL conditions on pages `g`. */
export function conditionsOf(filters: Filters): Conditions {
  const parts: string[] = [];
  const values: SqlValue[] = [];
  const add = (sql: string, ...more: SqlValue[]) => {
    parts.push(sql);
    values.push(...more);
  };
  const sites = (list: readonly Site[], not: string) => {
    if (list.length === 0) return;
    // Compared as prefixes instead of with GLOB or LIKE, so that no character has a special meaning.
    const one = `(substr(g.host, 1, length(?)) = ? AND substr(g.path, 1, length(?)) = ?)`;
    add(`${not} (${list.map(() => one).join(' OR ')})`, ...list.flatMap(({ host, path }) => [host, host, path, path]));
  };
  if (filters.owners) add(`g.owner IN (${marks(filters.owners)})`, ...filters.owners);
  sites(filters.sites, '');
  sites(filters.notSites, 'NOT');
  for (const exts of filters.exts) add(`g.ext IN (${marks(exts)})`, ...exts);
  if (filters.titles.length > 0) {
    const inTitle = filters.titles.map(
      (slots) => `(${slots.map((slot) => `{title} : (${matchOf(slot)})`).join(' AND ')})`,
    );
    add(`g.id IN (${PAGES_WITH})`, inTitle.join(' OR '));
  }
  if (filters.urlParts.length > 0)
    add(`(${filters.urlParts.map(() => 'instr(lower(g.url), ?) > 0').join(' OR ')})`, ...filters.urlParts);
  if (filters.countries.length > 0) {
    const top = `substr(g.host, 1, instr(g.host, '.') - 1)`;
    const allowed = [...filters.countries, ...GENERAL_DOMAINS];
    add(`(length(${top}) <> 2 OR ${top} IN (${marks(allowed)}))`, ...allowed);
  }
  for (const { slots } of filters.phrases) add(`g.id IN (${PAGES_WITH})`, phraseOf(slots));
  for (const slots of filters.excluded) add(`g.id NOT IN (${PAGES_WITH})`, phraseOf(slots));
  if (filters.language !== undefined) add(`g.language IN (?, '')`, filters.language);
  if (filters.since !== undefined) add('g.published_at >= ?', filters.since);
  if (filters.until !== undefined) add('g.published_at < ?', filters.until);
  return { sql: parts.length > 0 ? parts.join(' AND ') : 'TRUE', values };
}
