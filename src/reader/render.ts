/**
 * Turns a snapshot into a rendition: parse, apply selectors, extract, convert, truncate, count. The function is pure
 * and uses no clock, so that a thread can run it and be killed if a page takes too long. A callback reports the end of
 * each step.
 */
import { TYPES } from '#documents/detect.ts';
import { cleanCharacters, cleanStrings } from '#html/characters.ts';
import { innerText } from '#html/inner-text.ts';
import { append, type Document, Element, elements as elementsOf, find, Text, textOf } from '#html/node.ts';
import { type ParsedPage, parsePage } from '#html/parse.ts';
import type { Article } from './article.ts';
import { chargeFor } from './charge.ts';
import { chunkMarkdown } from './chunking/chunk.ts';
import type { ContentElement } from './elements/content-element.ts';
import { type ElementOptions, findElements, textElements } from './elements/find-elements.ts';
import { findSigns, waitsForScripts } from './engines/evidence.ts';
import { explain } from './explanation.ts';
import { findCrawlLinks as pageLinksOf } from './extract/content/crawl-links.ts';
import { collectImages, type PageImage } from './extract/content/images.ts';
import { anchorsIn, collectLinks, documentBaseUrl, type Link } from './extract/content/links.ts';
import { RemovalLog } from './extract/content/removal-log.ts';
import { extractArticle } from './extract/extract.ts';
import { extractionVersion } from './extract/version.ts';
import { completePictures } from './extract/visibility/complete-pictures.ts';
import { type InvisibleParts, removeInvisibleParts } from './extract/visibility/invisible-parts.ts';
import { NO_STYLES, type PageStyles, readPageStyles } from './extract/visibility/page-styles.ts';
import { cleanHtml, cutToTokens, type ModelInput } from './formats/model-input.ts';
import { replaceFrameset } from './frameset.ts';
import { htmlField, wantsHtml } from './html-field.ts';
import { CHUNK_SEPARATOR, textLayout } from './layout.ts';
import { withCaptions } from './markdown/alt-text.ts';
import { frontmatter } from './markdown/frontmatter.ts';
import { cleanPages } from './markdown/page-offsets.ts';
import { imagesSummary, linksSummary } from './markdown/summaries.ts';
import { type MarkdownResult, toMarkdown } from './markdown/to-markdown.ts';
import { type Options, wantsMarkdown } from './options/resolve.ts';
import { unusedOptions } from './options/unused.ts';
import { captionPictures } from './places/caption-pictures.ts';
import { type PageSpan, pageSpans, pagesOfRanges } from './places/page-spans.ts';
import { lineStarts, placedBlocks } from './places/placed-blocks.ts';
import {
  createPictureNames,
  type PictureNames,
  type PictureUrls,
  type ServedPicture,
} from './places/served-pictures.ts';
import { type Places, takePlaces } from './places/take-places.ts';
import { type DetailLevel, orderedPage, type Page, type ReadDetails, type Rendition } from './rendition.ts';
import { applySelectors, type UnmatchedSelectors } from './selectors.ts';
import { showsTitle } from './shown-title.ts';
import { type DocumentFacts, isHtml, type Snapshot } from './snapshot.ts';
import { countTokens, keepTokens } from './tokens.ts';
import { warningsFor } from './warnings.ts';
import { wholePageMetadata } from './whole-page-metadata.ts';
import { countWords } from './words.ts';

export interface RenderTask {
  readonly snapshot: Snapshot;
  readonly options: Options;
  /** The requested URL, before redirects. */
  readonly requestedUrl: string;
  readonly limits: RenderLimits;
  /** Generated alt text, by the URL under which each image is shown. */
  readonly captions?: Readonly<Record<string, string>> | undefined;
  /** Whether to return the links of the whole page. */
  readonly pageLinks?: boolean | undefined;
  /** Whether to return the places of the blocks of a document. */
  readonly blockPlaces?: boolean | undefined;
  readonly details?: DetailLevel | undefined;
  /** Whether only the content and the metadata are needed. The rendition has no body, no warnings and 0 tokens. */
  readonly contentOnly?: boolean | undefined;
  /** Whether to return the elements of the content. */
  readonly elements?: boolean | undefined;
  /** Set if the pictures of a document can be served to the caller. */
  readonly pictureUrls?: PictureUrls | undefined;
  /** Whether the document came with the request. In that case there is no HTTP status. */
  readonly isGiven?: boolean | undefined;
  readonly isKeyless?: boolean | undefined;
}

