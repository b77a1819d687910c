/**
 * The rules of the cache: when it may be read and written, and which copy may be served for which read
 * (docs/reference/wire/reader.md, Cache). The options table gives the effect of each option; this file contains the
 * rules for options marked `by rule`.
 */
import { createHash } from 'node:crypto';
import { TYPES } from '#documents/detect.ts';
import { isCapabilityUrl } from '#net/capability-url.ts';
import { pageInFragment } from '../file.ts';
import { OPTIONS, type OptionName, type OptionRow, RESPOND_TIMINGS } from '../options/options.ts';
import type { EngineChoice, Options } from '../options/resolve.ts';
import type { ReadRequest } from '../read.ts';
import { isHtml, type Snapshot } from '../snapshot.ts';
import { CAPTCHA_MARKUP } from '../warnings.ts';

/** A snapshot without its text and pictures. */
export type SnapshotFacts = Omit<
  Snapshot,
  'text' | 'screenshot' | 'pageshot' | 'file' | 'storageState' | 'cachedAt' | 'stale'
>;

/** The properties of a cached copy that are known without reading its content. */
export interface Copy {
  readonly facts: SnapshotFacts;
  readonly screenshot: boolean;
  readonly pageshot: boolean;
  readonly captured: Captured;
}

/** How a copy was captured. */
export interface Captured {
  readonly engine: EngineChoice;
  /** The index of the capture's timing in RESPOND_TIMINGS; higher values waited longer. */
  readonly patience: number;
}

const ROWS = Object.entries(OPTIONS) as [OptionName, OptionRow][];

/** Whether the options allow a cached copy of any age. */
export const mayRead = (options: Options): boolean =>
  options.cacheTolerance !== 0 && !someOn(options, ({ caching }) => caching === 'not read' || caching === 'neither');

/** Whether the options allow storing the result; `isWorthCaching` checks the snapshot. */
export const mayWrite = (options: Options): boolean =>
  !someOn(options, ({ caching }) => caching === 'not written' || caching === 'neither');

function someOn(options: Options, which: (row: OptionRow) => boolean): boolean {
  return ROWS.some(([name, row]) => which(row) && isOn((options as Partial<Record<OptionName, unknown>>)[name]));
}

function isOn(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}

/** Maximum age of a copy that is served without a live read, in milliseconds. Submitted content never expires. */
export function maxAgeMs(request: ReadRequest, freshMs: number): number {
  const { target, options } = request;
  if (target.given || target.upload) return Number.POSITIVE_INFINITY;
  return options.cacheTolerance === undefined ? (request.freshMs ?? freshMs) : options.cacheTolerance * 1000;
}

/** Whether a copy is recent enough to be served. All values are in milliseconds; copies are removed after `keepMs`. */
export const isFresh = (ageMs: number, limits: { maxAgeMs: number; keepMs: number }): boolean =>
  ageMs <= limits.maxAgeMs && ageMs <= limits.keepMs;

/**
 * The cache key of a read: equal targets captured with equal options have the same key. Each page of a document has its
 * own key. A web page has one key for all fragments, except with `at fragment`, which is used for pages with content
 * that depends on the fragment.
 */
export function copyKey(
  { target, options, keyed }: ReadRequest,
  of: 'document' | 'page' | 'at fragment' = 'document',
): string {
  const values = options as Partial<Record<OptionName, unknown>>;
  const exact = ROWS.flatMap(([name, { copies, caching }]) =>
    copies || caching || !isOn(values[name]) ? [] : [[name, values[name]]],
  );
  const { waitForSelector, locale, proxy } = options;
  const byRule = {
    address: of === 'at fragment' ? target.url : withoutFragment(target.url),
    annotations: of === 'document' && options.annotations !== 'none' ? options.annotations : undefined,
    page: of === 'document' ? (options.page ?? pageInFragment(target.url)) : undefined,
    given: target.given && [sha256(target.given.text), target.given.mediaType],
    // The file name may become the title: copies must not show another file's name.
    upload: target.upload && [target.upload.mediaType, target.upload.contentType, target.upload.name],
    waitForSelector,
    locale: locale && Intl.getCanonicalLocales(locale)[0],
    proxy: keyed ? proxy : 'none',
  };
  return sha256(JSON.stringify([KEY_VERSION, byRule, exact]));
}

