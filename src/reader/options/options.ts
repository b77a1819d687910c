/**
 * THE table of reader options. A row says everything there is to say about an option: where it is read from, what it
 * may be, what it needs, what it does to the cache, which plan it asks for, and what it means. Parsing, validation,
 * presets, the OpenAPI description, the reference page and the engine chooser all read this table.
 *
 * Adding an option: a row here, a use of it, a test. Nothing else knows the list.
 */
import * as z from 'zod';
import { compileSelectors } from '#html/select.ts';
import type { Given, OptionSource } from '#http/gather.ts';
import { flag, flagOr, number, object, oneOf, texts, toBoolean } from '#http/values.ts';
import type { Feature } from '#plans.ts';
import {
  BULLET_LIST_MARKERS,
  EM_DELIMITERS,
  HEADING_STYLES,
  LINK_REFERENCE_STYLES,
  LINK_STYLES,
  STRONG_DELIMITERS,
} from '../markdown/style.ts';
import { cleanUrl } from '../target.ts';

export interface OptionRow extends OptionSource {
  /** What the option means, in one or two sentences, as the reference shows it. */
  readonly meaning: string;
  readonly unit?: string;
  /** How the reference words the default. */
  readonly defaultText?: string;
  /** Whether a value can only be served by the browser engine. */
  readonly needsBrowser?: (value: never) => boolean;
  /** What a value that is on does to the cache. */
  readonly caching?: 'not read' | 'not written' | 'neither';
  /**
   * Which kept copies serve a value: `any`, since the option is applied to what was captured; `by rule`, where the cache
   * has a rule of its own. Otherwise those that were captured with an equal value.
   */
  readonly copies?: 'any' | 'by rule';
  /** The plan feature a caller needs. */
  readonly feature?: Feature;
}

/** Keeps a row's own schema type and ties its predicates to that schema's output. */
const row = <Schema extends z.ZodType>(
  spec: Omit<OptionRow, 'schema' | 'needsBrowser' | 'headers' | 'wins'> & {
    readonly schema: Schema;
    readonly headers?: readonly string[];
    readonly wins?: 'header' | 'body';
    readonly needsBrowser?: (value: z.output<Schema>) => boolean;
  },
) =>
  ({ headers: [], wins: 'body', ...spec }) as const satisfies { headers: readonly string[]; wins: 'header' | 'body' };

const on = (value: unknown) => Boolean(value);

const hasFewMembers = (value: object) => Object.keys(value).length <= 100;

/** Numeric headers that do not start with a number are ignored; fractions are cut. */
const wholeNumberHeader = (text: string) => {
  const found = /^\s*([+-]?\d+)/.exec(text);
  return found ? Number(found[1]) : undefined;
};

/** A value outside the list is ignored when it comes in a header. */
const knownHeader = (words: readonly string[]) => (text: string) =>
  words.includes(text.trim()) ? text.trim() : undefined;

const SINGLE_FORMATS = ['content', 'markdown', 'html', 'text', 'frontmatter', 'screenshot', 'pageshot'] as const;
export const MODEL_FORMATS = ['vlm', 'readerlm-v2', 'svc-ocr-v1', 'svc-ocr'] as const;
/** Formats that a model writes. */
export type ModelFormat = (typeof MODEL_FORMATS)[number];
export const isSingleFormat = (text: string): boolean =>
  [...SINGLE_FORMATS, ...MODEL_FORMATS].some((name) => name === text);
export type Format = (typeof SINGLE_FORMATS)[number];

export const RESPOND_TIMINGS = [
  'html',
  'visible-content',
  'mutation-idle',
  'resource-idle',
  'media-idle',
  'network-idle',
] as const;
export type RespondTiming = (typeof RESPOND_TIMINGS)[number];

export const RETAIN_LINKS = ['all', 'none', 'text', 'gpt-oss'] as const;
export const RETAIN_IMAGES = ['all', 'none', 'alt', 'all_p', 'alt_p'] as const;
export const RETAIN_MEDIA = ['none', 'text', 'link', 'image', 'html'] as const;
export const PRESETS = ['reader', 'index', 'research', 'agent', 'spider'] as const;

