/**
 * Resolves the caller's options to complete ones: a preset fills in unset options, defaults fill in the rest, and
 * derived values are computed once. The result is frozen and does not show where a value came from, except in `given`.
 */

import { ownValue } from '#own-value.ts';
import { neededScreenshots } from '../formats/needed-screenshots.ts';
import { MARKDOWN_STYLE_DEFAULTS, type MarkdownStyle } from '../markdown/style.ts';
import {
  type Format,
  type GivenOptions,
  isSingleFormat,
  MODEL_FORMATS,
  type ModelFormat,
  OPTIONS,
  type OptionName,
  type RespondTiming,
} from './options.ts';
import { applyPreset } from './presets.ts';

const DEFAULTS = {
  engine: 'auto',
  base: 'initial',
  targetSelector: [] as string[],
  waitForSelector: [] as string[],
  removeSelector: [] as string[],
  injectPageScript: [] as string[],
  injectFrameScript: [] as string[],
  withIframe: false,
  withShadowDom: false,
  removeOverlay: false,
  detachInvisibles: false,
  retainLinks: 'all',
  retainImages: 'all',
  retainMedia: 'link',
  withLinksSummary: false,
  withImagesSummary: false,
  keepImgDataUrl: false,
  noGfm: false,
  pageMarkers: false,
  setCookies: [] as string[],
  skipCertVerification: false,
  withGeneratedAlt: false,
  noServiceWorker: false,
  exportStorageState: false,
  noCache: false,
  doNotTrack: false,
  zeroDataRetention: false,
  trace: false,
  explain: false,
  annotations: 'none',
} as const satisfies { [Name in OptionName]?: GivenOptions[Name] };

type Defaulted = keyof typeof DEFAULTS;
/** Options that become part of the target. */
type TargetOption = 'url' | 'html' | 'file' | 'pdf';
type Derived =
  | TargetOption
  | 'respondWith'
  | 'timeout'
  | 'engine'
  | 'markdown'
  | 'respondTiming'
  | 'proxy'
  | 'preset'
  | 'page';

export type EngineChoice = 'auto' | 'browser' | 'direct' | 'cf-browser-rendering';
/** A two-letter country code in lower case. */
export type Country = string & {};

/** Complete options of a read. */
export type Options = Readonly<
  Omit<GivenOptions, Defaulted | Derived> &
    Required<Pick<GivenOptions, Exclude<Defaulted, Derived>>> & {
      /** Set if generated alt text was requested and no vision model is configured. */
      lacksVision?: boolean;
      /** The formats in `respondWith`. */
      formats: ReadonlySet<Format>;
      /** Whether the formats have a plain-text response. */
      singleFormat: boolean;
      /** The model format, if a model writes the result. */
      modelFormat: ModelFormat | undefined;
      engine: EngineChoice;
      /** The operator's proxy to use: a country, `any`, or `auto` to let the server choose. */
      proxy: 'none' | 'auto' | 'any' | Country;
      /** Whether to include the figures of PDFs, which takes time: the caller asked for images. */
      figures: boolean;
      /** Page of a document, counted from 1. */
      page: number | undefined;
      /** The caller's timeout in milliseconds; without one, each engine uses its default. */
      timeoutMs: number | undefined;
      respondTiming: RespondTiming;
      /** Options set by the caller, except `engine`, that only the browser can serve. */
      needsBrowser: readonly OptionName[];
      /**
       * Options that only the browser can serve and that a preset added; they are dropped if no browser is available.
       */
      prefersBrowser: readonly OptionName[];
      markdown: MarkdownStyle;
      /** Options that the caller set to a value other than the default, excluding those from a preset. */
      given: readonly OptionName[];
    }
>;

const FORMATS: readonly Format[] = ['content', 'markdown', 'html', 'text', 'frontmatter', 'screenshot', 'pageshot'];

/**
 * Returns complete options: the caller's values take precedence over the preset, and the preset over the defaults.
 * `byCaller` is the part of `asked` that the caller set, if options were added from elsewhere.
 */
