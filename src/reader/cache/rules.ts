/**
 * What the cache may read and write, and which copy serves which read (contract, section 13). The table of options says
 * what each option means to copies; the rules that it calls `by rule` stand here.
 */
import { createHash } from 'node:crypto';
import { isCapabilityUrl } from '#net/capability-url.ts';
import { fragmentPage } from '../file.ts';
import { OPTIONS, type OptionName, type OptionRow, RESPOND_TIMINGS } from '../options/options.ts';
import type { EngineChoice, Options } from '../options/resolve.ts';
import type { ReadRequest } from '../read.ts';
import { isHtml, type Snapshot } from '../snapshot.ts';
import { CAPTCHA } from '../warnings.ts';

/** A snapshot without its text and pictures. */
export type SnapshotFacts = Omit<
  Snapshot,
  'text' | 'screenshot' | 'pageshot' | 'file' | 'storageState' | 'cachedAt' | 'stale'
>;

/** What a kept copy is known by before its content is read. */
export interface Copy {
  readonly facts: SnapshotFacts;
  readonly screenshot: boolean;
  readonly pageshot: boolean;
  readonly captured: Captured;
}

/** How a copy came to be. */
export interface Captured {
  readonly engine: EngineChoice;
  /** How much it waited for: the place of its timing among RESPOND_TIMINGS. */
  readonly patience: number;
}

const ROWS = Object.entries(OPTIONS) as [OptionName, OptionRow][];

/** Whether a kept copy may answer, however old. */
export const mayRead = (options: Options): boolean =>
  options.cacheTolerance !== 0 && !someOn(options, ({ caching }) => caching === 'not read' || caching === 'neither');

/** Whether the options let anything be kept; `worthKeeping` looks at what was captured. */
export const mayWrite = (options: Options): boolean =>
  !someOn(options, ({ caching }) => caching === 'not written' || caching === 'neither');

function someOn(options: Options, which: (row: OptionRow) => boolean): boolean {
  return ROWS.some(([name, row]) => which(row) && isOn((options as Partial<Record<OptionName, unknown>>)[name]));
}

function isOn(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}

/** How old a copy may be to answer at once, in ms. What came with the request is the same for ever. */
export function maxAgeMs(request: ReadRequest, freshMs: number): number {
  const { target, options } = request;
  if (target.given || target.upload) return Number.POSITIVE_INFINITY;
  return options.cacheTolerance === undefined ? (request.freshMs ?? freshMs) : options.cacheTolerance * 1000;
}

/**
 * The name under which copies for equal targets and equal ways to capture them lie. Pages of a document lie apart; a web
 * page is the same whatever part of it is named. `at fragment`: but for a page that was made by what the fragment says.
 */
export function placeOf(
  { target, options, keyed }: ReadRequest,
  of: 'document' | 'page' | 'at fragment' = 'document',
): string {
  const values = options as Partial<Record<OptionName, unknown>>;
  const exact = ROWS.flatMap(([name, { copies, caching }]) =>
    copies || caching || !isOn(values[name]) ? [] : [[name, values[name]]],
  );
  const { waitForSelector, locale, proxy } = options;
  const ruled = {
    address: of === 'at fragment' ? target.url : addressOf(target.url),
    page: of === 'document' ? (options.page ?? fragmentPage(target.url)) : undefined,
    given: target.given && [sha256(target.given.text), target.given.mediaType],
    // The name of a file may become its title, so another’s name is never shown.
    upload: target.upload && [target.upload.mediaType, target.upload.contentType, target.upload.name],
    waitForSelector,
    locale: locale && Intl.getCanonicalLocales(locale)[0],
    proxy: keyed ? proxy : 'none',
  };
  return sha256(JSON.stringify([PLACES_VERSION, ruled, exact]));
}

/** In earlier places rendered pages of all fragments lay together. */
const PLACES_VERSION = 2;

/**
 * Where a copy lies. Scripts may make another page of each fragment, and a fragment may be the key to it: a rendered page
 * is that of all fragments only when its fragment names a part of it, and is no secret.
 */
export function placeToKeep(request: ReadRequest, { engine, text, document }: Snapshot): string {
  if (document) return placeOf(request, 'document');
  const fragment = fragmentOf(request.target.url);
  const isMade = engine === 'browser' || engine === 'cf-browser-rendering';
  return placeOf(request, fragment && isMade && !isAnchor(fragment, text) ? 'at fragment' : 'page');
}

/** Empty for a URL without one. */
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