/**
 * Increase this number when keys change, so that older copies are never found. In version 1, rendered pages had one key
 * for all fragments.
 */
const KEY_VERSION = 2;

/**
 * The key under which to store a snapshot. Scripts may render different content for each fragment, and a fragment may
 * be a secret. A rendered page therefore serves all fragments only if its fragment is an anchor of the page and not a
 * secret.
 */
export function storageKey(request: ReadRequest, { engine, text, document }: Snapshot): string {
  if (document) return copyKey(request, 'document');
  const fragment = fragmentOf(request.target.url);
  const isRendered = engine === 'browser' || engine === 'cf-browser-rendering';
  return copyKey(request, fragment && isRendered && !isAnchor(fragment, text) ? 'at fragment' : 'page');
}

/** Fragment of a URL without `#`; empty if it has none. */
export const fragmentOf = (url: string): string => new URL(url).hash.slice(1);

function isAnchor(fragment: string, html: string): boolean {
  if (isCapabilityUrl(`https://fragment.invalid/#${fragment}`)) return false;
  const names = [fragment, decoded(fragment)];
  return names.some((name) => html.includes(`id="${name}"`) || html.includes(`name="${name}"`));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The URL without its fragment, unless the fragment is a route of a single-page application. */
function withoutFragment(url: string): string {
  const at = url.indexOf('#');
  return at < 0 || url.startsWith('#/', at) ? url : url.slice(0, at);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Key that identical concurrent reads share: reads with the same key do exactly the same work. */
export function flightKey(request: ReadRequest): string {
  const { options, keyed } = request;
  const { engine, respondTiming, timeoutMs, targetSelector, robotsTxt, doNotTrack, proxyResources } = options;
  return JSON.stringify([
    copyKey(request),
    fragmentOf(request.target.url),
    keyed,
    request.region,
    [engine, respondTiming, timeoutMs, targetSelector, robotsTxt, doNotTrack, proxyResources],
    [options.modelFormat, options.formats.has('screenshot'), options.formats.has('pageshot'), wantsSource(request)],
    options.figures,
  ]);
}

/** Callers without a key who request only HTML get the HTML as fetched (docs/reference/wire/reader.md, Engines). */
const wantsSource = ({ keyed, options: { engine, formats, needsBrowser } }: ReadRequest): boolean =>
  !keyed && engine === 'auto' && formats.size === 1 && formats.has('html') && needsBrowser.length === 0;

export const capturedBy = (request: ReadRequest): Captured => ({
  engine: wantsSource(request) ? 'direct' : request.options.engine,
  patience: RESPOND_TIMINGS.indexOf(request.options.respondTiming),
});

/**
 * Whether to store and serve copies of pages that forbid caching: only for callers that set a maximum age. For all
 * other callers, such a copy does not exist.
 */
const acceptsForbiddenCopies = ({ cacheTolerance = 0 }: Options): boolean => cacheTolerance > 0;

/** Whether a copy found under the right key contains everything that a read needs. */
export function serves({ facts, screenshot, pageshot, captured }: Copy, request: ReadRequest): boolean {
  if (facts.noStore && !acceptsForbiddenCopies(request.options)) return false;
  const { engine, formats, modelFormat, respondTiming } = request.options;
  if (formats.has('screenshot') && !screenshot) return false;
  if (formats.has('pageshot') && !pageshot) return false;
  // The models of the other formats read the target themselves.
  if (modelFormat && modelFormat !== 'readerlm-v2') return false;
  if (facts.document)
    return facts.document.mediaType !== TYPES.pdf || (facts.document.figures ?? false) === request.options.figures;
  // Content other than HTML does not change while it loads, so its copies need not have waited.
  const waitedEnough = !isHtml(facts) || captured.patience >= RESPOND_TIMINGS.indexOf(respondTiming);
  if (engine !== 'auto') return facts.engine === engine && (engine === 'direct' || waitedEnough);
  const fitsEngine = captured.engine === 'auto' || facts.engine === 'browser' || wantsSource(request);
  return (fitsEngine && waitedEnough) || (!isHtml(facts) && facts.status === 200);
}

/** Pages with fewer tokens are cached only if they have status 200 and no CAPTCHA. */
const FEW_TOKENS = 200;

/** Maximum number of characters of a page to examine. The limit exists because the check runs on the main thread. */
const MAX_EXAMINED_CHARACTERS = 1024 ** 2;

/** Whether the last snapshot of a read is final, complete, and useful to others. */
export function isWorthCaching(snapshot: Snapshot, options: Options): boolean {
  const { text, status, settled, document, notes, engine } = snapshot;
  if (!settled || snapshot.file || snapshot.storageState || snapshot.blocked) return false;
  if (snapshot.noStore && !acceptsForbiddenCopies(options)) return false;
  if (document ? !isCacheableDocument(snapshot, options) : notes.length > 0) return false;
  // Submitted text is not cached, because reading it again needs no processing.
  if (engine === 'given' && !document) return false;
  const start = text.slice(0, MAX_EXAMINED_CHARACTERS);
  if (!document && isHtml(snapshot) && !hasTitle(start)) return false;
  return (status === 200 && !CAPTCHA_MARKUP.test(start)) || hasTokens(start, isHtml(snapshot), FEW_TOKENS);
}

function isCacheableDocument({ url, document, partial }: Snapshot, { modelFormat, instruction }: Options): boolean {
  // File URLs with a query are often valid only for a short time or for one person.
  if (/^https?:[^#]*\?/.test(url)) return false;
  // With a model format, scanned pages remain without text; an instruction changes the description of an image.
  if (modelFormat || (instruction && document!.mediaType.startsWith('image/'))) return false;
  return !partial;
}

/** Whether any title contains text. Linear: each step continues where the previous one ended. */
function hasTitle(html: string): boolean {
  const opening = /<title\b/gi;
  const text = /\S/g;
  while (opening.test(html)) {
    const end = html.indexOf('>', opening.lastIndex);
    if (end < 0) return false;
    text.lastIndex = end + 1;
    const found = text.exec(html);
    if (found?.[0] !== '<') return found !== null;
    opening.lastIndex = found.index;
  }
  return false;
}

/** Elements with invisible text. */
const INVISIBLE = /^<(script|style|noscript|template|title)\b/i;

/**
 * Whether a text certainly has this many tokens. Four ASCII characters, or one other character, count as one token.
 * Stops as soon as the result is certain.
 */
export function hasTokens(text: string, html: boolean, least: number): boolean {
  let quarters = 0;
  for (const [from, to] of html ? visibleRanges(text) : [[0, text.length] as const]) {
    let space = true;
    for (let at = from; at < to; at++) {
      const code = text.charCodeAt(at);
      const isSpace = code <= 0x20;
      if (!isSpace) quarters += code < 0x80 ? 1 : 4;
      else if (!space) quarters++;
      space = isSpace;
      if (quarters >= least * 4) return true;
    }
  }
  return false;
}

/** Ranges of the text of HTML, without tags, comments and invisible elements. */
function* visibleRanges(html: string): Generator<readonly [number, number]> {
  let at = 0;
  while (at < html.length) {
    const tag = html.indexOf('<', at);
    if (tag < 0) return yield [at, html.length];
    if (tag > at) yield [at, tag];
    const end = html.startsWith('<!--', tag) ? html.indexOf('-->', tag + 4) : html.indexOf('>', tag);
    if (end < 0) return;
    const invisible = INVISIBLE.exec(html.slice(tag, tag + 16))?.[1];
    at = invisible ? endOf(html, invisible, end) : end + 1;
  }
}

function endOf(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}`, 'gi');
  closing.lastIndex = from;
  return closing.exec(html) ? closing.lastIndex : html.length;
}