/** Called at the end of a step; the time after the last call counts as `markdown`. */
export type OnStepDone = (step: 'parse' | 'extract') => void;

/** Limits and prices set by the operator. */
export interface RenderLimits {
  /**
   * Pages beyond these limits are returned as plain text, because Markdown of trees that large or deep is useless
   * (docs/reference/wire/reader.md, Markdown).
   */
  readonly maxDepth: number;
  readonly maxElements: number;
  /**
   * Price factor for pages fetched through a proxy of the operator (docs/reference/wire/reader.md, Tokens and charge).
   */
  readonly proxyFactor: number;
  /** Maximum input of a model, in tokens of cl100k_base. */
  readonly readerlmTokens: number;
  readonly visionTokens: number;
}

export function render(
  {
    snapshot,
    options,
    requestedUrl,
    limits,
    captions,
    pageLinks,
    blockPlaces,
    details,
    contentOnly,
    elements: wantsElements,
    pictureUrls,
    isGiven,
    isKeyless,
  }: RenderTask,
  done?: OnStepDone,
): Rendition {
  const url = options.base === 'final' ? snapshot.url : requestedUrl;
  const parsed = documentOf(snapshot);
  // Must run before the frameset gets a body.
  const signs = isUnrendered(snapshot) ? findSigns(parsed.document) : undefined;
  const framesUnread = replaceFrameset(parsed.document);
  done?.('parse');
  const { document } = parsed;
  const taken = snapshot.document && takePlaces(document, options.targetSelector.length > 0);
  const places = snapshot.document?.pages && taken;
  if (snapshot.document) captionPictures(document);
  const pictureNames = pictureUrls && snapshot.document ? createPictureNames(pictureUrls, snapshot.url) : undefined;
  // Must run before anything is removed from the tree.
  const found = pageLinks ? pageLinksOf(document, snapshot.url) : undefined;
  const removals = options.explain ? new RemovalLog(document) : undefined;
  // The styles of the whole page, determined before selectors reduce it.
  const styles = stylesOf(document, snapshot);
  const unmatched = applySelectors(document, options, removals);
  const baseUrl = documentBaseUrl(document, url);
  const html = wantsHtml(options) ? htmlField(document, snapshot, options) : undefined;
  const anchors = options.withLinksSummary ? anchorsIn(document) : [];
  if (options.withImagesSummary) completePictures(document);
  const pictures = options.withImagesSummary ? [...elementsOf(document, 'img')] : [];
  const allowsLastResort = mayUseLastResort(snapshot, options);
  const invisibleParts = removeInvisibleParts(document, { styles, removals, allowsLastResort });
  const text = options.formats.has('text') ? innerText(find(document, 'body') ?? document) : undefined;
  const mode = options.withLinksSummary === 'all' ? 'all' : 'unique';
  const links = anchors.length > 0 ? collectLinks(document, baseUrl, mode, anchors) : [];
  const addresses = {
    keepDataUrl: options.keepImgDataUrl,
    pictureUrl: pictureNames?.urlOf,
    ...(baseUrl !== url && { origin: new URL(baseUrl).origin }),
  };
  const images = pictures.length > 0 ? collectImages(document, baseUrl, addresses, pictures) : [];

  const whole = options.formats.has('markdown');
  const article = extracted(document, { snapshot, options, url, baseUrl, whole, removals, invisibleParts });
  done?.('extract');
  const contentHtml =
    details === 'html' ? cleanCharacters(cleanHtml(article.content, { ...options, baseUrl })) : undefined;
  const markdown = wantsMarkdown(options)
    ? markdownOf(article, parsed, {
        snapshot,
        options,
        url,
        baseUrl,
        limits,
        captions,
        removals,
        places,
        pictureNames,
        traces: options.explain || (blockPlaces === true && places !== undefined),
      })
    : undefined;
  const elements = wantsElements
    ? contentElements(article, parsed, {
        snapshot,
        limits,
        find: { ...options, baseUrl, places, pictureUrl: pictureNames?.urlOf },
      })
    : undefined;
  const { complete } = parsed;
  const waits = signs?.scripts === true && waitsForScripts(signs, countWords(textOf(article.content)), snapshot.url);
  const told = captions ? withCaptions(images, captions) : images;
  const fields = { html, text };
  const parts = {
    snapshot,
    options,
    limits,
    url,
    article,
    removals,
    places,
    blockPlaces,
    fields,
    markdown,
    links,
    images: told,
    invisibleParts,
    complete,
    waits,
    isGiven,
    isKeyless,
    contentOnly,
    framesUnread,
    unmatched,
    tooMuch: markdown !== undefined && isTooMuch(parsed, { snapshot, limits }),
  };
  const rendition = assemble(parts);
  const served = pictureNames ? shownPictures(rendition.page, pictureNames) : [];
  return {
    ...rendition,
    ...(snapshot.cachedAt !== undefined && { cachedAt: snapshot.cachedAt }),
    ...(found && { pageLinks: found }),
    ...(details && { details: detailsOf(snapshot, contentHtml) }),
    mediaType: snapshot.document?.mediaType ?? snapshot.mediaType,
    ...(elements && { elements: cleanStrings(elements) }),
    ...(served.length > 0 && { pictures: served }),
  };
}

