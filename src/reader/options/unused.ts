/**
 * Warnings about options that the caller set and that had no effect on the result, with the reason: no option is
 * ignored silently.
 */

import { hasAnnotations } from '#documents/detect.ts';
import { VISION_SETTINGS } from '../formats/model-settings.ts';
import type { RenderTask } from '../render.ts';
import { isHtml } from '../snapshot.ts';
import type { OptionName } from './options.ts';
import { type Options, wantsMarkdown } from './resolve.ts';

/** Properties of a finished read that determine which options had an effect. */
interface ReadFacts {
  readonly options: Options;
  readonly engine: 'direct' | 'browser' | 'cf-browser-rendering' | 'given';
  /** Whether the target is a web page, rather than a file or text. */
  readonly isPage: boolean;
  readonly isImage: boolean;
  /** The media type of a document. */
  readonly documentType: string | undefined;
  /** Whether the target is a document with separate pages. */
  readonly hasPages: boolean;
  readonly isPdf: boolean;
  /** Whether the target came with the request. */
  readonly isGiven: boolean;
  /** Whether the caller has no API key. */
  readonly isKeyless: boolean;
}

interface Rule {
  readonly names: readonly OptionName[];
  readonly applies: (facts: ReadFacts) => boolean;
  readonly why: string;
}

/** Whether the caller or the format requests the whole page, without a choice of the content. */
const readsWhole = ({ formats, modelFormat, instruction, jsonSchema }: Options) =>
  modelFormat ? instruction !== undefined || jsonSchema !== undefined : formats.has('markdown');

const hasPicture = ({ formats }: Options) => formats.has('screenshot') || formats.has('pageshot');

