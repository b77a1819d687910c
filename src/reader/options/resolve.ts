/**
 * From what a caller gave to complete options: a preset fills what was left unset, defaults fill the rest, and values
 * that follow from others are worked out once. The result is frozen; nothing after this asks where a value came from.
 */
import { problem } from '#errors.ts';
import { MARKDOWN_STYLE_DEFAULTS, type MarkdownStyle } from '../markdown/style.ts';
import {
  type Format,
  type GivenOptions,
  isSingleFormat,
  OPTIONS,
  type OptionName,
  type RespondTiming,
} from './options.ts';

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
  noCache: false,
  doNotTrack: false,
  zeroDataRetention: false,
} as const satisfies { [Name in OptionName]?: GivenOptions[Name] };

type Defaulted = keyof typeof DEFAULTS;
type Derived = 'respondWith' | 'timeout' | 'engine' | 'markdown' | 'respondTiming';

/** Complete options of a read. */
export type Options = Readonly<
  Omit<GivenOptions, Defaulted | Derived> &
    Required<Pick<GivenOptions, Exclude<Defaulted, Derived>>> & {
      /** The parts of `respondWith`. */
      formats: ReadonlySet<Format>;
      /** Whether the formats were one of the single values, so that a plain-text answer exists. */
      singleFormat: boolean;
      engine: 'auto' | 'browser' | 'direct';
      /** The caller's own limit; engines have defaults of their own. */
      timeoutMs: number | undefined;
      respondTiming: RespondTiming;
      /** The options in force, `engine` aside, that only the browser can serve. */
      needsBrowser: readonly OptionName[];
      markdown: MarkdownStyle;
    }
>;

const FORMATS: readonly Format[] = ['content', 'markdown', 'html', 'text', 'frontmatter', 'screenshot', 'pageshot'];

/** Complete options, or ParamValidationError naming the first option that this version cannot serve. */
export function resolve(given: GivenOptions): Options {
  refuseUnavailable(given);
  const { respondWith = '', timeout, engine, markdown, respondTiming, ...rest } = given;
  const formats = new Set(FORMATS.filter((format) => respondWith.includes(format)));
  if (!formats.size) formats.add('content');
  const timeoutMs = typeof timeout === 'number' ? timeout * 1000 : undefined;
  const options = {
    ...DEFAULTS,
    ...rest,
    formats,
    singleFormat: respondWith === '' || isSingleFormat(respondWith) || isFrontmatterMarkdown(formats),
    engine: engineNamed(engine),
    timeoutMs,
    markdown: { ...MARKDOWN_STYLE_DEFAULTS, ...markdown },
    needsBrowser: browserOptions(given),
    respondTiming: respondTiming ?? presumedTiming(formats, timeout, on(rest.withIframe)),
  };
  if (options.retainLinks === 'gpt-oss' && !options.withLinksSummary) options.withLinksSummary = true;
  return Object.freeze(options);
}

const on = (value: unknown): boolean => Boolean(value);

function refuseUnavailable(given: GivenOptions): void {
  for (const [name, value] of Object.entries(given)) {
    const { unavailable } = OPTIONS[name as OptionName] as { unavailable?: (value: unknown) => string | undefined };
    const reason = value === undefined ? undefined : unavailable?.(value);
    if (reason) throw problem('ParamValidationError', { path: name, message: `${name} ${reason}` });
  }
}

/** Front matter joined with one kind of Markdown is one text, so it may be answered as text. */
const isFrontmatterMarkdown = (formats: ReadonlySet<Format>) =>
  formats.size === 2 && formats.has('frontmatter') && (formats.has('content') || formats.has('markdown'));

function engineNamed(name: string | undefined): Options['engine'] {
  if (name === 'browser') return 'browser';
  return name === 'direct' || name === 'curl' ? 'direct' : 'auto';
}

/** The timing when none is given, by the contract's section 9. */
function presumedTiming(
  formats: ReadonlySet<Format>,
  timeout: GivenOptions['timeout'],
  withIframe: boolean,
): RespondTiming {
  const patient = timeout === 'none' || (timeout ?? 0) >= 20;
  if (patient || withIframe) return 'network-idle';
  return formats.has('screenshot') || formats.has('pageshot') ? 'media-idle' : 'resource-idle';
}

function browserOptions(given: GivenOptions): OptionName[] {
  return (Object.entries(given) as [OptionName, never][]).flatMap(([name, value]) => {
    const { needsBrowser } = OPTIONS[name] as { needsBrowser?: (value: never) => boolean };
    return name !== 'engine' && value !== undefined && needsBrowser?.(value) ? [name] : [];
  });
}
