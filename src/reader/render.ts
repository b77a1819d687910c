/**
 * From a snapshot to a rendition: parse, apply selectors, extract, convert, cut, count. Pure and without a clock, so
 * that a thread can do it and be ended when a page is too much.
 */
import { problem } from '#errors.ts';
import {
  append,
  attribute,
  children,
  type Document,
  detach,
  ELEMENT,
  Element,
  elements as elementsOf,
  find,
  removeAttribute,
  setAttribute,
  Text,
} from '#html/node.ts';
import { type Parsed, parsePage } from '#html/parse.ts';
import { compileSelectors, SelectorError, selectAll } from '#html/select.ts';
import { outerHtml } from '#html/serialize.ts';
import { innerText } from '#html/visible-text.ts';
import type { Article } from './article.ts';
import { chunkMarkdown } from './chunking/chunk.ts';
import { extractArticle } from './extract/extract.ts';
import { collectImages, type PageImage } from './extract/images.ts';
import { collectLinks, documentBaseUrl, type Link } from './extract/links.ts';
import { CHUNK_SEPARATOR, textLayout } from './layout.ts';
import { frontmatter } from './markdown/frontmatter.ts';
import { imagesSummary, linksSummary } from './markdown/summaries.ts';
import { type MarkdownResult, toMarkdown } from './markdown/to-markdown.ts';
import type { Options } from './options/resolve.ts';
import type { Page, Rendition } from './rendition.ts';
import { FRAME_ATTRIBUTE, HIDDEN_ATTRIBUTE, isHtml, type Snapshot } from './snapshot.ts';
import { countTokens, keepTokens } from './tokens.ts';
import { warnings } from './warnings.ts';

export interface RenderTask {
  readonly snapshot: Snapshot;
  readonly options: Options;
  /** The address that was asked for, before redirects. */
  readonly requestedUrl: string;
}

/** Beyond these a page is answered as its text: Markdown of such a tree is no use to anyone (contract, section 8). */
const MAX_DEPTH = 256;
const MAX_ELEMENTS = 80_000;

/** Tokens that a picture is charged. */
const PICTURE_TOKENS = 765;
/** What a read with injected scripts is charged at least. */
const LEAST_WITH_SCRIPTS = 4_000;
/** No answer is charged more than this. */
const MAX_CHARGE = 2_000_000;

export function render({ snapshot, options, requestedUrl }: RenderTask): Rendition {
  const url = options.base === 'final' ? snapshot.url : requestedUrl;
  const parsed = documentOf(snapshot);
  const { document } = parsed;
  applySelectors(document, options);
  const baseUrl = documentBaseUrl(document, url);
  const fields = textFields(document, snapshot, options);
  const links = options.withLinksSummary
    ? collectLinks(document, baseUrl, options.withLinksSummary === 'all' ? 'all' : 'unique')
    : [];
  const images = options.withImagesSummary
    ? collectImages(document, baseUrl, {
        keepDataUrl: options.keepImgDataUrl,
        ...(baseUrl !== url && { origin: new URL(baseUrl).origin }),
      })
    : [];

  // What the caller pointed at is not chosen from once more.
  const whole = options.formats.has('markdown') || options.targetSelector.length > 0 || !isHtml(snapshot);
  const article = extractArticle(document, { url, baseUrl, whole });
  const markdown = wantsMarkdown(options)
    ? markdownOf(article, parsed, { snapshot, options, url, baseUrl })
    : undefined;
  return assemble({ snapshot, options, url, article, fields, markdown, links, images, complete: parsed.complete });
}

interface Parts {
  readonly snapshot: Snapshot;
  readonly options: Options;
  readonly url: string;
  readonly article: Article;
  readonly fields: { html?: string; text?: string };
  readonly markdown: MarkdownResult | undefined;
  readonly links: Link[];
  readonly images: PageImage[];
  /** Whether the whole source became a tree. */
  readonly complete: boolean;
}