/** Header lists of selectors are parted by a comma and a space; commas inside brackets or quotes belong to a selector. */
function selectorList(text: string): string[] {
  const list: string[] = [];
  let from = 0;
  let depth = 0;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (sign === '\\') at++;
    else if (quote) quote = sign === quote ? '' : quote;
    else if (sign === '"' || sign === "'") quote = sign;
    else if (sign === '(' || sign === '[') depth++;
    else if (sign === ')' || sign === ']') depth--;
    else if (sign === ',' && text[at + 1] === ' ' && depth === 0) {
      list.push(text.slice(from, at).trim());
      from = at + 2;
    }
  }
  list.push(text.slice(from).trim());
  return list;
}

const selectors = () =>
  texts().transform((list, context) => {
    for (const text of list) {
      try {
        compileSelectors(text);
      } catch (error) {
        context.addIssue({
          code: 'custom',
          message: `is not a valid selector: ${(error as Error).message}`,
          input: text,
        });
        return z.NEVER;
      }
    }
    return list;
  });

/** Parts that would match the root or everything are refused for targetSelector (contract, section 10). */
const targetSelectors = () =>
  selectors().refine(
    (list) => list.every((text) => text.split(',').every((part) => !/^\s*[*:]|\*:/.test(part))),
    'must not start with * or :',
  );

const markdownShape = z.object({
  headingStyle: oneOf(HEADING_STYLES).optional().describe('`#` before a heading, or underlines'),
  hr: z.string().min(1).max(128).optional().describe('the text of a thematic break'),
  bulletListMarker: oneOf(BULLET_LIST_MARKERS).optional(),
  emDelimiter: oneOf(EM_DELIMITERS).optional(),
  strongDelimiter: oneOf(STRONG_DELIMITERS).optional(),
  linkStyle: oneOf(LINK_STYLES).optional().describe('where the address of a link stands'),
  linkReferenceStyle: oneOf(LINK_REFERENCE_STYLES).optional().describe('how referenced links are named'),
});

const MARKDOWN_HEADERS: Record<string, keyof z.output<typeof markdownShape>> = {
  'x-md-heading-style': 'headingStyle',
  'x-md-hr': 'hr',
  'x-md-bullet-list-marker': 'bulletListMarker',
  'x-md-em-delimiter': 'emDelimiter',
  'x-md-strong-delimiter': 'strongDelimiter',
  'x-md-link-style': 'linkStyle',
  'x-md-link-reference-style': 'linkReferenceStyle',
};

const viewportShape = z.object({
  width: z.int().min(1).max(4096).default(1280),
  height: z.int().min(1).max(4096).default(1280),
  deviceScaleFactor: z.number().min(0.1).max(4).optional(),
  isMobile: z.boolean().optional(),
  isLandscape: z.boolean().optional(),
  hasTouch: z.boolean().optional(),
});

/**
 * Uploads: plain base64, a data URL, or base64 with a name and type. Never a path or an address on the server. Bytes are
 * told before objects: held against an object's shape, each byte would be looked at as a key.
 */
const uploadShape = z.union(
  [
    z.string(),
    z.instanceof(Uint8Array).describe('a file part of a multipart form'),
    z.strictObject({ data: z.string(), name: z.string().optional(), type: z.string().optional() }),
  ],
  'must be base64 text, a file part of a form, or an object with `data` in base64',
);

