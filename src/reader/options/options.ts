/**
 * The table of reader options. Each row defines everything about one option: its sources, its values, its group,
 * whether it needs the browser, its effect on the cache, its plan feature and its meaning. Parsing, validation,
 * presets, the OpenAPI description, the reference, the help, the playground and the choice of an engine all use this
 * table.
 *
 * To add an option: add a row here, use the value, and add a test. There is no second list to maintain.
 */
import * as z from 'zod';
import { ANNOTATION_CHOICES, PDF_RUNNING_TEXT } from '#documents/document.ts';
import { compileSelectors } from '#html/select.ts';
import type { Given, OptionSource } from '#http/gather.ts';
import { openWords, showAs, showBoth } from '#http/shown-schema.ts';
import { flag, flagOr, number, object, oneOf, texts, toBoolean } from '#http/values.ts';
import { isUrl } from '#is-url.ts';
import type { Feature } from '#plans.ts';
import { COMMENT_CHOICES } from '../extract/content/apply-comments.ts';
import {
  BULLET_LIST_MARKERS,
  EM_DELIMITERS,
  HEADING_STYLES,
  LINK_REFERENCE_STYLES,
  LINK_STYLES,
  MARKDOWN_STYLE_DEFAULTS,
  STRONG_DELIMITERS,
} from '../markdown/style.ts';
import { cleanUrl } from '../target.ts';

/** Groups of options, in the order used by the help, the reference and the playground. */
export const OPTION_GROUPS = [
  'Target',
  'Search',
  'Answer',
  'Page content',
  'Markdown',
  'Engine and timing',
  'Request',
  'Cache and privacy',
] as const;
export type OptionGroup = (typeof OPTION_GROUPS)[number];

export interface OptionRow extends OptionSource {
  readonly group: OptionGroup;
  /**
   * Description of the option in one or two sentences; it is the text of the reference, the help and the playground.
   */
  readonly meaning: string;
  readonly unit?: string;
  /** The default, as shown to users. */
  readonly defaultText?: string;
  /** Whether only the browser engine can serve this value. */
  readonly needsBrowser?: (value: never) => boolean;
  /** Effect on the cache if the option is set. */
  readonly caching?: 'not read' | 'not written' | 'neither';
  /**
   * Which cached copies can serve a value. `any`: all copies, because the option is applied after the capture. `by
   * rule`: the cache has a separate rule (cache/rules.ts). Otherwise: only copies that were captured with an equal
   * value.
   */
  readonly copies?: 'any' | 'by rule';
  /** Plan feature that the caller needs. */
  readonly feature?: Feature;
}

/** Preserves the type of a row's schema, so that `needsBrowser` accepts the output of the schema. */
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

/** Headers that do not start with a number are ignored; fractions are dropped. */
const wholeNumberHeader = (text: string) => {
  const found = /^\s*([+-]?\d+)/.exec(text);
  return found ? Number(found[1]) : undefined;
};

/** Unknown values are ignored in headers. */
const knownHeader = (words: readonly string[]) => (text: string) =>
  words.includes(text.trim()) ? text.trim() : undefined;

/** Number of times. */
const SCROLL_RANGE = { min: 1, max: 100, integer: true } as const;

/** Seconds. */
const TIMEOUT_RANGE = { above: 0, max: 180 } as const;

export const SINGLE_FORMATS = ['content', 'markdown', 'html', 'text', 'frontmatter', 'screenshot', 'pageshot'] as const;
export const MODEL_FORMATS = ['vlm', 'readerlm-v2', 'svc-ocr-v1', 'svc-ocr'] as const;
/** Formats that are written by a model. */
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

/** Names of the `engine` option. Unknown names mean `auto`. */
const ENGINES = ['auto', 'browser', 'direct', 'curl', 'cf-browser-rendering', 'vlm', 'readerlm-v2'] as const;