const detailsOf = ({ document, mediaType, cachedAt }: Snapshot, contentHtml: string | undefined): ReadDetails => ({
  mediaType: document?.mediaType ?? mediaType,
  ...(cachedAt !== undefined && { cachedAt }),
  ...(contentHtml !== undefined && { contentHtml }),
});

/** The pictures whose URLs are in an answer. */
const shownPictures = ({ content = '', images = {} }: Page, names: PictureNames): ServedPicture[] => {
  const listed = new Set(Object.values(images));
  return names.named().filter(({ url }) => listed.has(url) || content.includes(url));
};

/**
 * The input for a model: the main content, or the whole page if an instruction or schema may refer to any part of it.
 */
export function modelInputOf({ snapshot, options, requestedUrl, limits }: RenderTask): ModelInput {
  const url = options.base === 'final' ? snapshot.url : requestedUrl;
  const { document } = documentOf(snapshot);
  if (snapshot.document) takePlaces(document, false);
  replaceFrameset(document);
  const styles = stylesOf(document, snapshot);
  applySelectors(document, options);
  const allowsLastResort = mayUseLastResort(snapshot, options);
  const invisibleParts = removeInvisibleParts(document, { styles, allowsLastResort });
  const baseUrl = documentBaseUrl(document, url);
  const whole = options.instruction !== undefined || options.jsonSchema !== undefined;
  const { title, description, content } = extracted(document, {
    snapshot,
    options,
    url,
    baseUrl,
    whole,
    invisibleParts,
  });
  const limit = options.modelFormat === 'vlm' ? limits.visionTokens : limits.readerlmTokens;
  return {
    ...cleanStrings({ title, description }),
    url,
    ...cutToTokens(cleanHtml(content, { ...options, baseUrl }), limit),
  };
}

interface Extraction {
  readonly snapshot: Snapshot;
  readonly options: Options;
  readonly url: string;
  readonly baseUrl: string;
  /** Whether to keep the whole page instead of its main content. */
  readonly whole: boolean;
  readonly removals?: RemovalLog | undefined;
  readonly invisibleParts: InvisibleParts;
}

/** Extracts the article of a document, after selectors and visibility were applied. Text and files are kept whole. */
function extracted(
  document: Document,
  { snapshot, options, url, baseUrl, whole, removals, invisibleParts }: Extraction,
): Article {
  const isPage = isHtml(snapshot) && snapshot.document === undefined;
  // The elements selected by the caller are kept whole.
  const isNarrowed = options.targetSelector.length > 0;
  const article = extractArticle(document, {
    url,
    baseUrl,
    whole: whole || isNarrowed || !isPage,
    comments: options.comments,
    removals,
    invisibleParts,
  });
  if (!isPage || !isNarrowed) return asDocument(article, snapshot.document);
  const { content, source, confidence, hiddenCount } = article;
  const { documentTitle, types: _, ...said } = wholePageMetadata(snapshot, options, { url, baseUrl });
  return { ...said, title: whole ? documentTitle : said.title, content, source, confidence, hiddenCount };
}

/** A file's own metadata takes precedence over that of its HTML. Metadata about a site does not apply to files. */
function asDocument(article: Article, facts: DocumentFacts | undefined): Article {
  if (!facts) return article;
  const { title, metadata, publishedTime, lang, hiddenCount } = facts;
  const { author, modifiedTime, siteName, image, canonicalUrl, ...rest } = article;
  return {
    ...rest,
    title,
    description: article.description || metadata.description || '',
    metadata: { ...(lang && { lang }), ...metadata },
    ...(publishedTime && { publishedTime }),
    ...(lang && { lang }),
    hiddenCount: article.hiddenCount + hiddenCount,
  };
}