export function resolve(asked: GivenOptions, byCaller: GivenOptions = asked): Options {
  const given = applyPreset(asked);
  const { respondWith: format, timeout, engine, markdown, respondTiming, proxy = 'none', preset: _, ...more } = given;
  const { url, html, file, pdf, ...rest } = more;
  const respondWith = format || ownValue(ENGINE_FORMATS, engine ?? '') || '';
  // A schema requires structured output, which only a language model can write.
  const modelFormat =
    MODEL_FORMATS.find((name) => respondWith.includes(name)) ?? (given.jsonSchema ? 'readerlm-v2' : undefined);
  const formats = new Set(modelFormat ? [] : FORMATS.filter((name) => respondWith.includes(name)));
  if (!formats.size && !modelFormat) formats.add('content');
  const needsBrowser = browserOptions(asked);
  const timeoutMs = typeof timeout === 'number' ? timeout * 1000 : undefined;
  const options = {
    ...DEFAULTS,
    ...rest,
    page: rest.page,
    figures: rest.retainImages?.startsWith('all') ?? false,
    formats,
    modelFormat,
    singleFormat: respondWith === '' || isSingleFormat(respondWith) || isFrontmatterMarkdown(formats),
    engine: engineOf(engine),
    proxy: proxyOf(proxy),
    proxyResources: on(rest.proxyResources) || proxy.endsWith('+'),
    timeoutMs,
    markdown: { ...MARKDOWN_STYLE_DEFAULTS, ...markdown },
    needsBrowser,
    prefersBrowser: browserOptions(given).filter((name) => !needsBrowser.includes(name)),
    given: namesGiven(byCaller),
    respondTiming: respondTiming ?? defaultTiming(formats, modelFormat, timeout, on(rest.withIframe)),
  };
  if (options.retainLinks === 'gpt-oss' && !options.withLinksSummary) options.withLinksSummary = true;
  if (on(rest.withGeneratedAlt) && !asked.respondWith && options.retainImages !== 'alt_p') {
    options.retainImages = 'all_p';
  }
  return Object.freeze(options);
}

/** The options for a server without a vision model: images keep their alt text. */
export function withoutDescriptions(options: Options): Options {
  const { retainImages } = options;
  if (!retainImages.endsWith('_p')) return options;
  return Object.freeze({ ...options, retainImages: retainImages === 'alt_p' ? 'alt' : 'all', lacksVision: true });
}

/** The options of an answer that no model writes. */
export const withoutModel = (options: Options): Options =>
  Object.freeze({ ...options, modelFormat: undefined, formats: new Set<Format>(['content']) });

function namesGiven(byCaller: GivenOptions): OptionName[] {
  const defaults: Partial<Record<OptionName, unknown>> = DEFAULTS;
  return (Object.entries(byCaller) as [OptionName, unknown][]).flatMap(([name, value]) => {
    const isUnset = [undefined, false, ''].includes(value as never) || (Array.isArray(value) && value.length === 0);
    return isUnset || value === defaults[name] ? [] : [name];
  });
}

const on = (value: unknown): boolean => Boolean(value);

/** Engines that imply a format (docs/reference/wire/reader.md, Engines). */
const ENGINE_FORMATS: Readonly<Record<string, ModelFormat>> = { vlm: 'vlm', 'readerlm-v2': 'readerlm-v2' };

/** Front matter combined with one kind of Markdown is a single text, so there is a plain-text response. */
const isFrontmatterMarkdown = (formats: ReadonlySet<Format>) =>
  formats.size === 2 && formats.has('frontmatter') && (formats.has('content') || formats.has('markdown'));

export const wantsMarkdown = ({ formats }: Pick<Options, 'formats'>): boolean =>
  formats.has('content') || formats.has('markdown') || formats.has('frontmatter');

function engineOf(name: string | undefined): EngineChoice {
  if (name === 'browser' || name === 'vlm') return 'browser';
  if (name === 'cf-browser-rendering') return name;
  return name === 'direct' || name === 'curl' ? 'direct' : 'auto';
}

function proxyOf(text: string): Options['proxy'] {
  const name = text.replace(/\+$/, '');
  if (['', 'none', 'false', 'no'].includes(name)) return text.endsWith('+') && !name ? 'any' : 'none';
  return name === 'true' ? 'any' : name;
}

/** The default timing (docs/reference/wire/reader.md, Timing). */
function defaultTiming(
  formats: ReadonlySet<Format>,
  modelFormat: ModelFormat | undefined,
  timeout: GivenOptions['timeout'],
  withIframe: boolean,
): RespondTiming {
  const waitsLong = timeout === 'none' || (timeout ?? 0) >= 20;
  if (waitsLong || withIframe) return 'network-idle';
  const { screenshot, pageshot } = neededScreenshots({ formats, modelFormat });
  return screenshot || pageshot ? 'media-idle' : 'resource-idle';
}

function browserOptions(given: GivenOptions): OptionName[] {
  return (Object.entries(given) as [OptionName, never][]).flatMap(([name, value]) => {
    const { needsBrowser } = OPTIONS[name] as { needsBrowser?: (value: never) => boolean };
    return name !== 'engine' && value !== undefined && needsBrowser?.(value) ? [name] : [];
  });
}
