/** Translates query slots into tsqueries, and filters into SQL conditions. */
import { type RawBuilder, sql } from 'kysely';
import { type Filters, GENERAL_DOMAINS, type Site } from '../query/filters.ts';
import { phraseAlternatives, type Slot } from '../text/terms.ts';

/** Replaces NUL and lone surrogates, which PostgreSQL cannot store. */
export const storable = (text: string): string => text.replaceAll('\u0000', '\ufffd').replace(LONE, '\ufffd');
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export const anyOf = ({ terms, prefix }: Slot, weight = ''): string => {
  const mark = prefix || weight ? `:${prefix ? '*' : ''}${weight}` : '';
  return `(${terms.map((term) => `'${term}'${mark}`).join(' | ')})`;
};

const phraseOf = (slots: readonly Slot[]): string =>
  phraseAlternatives(slots)
    .map((terms) => terms.map((term) => `'${term}'${slots.length === 1 && slots[0]!.prefix ? ':*' : ''}`).join(' <-> '))
    .map((phrase) => `(${phrase})`)
    .join(' | ');

/** Builds SQL conditions on pages `g`. */
export function conditionsOf(filters: Filters): RawBuilder<boolean> {
  const parts: RawBuilder<unknown>[] = [];
  const site = ({ host, path }: Site) =>
    path === ''
      ? sql`starts_with(g.host, ${host})`
      : sql`(starts_with(g.host, ${host}) AND starts_with(g.path, ${storable(path)}))`;
  const any = (list: readonly RawBuilder<unknown>[]) => sql`(${sql.join([...list], sql` OR `)})`;
  const having = (query: string) =>
    sql`g.id IN (SELECT w.page FROM index_passages w WHERE w.terms @@ ${query}::tsquery)`;
  if (filters.owners) parts.push(sql`g.owner = ANY(${filters.owners}::text[])`);
  if (filters.sites.length > 0) parts.push(any(filters.sites.map(site)));
  if (filters.notSites.length > 0) parts.push(sql`NOT ${any(filters.notSites.map(site))}`);
  for (const exts of filters.exts) parts.push(sql`g.ext = ANY(${exts.map(storable)}::text[])`);
  if (filters.titles.length > 0) {
    const inTitle = filters.titles.map((slots) => `(${slots.map((slot) => anyOf(slot, 'A')).join(' & ')})`);
    parts.push(having(inTitle.join(' | ')));
  }
  if (filters.urlParts.length > 0)
    parts.push(any(filters.urlParts.map((part) => sql`strpos(lower(g.url), ${storable(part)}) > 0`)));
  if (filters.countries.length > 0) {
    const allowed = [...filters.countries.map(storable), ...GENERAL_DOMAINS];
    parts.push(sql`(length(split_part(g.host, '.', 1)) <> 2 OR split_part(g.host, '.', 1) = ANY(${allowed}::text[]))`);
  }
  for (const { slots } of filters.phrases) parts.push(having(phraseOf(slots)));
  for (const slots of filters.excluded) parts.push(sql`NOT ${having(phraseOf(slots))}`);
  if (filters.language !== undefined) parts.push(sql`g.language IN (${filters.language}, '')`);
  if (filters.since !== undefined) parts.push(sql`g.published_at >= ${Math.trunc(filters.since)}`);
  if (filters.until !== undefined) parts.push(sql`g.published_at < ${Math.trunc(filters.until)}`);
  return parts.length > 0 ? sql<boolean>`${sql.join(parts, sql` AND `)}` : sql<boolean>`TRUE`;
}