interface Parts {
  readonly snapshot: Snapshot;
  readonly options: Options;
  readonly limits: RenderLimits;
  readonly url: string;
  readonly article: Article;
  readonly removals: RemovalLog | undefined;
  readonly places: Places | undefined;
  readonly blockPlaces: boolean | undefined;
  readonly fields: { readonly html?: string | undefined; readonly text?: string | undefined };
  readonly markdown: PageMarkdown | undefined;
  readonly links: Link[];
  readonly images: PageImage[];
  readonly invisibleParts: InvisibleParts;
  /** Whether the whole source was parsed. */
  readonly complete: boolean;
  /** Whether the page seems to depend on scripts that were not run. */
  readonly waits: boolean;
  readonly isGiven: RenderTask['isGiven'];
  readonly isKeyless: RenderTask['isKeyless'];
  readonly contentOnly: RenderTask['contentOnly'];
  readonly framesUnread: boolean;
  readonly unmatched: UnmatchedSelectors;
  /** Whether the tree is too large or too deep for Markdown. */
  readonly tooMuch: boolean;
}

/** Whether the page is unchanged from its server and no rendered snapshot will follow. */
const isUnrendered = (snapshot: Snapshot): boolean =>
  isHtml(snapshot) && !snapshot.document && snapshot.settled && ['direct', 'given'].includes(snapshot.engine);

function assemble({
  snapshot,
  options,
  limits,
  url,
  article: { content: kept, ...unclean },
  removals,
  places,
  blockPlaces,
  fields,
  markdown,
  links,
  images,
  invisibleParts,
  complete,
  waits,
  isGiven,
  isKeyless,
  contentOnly,
  framesUnread,
  unmatched,
  tooMuch,
}: Parts): Rendition {
  // Metadata may still contain control characters; they were removed only from the tree.
  const article: Article = { ...cleanStrings(unclean), content: kept };
  let isCut = false;
  const cut = (text: string) => {
    const kept = options.maxTokens === undefined ? text : keepTokens(text, options.maxTokens);
    isCut ||= kept.length < text.length;
    return kept;
  };
  const content = markdown && cut(cleanCharacters(markdown.markdown));
  const html = fields.html === undefined ? undefined : cut(fields.html);
  const text = fields.text === undefined ? undefined : cut(fields.text);
  const contentTokens = content === undefined || contentOnly ? undefined : countTokens(content);
  const warnings = () =>
    warningsFor(snapshot, {
      contentTokens,
      hasText: fields.text !== undefined,
      hasHtml: fields.html !== undefined,
      hiddenCount: invisibleParts.notableCount + (snapshot.document?.hiddenCount ?? 0),
      invisibleParts,
      complete,
      source: article.source,
      leftOut: article.leftOut,
      waits,
      framesUnread,
      unmatched,
      tooMuch,
      cutAt: isCut ? options.maxTokens : undefined,
      picturesLeftOut: options.retainImages.startsWith('all') ? snapshot.document?.picturesLeftOut : undefined,
      unused: unusedOptions({ snapshot, options, isGiven, isKeyless }),
    });
  const told = contentOnly ? [] : warnings();
  const publishedTime = article.publishedTime ?? snapshot.lastModified;
  const page: Page = { title: article.title, description: article.description, url, usage: { tokens: 0 } };
  if (!isGiven) page.targetStatus = snapshot.status;
  if (snapshot.blocked) page.blocked = snapshot.blocked;
  if (publishedTime) page.publishedTime = publishedTime;
  if (snapshot.document?.pageCount !== undefined) page.numPages = snapshot.document.pageCount;
  if (told.length) page.warning = told.join('\n');
  const head = options.formats.has('frontmatter')
    ? frontmatter({ ...page, ...(article.lang && { lang: article.lang }) })
    : '';
  if (content !== undefined) page.content = head ? cut(head + content) : content;
  if (content !== undefined && options.markdownChunking) {
    const { markdownChunking: strategy, pageMarkers } = options;
    const chunks = chunkMarkdown(content, { strategy, title: article.title, pageMarkers });
    page.chunks = chunks.map(({ text }) => text);
    const spans = pagesIn(content, { ...markdown!, snapshot, head: 0 });
    if (spans) page.chunkPages = pagesOfRanges(spans, chunks);
  }
  const spans = content && pagesIn(page.content!, { ...markdown!, snapshot, head: head.length });
  if (spans) page.pages = spans;
  if (html !== undefined) page.html = html;
  if (text !== undefined) page.text = text;
  if (options.exportStorageState && snapshot.storageState) page.storageState = snapshot.storageState;
  const summaries: string[] = [];
  if (options.withImagesSummary) {
    const summary = imagesSummary(cleanStrings(images), markdown?.images ?? []);
    page.images = summary.json;
    summaries.push(summary.text);
  }
  if (options.withLinksSummary) {
    const mode = options.retainLinks === 'gpt-oss' ? 'gpt-oss' : options.withLinksSummary === 'all' ? 'all' : 'unique';
    const summary = linksSummary(cleanStrings(links), markdown?.links ?? [], mode);
    page.links = summary.json;
    summaries.push(summary.text);
  }
  page.metadata = metadataOf(article, snapshot);
  if (Object.keys(article.external).length) page.external = article.external;
  if (removals) {
    const { trace, fromPage = false } = markdown ?? {};
    const written = trace && { trace, markdown: markdown!.markdown, head, content: page.content!, options };
    page.explanation = explain(removals, fromPage ? { ...article, source: 'page' } : article, written, places);
  }
  const placed =
    blockPlaces && places && markdown?.trace && page.content !== undefined
      ? placedBlocks(markdown.trace, head + markdown.markdown, lineStarts(head).length - 1, places)
      : undefined;
  const tokens = contentOnly ? 0 : chargeFor(page, { snapshot, options, limits }, head ? undefined : contentTokens);
  page.usage = { tokens };
  return {
    page: orderedPage(page),
    body: contentOnly ? '' : plainBody(page, options, summaries),
    tokens,
    ...(placed && { placedBlocks: placed }),
    screenshot: snapshot.screenshot,
    pageshot: snapshot.pageshot,
    uncaptioned: markdown?.uncaptioned,
    finalUrl: snapshot.url,
    ...(snapshot.stale && { staleAt: snapshot.cachedAt }),
    status: snapshot.status,
    noStore: snapshot.noStore,
    ...(snapshot.robotsTag !== undefined && { robotsTag: snapshot.robotsTag }),
    ...(snapshot.retryAfter !== undefined && { retryAfter: snapshot.retryAfter }),
  };
}