function assemble({ snapshot, options, url, article, fields, markdown, links, images, complete }: Parts): Rendition {
  const cut = (text: string) => (options.maxTokens === undefined ? text : keepTokens(text, options.maxTokens));
  const content = markdown && cut(markdown.markdown);
  const contentTokens = content === undefined ? undefined : countTokens(content);
  const told = warnings(snapshot, { contentTokens, hiddenCount: article.hiddenCount, complete });
  const publishedTime = article.publishedTime ?? snapshot.lastModified;
  const page: Page = { title: article.title, description: article.description, url, usage: { tokens: 0 } };
  if (publishedTime) page.publishedTime = publishedTime;
  if (told.length) page.warning = told.join('\n');
  const head = options.formats.has('frontmatter')
    ? frontmatter({ ...page, ...(article.lang && { lang: article.lang }) })
    : '';
  if (content !== undefined) page.content = head ? cut(head + content) : content;
  if (content !== undefined && options.markdownChunking) {
    page.chunks = chunkMarkdown(content, { strategy: options.markdownChunking, title: article.title });
  }
  if (fields.html !== undefined) page.html = cut(fields.html);
  if (fields.text !== undefined) page.text = cut(fields.text);
  const summaries: string[] = [];
  if (options.withImagesSummary) {
    const summary = imagesSummary(images, markdown?.images ?? []);
    page.images = summary.json;
    summaries.push(summary.text);
  }
  if (options.withLinksSummary) {
    const mode = options.retainLinks === 'gpt-oss' ? 'gpt-oss' : options.withLinksSummary === 'all' ? 'all' : 'unique';
    const summary = linksSummary(links, markdown?.links ?? [], mode);
    page.links = summary.json;
    summaries.push(summary.text);
  }
  if (Object.keys(article.metadata).length) page.metadata = article.metadata;
  if (Object.keys(article.external).length) page.external = article.external;
  const tokens = charge(page, snapshot, options, head ? undefined : contentTokens);
  page.usage = { tokens };
  return {
    page: ordered(page),
    body: plainBody(page, options, summaries),
    tokens,
    screenshot: snapshot.screenshot,
    pageshot: snapshot.pageshot,
  };
}

/** The tree of a snapshot: its HTML, or its text as one preformatted block. */
function documentOf(snapshot: Snapshot): Parsed {
  if (isHtml(snapshot)) return parsePage(snapshot.text);
  const parsed = parsePage('');
  const block = new Element('pre');
  append(block, new Text(snapshot.text));
  append(find(parsed.document, 'body')!, block);
  return parsed;
}

const isTooMuch = ({ depth, elements, complete }: Parsed) => depth > MAX_DEPTH || elements > MAX_ELEMENTS || !complete;

/** Removes, then narrows (contract, section 10). AssertionFailureError when nothing matches the target. */
function applySelectors(document: Document, { removeSelector, targetSelector }: Options): void {
  for (const text of removeSelector) {
    for (const element of matching(document, text, 'removeSelector')) remove(element);
  }
  if (!targetSelector.length) return;
  const taken = new Set<Element>();
  for (const text of targetSelector) {
    for (const element of matching(document, text, 'targetSelector')) {
      if (!isInside(element, taken)) taken.add(element);
    }
  }
  if (!taken.size) {
    throw problem('AssertionFailureError', { message: `Nothing on the page matches ${targetSelector.join(', ')}` });
  }
  const body = find(document, 'body')!;
  if (taken.has(body)) return;
  const kept = [...taken].filter((element) => element.name !== 'html');
  if (kept.length < taken.size) return;
  for (const element of kept) detach(element);
  while (body.first) detach(body.first);
  for (const element of kept) append(body, element);
}

/** What makes a document a document stays; it is emptied instead. */
function remove(element: Element): void {
  if (element.name === 'html' || element.name === 'body' || element.name === 'head') {
    for (const inner of children(element)) {
      if (element.name !== 'html') detach(inner);
      else if (inner.type === ELEMENT) remove(inner);
    }
  } else detach(element);
}

/** A selector may be sound and still cost too much on a page. */
function matching(document: Document, selector: string, path: string): Element[] {
  try {
    return selectAll(document, compileSelectors(selector));
  } catch (error) {
    if (error instanceof SelectorError) throw problem('ParamValidationError', { path, message: error.message });
    throw error;
  }
}

function isInside(element: Element, others: ReadonlySet<Element>): boolean {
  for (let node: Element | Document | null = element; node instanceof Element; node = node.parent) {
    if (others.has(node)) return true;
  }
  return false;
}

/** `html` and `text` are taken before extraction, which cuts the tree. */
function textFields(document: Document, snapshot: Snapshot, options: Options): { html?: string; text?: string } {
  const fields: { html?: string; text?: string } = {};
  const wants = (format: 'html' | 'text') =>
    options.formats.has(format) || (format === 'html' && options.formats.has('pageshot'));
  if (wants('html')) {
    const selected = options.removeSelector.length > 0 || options.targetSelector.length > 0;
    const untouched = isHtml(snapshot) && snapshot.engine !== 'browser' && !selected;
    fields.html = untouched ? snapshot.text : unmarkedHtml(document);
  }
  if (wants('text')) fields.text = innerText(find(document, 'body') ?? document, { hiddenAttribute: HIDDEN_ATTRIBUTE });
  return fields;
}

