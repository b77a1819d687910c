/** Maps the options of a scrape to options of the reader. */
import { problem } from '#errors.ts';
import type { ScrapeOptions, Version } from './fields.ts';
import { type Formats, readFormats } from './formats.ts';

export interface ReadPlan {
  readonly formats: Formats;
  /** Options of the reader by their names in JSON bodies. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly documents: DocumentParsing;
  /** What of the request has no effect, a line each. */
  readonly warnings: readonly string[];
}

/** How the pages of a document are shown. */
export interface DocumentParsing {
  readonly maxPages?: number | undefined;
  readonly listsPages: boolean;
  readonly marksPages: boolean;
}

const MAX_TIMEOUT_S = 180;
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
const PHONE_AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

/** Fields that change the answer, and are refused because this server does not have them. */
const REFUSED = [
  'actions',
  'lockdown',
  'profile',
  'redactPII',
  'threatProtection',
  'fastMode',
  'useMock',
  'agent',
] as const satisfies (keyof ScrapeOptions)[];

/** `prefix` is the path of the options in errors, with a dot at its end: `scrapeOptions.`, or empty. */
export function toRead(asked: ScrapeOptions, version: Version, prefix = ''): ReadPlan {
  for (const name of REFUSED) {
    if (isOn(asked[name])) throw refused(`${prefix}${name}`, `Lectern does not have ${prefix}${name}`);
  }
  const { jsonOptions, extract } = asked;
  const formats = readFormats({ formats: asked.formats, jsonOptions, extract, path: `${prefix}formats` });
  const warnings: string[] = [];
  checkWait(asked, prefix);
  const given = {
    ...contentOptions(asked, formats),
    ...timingOptions(asked, formats, warnings),
    ...requestOptions(asked, warnings),
    ...cacheOptions(asked, version, warnings),
  };
  return { formats, given, documents: parsingOf(asked, warnings), warnings };
}

const isOn = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0);

const refused = (path: string, message: string) => problem('ParamValidationError', { path, message });

/** The formats of the reader. Only the text that was asked for is charged. */
function contentOptions(asked: ScrapeOptions, formats: Formats) {
  const { onlyMainContent = true, includeTags, excludeTags, removeBase64Images = true } = asked;
  const { markdown, html, rawHtml, attributes, screenshot, links, images } = formats;
  const text = onlyMainContent ? 'content' : 'markdown';
  const isPictureOnly = screenshot && !markdown && !html && !rawHtml && !attributes;
  const names = [
    !isPictureOnly && (markdown || html || !(rawHtml || attributes)) && text,
    (rawHtml || attributes) && 'html',
    screenshot && (screenshot.fullPage ? 'pageshot' : 'screenshot'),
  ];
  return {
    respondWith: names.filter(Boolean).join('+'),
    base: 'final',
    ...(includeTags?.length && { targetSelector: includeTags }),
    ...(excludeTags?.length && { removeSelector: excludeTags }),
    ...(links && { withLinksSummary: 'all' }),
    ...(images && { withImagesSummary: true }),
    ...(!removeBase64Images && { keepImgDataUrl: true }),
  };
}

function checkWait({ waitFor = 0, timeout }: ScrapeOptions, prefix: string): void {
  if (timeout === undefined || waitFor <= timeout / 2) return;
  throw refused(`${prefix}waitFor`, `${prefix}waitFor must be at most half of ${prefix}timeout`);
}

/** A long time limit does not make the read wait longer, unlike that of the reader. */
function timingOptions(asked: ScrapeOptions, { screenshot }: Formats, warnings: string[]) {
  const { waitFor = 0, timeout, mobile, blockAds } = asked;
  const waits = waitFor > 0;
  if (timeout !== undefined && timeout > MAX_TIMEOUT_S * 1_000) {
    warnings.push(`timeout is ${MAX_TIMEOUT_S * 1_000}, the maximum of this server.`);
  }
  if (waits) warnings.push('waitFor: the page was captured when its network was idle, not after a fixed time.');
  const viewport = { ...(mobile && PHONE), ...screenshot?.viewport };
  return {
    ...(timeout !== undefined && { timeout: Math.min(Math.ceil(timeout / 1_000), MAX_TIMEOUT_S) }),
    ...(waits && { engine: 'browser', respondTiming: 'network-idle' }),
    ...(!waits && timeout !== undefined && { respondTiming: screenshot ? 'media-idle' : 'resource-idle' }),
    ...(Object.keys(viewport).length > 0 && { viewport }),
    ...(mobile && { userAgent: PHONE_AGENT }),
    ...(blockAds && screenshot && { removeOverlay: true }),
  };
}

/** Headers with an option of their own. */
function requestOptions({ headers = {}, location, skipTlsVerification }: ScrapeOptions, warnings: string[]) {
  const custom: Record<string, string> = {};
  const own: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (key === 'user-agent') own.userAgent = value;
    else if (key === 'referer') own.referer = value;
    else if (key === 'cookie')
      own.setCookies = value
        .split(';')
        .map((pair) => pair.trim())
        .filter(Boolean);
    else custom[name] = value;
  }
  const language = location?.languages?.[0];
  if (location?.country) warnings.push('location.country is ignored: pages are read from where this server is.');
  return {
    ...own,
    ...(Object.keys(custom).length > 0 && { customHeader: custom }),
    ...(language && { locale: language }),
    ...(skipTlsVerification && { skipCertVerification: true }),
  };
}

function cacheOptions(asked: ScrapeOptions, version: Version, warnings: string[]) {
  const { maxAge = version === 'v1' ? 0 : undefined, minAge, storeInCache, zeroDataRetention } = asked;
  if (minAge !== undefined) warnings.push('minAge is ignored.');
  return {
    ...(maxAge !== undefined && maxAge < 1_000 && { noCache: true }),
    ...(maxAge !== undefined && maxAge >= 1_000 && { cacheTolerance: Math.floor(maxAge / 1_000) }),
    ...(storeInCache === false && { doNotTrack: true }),
    ...(zeroDataRetention && { zeroDataRetention: true }),
  };
}

function parsingOf({ parsers, parsePDF }: ScrapeOptions, warnings: string[]): DocumentParsing {
  if (parsePDF === false || parsers?.length === 0) {
    warnings.push(`${parsePDF === false ? 'parsePDF' : 'parsers'} is ignored: documents are always converted.`);
  }
  const options = parsers?.find((parser) => typeof parser === 'object');
  if (typeof options !== 'object') return { listsPages: false, marksPages: false };
  if (options.blocks) warnings.push('parsers.blocks is ignored.');
  if (options.mode === 'ocr') warnings.push('parsers.mode is ignored: text is recognized where a page has none.');
  return { maxPages: options.maxPages, listsPages: options.pages === true, marksPages: options.pageMarkers === true };
}