/** The pages of a document in the content of its answer; `undefined` for a document without pages. */
function pagesIn(
  content: string,
  { markdown, pages, snapshot, head }: PageMarkdown & Pick<Conversion, 'snapshot'> & { readonly head: number },
): PageSpan[] | undefined {
  const facts = snapshot.document?.pages;
  return facts && pages && pageSpans(facts, cleanPages(pages, markdown, cleanCharacters), { content, head });
}

interface ElementSearch extends Pick<Conversion, 'snapshot' | 'limits'> {
  readonly find: ElementOptions;
}

/** As for Markdown, plain text and trees that are too large or too deep are only split into paragraphs. */
function contentElements(
  article: Article,
  parsed: ParsedPage,
  { snapshot, limits, find }: ElementSearch,
): ContentElement[] {
  if (!isHtml(snapshot)) return textElements(snapshot.text);
  if (isTooMuch(parsed, { snapshot, limits })) return textElements(innerText(article.content));
  return findElements(article.content, find);
}

/** A file shows what it has, and a selection of the caller may be empty. */
const mayUseLastResort = (snapshot: Snapshot, { targetSelector }: Options): boolean =>
  isHtml(snapshot) && snapshot.document === undefined && targetSelector.length === 0;

/** The tree of a snapshot: its HTML, or its text as one preformatted block. */
function documentOf(snapshot: Snapshot): ParsedPage {
  if (isHtml(snapshot)) return parsePage(snapshot.text);
  const parsed = parsePage('');
  const block = new Element('pre');
  append(block, new Text(snapshot.text));
  append(find(parsed.document, 'body')!, block);
  return parsed;
}

/** Trees made from files are exempt, because the document reader has limits of its own. */
const isTooMuch = (
  { depth, elements, complete }: ParsedPage,
  { snapshot, limits }: Pick<Conversion, 'snapshot' | 'limits'>,
): boolean => !snapshot.document && (!complete || depth > limits.maxDepth || elements > limits.maxElements);

/** The styles of a page. Rendered pages need none, because the browser marked invisible elements; files have none. */
const stylesOf = (document: Document, snapshot: Snapshot): PageStyles =>
  snapshot.engine === 'browser' || snapshot.document || !isHtml(snapshot) ? NO_STYLES : readPageStyles(document);

