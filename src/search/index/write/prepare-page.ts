/** Prepares a page for the index: its passages, their terms, and the key under which it is stored. */
import { createHash } from 'node:crypto';
import { isUrl } from '#is-url.ts';
import { isCapabilityUrl } from '#net/capability-url.ts';
import { isTrackingParameter } from '#net/tracking-parameters.ts';
import { ownValue } from '#own-value.ts';
import type { IndexablePage } from '../local-index.ts';
import { keyOf, PUBLIC } from '../owners.ts';
import { cutPassages } from '../passages/cut-passages.ts';
import { guessLanguage, languageFromTag } from '../text/guess-language.ts';
import { markdownToPlainText } from '../text/plain-text.ts';
import { termsOf } from '../text/terms.ts';

export interface PreparedPage {
  /** A page replaces the page with the same key. */
  readonly key: string;
  readonly owner: string;
  readonly url: string;
  /** The labels of the host in reverse order, each followed by a dot: `com.a.www.` starts with `com.a.`. */
  readonly host: string;
  /** File extension without a dot, from the URL or the media type: `pdf`. Empty for web pages. */
  readonly ext: string;
  readonly title: string;
  readonly description: string;
  readonly siteName: string;
  /** Empty if unknown. */
  readonly language: string;
  /** In ms since 1970. */
  readonly publishedAt: number | null;
  readonly indexedAt: number;
  /** Hash of the searchable content and of the owner. */
  readonly hash: string;
  /** Approximate size on disk in bytes, including vectors. */
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

/** Terms of each field, separated by spaces. */
export type FieldTerms = Readonly<Record<Field, string>>;
export type Field = 'title' | 'heading' | 'body' | 'also' | 'address';

const MAX_CONTENT_UNITS = 2_000_000;
const MAX_PASSAGES = 2_000;
const MAX_TITLE_UNITS = 500;
const MAX_DESCRIPTION_UNITS = 2_000;
const MAX_URL_UNITS = 4_000;
/** Sizes of a page row and a passage row without their texts, measured with SQLite. */
const PAGE_BYTES = 600;
const PASSAGE_BYTES = 100;
/** Size of the terms of a text relative to the text. */
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

/** Returns `undefined` for a page without words or without a valid URL. */
export function preparePage(page: IndexablePage, indexedAt: number, vectorBytes: number): PreparedPage | undefined {
  const url = trustedUrl(page);
  if (!url) return undefined;
  const { owner = PUBLIC } = page;
  const content = page.content.slice(0, MAX_CONTENT_UNITS);
  const title = oneLine(page.title, MAX_TITLE_UNITS);
  const description = oneLine(page.description ?? '', MAX_DESCRIPTION_UNITS);
  const language =
    guessLanguage(`${title}\n${markdownToPlainText(content.slice(0, 50_000))}`) ?? languageFromTag(page.language);
  const passages = preparePassages(content, { title, url, language });
  if (passages.length === 0) return undefined;
  const hash = createHash('sha256')
    .update(JSON.stringify([title, description, content, owner]))
    .digest('hex');
  const textBytes = passages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return {
    key: keyOf(owner, url.href),
    owner,
    url: url.href,
    host: hostKey(url.hostname),
    ext: extensionOf(url, page.mediaType),
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

/**
 * Returns the URL under which a page is stored: without its fragment, credentials and tracking parameters. Session
 * parameters are retained, because a page read with one must not replace the public page. Returns `undefined` if the
 * URL is invalid.
 */
export function indexUrl(text: string | undefined): URL | undefined {
  if (text === undefined || text.length > MAX_URL_UNITS || !isUrl(text)) return undefined;
  const url = new URL(text);
  if (!['http:', 'https:', 'file:'].includes(url.protocol)) return undefined;
  url.hash = '';
  url.username = '';
  url.password = '';
  for (const name of [...url.searchParams.keys()]) if (isTrackingParameter(name)) url.searchParams.delete(name);
  return url;
}

/**
 * A page's canonical URL is trusted only within its own host, so that a page cannot replace pages of other hosts. A
 * public URL is never replaced by a canonical URL that is a capability URL.
 */
function trustedUrl({ url, canonicalUrl }: IndexablePage): URL | undefined {
  const requested = indexUrl(url);
  const canonical = indexUrl(canonicalUrl);
  const bareHost = ({ hostname }: URL) => hostname.replace(/^www\./, '');
  const isTrusted =
    requested &&
    canonical &&
    bareHost(requested) === bareHost(canonical) &&
    (isCapabilityUrl(url) || !isCapabilityUrl(canonical.href));
  return isTrusted ? canonical : requested;
}

export const hostKey = (host: string): string => `${host.toLowerCase().split('.').reverse().join('.')}.`;

function preparePassages(
  content: string,
  page: { readonly title: string; readonly url: URL; readonly language: string | undefined },
): PreparedPassage[] {
  const { language } = page;
  const termsOfPassage = passageTerms(page.title, page.url, language);
  const passages: PreparedPassage[] = [];
  for (const { start, end, heading } of cutPassages(content, MAX_PASSAGES)) {
    const text = content.slice(start, end);
    const terms = termsOfPassage(heading, text);
    // A passage that contains only images and rules has no words.
    if (terms.body) passages.push({ heading, text, start, end, terms });
  }
  return passages;
}

/** Returns the function that computes the terms of the passages of a page. */
export function passageTerms(pageTitle: string, url: URL, language: string | undefined) {
  const title = termsOf(pageTitle, language);
  const address = termsOf(decodePath(`${url.hostname} ${url.pathname}`), undefined).main.join(' ');
  return (heading: string, text: string): FieldTerms => {
    const body = termsOf(markdownToPlainText(text), language);
    const headings = termsOf(heading, language);
    return {
      title: title.main.join(' '),
      heading: headings.main.join(' '),
      body: body.main.join(' '),
      also: [...title.variants, ...headings.variants, ...body.variants].join(' '),
      address,
    };
  };
}

const oneLine = (text: string, maxUnits: number): string => text.replace(/\s+/g, ' ').trim().slice(0, maxUnits);

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function extensionOf({ pathname }: URL, mediaType: string | undefined): string {
  const type = mediaType?.split(';')[0]?.trim().toLowerCase() ?? '';
  const byType = ownValue(EXTENSIONS, type);
  const byPath = /\.([a-z0-9]{1,8})$/i.exec(pathname)?.[1]?.toLowerCase() ?? '';
  if (byType !== undefined && byType !== 'txt') return byType;
  return byPath || byType || '';
}
