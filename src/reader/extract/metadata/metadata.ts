/**
 * The page's metadata: title, description, author, dates, language, picture, URL, every meta element and head link.
 * Takes one pass over the tree, and also reads the text around the title if the head lacks metadata. sources.ts lists
 * the trusted sources.
 */
import { type Document, textOf } from '#html/node.ts';
import type { DeclaredMetadata } from '../../article.ts';
import { findAuthorNames } from './author.ts';
import { daysAfter, isPlausible, parseDate } from './date.ts';
import { headLinks } from './head-links.ts';
import { languageTag } from './language-tag.ts';
import { boundedLine, FactLookup, headingText } from './lookup.ts';
import { createSiteNames, NO_SITE_NAMES } from './site-name.ts';
import { chooseTitle } from './title.ts';
import { absoluteWebUrl, pictureUrl } from './urls.ts';

export interface PageMetadata extends DeclaredMetadata {
  /** The text of the `<title>` element. */
  documentTitle: string;
  /** Types that the page declares in JSON-LD, microdata and Open Graph, in lower case without prefix. */
  types: Set<string>;
}

const MAX_SITE_NAME_CHARACTERS = 100;
const MAX_DATE_CHARACTERS = 100;

/** Whether the source's main purpose is something other than the publication date. */
const isGuessedFrom = (kind: string) => kind === 'byline' || kind === 'time' || kind === 'url';

/** The publication date: unchanged if it is declared in the page's data, else in ISO 8601. */
function publishedOf(lookup: FactLookup, modified: string | undefined, types: ReadonlySet<string>): string | undefined {
  const isEvent = [...types].some((type) => type.endsWith('event'));
  for (const { kind, values } of lookup.valuesBySource('published')) {
    const isGuess = isGuessedFrom(kind);
    for (const { value, isText } of values) {
      const date = parseDate(value, lookup.language);
      if (!date || !isPlausible(date, !isGuess)) continue;
      // The current time is not used. A date after the last change of the page is a date that the page mentions.
      if (isGuess && (isEvent || (modified && daysAfter(date, modified) > 2))) continue;
      return isGuess || isText || /^\s*\d{10,13}\s*$/.test(value)
        ? date
        : boundedLine(value).slice(0, MAX_DATE_CHARACTERS);
    }
  }
  return undefined;
}

function modifiedOf(lookup: FactLookup): string | undefined {
  for (const { kind, values } of lookup.valuesBySource('modified')) {
    for (const { value } of values) {
      const date = parseDate(value, lookup.language);
      if (date && isPlausible(date, !isGuessedFrom(kind))) return date;
    }
  }
  return undefined;
}

/** Sources that write "Smith, John". */
const INVERTED_NAME_SOURCES = /^(?:citation_|dc\.|dcterms\.)/;

/** The people named by the first source that names any, else the organizations named by the first source that does. */
function authorOf(lookup: FactLookup): string | undefined {
  let organizations: string[] = [];
  for (const { name, values } of lookup.valuesBySource('author')) {
    const texts = values.map(({ value }) => value);
    const style = { isText: values.some(({ isText }) => isText), inverted: INVERTED_NAME_SOURCES.test(name) };
    // A site may be named after a person, who can then be the author of its pages too.
    const names = findAuthorNames(texts, name === 'persons' ? NO_SITE_NAMES : lookup.site, style);
    if (names.people.length) return names.people.join(', ');
    if (!organizations.length) organizations = names.organizations;
  }
  return organizations.join(', ') || undefined;
}

/** The names that the page uses for its site, the most trusted first. */
function namesOfSite(lookup: FactLookup): string[] {
  const names: string[] = [];
  for (const text of lookup.values('siteName')) {
    const name = boundedLine(text).replace(/^[\s|–—·•-]+|[\s|–—·•-]+$/g, '');
    if (name && name.length <= MAX_SITE_NAME_CHARACTERS && !/^https?:|[<>{}]/i.test(name)) names.push(name);
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

/** Some pages put a whole article into a meta element. */
const MAX_META_CHARACTERS = 3_000;
const cutText = (value: string): string =>
  value.length <= MAX_META_CHARACTERS
    ? value
    : `${value.slice(0, MAX_META_CHARACTERS).replace(/[\ud800-\udbff]$/, '')}…`;

/** The named metadata of the page: its language, every meta element, and the JSON-LD of its main object. */
function metasOf(
  { declarations, linkedData }: FactLookup,
  lang: string | undefined,
  author: string | undefined,
): Record<string, string> {
  const metadata = new Map<string, string>();
  if (lang) metadata.set('lang', lang);
  for (const [name, values] of declarations.metas) metadata.set(name, values.map(cutText).join(','));
  if (author && !metadata.has('author')) metadata.set('author', author);
  for (const [name, value] of Object.entries(linkedData.page)) metadata.set(`jsonld:${name}`, boundedLine(value));
  return Object.fromEntries(metadata);
}

/** Extracts the page's metadata. `baseUrl` is the base for relative URLs; `url` is the page's own URL. */
export function extractMetadata(document: Document, baseUrl: string, url = baseUrl): PageMetadata {
  const lookup = new FactLookup(document, url);
  const { declarations } = lookup;
  const { types } = lookup;
  for (const ogType of declarations.metas.get('og:type')?.slice(0, 1) ?? [])
    types.add(`og:${ogType.trim().toLowerCase()}`);

  const names = namesOfSite(lookup);
  lookup.site = createSiteNames(names, url);
  const documentTitle = declarations.title ? boundedLine(textOf(declarations.title)) : '';
  const title = chooseTitle({
    declaredTitles: [...lookup.values('title')].map(boundedLine).filter(Boolean),
    documentTitle,
    headings: declarations.headings.map(headingText).filter(Boolean),
    site: lookup.site,
    url,
  });
  const rootLang = declarations.root?.attributes.find(({ name }) => name === 'lang')?.value;
  const lang = firstOf(lookup.values('language'), languageTag);
  lookup.title = title;
  lookup.language = lang ?? '';

  const modifiedTime = modifiedOf(lookup);
  const publishedTime = publishedOf(lookup, modifiedTime, types);
  const author = authorOf(lookup);
  const image = firstOf(lookup.values('image'), (text) => pictureUrl(text, baseUrl));
  const canonicalUrl = firstOf(lookup.values('canonicalUrl'), (text) => absoluteWebUrl(text, baseUrl));
  return {
    title,
    documentTitle,
    description: declarations.description ?? '',
    ...(lang && { lang }),
    ...(publishedTime && { publishedTime }),
    ...(modifiedTime && { modifiedTime }),
    ...(author && { author }),
    ...(names[0] && { siteName: names[0] }),
    ...(image && { image }),
    ...(canonicalUrl && { canonicalUrl }),
    metadata: metasOf(lookup, rootLang, author),
    external: headLinks(declarations.links, baseUrl),
    types,
  };
}