export const OPTIONS = {
  url: row({
    schema: z.string().transform((text) => text.trim()),
    copies: 'by rule',
    meaning: 'The address to read, or the address shown and resolved against for submitted HTML.',
  }),
  html: row({
    schema: z.string(),
    copies: 'by rule',
    meaning: 'HTML to read instead of fetching anything.',
  }),
  file: row({
    schema: uploadShape,
    takesFiles: true,
    copies: 'by rule',
    meaning:
      'A file to read instead of fetching anything: base64 text, an object with `data` in base64 (and `name` and `type`), or a multipart file.',
  }),
  pdf: row({
    schema: uploadShape,
    takesFiles: true,
    copies: 'by rule',
    meaning: 'A PDF file to read; looked at before `file`.',
  }),

  respondWith: row({
    headers: ['x-respond-with', 'x-return-format'],
    wins: 'header',
    schema: z
      .string()
      .transform((text) => text.trim().toLowerCase())
      .refine(
        (text) => text === '' || [...SINGLE_FORMATS, ...MODEL_FORMATS].some((name) => text.includes(name)),
        `must name one of ${[...SINGLE_FORMATS, ...MODEL_FORMATS].join(', ')}`,
      )
      .refine(
        (text) => !/content|markdown/.test(text) || !MODEL_FORMATS.some((name) => text.includes(name)),
        'cannot join content or markdown with a model format',
      ),
    needsBrowser: (text) => /screenshot|pageshot|vlm|svc-ocr/.test(text),
    defaultText: 'content',
    copies: 'by rule',
    meaning:
      'What to answer with; several may be joined in JSON and stream output (`markdown+html`). `content` is the main content as Markdown, `markdown` the whole page, `html` the document, `text` its text, `frontmatter` Markdown under YAML metadata, `screenshot` and `pageshot` pictures. `vlm` (a vision model looks at the page), `readerlm-v2` (a language model rewrites its HTML), `svc-ocr` and `svc-ocr-v1` (text recognition) need a model that the operator has configured, and stand alone.',
  }),
  preset: row({
    headers: ['x-preset'],
    schema: oneOf(PRESETS),
    fromHeader: knownHeader(PRESETS),
    copies: 'any',
    meaning: 'A named set of options; only options that are not given are filled.',
  }),
  engine: row({
    headers: ['x-engine'],
    wins: 'header',
    schema: z.string().transform((text) => text.trim().toLowerCase()),
    needsBrowser: (text) => text === 'browser' || text === 'vlm',
    defaultText: 'auto',
    copies: 'by rule',
    meaning:
      '`browser` renders the page, `direct` (or `curl`) fetches it without scripts, `auto` fetches first and renders when scripts would change what there is to read, `cf-browser-rendering` renders it in a remote service that the operator has configured. `vlm` is `browser` with the format `vlm`, `readerlm-v2` is `auto` with the format `readerlm-v2`. Unknown names mean `auto`.',
  }),
  base: row({
    headers: ['x-base'],
    wins: 'header',
    schema: oneOf(['initial', 'final']),
    defaultText: 'initial',
    copies: 'any',
    meaning:
      'Whether the address shown, and the base of relative links, is the requested one or the one after redirects.',
  }),

  respondTiming: row({
    headers: ['x-respond-timing'],
    schema: oneOf(RESPOND_TIMINGS),
    defaultText: 'by the other options',
    copies: 'by rule',
    meaning:
      'When a rendered page is ready to be answered: as soon as there is HTML, when main content is visible, when the document stops changing, when resources, media too, or the whole network are idle.',
  }),
  timeout: row({
    headers: ['x-timeout'],
    wins: 'header',
    unit: 's',
    schema: z.union([z.literal('none'), number({ above: 0, max: 180 })]),
    fromHeader: (text) => {
      const seconds = wholeNumberHeader(text) ?? 0;
      return seconds > 0 ? Math.min(seconds, 180) : 'none';
    },
    defaultText: '15 in the browser, 30 direct',
    copies: 'by rule',
    meaning:
      'The longest a read may take, 180 at most. From 20 on it also waits for an idle network, as `none` does within the default limit; a header that is no positive number means `none`.',
  }),
  targetSelector: row({
    headers: ['x-target-selector'],
    schema: targetSelectors(),
    fromHeader: selectorList,
    copies: 'by rule',
    meaning: 'CSS selectors: what they match becomes the page.',
  }),
  waitForSelector: row({
    headers: ['x-wait-for-selector'],
    schema: selectors(),
    fromHeader: selectorList,
    needsBrowser: (list) => list.length > 0,
    copies: 'by rule',
    meaning:
      'CSS selectors that must all be present before the page is taken; without them `targetSelector` is waited for.',
  }),
  removeSelector: row({
    headers: ['x-remove-selector'],
    schema: selectors(),
    fromHeader: selectorList,
    copies: 'any',
    meaning: 'CSS selectors: what they match is removed from the page.',
  }),
  withIframe: row({
    headers: ['x-with-iframe'],
    wins: 'header',
    schema: flagOr('quoted'),
    needsBrowser: on,
    defaultText: 'false',
    meaning:
      'Puts the content of frames into the page; `quoted` as a preformatted block of its text. Waits for an idle network.',
  }),
  withShadowDom: row({
    headers: ['x-with-shadow-dom'],
    wins: 'header',
    schema: flag(),
    needsBrowser: on,
    defaultText: 'false',
    meaning: 'Writes open shadow roots into the page.',
  }),
  removeOverlay: row({
    headers: ['x-remove-overlay'],
    wins: 'header',
    schema: flag(),
    needsBrowser: on,
    caching: 'neither',
    defaultText: 'false',
    meaning: 'Removes what covers the page: dialogs, banners, fixed layers over its centre.',
  }),
  detachInvisibles: row({
    headers: ['x-detach-invisibles'],
    schema: flag(),
    needsBrowser: on,
    caching: 'neither',
    defaultText: 'false',
    meaning: 'Takes elements that are not displayed out of the page before anything is read from it.',
  }),
  injectPageScript: row({
    schema: texts(),
    needsBrowser: (list) => list.length > 0,
    caching: 'neither',
    feature: 'scripts',
    meaning: 'Scripts, or addresses of scripts, run in the main frame at each navigation.',
  }),
  injectFrameScript: row({
    schema: texts(),
    needsBrowser: (list) => list.length > 0,
    caching: 'neither',
    feature: 'scripts',
    meaning: 'Scripts, or addresses of scripts, run in every frame at each navigation.',
  }),
  viewport: row({
    schema: object(viewportShape),
    needsBrowser: on,
    caching: 'neither',
    defaultText: '1280 x 1280',
    meaning: 'The window in which the page is rendered.',
  }),
  preloadUrl: row({
    headers: ['x-preload-url'],
    schema: z.string().transform((text, context) => {
      try {
        return cleanUrl(text);
      } catch {
        context.addIssue({ code: 'custom', message: 'must be an http or https address', input: text });
        return z.NEVER;
      }
    }),
    needsBrowser: on,
    caching: 'neither',
    meaning: 'An address that the browser visits first, in the same session.',
  }),
  noServiceWorker: row({
    headers: ['x-no-service-worker'],
    schema: flag(),
    copies: 'any',
    meaning: 'Bypasses service workers. They never run here, so this is always so.',
  }),

  retainLinks: row({
    headers: ['x-retain-links'],
    wins: 'header',
    schema: oneOf(RETAIN_LINKS),
    fromHeader: knownHeader(RETAIN_LINKS),
    defaultText: 'all',
    copies: 'any',
    meaning: 'Links in Markdown: kept, dropped with their text, as text, or as numbered citations.',
  }),
  retainImages: row({
    headers: ['x-retain-images'],
    wins: 'header',
    schema: oneOf(RETAIN_IMAGES),
    fromHeader: knownHeader(RETAIN_IMAGES),
    defaultText: 'all',
    copies: 'any',
    meaning: 'Images in Markdown: kept, dropped, or as their alternative text; `_p` asks for generated texts.',
  }),
  retainMedia: row({
    headers: ['x-retain-media'],
    schema: oneOf(RETAIN_MEDIA),
    fromHeader: knownHeader(RETAIN_MEDIA),
    defaultText: 'none',
    copies: 'any',
    meaning: 'Video, audio and embedded players in Markdown.',
  }),
  withLinksSummary: row({
    headers: ['x-with-links-summary'],
    wins: 'header',
    schema: flagOr('all'),
    defaultText: 'false',
    copies: 'any',
    meaning:
      'Lists the links of the page after the content; `all` keeps repeats. Links that would run a script are left out.',
  }),
  withImagesSummary: row({
    headers: ['x-with-images-summary'],
    wins: 'header',
    schema: flag(),
    defaultText: 'false',
    copies: 'any',
    meaning: 'Lists the images of the page after the content.',
  }),
  withGeneratedAlt: row({
    headers: ['x-with-generated-alt'],
    wins: 'header',
    schema: flag(),
    feature: 'generatedAlt',
    defaultText: 'false',
    copies: 'any',
    meaning: 'Describes images without an alternative text by a vision model.',
  }),
  keepImgDataUrl: row({
    headers: ['x-keep-img-data-url'],
    wins: 'header',
    schema: flag(),
    defaultText: 'false',
    copies: 'any',
    meaning: 'Keeps images that stand in the page itself as data URLs, instead of naming them by a hash.',
  }),
  markdown: row({
    headers: Object.keys(MARKDOWN_HEADERS),
    schema: object(markdownShape),
    fromHeaders: (header) => {
      const given = Object.entries(MARKDOWN_HEADERS).flatMap(([name, key]) => {
        const text = header(name);
        return text === undefined ? [] : [[key, text]];
      });
      return given.length ? Object.fromEntries(given) : undefined;
    },
    copies: 'any',
    meaning: 'How Markdown is written; in headers one `X-Md-…` for each field.',
  }),
  noGfm: row({
    headers: ['x-no-gfm'],
    wins: 'header',
    schema: flagOr('table'),
    defaultText: 'false',
    copies: 'any',
    meaning: 'Turns the GitHub flavour (tables, strike, task lists, math) off; `table` leaves only tables as HTML.',
  }),
  markdownChunking: row({
    headers: ['x-markdown-chunking'],
    schema: z
      .union([z.string(), z.boolean(), z.literal([0, 1])], 'must be true, false or a strategy such as h2')
      .transform((value) => (toBoolean(value) ? String(value).trim() : undefined)),
    copies: 'any',
    meaning: 'Cuts the Markdown at headings: `h1` to `h5` by depth, `s1` to `s5` with the headings above each piece.',
  }),
  maxTokens: row({
    headers: ['x-max-tokens'],
    unit: 'tokens',
    schema: number({ min: 500, integer: true }),
    fromHeader: wholeNumberHeader,
    copies: 'any',
    meaning: 'Keeps the first tokens of each of content, html and text, 500 at least.',
  }),
  tokenBudget: row({
    headers: ['x-token-budget'],
    unit: 'tokens',
    schema: number({ min: 0, integer: true }),
    fromHeader: wholeNumberHeader,
    copies: 'any',
    meaning: 'Fails with BudgetExceededError when the answer would be charged more than this; 0 means no budget.',
  }),
  trace: row({
    headers: ['x-trace'],
    schema: flag(),
    defaultText: 'false',
    copies: 'any',
    meaning:
      'Adds to the answer what the request went through and how long each step took: under `meta.trace` in JSON, as a last event `trace` of a stream, in the header `Server-Timing` otherwise. Costs nothing.',
  }),
  explain: row({
    headers: ['x-explain'],
    schema: flag(),
    defaultText: 'false',
    copies: 'any',
    meaning:
      'Adds to a JSON or stream answer what was left out of the page, by which rule, and which element each block of the Markdown comes from. Costs nothing; a text answer and one that a model writes have no room for it.',
  }),

  locale: row({
    headers: ['x-locale'],
    wins: 'header',
    schema: z
      .string()
      .transform((text) => text.trim())
      .refine(isLocale, 'must be a language tag such as en or de-CH')
      .transform((tag) => Intl.getCanonicalLocales(tag)[0]!),
    defaultText: 'en-US',
    copies: 'by rule',
    meaning: 'The language of the read. Every engine sends it as Accept-Language, and scripts of the page see it.',
  }),
  referer: row({
    headers: ['x-referer'],
    wins: 'header',
    schema: z.string().transform((text, context) => {
      if (/^https?:\/\//i.test(text) && URL.canParse(text)) return new URL(text).href;
      context.addIssue({ code: 'custom', message: 'must be an http or https address', input: text });
      return z.NEVER;
    }),
    meaning: 'The referrer sent with the page request.',
  }),
  userAgent: row({
    headers: ['x-user-agent'],
    schema: z
      .string()
      .max(512)
      .refine((text) => /^[\x20-\x7e]+$/.test(text), 'must be printable ASCII'),
    defaultText: 'that of the browser',
    meaning: 'The user agent; `lectern` names this program, `diversify` takes one of several browsers by host.',
  }),
  setCookies: row({
    headers: ['x-set-cookie'],
    wins: 'header',
    schema: texts(),
    caching: 'neither',
    meaning: 'Cookies for the target, in Set-Cookie syntax.',
  }),
  customHeader: row({
    schema: object(z.record(z.string(), z.string()).refine(hasFewMembers, 'must not have more than 100 entries')),
    caching: 'neither',
    meaning: 'Further headers sent to the target.',
  }),
  skipCertVerification: row({
    headers: ['x-skip-cert-verification'],
    schema: flag(),
    defaultText: 'false',
    caching: 'neither',
    meaning: 'Accepts certificates that do not verify.',
  }),
  proxyUrl: row({
    headers: ['x-proxy-url'],
    schema: z.string().transform((text) => text.trim()),
    feature: 'proxy',
    caching: 'neither',
    meaning: 'A proxy for this read: http, https, socks4 or socks5, with credentials when it needs them.',
  }),
  proxy: row({
    headers: ['x-proxy'],
    schema: z
      .string()
      .transform((text) => text.trim().toLowerCase())
      .refine(
        (text) => /^(?:(?:none|auto|any|true|false|no|[a-z]{2})\+?)?$/.test(text),
        'must be none, auto, any or a two-letter country code',
      ),
    feature: 'proxy',
    defaultText: 'none',
    copies: 'by rule',
    meaning:
      'A proxy of the operator: `any` or `true` for one wherever it is, a two-letter country code for one there, `auto` to leave the choice to the server. A trailing `+` asks for `proxyResources` too.',
  }),
  proxyResources: row({
    headers: ['x-proxy-resources'],
    schema: flag(),
    copies: 'any',
    meaning: 'Sends images and other resources of the page through the proxy too.',
  }),
  robotsTxt: row({
    headers: ['x-robots-txt'],
    schema: z.string().transform((text) => text.trim()),
    copies: 'by rule',
    meaning: 'The agent name to hold against robots.txt (RFC 9309), `true` or `*` for any; what it forbids is refused.',
  }),
  assertStatusCode: row({
    headers: ['x-assert-status-code'],
    schema: number({ min: 100, max: 599, integer: true }),
    fromHeader: wholeNumberHeader,
    copies: 'any',
    meaning: 'Fails unless the page answers with this HTTP status.',
  }),

  noCache: row({
    headers: ['x-no-cache'],
    wins: 'header',
    schema: flag(),
    caching: 'not read',
    defaultText: 'false',
    meaning: 'Reads the page anew. The result is still kept for others.',
  }),
  cacheTolerance: row({
    headers: ['x-cache-tolerance'],
    wins: 'header',
    unit: 's',
    schema: number({ min: 0, integer: true }),
    fromHeader: wholeNumberHeader,
    defaultText: '3600',
    copies: 'by rule',
    meaning:
      'The greatest age of a copy that may be answered; 0 reads anew. A greater one asks for copies even of pages that forbid them.',
  }),
  doNotTrack: row({
    headers: ['dnt'],
    schema: flag(),
    caching: 'not written',
    defaultText: 'false',
    meaning: 'Keeps the result out of the cache.',
  }),
  zeroDataRetention: row({
    headers: ['x-zero-data-retention'],
    schema: flag(),
    caching: 'neither',
    defaultText: 'false',
    meaning: 'Keeps nothing of the read: no copy, no address or content in logs.',
  }),
  exportStorageState: row({
    headers: ['x-export-storage-state'],
    schema: flag(),
    needsBrowser: on,
    caching: 'neither',
    meaning: 'Answers with the cookies and local storage of the page, in JSON.',
  }),
  storageState: row({
    schema: object(z.looseObject({})),
    needsBrowser: on,
    caching: 'neither',
    meaning: 'Cookies and local storage to load before the page.',
  }),
  page: row({
    headers: ['x-page'],
    schema: number({ min: 1, integer: true }),
    fromHeader: wholeNumberHeader,
    copies: 'by rule',
    meaning: 'One page of a document, counted from 1.',
  }),
  instruction: row({
    schema: z.string(),
    caching: 'not read',
    meaning: 'What to ask of a language or vision model that reads the page.',
  }),
  jsonSchema: row({
    schema: object(z.looseObject({})),
    copies: 'any',
    meaning: 'The schema of the structured answer of a language model.',
  }),
};

export type OptionName = keyof typeof OPTIONS;

/** The options that a caller gave, parsed; nothing filled in. */
export type GivenOptions = Given<typeof OPTIONS>;

function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
