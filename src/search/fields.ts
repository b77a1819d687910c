/**
 * Extracts fields from provider responses, whose structure is not guaranteed. A field of an unexpected type counts as
 * absent.
 */
import { decodeHTML } from 'entities';
import { isUrl } from '#is-url.ts';
import type { Hit, SiteLink } from './hit.ts';

type Fields = Readonly<Record<string, unknown>>;

const MAX_TITLE = 500;
const MAX_TEXT = 3_000;
const MAX_SITE_LINKS = 20;
/** Maximum number of characters of a title or snippet that are processed; the rest is ignored. */
const MAX_INPUT = 20_000;

/** Returns the value at a path such as `a.b.0.c`. Only own properties are followed. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const step of path === '' ? [] : path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Fields)[step];
  }
  return found;
}

/** Returns the objects in an array, or none if the value is not an array. */
export const objectsIn = (value: unknown): Fields[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];

/** Tag characters (Unicode, section 23.9) and direction marks: invisible to people, but visible to models. */
const INVISIBLE = /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069]/gu;

/** Converts HTML or text to one line of plain text, of at most `maxLength` characters. */
export function plainLine(value: unknown, maxLength = MAX_TEXT): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  const text = withoutTags(String(value).slice(0, MAX_INPUT));
  const line = (text.includes('&') ? decodeHTML(text) : text)
    .replace(INVISIBLE, '')
    .replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}

/** Removes tags, such as those for emphasis in snippets. A lone `<` is not removed. */
function withoutTags(text: string): string {
  if (!text.includes('<')) return text;
  let out = '';
  let from = 0;
  for (const tag of text.matchAll(/<(?:\/?[a-z][^<>]{0,300}|!--[^<>]{0,300}--)>/gi)) {
    out += text.slice(from, tag.index);
    if (/^<(?:br|p|li|div)\b/i.test(tag[0])) out += ' ';
    from = tag.index + tag[0].length;
  }
  return out + text.slice(from);
}

/** Like `plainLine`, but `undefined` for an empty string. */
export const optionalLine = (value: unknown, maxLength?: number): string | undefined =>
  plainLine(value, maxLength) || undefined;

export const positiveInteger = (value: unknown): number | undefined => {
  const number = typeof value === 'string' ? Number.parseInt(value, 10) : value;
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? Math.round(number) : undefined;
};

export const finiteNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Returns an http(s) URL, or `undefined`. */
export function webUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 8_000) return undefined;
  const text = value.trim().replace(/^\/\//, 'https://');
  return /^https?:\/\//i.test(text) && isUrl(text) ? new URL(text).href : undefined;
}

interface RawHit {
  readonly title: unknown;
  readonly url: unknown;
  readonly description?: unknown;
  readonly source?: unknown;
  readonly date?: unknown;
  readonly attribution?: unknown;
  readonly imageUrl?: unknown;
  readonly imageWidth?: unknown;
  readonly imageHeight?: unknown;
  readonly siteLinks?: readonly SiteLink[] | undefined;
  readonly score?: unknown;
}

/** Returns one hit, or none if the result has no URL. Unknown fields are omitted. */
export function toHit(raw: RawHit): Hit[] {
  const url = webUrl(raw.url);
  if (!url) return [];
  const found = {
    source: optionalLine(raw.source, MAX_TITLE),
    date: optionalLine(raw.date, 100),
    attribution: optionalLine(raw.attribution, MAX_TITLE),
    imageUrl: webUrl(raw.imageUrl),
    imageWidth: positiveInteger(raw.imageWidth),
    imageHeight: positiveInteger(raw.imageHeight),
    siteLinks: raw.siteLinks?.length ? raw.siteLinks.slice(0, MAX_SITE_LINKS) : undefined,
    score: finiteNumber(raw.score),
  };
  const known = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  return [{ title: plainLine(raw.title, MAX_TITLE), url, description: plainLine(raw.description), ...known }];
}

export const toSiteLink = (title: unknown, link: unknown, snippet?: unknown): SiteLink[] => {
  const url = webUrl(link);
  const text = optionalLine(snippet);
  return url ? [{ title: plainLine(title, MAX_TITLE), link: url, ...(text && { snippet: text }) }] : [];
};

/** Formats a time in s since 1970; `undefined` if it is none. */
export function isoDate(value: unknown): string | undefined {
  const seconds = finiteNumber(value);
  if (seconds === undefined || seconds < 0 || seconds > 1e11) return undefined;
  return new Date(seconds * 1_000).toISOString();
}