export const RETAIN_LINKS = ['all', 'none', 'text', 'gpt-oss'] as const;
export const RETAIN_IMAGES = ['all', 'none', 'alt', 'all_p', 'alt_p'] as const;
export const RETAIN_MEDIA = ['none', 'text', 'link', 'image', 'html'] as const;
/** Names of the `markdownChunking` option. */
const CHUNKINGS = ['true', 'h1', 'h2', 'h3', 'h4', 'h5', 'structured', 's1', 's2', 's3', 's4', 's5'] as const;
const CHUNKING_FORMS = [{ type: 'string', enum: CHUNKINGS }, { type: 'boolean' }, { type: 'string' }] as const;

const MAX_FILE_PASSWORD = 256;

/** Special values of the `userAgent` option. */
const USER_AGENTS = ['browser', 'auto', 'inherit', 'pass-through', 'bot', 'lectern', 'diversify'] as const;
const MAX_USER_AGENT = 512;

export const PRESETS = ['reader', 'index', 'research', 'agent', 'spider'] as const;

/** Splits a header at each comma followed by a space; commas inside brackets or quotes belong to a selector. */
function splitSelectors(text: string): string[] {
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

/** Refuses selectors that match the root or everything (docs/reference/wire/reader.md, Selectors and page changes). */
const targetSelectors = () =>
  selectors().refine(
    (list) => list.every((text) => text.split(',').every((part) => !/^\s*[*:]|\*:/.test(part))),
    'must not start with * or :',
  );

const MAX_BREAK = 128;

/** A field of the Markdown style that accepts these words. */
const style = <const Word extends string>(
  name: keyof typeof MARKDOWN_STYLE_DEFAULTS,
  words: readonly [Word, ...Word[]],
  description?: string,
) =>
  showBoth(description ? oneOf(words).optional().describe(description) : oneOf(words).optional(), {
    type: 'string',
    enum: words,
    default: MARKDOWN_STYLE_DEFAULTS[name],
  });

const markdownShape = z.object({
  headingStyle: style('headingStyle', HEADING_STYLES, '`#` before a heading, or underlines'),
  hr: showBoth(z.string().min(1).max(MAX_BREAK).optional().describe('text of a thematic break'), {
    type: 'string',
    minLength: 1,
    maxLength: MAX_BREAK,
    default: MARKDOWN_STYLE_DEFAULTS.hr,
  }),
  bulletListMarker: style('bulletListMarker', BULLET_LIST_MARKERS),
  emDelimiter: style('emDelimiter', EM_DELIMITERS),
  strongDelimiter: style('strongDelimiter', STRONG_DELIMITERS),
  linkStyle: style('linkStyle', LINK_STYLES, 'where the URL of a link is written'),
  linkReferenceStyle: style('linkReferenceStyle', LINK_REFERENCE_STYLES, 'how reference links are labeled'),
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
 * Uploads: plain base64, a data URL, or base64 with a name and type; never a file path or a remote URL. The union tests
 * for bytes before objects, because an object schema would check each byte as a key.
 */
const uploadShape = showAs(
  z.union(
    [
      z.string(),
      z.instanceof(Uint8Array).describe('a file part of a multipart form'),
      z.strictObject({ data: z.string(), name: z.string().optional(), type: z.string().optional() }),
    ],
    'must be base64 text, a file part of a form, or an object with `data` in base64',
  ),
  { text: { type: 'string', contentEncoding: 'base64' } },
);

export const OPTIONS = {
  url: row({
    group: 'Target',
    headers: ['x-url'],
    schema: z.string().transform((text) => text.trim()),
    copies: 'by rule',
    meaning: 'URL to read. With submitted HTML or a file: the URL to show, and the base of relative links.',
  }),
  html: row({
    group: 'Target',
    headers: ['x-html'],
    schema: z.string(),
    copies: 'by rule',
    meaning: 'HTML to read. Nothing is fetched.',
  }),
  file: row({
    group: 'Target',
    headers: ['x-file'],
    schema: uploadShape,
    takesFiles: true,
    copies: 'by rule',
    meaning:
      'File to read: base64 text, an object with `data` in base64 (and optional `name` and `type`), or a part of a multipart form. Nothing is fetched.',
  }),
  pdf: row({
    group: 'Target',
    headers: ['x-pdf'],
    schema: uploadShape,
    takesFiles: true,
    copies: 'by rule',
    meaning: 'PDF file to read, in the same forms as `file`. Takes precedence over `file`.',
  }),

  respondWith: row({
    group: 'Answer',
    headers: ['x-respond-with', 'x-return-format'],
    wins: 'header',
    schema: openWords([...SINGLE_FORMATS, ...MODEL_FORMATS], z.string(), {
      description: 'Several formats, such as `markdown+html`.',
    })
      .transform((text) => text.trim().toLowerCase())
      .refine(
        (text) => text === '' || [...SINGLE_FORMATS, ...MODEL_FORMATS].some((name) => text.includes(name)),
        `must name one of ${[...SINGLE_FORMATS, ...MODEL_FORMATS].join(', ')}`,
      )
      .refine(
        (text) => !/content|markdown/.test(text) || !MODEL_FORMATS.some((name) => text.includes(name)),
        'cannot combine content or markdown with a model format',
      ),
    needsBrowser: (text) => /screenshot|pageshot|vlm|svc-ocr/.test(text),
    defaultText: 'content',
    copies: 'by rule',
    meaning:
      'Output format. `content` is the main content as Markdown, `markdown` the whole page as Markdown, `html` the HTML, `text` the plain text, `frontmatter` Markdown under YAML metadata, `screenshot` an image of the window, `pageshot` an image of the whole page. JSON and stream responses can combine formats (`markdown+html`). The model formats cannot be combined and need a model that the operator has configured: `vlm` (a vision model describes the page), `readerlm-v2` (a language model converts its HTML), `svc-ocr` and `svc-ocr-v1` (text recognition).',
  }),
  preset: row({
    group: 'Answer',
    headers: ['x-preset'],
    schema: oneOf(PRESETS),
    fromHeader: knownHeader(PRESETS),
    copies: 'any',
    meaning: 'Named set of options. It fills only options that the request does not set.',
  }),
  engine: row({
    group: 'Engine and timing',
    headers: ['x-engine'],
    wins: 'header',
    schema: openWords(ENGINES).transform((text) => text.trim().toLowerCase()),
    needsBrowser: (text) => text === 'browser' || text === 'vlm',
    defaultText: 'auto',
    copies: 'by rule',
    meaning:
      'How the page is fetched. `browser` renders it. `direct` (or `curl`) fetches it without running scripts. `auto` fetches it and renders it only if scripts would change the content. `cf-browser-rendering` uses a remote rendering service that the operator has configured. `vlm` is `browser` with the `vlm` format; `readerlm-v2` is `auto` with the `readerlm-v2` format. Unknown names mean `auto`.',
  }),
  base: row({
    group: 'Answer',
    headers: ['x-base'],
    wins: 'header',
    schema: oneOf(['initial', 'final']),
    defaultText: 'initial',
    copies: 'any',
    meaning:
      'Which URL the response shows and resolves relative links against: the requested one (`initial`) or the one after redirects (`final`).',
  }),

  respondTiming: row({
    group: 'Engine and timing',
    headers: ['x-respond-timing'],
    schema: oneOf(RESPOND_TIMINGS),
    defaultText: 'depends on the other options',
    copies: 'by rule',
    meaning:
      'When a rendered page is captured: as soon as there is HTML (`html`), when the main content is visible (`visible-content`), when the DOM stops changing (`mutation-idle`), or when resources (`resource-idle`), media too (`media-idle`) or the whole network (`network-idle`) are idle.',
  }),
  scroll: row({
    group: 'Engine and timing',
    headers: ['x-scroll'],
    schema: showAs(z.union([z.literal('idle'), number(SCROLL_RANGE)], 'must be a number from 1 to 100, or idle'), {
      text: {
        anyOf: [
          { type: 'integer', minimum: SCROLL_RANGE.min, maximum: SCROLL_RANGE.max },
          { type: 'string', const: 'idle' },
        ],
      },
    }),
    needsBrowser: () => true,
    meaning:
      'Scrolls to the end of the rendered page this many times, from 1 to 100, or until it stops growing (`idle`, at most 100 times). Scrolling also ends when the page stops growing, and at the timeout, with a warning that says how far it got.',
  }),
  timeout: row({
    group: 'Engine and timing',
    headers: ['x-timeout'],
    wins: 'header',
    unit: 's',
    schema: showAs(z.union([z.literal('none'), number(TIMEOUT_RANGE)]), {
      text: {
        anyOf: [
          { type: 'number', exclusiveMinimum: TIMEOUT_RANGE.above, maximum: TIMEOUT_RANGE.max },
          { type: 'string', const: 'none' },
        ],
      },
    }),
    fromHeader: (text) => {
      const seconds = wholeNumberHeader(text) ?? 0;
      return seconds > 0 ? Math.min(seconds, TIMEOUT_RANGE.max) : 'none';
    },
    defaultText: '15 in the browser, 30 direct',
    copies: 'by rule',
    meaning:
      'Maximum duration of the read; at most 180. From 20 on, the browser also waits until the network is idle. `none` waits for that too, within the default limit. In a header, anything but a positive number means `none`.',
  }),
  targetSelector: row({
    group: 'Page content',
    headers: ['x-target-selector'],
    schema: targetSelectors(),
    fromHeader: splitSelectors,
    copies: 'by rule',
    meaning: 'CSS selectors. Only matching elements are read.',
  }),
  waitForSelector: row({
    group: 'Engine and timing',
    headers: ['x-wait-for-selector'],
    schema: selectors(),
    fromHeader: splitSelectors,
    needsBrowser: (list) => list.length > 0,
    copies: 'by rule',
    meaning: 'CSS selectors that must all match before the page is captured. Default: `targetSelector`.',
  }),
  removeSelector: row({
    group: 'Page content',
    headers: ['x-remove-selector'],
    schema: selectors(),
    fromHeader: splitSelectors,
    copies: 'any',
    meaning: 'CSS selectors. Matching elements are removed from the page.',
  }),
  comments: row({
    group: 'Page content',
    headers: ['x-comments'],
    schema: oneOf(COMMENT_CHOICES),
    fromHeader: knownHeader(COMMENT_CHOICES),
    defaultText: 'by the kind of page',
    copies: 'any',
    meaning:
      'Comments in the main content: kept without forms and buttons (`keep`), or removed (`drop`). Default: removed from articles and videos; on other pages, extraction decides.',
  }),
  withIframe: row({
    group: 'Page content',
    headers: ['x-with-iframe'],
    wins: 'header',
    schema: flagOr('quoted'),
    needsBrowser: on,
    defaultText: 'false',
    meaning:
      'Includes the content of frames; `quoted` includes their text as a preformatted block. The browser waits until the network is idle.',
  }),
  withShadowDom: row({
    group: 'Page content',
    headers: ['x-with-shadow-dom'],
    wins: 'header',
    schema: flag(),
    needsBrowser: on,
    defaultText: 'false',
    meaning: 'Includes the content of open shadow roots.',
  }),
  removeOverlay: row({
    group: 'Page content',
    headers: ['x-remove-overlay'],
    wins: 'header',
    schema: flag(),
    needsBrowser: on,
    caching: 'neither',
    defaultText: 'false',
    meaning: 'Removes elements that cover the page: dialogs, banners, fixed layers over its center.',
  }),
  detachInvisibles: row({
    group: 'Page content',
    headers: ['x-detach-invisibles'],
    schema: flag(),
    needsBrowser: on,
    caching: 'neither',
    defaultText: 'false',
    meaning: 'Removes elements that are not displayed before the page is captured.',
  }),
  injectPageScript: row({
    group: 'Engine and timing',
    headers: ['x-inject-page-script'],
    schema: texts(),
    needsBrowser: (list) => list.length > 0,
    caching: 'neither',
    feature: 'scripts',
    meaning: 'Scripts, or URLs of scripts, to run in the main frame at each navigation.',
  }),
  injectFrameScript: row({
    group: 'Engine and timing',
    headers: ['x-inject-frame-script'],
    schema: texts(),
    needsBrowser: (list) => list.length > 0,
    caching: 'neither',
    feature: 'scripts',
    meaning: 'Scripts, or URLs of scripts, to run in every frame at each navigation.',
  }),
  viewport: row({
    group: 'Engine and timing',
    schema: object(viewportShape),
    needsBrowser: on,
    caching: 'neither',
    defaultText: '1280 x 1280',
    meaning: 'Size and properties of the browser window. Width and height in pixels, at most 4096 each.',
  }),
  preloadUrl: row({
    group: 'Engine and timing',
    headers: ['x-preload-url'],
    schema: z.string().transform((text, context) => {
      try {
        return cleanUrl(text);
      } catch {
        context.addIssue({ code: 'custom', message: 'must be an http or https URL', input: text });
        return z.NEVER;
      }
    }),
    needsBrowser: on,
    caching: 'neither',
    meaning: 'URL that the browser visits first, in the same session. Has no effect if no URL is given.',
  }),
  noServiceWorker: row({
    group: 'Engine and timing',
    headers: ['x-no-service-worker'],
    schema: flag(),
    copies: 'any',
    meaning: 'Bypasses service workers. Has no effect, because Lectern never runs service workers.',
  }),

  retainLinks: row({
    group: 'Markdown',
    headers: ['x-retain-links'],
    wins: 'header',
    schema: oneOf(RETAIN_LINKS),
    fromHeader: knownHeader(RETAIN_LINKS),
    defaultText: 'all',
    copies: 'any',
    meaning:
      'Links in Markdown: kept (`all`), removed with their text (`none`), reduced to their text (`text`), or written as numbered citations (`gpt-oss`).',
  }),
  retainImages: row({
    group: 'Markdown',
    headers: ['x-retain-images'],
    wins: 'header',
    schema: oneOf(RETAIN_IMAGES),
    fromHeader: knownHeader(RETAIN_IMAGES),
    defaultText: 'all',
    copies: 'any',
    meaning:
      'Images in Markdown: kept (`all`), removed (`none`), or reduced to their alt text (`alt`). `all_p` and `alt_p` generate missing alt text.',
  }),
  retainMedia: row({
    group: 'Markdown',
    headers: ['x-retain-media'],
    schema: oneOf(RETAIN_MEDIA),
    fromHeader: knownHeader(RETAIN_MEDIA),
    defaultText: 'link',
    copies: 'any',
    meaning:
      'Video, audio and embedded players in Markdown: written as a link (`link`), a label (`text`), an image (`image`) or HTML (`html`), or removed (`none`).',
  }),
  withLinksSummary: row({
    group: 'Markdown',
    headers: ['x-with-links-summary'],
    wins: 'header',
    schema: flagOr('all'),
    defaultText: 'false',
    copies: 'any',
    meaning: 'Lists the links on the page after the content, without links that run scripts. `all` keeps duplicates.',
  }),
  withImagesSummary: row({
    group: 'Markdown',
    headers: ['x-with-images-summary'],
    wins: 'header',
    schema: flag(),
    defaultText: 'false',
    copies: 'any',
    meaning: 'Lists the images on the page after the content.',
  }),
  withGeneratedAlt: row({
    group: 'Markdown',
    headers: ['x-with-generated-alt'],
    wins: 'header',
    schema: flag(),
    defaultText: 'false',
    copies: 'any',
    meaning:
      'Generates alt text for images that have none, with a vision model. Has no effect if `respondWith` is set; `retainImages: all_p` does the same in any format.',
  }),
  keepImgDataUrl: row({
    group: 'Markdown',
    headers: ['x-keep-img-data-url'],
    wins: 'header',
    schema: flag(),
    defaultText: 'false',
    copies: 'any',
    meaning: 'Keeps images that are embedded in the page as data URLs. Otherwise a hash replaces each of them.',
  }),
  markdown: row({
    group: 'Markdown',
    headers: Object.keys(MARKDOWN_HEADERS),
    schema: object(markdownShape),
    headerFields: MARKDOWN_HEADERS,
    copies: 'any',
    meaning: 'Markdown style. As headers: one `X-Md-…` for each field.',
  }),
  noGfm: row({
    group: 'Markdown',
    headers: ['x-no-gfm'],
    wins: 'header',
    schema: flagOr('table'),
    defaultText: 'false',
    copies: 'any',
    meaning:
      'Disables GitHub Flavored Markdown (tables, strikethrough, task lists, math). `table` only writes tables as HTML.',
  }),
  markdownChunking: row({
    group: 'Markdown',
    headers: ['x-markdown-chunking'],
    schema: showAs(
      z.union([z.string(), z.boolean(), z.literal([0, 1])], 'must be true, false or a strategy such as h2'),
      { json: { anyOf: [...CHUNKING_FORMS, { type: 'integer', enum: [0, 1] }] }, text: { anyOf: CHUNKING_FORMS } },
    ).transform((value) => (toBoolean(value) ? String(value).trim() : '')),
    copies: 'any',
    meaning:
      'Splits the Markdown at headings. `h1` to `h5` split at headings down to that level; `s1` to `s5` also repeat the parent headings in each chunk.',
  }),
  pageMarkers: row({
    group: 'Markdown',
    headers: ['x-page-markers'],
    schema: flag(),
    defaultText: 'false',
    copies: 'any',
    meaning:
      'Writes a comment such as `<!-- page 3 -->` on a line of its own before the content of each page, slide, sheet or chapter of a document.',
  }),
  maxTokens: row({
    group: 'Answer',
    headers: ['x-max-tokens'],
    unit: 'tokens',
    schema: number({ min: 500, integer: true }),
    fromHeader: wholeNumberHeader,
    copies: 'any',
    meaning: 'Maximum length, applied separately to content, HTML and text; the rest is cut off. At least 500.',
  }),
  tokenBudget: row({
    group: 'Answer',
    headers: ['x-token-budget'],
    unit: 'tokens',
    schema: number({ min: 0, integer: true }),
    fromHeader: wholeNumberHeader,
    copies: 'any',
    meaning:
      'Maximum charge. The read fails with BudgetExceededError if the response would cost more; 0 means no maximum.',
  }),
  trace: row({
    group: 'Answer',
    headers: ['x-trace'],
    schema: flag(),
    defaultText: 'false',
    copies: 'any',
    meaning:
      'Adds the steps of the request and their durations to the response: `meta.trace` in JSON, a final `trace` event in a stream, otherwise the `Server-Timing` header. Free of charge.',
  }),
  explain: row({
    group: 'Answer',
    headers: ['x-explain'],
    schema: flag(),
    defaultText: 'false',
    copies: 'any',
    meaning:
      'Adds to JSON and stream responses which parts of the page were removed, by which rule, and the source element of each Markdown block. Free of charge. Not available for text responses and model formats.',
  }),

  locale: row({
    group: 'Request',
    headers: ['x-locale'],
    wins: 'header',
    schema: z
      .string()
      .transform((text) => text.trim())
      .refine(isLocale, 'must be a language tag such as en or de-CH')
      .transform((tag) => Intl.getCanonicalLocales(tag)[0]!),
    defaultText: 'en-US',
    copies: 'by rule',
    meaning:
      'Language to request, as a language tag. All engines send it as Accept-Language; page scripts see it as the browser language.',
  }),
  referer: row({
    group: 'Request',
    headers: ['x-referer'],
    wins: 'header',
    schema: z.string().transform((text, context) => {
      if (/^https?:\/\//i.test(text) && isUrl(text)) return new URL(text).href;
      context.addIssue({ code: 'custom', message: 'must be an http or https URL', input: text });
      return z.NEVER;
    }),
    meaning: 'Referer header of the page request: an http or https URL.',
  }),
  userAgent: row({
    group: 'Request',
    headers: ['x-user-agent'],
    schema: openWords(
      USER_AGENTS,
      z
        .string()
        .max(MAX_USER_AGENT)
        .refine((text) => /^[\x20-\x7e]+$/.test(text), 'must be printable ASCII'),
      { maxLength: MAX_USER_AGENT },
    ),
    defaultText: 'browser',
    meaning:
      'User-Agent header: printable ASCII, at most 512 characters. `browser` is that of the built-in browser; `auto` is yours if it starts with `Mozilla/5.0`, else `browser`; `inherit` and `pass-through` are yours; `bot` and `lectern` name this program; `diversify` picks one of several browsers for each host. Without an API key, a browser User-Agent has no effect.',
  }),
  setCookies: row({
    group: 'Request',
    headers: ['x-set-cookie'],
    wins: 'header',
    schema: texts(),
    caching: 'neither',
    meaning: 'Cookies to send to the target, in Set-Cookie syntax.',
  }),
  customHeader: row({
    group: 'Request',
    schema: object(z.record(z.string(), z.string()).refine(hasFewMembers, 'must not have more than 100 entries')),
    caching: 'neither',
    meaning: 'Additional headers to send to the target; at most 100.',
  }),
  skipCertVerification: row({
    group: 'Request',
    headers: ['x-skip-cert-verification'],
    schema: flag(),
    defaultText: 'false',
    caching: 'neither',
    meaning: 'Accepts certificates that fail verification.',
  }),
  proxyUrl: row({
    group: 'Request',
    headers: ['x-proxy-url'],
    schema: z.string().transform((text) => text.trim()),
    feature: 'proxy',
    caching: 'neither',
    meaning: 'Proxy for this read: an http, https, socks4 or socks5 URL, with credentials if needed.',
  }),
  proxy: row({
    group: 'Request',
    headers: ['x-proxy'],
    schema: openWords(['none', 'auto', 'any', 'true'], z.string(), {
      description: 'A two-letter country code. A trailing `+` also sets `proxyResources`.',
    })
      .transform((text) => text.trim().toLowerCase())
      .refine(
        (text) => /^(?:(?:none|auto|any|true|false|no|[a-z]{2})\+?)?$/.test(text),
        'must be none, auto, any or a two-letter country code',
      ),
    feature: 'proxy',
    defaultText: 'none',
    copies: 'by rule',
    meaning:
      'Operator proxy: `any` or `true` for one in any country, a two-letter code for one in that country, `auto` to let the server choose. A trailing `+` also sets `proxyResources`.',
  }),
  proxyResources: row({
    group: 'Request',
    headers: ['x-proxy-resources'],
    schema: flag(),
    copies: 'any',
    meaning: 'Also sends images and other page resources through the proxy.',
  }),
  robotsTxt: row({
    group: 'Request',
    headers: ['x-robots-txt'],
    schema: z.string().transform((text) => text.trim()),
    copies: 'by rule',
    meaning: 'Obeys robots.txt (RFC 9309) as the given user agent; `true` or `*` for any. Forbidden pages are refused.',
  }),
  assertStatusCode: row({
    group: 'Request',
    headers: ['x-assert-status-code'],
    schema: number({ min: 100, max: 599, integer: true }),
    fromHeader: wholeNumberHeader,
    copies: 'any',
    meaning: 'Fails unless the page responds with this HTTP status.',
  }),
  assertNotBlocked: row({
    group: 'Request',
    headers: ['x-assert-not-blocked'],
    schema: flag(),
    copies: 'any',
    meaning:
      'Fails if the target sent another page in place of the content: a challenge, a login, an error page or the like.',
  }),

  noCache: row({
    group: 'Cache and privacy',
    headers: ['x-no-cache'],
    wins: 'header',
    schema: flag(),
    caching: 'not read',
    defaultText: 'false',
    meaning: 'Fetches the page again instead of using the cache. The result is still cached.',
  }),
  cacheTolerance: row({
    group: 'Cache and privacy',
    headers: ['x-cache-tolerance'],
    wins: 'header',
    unit: 's',
    schema: number({ min: 0, integer: true }),
    fromHeader: wholeNumberHeader,
    defaultText: '3600',
    copies: 'by rule',
    meaning:
      'Maximum age of a cached copy; 0 bypasses the cache. A value above 0 also allows copies of pages that forbid caching.',
  }),
  doNotTrack: row({
    group: 'Cache and privacy',
    headers: ['dnt'],
    schema: flag(),
    caching: 'not written',
    defaultText: 'false',
    meaning: 'Keeps the result out of the cache.',
  }),
  zeroDataRetention: row({
    group: 'Cache and privacy',
    headers: ['x-zero-data-retention'],
    schema: flag(),
    caching: 'neither',
    defaultText: 'false',
    meaning: 'Stores nothing about the read: no cached copy, no URL or content in logs.',
  }),
  exportStorageState: row({
    group: 'Cache and privacy',
    headers: ['x-export-storage-state'],
    schema: flag(),
    needsBrowser: on,
    caching: 'neither',
    meaning: 'Returns the cookies and local storage of the page. Only in JSON responses.',
  }),
  storageState: row({
    group: 'Cache and privacy',
    schema: object(z.looseObject({})),
    needsBrowser: on,
    caching: 'neither',
    meaning: 'Cookies and local storage to load before the page.',
  }),
  page: row({
    group: 'Page content',
    headers: ['x-page'],
    schema: number({ min: 1, integer: true }),
    fromHeader: wholeNumberHeader,
    copies: 'by rule',
    meaning: 'Page of a document to read, counted from 1.',
  }),
  pdfRunningText: row({
    group: 'Page content',
    headers: ['x-pdf-running-text'],
    schema: oneOf(PDF_RUNNING_TEXT),
    fromHeader: knownHeader(PDF_RUNNING_TEXT),
    defaultText: 'drop',
    meaning: 'Headers, footers, page numbers and watermarks of PDFs and scans: left out (`drop`) or kept (`keep`).',
  }),
  filePassword: row({
    group: 'Page content',
    headers: ['x-file-password'],
    schema: z.string().max(MAX_FILE_PASSWORD),
    caching: 'neither',
    meaning:
      'Password of an encrypted PDF, Office or OpenDocument file; at most 256 characters. It is not stored, and neither is the result.',
  }),
  annotations: row({
    group: 'Page content',
    headers: ['x-annotations'],
    schema: oneOf(ANNOTATION_CHOICES),
    fromHeader: knownHeader(ANNOTATION_CHOICES),
    defaultText: 'none',
    copies: 'by rule',
    meaning:
      'Comments and tracked changes of a document: left out, so that the text is the final one (`none`), written into the text as CriticMarkup (`inline`: `{>>comment<<}`, `{++inserted++}`, `{--deleted--}`), or as footnotes (`footnotes`).',
  }),
  instruction: row({
    group: 'Answer',
    headers: ['x-instruction'],
    schema: z.string(),
    caching: 'not read',
    meaning: 'Instruction for the language or vision model that reads the page.',
  }),
  jsonSchema: row({
    group: 'Answer',
    headers: ['x-json-schema'],
    schema: object(z.looseObject({})),
    copies: 'any',
    meaning: 'JSON Schema for the structured response that the language model writes.',
  }),
};

export type OptionName = keyof typeof OPTIONS;

/** The options that the caller set, parsed, without defaults. */
export type GivenOptions = Given<typeof OPTIONS>;

function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
