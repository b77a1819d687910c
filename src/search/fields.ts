/** Reading answers of which nothing is certain: every look at a field says what becomes of one that is not as expected. */
import { decodeHTML } from 'entities';
import type { Hit, SiteLink } from './hit.ts';

type Fields = Readonly<Record<string, unknown>>;

const MAX_TITLE = 500;
const MAX_TEXT = 3_000;
const MAX_SITE_LINKS = 20;
/** Titles and snippets are looked at no further than this. */
const MAX_LOOKED_AT = 20_000;

/** A value of an object by its path: `a.b.0.c`. Own properties only. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const step of path === '' ? [] : path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Fields)[step];
  }
  return found;
}

/** The objects of a list; none when it is no list. */
export const objectsIn = (value: unknown): Fields[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];

/** Letters of tags (Unicode, 23.9) and marks of direction: nobody sees them, models read them. */
const UNSEEN = /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069]/gu;

/** Plain text from a text that may hold tags and character references: one line. */
export function plainLine(value: unknown, most = MAX_TEXT): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  const text = withoutTags(String(value).slice(0, MAX_LOOKED_AT));
  const line = (text.includes('&') ? decodeHTML(text) : text)
    .replace(UNSEEN, '')
    .replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** Tags that stand for emphasis in snippets fall out; a lone `<` stays. */
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

/** As `plain`, undefined for nothing. */
export const optionalLine = (value: unknown, most?: number): string | undefined => plainLine(value, most) || undefined;

export const positiveInteger = (value: unknown): number | undefined => {
  const number = typeof value === 'string' ? Number.parseInt(value, 10) : value;
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? Math.round(number) : undefined;
};

export const finiteNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** An http address, or undefined. */
export function webUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 8_000) return undefined;
  const text = value.trim().replace(/^\/\//, 'https://');
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text).href : undefined;
}

interface RawHit {
  readonly title: unknown;
  readonly url: unknown;
  readonly description?: unknown;
  readonly source?: unknown;
  readonly date?: unknown;
  readonly imageUrl?: unknown;
  readonly imageWidth?: unknown;
  readonly imageHeight?: unknown;
  readonly siteLinks?: readonly SiteLink[] | undefined;
  readonly score?: unknown;
}

/** A hit of what was found in a result, or none when it leads nowhere. Unknown fields are absent. */
export function toHit(looked: RawHit): Hit[] {
  const url = webUrl(looked.url);
  if (!url) return [];
  const found = {
    source: optionalLine(looked.source, MAX_TITLE),
    date: optionalLine(looked.date, 100),
    imageUrl: webUrl(looked.imageUrl),
    imageWidth: positiveInteger(looked.imageWidth),
    imageHeight: positiveInteger(looked.imageHeight),
    siteLinks: looked.siteLinks?.length ? looked.siteLinks.slice(0, MAX_SITE_LINKS) : undefined,
    score: finiteNumber(looked.score),
  };
  const known = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  return [{ title: plainLine(looked.title, MAX_TITLE), url, description: plainLine(looked.description), ...known }];
}

export const toSiteLink = (title: unknown, link: unknown, snippet?: unknown): SiteLink[] => {
  const address = webUrl(link);
  const said = optionalLine(snippet);
  return address ? [{ title: plainLine(title, MAX_TITLE), link: address, ...(said && { snippet: said }) }] : [];
};