/** Only the first rule that matches an option is reported. */
const RULES: readonly Rule[] = [
  {
    names: [
      'retainMedia',
      'markdown',
      'noGfm',
      'markdownChunking',
      'keepImgDataUrl',
      'withGeneratedAlt',
      'withLinksSummary',
      'withImagesSummary',
    ],
    applies: ({ options }) => options.modelFormat !== undefined,
    why: 'a model writes the response',
  },
  {
    names: ['retainMedia', 'markdown', 'noGfm', 'markdownChunking', 'withGeneratedAlt'],
    applies: ({ options }) => !wantsMarkdown(options),
    why: 'the response has no Markdown',
  },
  {
    names: ['comments'],
    applies: ({ options }) => !wantsMarkdown(options) && options.modelFormat === undefined,
    why: 'the response has no Markdown',
  },
  {
    names: ['comments'],
    applies: ({ options }) => options.modelFormat?.startsWith('svc-ocr') === true,
    why: 'text recognition reads a picture of the page',
  },
  { names: ['comments'], applies: ({ options }) => readsWhole(options), why: 'the whole page is returned' },
  {
    names: ['comments'],
    applies: ({ options }) => options.targetSelector.length > 0,
    why: 'elements that targetSelector matches are returned whole',
  },
  { names: ['comments'], applies: ({ isPage }) => !isPage, why: 'the target is not a web page' },
  {
    names: ['withGeneratedAlt'],
    applies: ({ options }) => options.given.includes('respondWith'),
    why: 'respondWith is given, and `retainImages: all_p` generates them in any format',
  },
  {
    // The summaries of links and images also use these options.
    names: ['retainLinks', 'retainImages', 'keepImgDataUrl'],
    applies: ({ options }) =>
      !wantsMarkdown(options) && !options.modelFormat && !options.withLinksSummary && !options.withImagesSummary,
    why: 'the response has no Markdown',
  },
  {
    names: ['maxTokens'],
    applies: ({ options: { formats, modelFormat } }) =>
      !modelFormat && [...formats].every((format) => format === 'screenshot'),
    why: 'the response has no text',
  },
  {
    names: ['jsonSchema'],
    applies: ({ options }) => options.modelFormat !== 'readerlm-v2',
    why: 'only readerlm-v2 supports a schema',
  },
  {
    names: ['instruction'],
    applies: ({ options: { modelFormat }, isImage }) =>
      !isImage && modelFormat !== 'vlm' && modelFormat !== 'readerlm-v2',
    why: 'no model reads the page in this format',
  },
  {
    names: ['pdfRunningText'],
    applies: ({ isPdf, isImage }) => !isPdf && !isImage,
    why: 'the target is not a PDF or an image',
  },
  {
    names: ['pageMarkers'],
    applies: ({ options }) => options.modelFormat !== undefined || !wantsMarkdown(options),
    why: 'only the Markdown of a document has page markers',
  },
  {
    names: ['page', 'pageMarkers'],
    applies: ({ hasPages }) => !hasPages,
    why: 'the target is not a document with pages',
  },
  {
    names: ['filePassword', 'annotations'],
    applies: ({ documentType }) => documentType === undefined,
    why: 'the target is not a document',
  },
  {
    names: ['annotations'],
    applies: ({ documentType = '' }) => !hasAnnotations(documentType),
    why: 'annotations of this kind of file are not read',
  },
  {
    names: [
      'waitForSelector',
      'scroll',
      'withIframe',
      'withShadowDom',
      'removeOverlay',
      'detachInvisibles',
      'injectPageScript',
      'injectFrameScript',
    ],
    applies: ({ isPage }) => !isPage,
    why: 'the target is not a web page',
  },
  {
    names: ['viewport'],
    applies: ({ isPage, options }) => !isPage && !hasPicture(options),
    why: 'the target is not a web page',
  },
  { names: ['preloadUrl'], applies: ({ options }) => options.preloadUrl === undefined, why: 'no URL was given' },
  {
    names: ['preloadUrl', 'storageState', 'exportStorageState', 'referer', 'setCookies', 'customHeader', 'locale'],
    applies: ({ isGiven, engine }) => isGiven && engine === 'given',
    why: 'nothing was fetched for this response',
  },
  {
    names: ['skipCertVerification', 'proxy', 'proxyUrl', 'proxyResources', 'robotsTxt'],
    applies: ({ isGiven, engine }) => isGiven && engine === 'given',
    why: 'nothing was fetched for this response',
  },
  { names: ['proxy'], applies: ({ isKeyless }) => isKeyless, why: 'it needs an API key' },
  {
    names: ['userAgent'],
    applies: ({ isKeyless, options }) => isKeyless && options.userAgent === 'browser',
    why: 'the User-Agent of a browser needs an API key',
  },
  {
    names: ['respondTiming'],
    applies: ({ options, engine }) => options.engine === 'direct' || engine === 'given',
    why: 'the page was not rendered',
  },
  {
    names: ['proxyResources'],
    applies: ({ options: { proxy, proxyUrl } }) => proxy === 'none' && proxyUrl === undefined,
    why: 'no proxy was requested',
  },
  {
    names: ['base'],
    applies: ({ engine }) => engine === 'cf-browser-rendering',
    why: 'the rendering service does not report redirects',
  },
];

function factsOf({ snapshot, options, isGiven = false, isKeyless = false }: Read): ReadFacts {
  const { document, engine } = snapshot;
  return {
    options,
    engine,
    isPage: isHtml(snapshot) && document === undefined,
    documentType: document?.mediaType,
    isImage: document?.mediaType.startsWith('image/') === true,
    isPdf: document?.mediaType === 'application/pdf',
    hasPages: document?.pageCount !== undefined || document?.page !== undefined,
    isGiven,
    isKeyless,
  };
}

type Read = Pick<RenderTask, 'snapshot' | 'options' | 'isGiven' | 'isKeyless'>;

/** Returns one warning for each reason, naming the options that had no effect. */
export function unusedOptions(read: Read): string[] {
  const facts = factsOf(read);
  const lines = new Map<string, OptionName[]>();
  for (const name of facts.options.given) {
    const rule = RULES.find(({ names, applies }) => names.includes(name) && applies(facts));
    if (rule) lines.set(rule.why, [...(lines.get(rule.why) ?? []), name]);
  }
  const unused = [...lines].map(
    ([why, names]) => `${joinNames(names)} ${names.length === 1 ? 'has' : 'have'} no effect: ${why}.`,
  );
  const { lacksVision, modelFormat } = facts.options;
  if (lacksVision && !modelFormat && wantsMarkdown(facts.options)) {
    unused.push(`No alt text was generated: that needs ${VISION_SETTINGS}.`);
  }
  return unused;
}

const joinNames = (names: readonly string[]): string =>
  names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
