/**
 * The page's metadata: title, description, author, dates, language, picture, URL, every meta and head link. Takes one
 * pass over the tree, and reads around the title if the head says too little. sources.ts lists the trusted sources of
 * each fact.
 */
import { type Document, textOf } from '#html/node.ts';
import type { Declared } from '../../article.ts';
import { pictureAddress, webAddress } from './address.ts';
import { namesIn } from './author.ts';
import { daysAfter, isPlausible, readDate } from './date.ts';
import { headLinks } from './head-links.ts';
import { languageTag } from './language.ts';
import { headingText, Lookup, oneLine } from './lookup.ts';
import { NO_SITE, siteNames } from './site-name.ts';
import { chooseTitle } from './title.ts';

export interface PageMetadata extends Declared {
  /** The text of the `<title>` element. */
  documentTitle: string;
  /** Types that the page declares in JSON-LD, microdata and Open Graph, in lower case without prefix. */
  types: Set<string>;
}

const LONGEST_SITE_NAME = 100;
const LONGEST_DATE = 100;

/** Sources whose main purpose is not the publication date. */
const isWeak = (kind: string) => kind === 'byline' || kind === 'time' || kind === 'url';

/** The publication date: as written if it is declared in the page's data, else in ISO 8601. */
function publishedOf(lookup: Lookup, modified: string | undefined, types: ReadonlySet<string>): string | undefined {
  const isEvent = [...types].some((type) => type.endsWith('event'));
  for (const { kind, values } of lookup.sayings('published')) {
    const weak = isWeak(kind);
    for (const { value, isText } of values) {
      const date = readDate(value, lookup.language);
      if (!date || !isPlausible(date, !weak)) continue;
      // The current time is not used. A date after the last change of the page is one that the page writes about.
      if (weak && (isEvent || (modified && daysAfter(date, modified) > 2))) continue;
      return weak || isText || /^\s*\d{10,13}\s*$/.test(value) ? date : oneLine(value).slice(0, LONGEST_DATE);
    }
  }
  return undefined;
}

function modifiedOf(lookup: Lookup): string | undefined {
  for (const { kind, values } of lookup.sayings('modified')) {
    for (const { value } of values) {
      const date = readDate(value, lookup.language);
      if (date && isPlausible(date, !isWeak(kind))) return date;
    }
  }
  return undefined;
}

/** Sources that write "Smith, John". */
const INVERTED = /^(?:citation_|dc\.|dcterms\.)/;

/** People of the first source that names any, else organisations of the first source that does. */
function authorOf(lookup: Lookup): string | undefined {
  let organisations: string[] = [];
  for (const { name, values } of lookup.sayings('author')) {
    const texts = values.map(({ value }) => value);
    const style = { isText: values.some(({ isText }) => isText), inverted: INVERTED.test(name) };
    // A person whose site has their own name is an author too.
    const names = namesIn(texts, name === 'persons' ? NO_SITE : lookup.site, style);
    if (names.people.length) return names.people.join(', ');
    if (!organisations.length) organisations = names.organisations;
  }
  return organisations.join(', ') || undefined;
}

/** The names that the page gives its site, the most trusted first. */
function namesOfSite(lookup: Lookup): string[] {
  const names: string[] = [];
  for (const text of lookup.texts('siteName')) {
    const name = oneLine(text).replace(/^[\s|–—·•-]+|[\s|–—·•-]+$/g, '');
    if (name && name.length <= LONGEST_SITE_NAME && !/^https?:|[<>{}]/i.test(name)) names.push(name);
  }
  return names;
}

function firstOf<T>(texts: Iterable<string>, read: (text: string) => T | undefined): T | undefined {
  for (const text of texts) {
    const value = read(text);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The page's named facts: its language, every meta, and the JSON-LD of its main object. */
function metasOf(
  { found, data }: Lookup,
  lang: string | undefined,
  author: string | undefined,
): Record<string, string> {
  const metadata = new Map<string, string>();
  if (lang) metadata.set('lang', lang);
  for (const [name, values] of found.metas) metadata.set(name, values.join(','));
  if (author && !metadata.has('author')) metadata.set('author', author);
  for (const [name, value] of Object.entries(data.page)) metadata.set(`jsonld:${name}`, oneLine(value));
  return Object.fromEntries(metadata);
}

/** Extracts the page's metadata. `baseUrl` is the base for relative URLs, `url` the page's own URL. */
export function extractMetadata(document: Document, baseUrl: string, url = baseUrl): PageMetadata {
  const lookup = new Lookup(document, url);
  const { found } = lookup;
  const { types } = lookup;
  for (const ogType of found.metas.get('og:type')?.slice(0, 1) ?? []) types.add(`og:${ogType.trim().toLowerCase()}`);

  const names = namesOfSite(lookup);
  lookup.site = siteNames(names, url);
  const documentTitle = found.title ? oneLine(textOf(found.title)) : '';
  const title = chooseTitle({
    declared: [...lookup.texts('title')].map(oneLine).filter(Boolean),
    documentTitle,
    headings: found.headings.map(headingText).filter(Boolean),
    site: lookup.site,
    url,
  });
  const rootLang = found.root?.attributes.find(({ name }) => name === 'lang')?.value;
  const lang = firstOf(lookup.texts('language'), languageTag);
  lookup.title = title;
  lookup.language = lang ?? '';

  const modifiedTime = modifiedOf(lookup);
  const publishedTime = publishedOf(lookup, modifiedTime, types);
  const author = authorOf(lookup);
  const image = firstOf(lookup.texts('image'), (text) => pictureAddress(text, baseUrl));
  const canonicalUrl = firstOf(lookup.texts('canonicalUrl'), (text) => webAddress(text, baseUrl));
  return {
    title,
    documentTitle,
    description: found.description ?? '',
    ...(lang && { lang }),
    ...(publishedTime && { publishedTime }),
    ...(modifiedTime && { modifiedTime }),
    ...(author && { author }),
    ...(names[0] && { siteName: names[0] }),
    ...(image && { image }),
    ...(canonicalUrl && { canonicalUrl }),
    metadata: metasOf(lookup, rootLang, author),
    external: headLinks(found.links, baseUrl),
    types,
  };
}
