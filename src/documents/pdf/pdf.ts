/** Reads PDF files as text in reading order: analyzes the layout of the content that PDF.js finds on each page. */
import type { DocumentFile, DocumentKind, ParsedDocument, ParseOptions } from '../document.ts';
import { DocumentError } from '../document.ts';
import { PdfComments } from './annotations.ts';
import { drawFigures } from './draw-figures.ts';
import { isoDate, metadataOf, titleOf } from './info.ts';
import { createLayout } from './layout.ts';
import { loadPdfJs, type OpenedPdf, openPdf } from './open.ts';
import { type PageOptions, type PageText, readPage } from './page.ts';
import { renderPage, renderPages } from './picture.ts';
import { isComplete } from './repair.ts';

/** Limits for one file: number of pages read, and time for one page. */
const MAX_PAGES = 2_000;
const MAX_PAGE_MS = 10_000;
/** Total time limit for locating pages: PDF.js walks the page tree again for each one. */
const MAX_LOCATING_MS = 5_000;
/** Number of pages laid out in one batch: enough to detect repeated rows, few enough to bound memory. */
const PAGES_AT_ONCE = 48;
const NEIGHBORS = 2;

async function parse(
  { password }: DocumentFile,
  bytes: Uint8Array,
  {
    page,
    timeMs = Number.POSITIVE_INFINITY,
    boxes,
    figures: wantsFigures = false,
    pdfRunningText = 'drop',
    annotations,
  }: ParseOptions,
): Promise<ParsedDocument> {
  const until = performance.now() + timeMs;
  const keepsRunningText = pdfRunningText === 'keep';
  const comments = new PdfComments(annotations);
  const reader = await createReader(bytes, password, { keepsWatermarks: keepsRunningText, comments });
  try {
    const { numPages } = reader.document();
    const only = page !== undefined && page >= 1 && page <= numPages ? page : null;
    const last = Math.min(numPages, MAX_PAGES);
    const layout = createLayout({ keepsRunningText, boxes });
    const watermarks = new Set<string>();
    const failed: number[] = [];
    let hiddenCount = 0;
    let texts: PageText[] = [];
    const [from, to] =
      only === null ? [1, last] : [Math.max(1, only - NEIGHBORS), Math.min(numPages, only + NEIGHBORS)];
    let done = to;
    for (let number = from; number <= to; number++) {
      if (only === null && number > from && (performance.now() > until || reader.lookingMs() > MAX_LOCATING_MS)) {
        done = number - 1;
        break;
      }
      const text = await reader.read(number);
      if (text) texts.push(text);
      else if (only === null || number === only) failed.push(number);
      if (text && (only === null || number === only)) {
        hiddenCount += text.hidden;
        if (text.watermark !== '') watermarks.add(text.watermark);
      }
      if (only !== null || texts.length < PAGES_AT_ONCE || to - number < NEIGHBORS) continue;
      layout.add(texts);
      texts = [];
    }
    layout.add(texts, only);
    const figures = wantsFigures ? layout.figures() : [];
    const drawn = await drawFigures({ bytes, password }, figures, until);
    const pages = layout.finish(drawn).map((one) => comments.write(one));
    if (pages.length === 0) throw reader.fault();
    const notes = isComplete(bytes) ? [] : ['The PDF is damaged or cut off; only the readable part is included'];
    if (failed.length > 0) notes.push(unreadPagesNote(failed));
    if (done < to)
      notes.push(`Only the first ${done} pages of ${numPages} were read: the others take too long to read`);
    else if (only === null && numPages > last) notes.push(`Only the first ${last} pages of ${numPages} were read`);
    if (watermarks.size > 0) notes.push(watermarkNote([...watermarks]));
    if (layout.isCutOff()) notes.push('The text of the PDF is too long and was cut off');
    const info = await infoOf(reader.document());
    return {
      title: titleOf(info),
      pages,
      pageCount: numPages,
      metadata: metadataOf(info),
      publishedTime: isoDate(info.ModDate) ?? isoDate(info.CreationDate),
      lang: typeof info.Language === 'string' && /^[a-z]{2,3}\b/i.test(info.Language) ? info.Language : undefined,
      notes,
      hiddenCount,
      figures: wantsFigures,
      picturesLeftOut: figures.length - drawn.length,
    };
  } finally {
    await reader.close();
  }
}

/** Maximum number of unreadable pages that a note lists. */
const MAX_LISTED_PAGES = 12;

function unreadPagesNote(pages: readonly number[]): string {
  const named = pages.slice(0, MAX_LISTED_PAGES).join(', ');
  const more = pages.length > MAX_LISTED_PAGES ? ` and ${pages.length - MAX_LISTED_PAGES} more` : '';
  return `${pages.length === 1 ? 'Page' : 'Pages'} ${named}${more} could not be read`;
}

/** Maximum number of watermarks that a note quotes, and of letters of each. */
const MAX_QUOTED = 3;
const LONGEST_QUOTE = 60;

function watermarkNote(texts: readonly string[]): string {
  const quoted = texts.slice(0, MAX_QUOTED).map((text) => `"${text.slice(0, LONGEST_QUOTE)}"`);
  const more = texts.length > MAX_QUOTED ? ` and ${texts.length - MAX_QUOTED} more` : '';
  return `${texts.length === 1 ? 'A watermark is' : 'Watermarks are'} left out: ${quoted.join(', ')}${more}`;
}

const infoOf = async (document: OpenedPdf['document']): Promise<Record<string, unknown>> =>
  (await document.getMetadata().catch(() => ({ info: {} }))).info as Record<string, unknown>;

/** Reads pages one by one. Reopens the file after a page that timed out, because PDF.js cannot abort it. */
async function createReader(bytes: Uint8Array, password: string | undefined, options: PageOptions) {
  const pdf = await loadPdfJs();
  let opened = await openPdf(bytes, { maxImagePixels: 1, password });
  let cause: unknown;
  let isLate = false;
  let locatingMs = 0;
  const readFound = async (number: number) => {
    const begun = performance.now();
    // PDF.js caches the page and returns it for the same number.
    await opened.document.getPage(number).finally(() => {
      locatingMs += performance.now() - begun;
    });
    return readPage(opened.document, number, pdf, options);
  };
  return {
    document: () => opened.document,
    /** Total time spent locating pages so far. */
    lookingMs: () => locatingMs,
    /** The error to throw if no page could be read. */
    fault: () =>
      isLate
        ? new DocumentError('too large', 'The pages of the PDF take too long to read')
        : new DocumentError('damaged', 'None of the pages of the PDF can be read', cause),
    close: () => opened.close(),
    /** Null for a page that cannot be read. */
    async read(number: number): Promise<PageText | null> {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(resolve, MAX_PAGE_MS, 'late');
      });
      try {
        const text = await Promise.race([readFound(number), late]);
        if (text !== 'late') return text;
        isLate = true;
        await opened.close();
        opened = await openPdf(bytes, { maxImagePixels: 1, password });
        return null;
      } catch (error) {
        cause = error;
        return null;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

export const kind: DocumentKind = {
  parse,
  picture: ({ password }, bytes, options) => renderPage(bytes, options, password),
  pictures: ({ password }, bytes, options) => renderPages(bytes, options, password),
};
