/** A page as the rows that are kept of it. */
import { createHash } from 'node:crypto';
import { isCapabilityUrl } from '#net/capability-url.ts';
import { isTrackingParameter } from '#net/tracking-parameters.ts';
import { own } from '#own.ts';
import { guessLanguage, languageOfTag } from './language.ts';
import type { IndexablePage } from './local-index.ts';
import { keyOf, PUBLIC } from './owners.ts';
import { cutPassages } from './passages.ts';
import { plainOf } from './plain.ts';
import { termsOf } from './terms.ts';

export interface PreparedPage {
  /** A page replaces the one with the same key. */
  readonly key: string;
  readonly owner: string;
  readonly url: string;
  /** The host's labels from the last to the first, a dot after each: `com.a.www.` is below `com.a.`. */
  readonly host: string;
  /** `pdf`, without a dot; of the address, else of the media type; empty for web pages. */
  readonly ext: string;
  readonly title: string;
  readonly description: string;
  readonly siteName: string;
  /** Empty when it is not known. */
  readonly language: string;
  /** In ms since 1970. */
  readonly publishedAt: number | null;
  readonly indexedAt: number;
  /** Of what is searched, and of its owner. */
  readonly hash: string;
  /** About what it takes on disk, vectors included. */
  readonly bytes: number;
  readonly passages: readonly PreparedPassage[];
}

export interface PreparedPassage {
  readonly heading: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly terms: FieldTerms;
}

/** Terms of each field, a space between each two. */
export type FieldTerms = Readonly<Record<Field, string>>;
export type Field = 'title' | 'heading' | 'body' | 'also' | 'address';

const MAX_CONTENT_UNITS = 2_000_000;
const MAX_PASSAGES = 2_000;
const MAX_TITLE_UNITS = 500;
const MAX_DESCRIPTION_UNITS = 2_000;
const MAX_URL_UNITS = 4_000;
/** What a row of a page and of a passage takes beside its texts, measured on SQLite. */
const PAGE_BYTES = 600;
const PASSAGE_BYTES = 100;
/** The terms of a text take about so many times its bytes. */
const TERMS_SHARE = 0.75;

const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/epub+zip': 'epub',
  'application/rtf': 'rtf',
  'text/csv': 'csv',
  'text/markdown': 'md',
  'text/plain': 'txt',
  'application/json': 'json',
  'application/xml': 'xml',
};

/** Undefined for a page without words, or without an address that can be told. */
export function preparePage(page: IndexablePage, indexedAt: number, vectorBytes: number): PreparedPage | undefined {
  const address = placeOf(page);
  if (!address) return undefined;
  const { owner = PUBLIC } = page;
  const content = page.content.slice(0, MAX_CONTENT_UNITS);
  const title = oneLine(page.title, MAX_TITLE_UNITS);
  const description = oneLine(page.description ?? '', MAX_DESCRIPTION_UNITS);
  const language = guessLanguage(`${title}\n${plainOf(content.slice(0, 50_000))}`) ?? languageOfTag(page.language);
  const passages = preparePassages(content, { title, address, language });
  if (passages.length === 0) return undefined;
  const hash = createHash('sha256')
    .update(JSON.stringify([title, description, content, owner]))
    .digest('hex');
  const textBytes = passages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return {
    key: keyOf(owner, address.href),
    owner,
    url: address.href,
    host: hostKey(address.hostname),
    ext: extensionOf(address, page.mediaType),
    title,
    description,
    siteName: oneLine(page.siteName ?? '', MAX_TITLE_UNITS),
    language: language ?? '',
    publishedAt:
      page.publishedAt !== undefined && Number.isFinite(page.publishedAt) ? Math.trunc(page.publishedAt) : null,
    indexedAt,
    hash,
    bytes: Math.ceil(
      PAGE_BYTES + textBytes * (1 + TERMS_SHARE) + passages.length * (PASSAGE_BYTES + 2 * title.length + vectorBytes),
    ),
    passages,
  };
}

/** The address under which a page is kept: without a fragment, and without what only tells where a visitor came from. */
export function addressOf(text: string | undefined): URL | undefined {
  if (text === undefined || text.length > MAX_URL_UNITS || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!['http:', 'https:', 'file:'].includes(url.protocol)) return undefined;
  url.hash = '';
  url.username = '';
  url.password = '';
  for (const name of [...url.searchParams.keys()]) if (isTrackingParameter(name)) url.searchParams.delete(name);
  return url;
}

/**
 * What a page says is its address is believed within its own host: it must not take the place of others' pages. A
 * capability URL is not put in the place of one that is none.
 */
function placeOf({ url, canonicalUrl }: IndexablePage): URL | undefined {
  const own = addressOf(url);
  const told = addressOf(canonicalUrl);
  const bare = (address: URL) => address.hostname.replace(/^www\./, '');
  const isBelieved = own && told && bare(own) === bare(told) && (isCapabilityUrl(url) || !isCapabilityUrl(told.href));
  return isBelieved ? told : own;
}

export const hostKey = (host: string): string => `${host.toLowerCase().split('.').reverse().join('.')}.`;

function preparePassages(
  content: string,
  page: { readonly title: string; readonly address: URL; readonly language: string | undefined },
): PreparedPassage[] {
  const { language } = page;
  const title = termsOf(page.title, language);
  const address = termsOf(decoded(`${page.address.hostname} ${page.address.pathname}`), undefined).main.join(' ');
  const passages: PreparedPassage[] = [];
  for (const { start, end, heading } of cutPassages(content, MAX_PASSAGES)) {
    const text = content.slice(start, end);
    const body = termsOf(plainOf(text), language);
    // Pictures and rules alone say nothing.
    if (body.main.length === 0) continue;
    const above = termsOf(heading, language);
    passages.push({
      heading,
      text,
      start,
      end,
      terms: {
        title: title.main.join(' '),
        heading: above.main.join(' '),
        body: body.main.join(' '),
        also: [...title.also, ...above.also, ...body.also].join(' '),
        address,
      },
    });
  }
  return passages;
}

const oneLine = (text: string, most: number): string => text.replace(/\s+/g, ' ').trim().slice(0, most);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function extensionOf({ pathname }: URL, mediaType: string | undefined): string {
  const type = mediaType?.split(';')[0]?.trim().toLowerCase() ?? '';
  const byType = own(EXTENSIONS, type);
  const byPath = /\.([a-z0-9]{1,8})$/i.exec(pathname)?.[1]?.toLowerCase() ?? '';
  if (byType !== undefined && byType !== 'txt') return byType;
  return byPath || byType || '';
}