/** The address without its fragment, unless that is a route of the page’s own. */
function addressOf(url: string): string {
  const at = url.indexOf('#');
  return at < 0 || url.startsWith('#/', at) ? url : url.slice(0, at);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Reads with equal names would do the same work from beginning to end. */
export function flightOf(request: ReadRequest): string {
  const { options, keyed } = request;
  const { engine, respondTiming, timeoutMs, targetSelector, robotsTxt, doNotTrack, proxyResources } = options;
  return JSON.stringify([
    placeOf(request),
    fragmentOf(request.target.url),
    keyed,
    [engine, respondTiming, timeoutMs, targetSelector, robotsTxt, doNotTrack, proxyResources],
    [options.modelFormat, options.formats.has('screenshot'), options.formats.has('pageshot'), wantsSource(request)],
  ]);
}

/** Callers without a key who ask for HTML alone get it as it was fetched (contract, section 11). */
const wantsSource = ({ keyed, options: { engine, formats, needsBrowser } }: ReadRequest): boolean =>
  !keyed && engine === 'auto' && formats.size === 1 && formats.has('html') && needsBrowser.length === 0;

export const capturedBy = (request: ReadRequest): Captured => ({
  engine: wantsSource(request) ? 'direct' : request.options.engine,
  patience: RESPOND_TIMINGS.indexOf(request.options.respondTiming),
});

/**
 * Whether pages that forbid copies may be kept for a read, and answer it: the caller names an age that copies may have.
 * To others such a copy is not there.
 */
const asksForCopies = ({ cacheTolerance = 0 }: Options): boolean => cacheTolerance > 0;

/** Whether a copy from the right place shows all that a read asks for. */
export function serves({ facts, screenshot, pageshot, captured }: Copy, request: ReadRequest): boolean {
  if (facts.noStore && !asksForCopies(request.options)) return false;
  const { engine, formats, modelFormat, respondTiming } = request.options;
  if (formats.has('screenshot') && !screenshot) return false;
  if (formats.has('pageshot') && !pageshot) return false;
  // The other models look at the target itself.
  if (modelFormat && modelFormat !== 'readerlm-v2') return false;
  if (facts.document) return true;
  // What has no scripts is the same however long one waits.
  const patient = !isHtml(facts) || captured.patience >= RESPOND_TIMINGS.indexOf(respondTiming);
  if (engine !== 'auto') return facts.engine === engine && (engine === 'direct' || patient);
  const chosen = captured.engine === 'auto' || facts.engine === 'browser' || wantsSource(request);
  return (chosen && patient) || (!isHtml(facts) && facts.status === 200);
}

/** Pages with fewer tokens than this are kept only when nothing is wrong with them. */
const FEW_TOKENS = 200;

/** Characters of a page that are looked at here, where everybody waits. */
const MAX_LOOK = 1024 ** 2;

/** Whether the last snapshot of a read is final, whole, and worth keeping for others. */
export function worthKeeping(snapshot: Snapshot, options: Options): boolean {
  const { text, status, settled, document, notes, engine } = snapshot;
  if (!settled || snapshot.file || snapshot.storageState) return false;
  if (snapshot.noStore && !asksForCopies(options)) return false;
  if (document ? !worthyDocument(snapshot, options) : notes.length > 0) return false;
  // Text that came with the request, and that nothing was done to.
  if (engine === 'given' && !document) return false;
  const start = text.slice(0, MAX_LOOK);
  if (!document && isHtml(snapshot) && !hasTitle(start)) return false;
  return (status === 200 && !CAPTCHA.test(start)) || hasTokens(start, isHtml(snapshot), FEW_TOKENS);
}

function worthyDocument({ url, document, partial }: Snapshot, { modelFormat, instruction }: Options): boolean {
  // The address of a file with a query is often one that is good for a short while, or for one person.
  if (/^https?:[^#]*\?/.test(url)) return false;
  // For a model pages without text are left as they are; an instruction decides what is said of a picture.
  if (modelFormat || (instruction && document!.mediaType.startsWith('image/'))) return false;
  return !partial;
}

/** Whether some title has text. Each step goes on where the last one ended. */
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

/** Elements whose text nobody sees. */
const UNSEEN = /^<(script|style|noscript|template|title)\b/i;

/**
 * Whether a text surely has that many tokens: four ASCII characters, or one other, are counted as one. Stops as soon as
 * it is sure.
 */
export function hasTokens(text: string, html: boolean, least: number): boolean {
  let quarters = 0;
  for (const [from, to] of html ? seenText(text) : [[0, text.length] as const]) {
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

/** Where the text of HTML that is not in tags, comments or unseen elements begins and ends. */
function* seenText(html: string): Generator<readonly [number, number]> {
  let at = 0;
  while (at < html.length) {
    const tag = html.indexOf('<', at);
    if (tag < 0) return yield [at, html.length];
    if (tag > at) yield [at, tag];
    const end = html.startsWith('<!--', tag) ? html.indexOf('-->', tag + 4) : html.indexOf('>', tag);
    if (end < 0) return;
    const unseen = UNSEEN.exec(html.slice(tag, tag + 16))?.[1];
    at = unseen ? endOf(html, unseen, end) : end + 1;
  }
}

function endOf(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}`, 'gi');
  closing.lastIndex = from;
  return closing.exec(html) ? closing.lastIndex : html.length;
}
