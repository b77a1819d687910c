/** Translates query slots and filters into queries of OpenSearch, on documents that are passages. */
import { type Filters, GENERAL_DOMAINS, type Site } from '../../query/filters.ts';
import { phraseAlternatives, type Slot } from '../../text/terms.ts';
import type { Field } from '../../write/prepare-page.ts';
import { FIELDS } from '../fields.ts';

export type Query = Readonly<Record<string, unknown>>;

/** The field with the terms of one part of a passage, in order. */
export const termsField = (field: Field): string => `${field}_terms`;

export const all = (list: readonly Query[]): Query => ({ bool: { filter: list } });
export const any = (list: readonly Query[]): Query => ({ bool: { should: list, minimum_should_match: 1 } });
export const none = (list: readonly Query[]): Query => ({ bool: { must_not: list } });
export const oneOf = (field: string, values: readonly unknown[]): Query => ({ terms: { [field]: values } });
export const PASSAGES: Query = { exists: { field: 'id' } };
export const FIRST_PASSAGES: Query = { term: { first: true } };

/** Matches passages with any of the terms of a slot in a field. */
export const slotIn = (field: string, { terms, prefix }: Slot): Query =>
  prefix ? any(terms.map((term) => ({ prefix: { [field]: { value: term } } }))) : oneOf(field, terms);

/** Matches passages with the slots in sequence, within one field. */
export const phraseOf = (slots: readonly Slot[]): Query =>
  slots.length === 1
    ? slotIn('terms', slots[0]!)
    : any(
        phraseAlternatives(slots).flatMap((terms) =>
          FIELDS.map((field) => ({ match_phrase: { [termsField(field)]: terms.join(' ') } })),
        ),
      );

/** The country-code domain of a host in the form of PreparedPage.host; empty for other domains. */
export function countryOf(host: string): string {
  const top = host.slice(0, host.indexOf('.'));
  return top.length === 2 ? top : '';
}

const siteQuery = ({ host, path }: Site): Query =>
  all([{ prefix: { host: { value: host } } }, ...(path === '' ? [] : [{ prefix: { path: { value: path } } }])]);

/** A URL part may contain the special characters of wildcard queries. */
const containing = (part: string): Query => ({
  wildcard: { url: { value: `*${part.replace(/[*?\\]/g, '\\$&')}*`, case_insensitive: true } },
});

/**
 * The conditions on a passage that follow from its own document. Phrases and excluded words concern the whole page, so
 * they are not among them.
 */
export function conditionsOf(filters: Filters): Query[] {
  const parts: Query[] = [PASSAGES];
  if (filters.owners) parts.push(oneOf('owner', filters.owners));
  if (filters.sites.length > 0) parts.push(any(filters.sites.map(siteQuery)));
  if (filters.notSites.length > 0) parts.push(none(filters.notSites.map(siteQuery)));
  for (const exts of filters.exts) parts.push(oneOf('ext', exts));
  if (filters.titles.length > 0)
    parts.push(any(filters.titles.map((slots) => all(slots.map((slot) => slotIn(termsField('title'), slot))))));
  if (filters.urlParts.length > 0) parts.push(any(filters.urlParts.map(containing)));
  if (filters.countries.length > 0) parts.push(oneOf('country', ['', ...filters.countries, ...GENERAL_DOMAINS]));
  if (filters.language !== undefined) parts.push(oneOf('language', [filters.language, '']));
  if (filters.since !== undefined) parts.push({ range: { published_at: { gte: Math.trunc(filters.since) } } });
  if (filters.until !== undefined) parts.push({ range: { published_at: { lt: Math.trunc(filters.until) } } });
  return parts;
}
