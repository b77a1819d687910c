/** Writes a document from a page of the reader. Only the fields that were asked for are in it. */
import { attribute } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { compileSelectors, selectAll } from '#html/select.ts';
import type { Page, ReadDetails } from '#reader/index.ts';
import type { AttributeSelection, Formats } from './formats.ts';
import { writeMetadata } from './metadata.ts';
import { renameOptions } from './names.ts';
import type { DocumentParsing } from './to-read.ts';

export interface DocumentSource {
  readonly page: Page;
  readonly details: ReadDetails | undefined;
  readonly formats: Formats;
  readonly documents: DocumentParsing;
  /** The URL as the caller sent it. */
  readonly sourceUrl: string;
  readonly scrapeId: string;
  /** What of the request had no effect. */
  readonly warnings: readonly string[];
  /** Text and data that a model wrote. */
  readonly written?: Readonly<Record<string, unknown>> | undefined;
}

export type FirecrawlDocument = Readonly<Record<string, unknown>>;

export function writeDocument(source: DocumentSource): FirecrawlDocument {
  const { page, details, formats, documents, sourceUrl, scrapeId, written } = source;
  const { markdown, html, rawHtml, links, images, screenshot, attributes } = formats;
  const pages = pagesOf(page, documents);
  const warning = [page.warning && renameOptions(page.warning), ...source.warnings].filter(Boolean).join('\n');
  return {
    ...(markdown && { markdown: markdownOf(page, pages, documents) }),
    ...(html && { html: details?.contentHtml ?? '' }),
    ...(rawHtml && { rawHtml: page.html ?? '' }),
    ...(links && { links: linksOf(page) }),
    ...(images && { images: [...new Set(Object.values(page.images ?? {}))] }),
    ...(screenshot && { screenshot: (screenshot.fullPage ? page.pageshotUrl : page.screenshotUrl) ?? '' }),
    ...(attributes && { attributes: attributesIn(page.html ?? '', attributes) }),
    ...(documents.listsPages &&
      pages && { pages: pages.map(({ number, text }) => ({ pageNumber: number, markdown: text })) }),
    ...written,
    ...(warning && { warning }),
    metadata: writeMetadata(page, { sourceUrl, scrapeId, details }),
  };
}

const linksOf = ({ links = {} }: Page): string[] => [
  ...new Set(Array.isArray(links) ? links.map(([, url]) => url) : Object.values(links)),
];

interface DocumentPage {
  readonly number: number;
  readonly text: string;
}

/** The pages of a document, if the caller asked for something about them. */
function pagesOf({ content = '', pages }: Page, documents: DocumentParsing): DocumentPage[] | undefined {
  const { maxPages, listsPages, marksPages } = documents;
  if (!pages || (maxPages === undefined && !listsPages && !marksPages)) return undefined;
  return pages.slice(0, maxPages).map(({ number, start, end }) => ({ number, text: content.slice(start, end).trim() }));
}

function markdownOf({ content = '' }: Page, pages: DocumentPage[] | undefined, documents: DocumentParsing): string {
  if (!pages) return content;
  if (!documents.marksPages) return pages.map(({ text }) => text).join('\n\n');
  return pages
    .map(({ number, text }, at) => (at === 0 ? text : `\n\n---\n\n<!-- page ${number} -->\n\n${text}`))
    .join('');
}

const attributesIn = (html: string, selections: readonly AttributeSelection[]) => {
  const document = parseDocument(html);
  return selections.map(({ selector, attribute: name }) => ({
    selector,
    attribute: name,
    values: selectAll(document, compileSelectors(selector)).flatMap((element) => attribute(element, name) ?? []),
  }));
};
