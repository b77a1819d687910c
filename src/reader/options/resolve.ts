/**
 * From what a caller gave to complete options: a preset fills what was left unset, defaults fill the rest, and values
 * that follow from others are worked out once. The result is frozen; nothing after this asks where a value came from.
 */

import { own } from '#own.ts';
import { picturesWanted } from '../formats/pictures.ts';
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
import { preset } from './presets.ts';

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
  retainMedia: 'none',
  withLinksSummary: false,
  withImagesSummary: false,
  keepImgDataUrl: false,
  noGfm: false,
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
} as const satisfies { [Name in OptionName]?: GivenOptions[Name] };

type Defaulted = keyof typeof DEFAULTS;
/** What is read: it goes another way, as the target. */
type Content = 'url' | 'html' | 'file' | 'pdf';
type Derived =
  | Content
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
      /** The parts of `respondWith`. */
      formats: ReadonlySet<Format>;
      /** Whether the formats were one of the single values, so that a plain-text answer exists. */
      singleFormat: boolean;
      /** The model that writes the answer instead of a format of ours. */
      modelFormat: ModelFormat | undefined;
      engine: EngineChoice;
      /** The operator's proxy that was asked for: by country, anywhere, or left to the server. */
      proxy: 'none' | 'auto' | 'any' | Country;
      /** One page of a document, counted from 1. */
      page: number | undefined;
      /** The caller's own limit; engines have defaults of their own. */
      timeoutMs: number | undefined;
      respondTiming: RespondTiming;
      /** The options that the caller gave, `engine` aside, and that only the browser can serve. */
      needsBrowser: readonly OptionName[];
      /** Those that a preset added: without a browser they give way. */
      prefersBrowser: readonly OptionName[];
      markdown: MarkdownStyle;
      /** The options that the caller gave another value than the default; what a preset added is not among them. */
      given: readonly OptionName[];
    }
>;

const FORMATS: readonly Format[] = ['content', 'markdown', 'html', 'text', 'frontmatter', 'screenshot', 'pageshot'];

/** Complete options: given over preset over default. `byCaller` is what of it the caller gave, where others added to it. */
export function resolve(asked: GivenOptions, byCaller: GivenOptions = asked): Options {
  const given = preset(asked);
  const { respondWith: format, timeout, engine, markdown, respondTiming, proxy = 'none', preset: _, ...more } = given;
  const { url, html, file, pdf, ...rest } = more;
  const respondWith = format || own(ENGINE_FORMATS, engine ?? '') || '';
  // A schema asks for structure, which only a language model can give.
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
    formats,
    modelFormat,
    singleFormat: respondWith === '' || isSingleFormat(respondWith) || isFrontmatterMarkdown(formats),
    engine: engineNamed(engine),
    proxy: proxyNamed(proxy),
    proxyResources: on(rest.proxyResources) || proxy.endsWith('+'),
    timeoutMs,
    markdown: { ...MARKDOWN_STYLE_DEFAULTS, ...markdown },
    needsBrowser,
    prefersBrowser: browserOptions(given).filter((name) => !needsBrowser.includes(name)),
    given: givenNames(byCaller),
    respondTiming: respondTiming ?? presumedTiming(formats, modelFormat, timeout, on(rest.withIframe)),
  };
  if (options.retainLinks === 'gpt-oss' && !options.withLinksSummary) options.withLinksSummary = true;
  if (on(rest.withGeneratedAlt) && options.retainImages !== 'alt_p') options.retainImages = 'all_p';
  return Object.freeze(options);
}

function givenNames(byCaller: GivenOptions): OptionName[] {
  const defaults: Partial<Record<OptionName, unknown>> = DEFAULTS;
  return (Object.entries(byCaller) as [OptionName, unknown][]).flatMap(([name, value]) => {
    const isNothing = value === undefined || value === false || (Array.isArray(value) && value.length === 0);
    return isNothing || value === defaults[name] ? [] : [name];
  });
}

const on = (value: unknown): boolean => Boolean(value);

/** Engines that stand for a format (contract, section 3.4). */
const ENGINE_FORMATS: Readonly<Record<string, ModelFormat>> = { vlm: 'vlm', 'readerlm-v2': 'readerlm-v2' };

/** Front matter joined with one kind of Markdown is one text, so it may be answered as text. */
const isFrontmatterMarkdown = (formats: ReadonlySet<Format>) =>
  formats.size === 2 && formats.has('frontmatter') && (formats.has('content') || formats.has('markdown'));

export const wantsMarkdown = ({ formats }: Pick<Options, 'formats'>): boolean =>
  formats.has('content') || formats.has('markdown') || formats.has('frontmatter');

function engineNamed(name: string | undefined): EngineChoice {
  if (name === 'browser' || name === 'vlm') return 'browser';
  if (name === 'cf-browser-rendering') return name;
  return name === 'direct' || name === 'curl' ? 'direct' : 'auto';
}

function proxyNamed(text: string): Options['proxy'] {
  const name = text.replace(/\+$/, '');
  if (['', 'none', 'false', 'no'].includes(name)) return text.endsWith('+') && !name ? 'any' : 'none';
  return name === 'true' ? 'any' : name;
}

/** The timing when none is given, by the contract's section 9. */
function presumedTiming(
  formats: ReadonlySet<Format>,
  modelFormat: ModelFormat | undefined,
  timeout: GivenOptions['timeout'],
  withIframe: boolean,
): RespondTiming {
  const patient = timeout === 'none' || (timeout ?? 0) >= 20;
  if (patient || withIframe) return 'network-idle';
  const { screenshot, pageshot } = picturesWanted({ formats, modelFormat });
  return screenshot || pageshot ? 'media-idle' : 'resource-idle';
}

function browserOptions(given: GivenOptions): OptionName[] {
  return (Object.entries(given) as [OptionName, never][]).flatMap(([name, value]) => {
    const { needsBrowser } = OPTIONS[name] as { needsBrowser?: (value: never) => boolean };
    return name !== 'engine' && value !== undefined && needsBrowser?.(value) ? [name] : [];
  });
}
