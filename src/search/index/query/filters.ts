/** Converts the operators of a query into filters on the pages of the index. */
import { ownValue } from '#own-value.ts';
import type { SearchQuery } from '../../query.ts';
import { languageFromTag } from '../text/guess-language.ts';
import { querySlots, type Slot, surfaceText } from '../text/terms.ts';
import { hostKey } from '../write/prepare-page.ts';

/** A host with its subdomains, in the format of PreparedPage.host, and a path prefix. */
export interface Site {
  readonly host: string;
  /** Empty for all paths. */
  readonly path: string;
}

export interface Filters {
  /** The page must be on one of these sites. */
  readonly sites: readonly Site[];
  readonly notSites: readonly Site[];
  /** The page's extension must be in each of these lists. */
  readonly exts: readonly (readonly string[])[];
  /** The title must contain every slot of at least one of these lists. */
  readonly titles: readonly (readonly Slot[])[];
  /** The URL must contain at least one of these. */
  readonly urlParts: readonly string[];
  /** A page on a country-code domain must be on one of these domains. Pages on other domains match. */
  readonly countries: readonly string[];
  /** The page must contain all of these. */
  readonly phrases: readonly Phrase[];
  /** The page must not contain any of these. */
  readonly excluded: readonly (readonly Slot[])[];
  readonly language: string | undefined;
  readonly since: number | undefined;
  readonly until: number | undefined;
  /** Owners whose pages match; all owners if `undefined`. */
  readonly owners: readonly string[] | undefined;
}

export interface Phrase {
  readonly slots: readonly Slot[];
  /** The unstemmed words (`surfaceText`), because stems match other words too. */
  readonly surface: string;
}

const MAX_SLOTS = 32;
const MAX_VALUES = 50;

export function filtersOf(
  { operators, language, since, until }: SearchQuery,
  languages: readonly string[],
  owners: readonly string[] | undefined,
): Filters {
  const slots = (text: string) => querySlots(text, languages, MAX_SLOTS);
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
      .map((code) => ownValue(COUNTRY_DOMAINS, code.toLowerCase()) ?? code.toLowerCase()),
    phrases: operators.phrases
      .slice(0, MAX_VALUES)
      .map((text) => ({ slots: slots(text), surface: surfaceText(text) }))
      .filter((phrase) => some(phrase.slots)),
    excluded: operators.excluded.slice(0, MAX_VALUES).map(slots).filter(some),
    language: languageFromTag(language),
    since,
    until,
    owners,
  };
}

const COUNTRY_DOMAINS: Readonly<Record<string, string>> = { gb: 'uk' };
/** Country-code domains that are used as generic domains. */
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

/** Whether there are no filters except the owners. */
export const isUnfiltered = ({ owners: _, ...filters }: Filters): boolean =>
  Object.values(filters).every((value) => value === undefined || (Array.isArray(value) && value.length === 0));