interface Conversion {
  readonly snapshot: Snapshot;
  readonly options: Options;
  readonly limits: RenderLimits;
  readonly url: string;
  readonly baseUrl: string;
  readonly captions?: RenderTask['captions'];
  readonly removals?: RemovalLog | undefined;
  readonly places?: Places | undefined;
  readonly pictureNames?: PictureNames | undefined;
  /** Whether to record the source of each block. */
  readonly traces: boolean;
}

interface PageMarkdown extends MarkdownResult {
  /** Set if the content had no Markdown, so that the Markdown of the whole page is used instead. */
  readonly fromPage?: boolean;
}

/** Plain text is returned unchanged; a tree that is too large or too deep is converted to its text. */
function markdownOf(article: Article, parsed: ParsedPage, conversion: Conversion): PageMarkdown {
  const { snapshot } = conversion;
  const bare = (text: string) => ({
    markdown: text.trim(),
    images: [],
    links: [],
    uncaptioned: [],
  });
  if (!isHtml(snapshot)) return bare(snapshot.text);
  if (isTooMuch(parsed, conversion)) return bare(innerText(article.content));
  const isTitleShown = snapshot.document !== undefined && showsTitle(article.content, article.title);
  const markdown = convert(article.content, isTitleShown ? '' : article.title, conversion);
  if (markdown.markdown || article.source === 'nothing') return markdown;
  // The article has no Markdown, so use the whole page or, if that has none either, its text
  // (docs/reference/wire/reader.md, Markdown).
  conversion.removals?.forget('frame', 'content', 'unit', 'comments', 'repeats', 'markdown');
  const page = convert(parsed.document, article.title, conversion);
  const text = () => bare(innerText(parsed.document));
  return { ...(page.markdown ? page : text()), fromPage: true };
}

function convert(
  root: Document | Element,
  title: string,
  { snapshot, options, url, baseUrl, captions, places, pictureNames, traces: trace }: Conversion,
): MarkdownResult {
  const { markdown: style, retainLinks, retainImages, retainMedia, keepImgDataUrl, noGfm } = options;
  const { markdownChunking, formats, pageMarkers: markers } = options;
  const pages = snapshot.document?.pages;
  return toMarkdown(root, {
    ...style,
    headingStyle: markdownChunking ? 'atx' : style.headingStyle,
    pageUrl: url,
    baseUrl,
    gfm: noGfm === 'table' ? 'table-html' : noGfm ? 'none' : 'all',
    retainLinks,
    retainImages,
    retainMedia,
    captions,
    keepImgDataUrl,
    ...(baseUrl !== url && { documentBase: baseUrl }),
    ...(formats.has('markdown') && { title }),
    pictureUrl: pictureNames?.urlOf,
    tablesOfFile: WITH_DATA_TABLES.has(snapshot.document?.mediaType ?? ''),
    trace,
    ...(places && pages && { pages: { numbers: pages.map(({ number }) => number), of: places.pageOf, markers } }),
  });
}

/** Types of files whose tables are data tables, because the document reader has replaced layout tables. */
const WITH_DATA_TABLES: ReadonlySet<string> = new Set([
  TYPES.docx,
  TYPES.wordXml,
  TYPES.odt,
  TYPES.rtf,
  TYPES.doc,
  TYPES.pptx,
  TYPES.odp,
  TYPES.ppt,
]);

/** Whether a name is in the reserved namespace, or looks as if it were. */
const isReservedName = (name: string) => /^lectern:/i.test(name.normalize('NFKC').replace(/[\s\p{Cf}\p{Cc}]/gu, ''));

/**
 * The metadata of the result: the page's own, then data about the page and the engine under reserved names that a page
 * cannot set.
 */
function metadataOf(article: Article, { engine, engineReason, stale, cachedAt }: Snapshot): Record<string, string> {
  const own = Object.entries(article.metadata).filter(([name]) => !isReservedName(name));
  const { author, modifiedTime, siteName, image, canonicalUrl, lang, kind, kindConfidence } = article;
  const found = {
    author,
    modifiedTime,
    siteName,
    image,
    canonicalUrl,
    language: lang,
    extraction: extractionVersion(),
    kind,
    kindConfidence: kindConfidence?.toFixed(2),
    engine,
    engineReason,
    staleCopy: stale && cachedAt !== undefined && new Date(cachedAt).toISOString(),
  };
  for (const [name, value] of Object.entries(found)) if (value) own.push([`lectern:${name}`, value]);
  return Object.fromEntries(own);
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
