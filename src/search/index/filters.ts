/** What a query demands of a page beside its words, in the terms of the index. */
import { own } from '#own.ts';
import type { SearchQuery } from '../query.ts';
import { languageOfTag } from './language.ts';
import { hostKey } from './prepare.ts';
import { type Slot, slotsOf, surfaceOf } from './terms.ts';

/** A host with everything below it, as PreparedPage.host has it, and the beginning of a path. */
export interface Site {
  readonly host: string;
  /** Empty for all. */
  readonly path: string;
}

export interface Filters {
  /** Any of them. */
  readonly sites: readonly Site[];
  readonly notSites: readonly Site[];
  /** One of each list. */
  readonly exts: readonly (readonly string[])[];
  /** Each slot of one of them must be in the title. */
  readonly titles: readonly (readonly Slot[])[];
  /** Any of them is in the address. */
  readonly urlParts: readonly string[];
  /** Pages of a country's domain must be of one of these; those of general domains may be from anywhere. */
  readonly countries: readonly string[];
  /** All of them. */
  readonly phrases: readonly Phrase[];
  /** None of them. */
  readonly excluded: readonly (readonly Slot[])[];
  readonly language: string | undefined;
  readonly since: number | undefined;
  readonly until: number | undefined;
  /** Whose pages are looked at; those of all when undefined. */
  readonly owners: readonly string[] | undefined;
}

export interface Phrase {
  readonly slots: readonly Slot[];
  /** As surfaceOf gives it: the stems may stand for other words. */
  readonly surface: string;
}

const MAX_SLOTS = 32;
const MAX_VALUES = 50;

export function filtersOf(
  { operators, language, since, until }: SearchQuery,
  languages: readonly string[],
  owners: readonly string[] | undefined,
): Filters {
  const slots = (text: string) => slotsOf(text, languages, MAX_SLOTS);
  const some = (list: readonly Slot[]) => list.length > 0;
  const { filetype, ext } = operators;
  const dotless = (list: readonly string[]) =>
    list.slice(0, MAX_VALUES).map((name) => name.toLowerCase().replace(/^\./, ''));
  return {
    sites: operators.site.slice(0, MAX_VALUES).map(siteOf),
    notSites: operators.notSite.slice(0, MAX_VALUES).map(siteOf),
    exts: [dotless(filetype), dotless(ext)].filter((list) => list.length > 0),
    titles: operators.intitle.slice(0, MAX_VALUES).map(slots).filter(some),
    urlParts: operators.inurl.slice(0, MAX_VALUES).map((part) => part.toLowerCase()),
    countries: operators.loc
      .slice(0, MAX_VALUES)
      .map((code) => own(COUNTRY_DOMAINS, code.toLowerCase()) ?? code.toLowerCase()),
    phrases: operators.phrases
      .slice(0, MAX_VALUES)
      .map((text) => ({ slots: slots(text), surface: surfaceOf(text) }))
      .filter((phrase) => some(phrase.slots)),
    excluded: operators.excluded.slice(0, MAX_VALUES).map(slots).filter(some),
    language: languageOfTag(language),
    since,
    until,
    owners,
  };
}

const COUNTRY_DOMAINS: Readonly<Record<string, string>> = { gb: 'uk' };
/** Domains of countries that the world uses for anything. */
export const GENERAL_DOMAINS: readonly string[] = [
  'ai',
  'cc',
  'co',
  'eu',
  'fm',
  'gg',
  'io',
  'me',
  'sh',
  'to',
  'tv',
  'ws',
];

function siteOf(site: string): Site {
  const [host = '', ...rest] = site
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^\*?\./, '')
    .split('/');
  const path = rest.join('/');
  return { host: hostKey(host.replace(/:\d+$/, '')), path: path && `/${path}` };
}

/** Whether nothing is demanded but who may find a page. */
export const demandsNothing = ({ owners: _, ...filters }: Filters): boolean =>
  Object.values(filters).every((value) => value === undefined || (Array.isArray(value) && value.length === 0));