const MARKS = [HIDDEN_ATTRIBUTE, FRAME_ATTRIBUTE];

/** The document without the marks that the browser engine put into it; they are there again afterwards. */
function unmarkedHtml(document: Document): string {
  const marked: [element: Element, name: string, value: string][] = [];
  for (const element of elementsOf(document)) {
    for (const name of MARKS) {
      const value = attribute(element, name);
      if (value === null) continue;
      marked.push([element, name, value]);
      removeAttribute(element, name);
    }
  }
  const html = outerHtml(find(document, 'html')!);
  for (const [element, name, value] of marked) setAttribute(element, name, value);
  return html;
}

const wantsMarkdown = ({ formats }: Options) =>
  formats.has('content') || formats.has('markdown') || formats.has('frontmatter');

interface Conversion {
  readonly snapshot: Snapshot;
  readonly options: Options;
  readonly url: string;
  readonly baseUrl: string;
}

/** Text that is no HTML stays as it is; a tree that is too much becomes its text. */
function markdownOf(article: Article, parsed: Parsed, conversion: Conversion): MarkdownResult {
  const { snapshot } = conversion;
  const bare = (text: string) => ({ markdown: text.replaceAll(CHUNK_MARK, '').trim(), images: [], links: [] });
  if (!isHtml(snapshot)) return bare(snapshot.text);
  if (isTooMuch(parsed)) return bare(innerText(article.content));
  const markdown = convert(article.content, article.title, conversion);
  if (markdown.markdown) return markdown;
  // An article that came to nothing: the whole page, and when that is nothing either, its text (contract, section 8).
  const page = convert(parsed.document, article.title, conversion);
  return page.markdown ? page : bare(innerText(parsed.document, { hiddenAttribute: HIDDEN_ATTRIBUTE }));
}

function convert(root: Document | Element, title: string, { options, url, baseUrl }: Conversion): MarkdownResult {
  const { markdown: style, retainLinks, retainImages, keepImgDataUrl, noGfm, markdownChunking, formats } = options;
  return toMarkdown(root, {
    ...style,
    headingStyle: markdownChunking ? 'atx' : style.headingStyle,
    pageUrl: url,
    baseUrl,
    gfm: noGfm === 'table' ? 'table-html' : noGfm ? 'none' : 'all',
    retainLinks,
    retainImages,
    keepImgDataUrl,
    ...(baseUrl !== url && { documentBase: baseUrl }),
    ...(formats.has('markdown') && { title }),
  });
}

/** Chunks are parted by it, so no page may bring its own. */
const CHUNK_MARK = '\u001d';

/** What the answer costs (contract, section 6.9). */
function charge(page: Page, snapshot: Snapshot, options: Options, contentTokens: number | undefined): number {
  const picture = snapshot.screenshot || snapshot.pageshot ? PICTURE_TOKENS : 0;
  const main = (contentTokens ?? countTokens(page.content ?? '')) || countTokens(page.description);
  const total = main + countTokens(page.text ?? '') + countTokens(page.html ?? '') + picture;
  const injects = options.injectPageScript.length + options.injectFrameScript.length > 0;
  return Math.min(Math.max(total, injects ? LEAST_WITH_SCRIPTS : 0), MAX_CHARGE);
}

function plainBody(page: Page, options: Options, summaries: string[]): string {
  if (page.chunks) return page.chunks.join(CHUNK_SEPARATOR);
  const { formats } = options;
  if (!wantsMarkdown(options)) {
    if (formats.has('text') && page.text !== undefined) return page.text;
    if (page.html !== undefined) return page.html;
    if (page.text !== undefined) return page.text;
  }
  if (formats.has('frontmatter')) return `${[page.content ?? '', ...summaries].join('\n\n')}\n`;
  return textLayout(page, summaries);
}

const KEY_ORDER: readonly (keyof Page)[] = [
  'title',
  'description',
  'url',
  'content',
  'chunks',
  'publishedTime',
  'html',
  'text',
  'screenshotUrl',
  'pageshotUrl',
  'links',
  'images',
  'warning',
  'metadata',
  'external',
  'usage',
];

/** The page object with its keys in the order of the contract, unset ones absent. */
export const ordered = (page: Page): Page =>
  Object.fromEntries(
    KEY_ORDER.flatMap((key) => (page[key] === undefined ? [] : [[key, page[key]]])),
  ) as unknown as Page;
