/** Converts the pages of a PDF to images or text for a model. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { mapConcurrently } from '#concurrency/map-concurrently.ts';
import { createProgramFolder } from '#concurrency/programs.ts';
import type { DocumentFile, PicturesOptions } from '#documents/document.ts';
import type { Documents } from '#documents/documents.ts';
import type { Ocr } from '#ocr/index.ts';
import { MediaError } from './load.ts';

const MAX_PAGES = 200;

export interface PdfTools {
  readonly documents: Documents;
  /** Recognizes text on scanned pages. */
  readonly ocr: Ocr | undefined;
  readonly temporaryDir: string;
}

/** Longest side of an A4 page in pixels, for models that preprocess images themselves. */
const FILE_SIDE = 1_024;
/** Shorter side of an A4 page in points. At scale 1, one point is one pixel. */
const A4_SHORT_SIDE_POINTS = 595;
const OCR_SCALE = 3;
/**
 * Number of page ranges that are processed at the same time. The pages of a range are rendered from one open document.
 */
const RANGES_AT_ONCE = 4;
const RANGE_PAGES = 8;
/**
 * Number of a request's pages that are in text recognition at the same time: one is rendered while another is
 * recognized.
 */
const RECOGNISED_AT_ONCE = 2;
/** Maximum length of the text of a page, in characters; no model uses more. */
const MAX_TEXT = 200_000;

async function withFile<T>(bytes: Uint8Array, tools: PdfTools, work: (file: DocumentFile) => Promise<T>): Promise<T> {
  if (!isPdf(bytes)) throw new MediaError('is not a PDF');
  const folder = await createProgramFolder(tools.temporaryDir);
  try {
    const file = path.join(folder.path, 'file.pdf');
    await writeFile(file, bytes, { mode: 0o600 });
    return await work({ path: file, size: bytes.length, mediaType: 'application/pdf' });
  } finally {
    await folder.remove();
  }
}

/** The signature may be anywhere in the first 1,024 bytes (implementation note 13 of the PDF reference 1.7). */
const isPdf = (bytes: Uint8Array) => Buffer.from(bytes.subarray(0, 1_100)).includes('%PDF-');

async function countPages(file: DocumentFile, { documents }: PdfTools, signal: AbortSignal): Promise<number> {
  const { pageCount = 0 } = await documents.read(file, { page: 1 }, signal);
  if (pageCount === 0) throw new MediaError('has no pages');
  if (pageCount > MAX_PAGES) throw new MediaError(`must have at most ${MAX_PAGES} pages, not ${pageCount}`);
  return pageCount;
}

/**
 * Renders each page at the model's resolution or higher, as PNG or preprocessed pixels, and passes it to `take`. Throws
 * MediaError, errors of `Documents` and `take`, or the signal's reason.
 */
export const pagesAsPictures = <T>(
  bytes: Uint8Array,
  { as, tools, signal }: { as: PicturesOptions['as']; tools: PdfTools; signal: AbortSignal },
  take: (picture: Uint8Array) => T,
): Promise<T[]> =>
  withFile(bytes, tools, async (file) => {
    const count = await countPages(file, tools, signal);
    const side = as === 'png' ? FILE_SIDE : Math.max(as.width, as.height);
    const scale = Math.max(1, side / A4_SHORT_SIDE_POINTS);
    const options = { atOnce: RANGES_AT_ONCE, signal };
    const taken = await mapConcurrently(pageRanges(count), options, async (pages, stop) => {
      const own: T[] = [];
      for await (const picture of tools.documents.pictures(file, { pages, scale, as }, stop)) own.push(take(picture));
      return own;
    });
    return taken.flat();
  });

const pageRanges = (count: number): number[][] =>
  Array.from({ length: Math.ceil(count / RANGE_PAGES) }, (_, stretch) =>
    Array.from(
      { length: Math.min(RANGE_PAGES, count - stretch * RANGE_PAGES) },
      (_, at) => stretch * RANGE_PAGES + at + 1,
    ),
  );

/**
 * Returns the text layer of each page, or the recognized text for scanned pages. Throws the same errors as
 * `pagesAsPictures`.
 */
export const pagesAsTexts = (
  bytes: Uint8Array,
  { tools, signal }: { tools: PdfTools; signal: AbortSignal },
): Promise<string[]> =>
  withFile(bytes, tools, async (file) => {
    await countPages(file, tools, signal);
    const { pages } = await tools.documents.read(file, {}, signal);
    // Most servers never read a PDF as texts, so the parser is loaded here.
    const [{ innerText }, { parseFragment }] = await Promise.all([
      import('#html/inner-text.ts'),
      import('#html/parse.ts'),
    ]);
    return mapConcurrently(pages, { atOnce: RECOGNISED_AT_ONCE, signal }, async ({ number, html, scanned }, stop) => {
      // A page may contain as much text as a book, so yield between pages.
      await yieldToEventLoop();
      const layer = innerText(parseFragment(html.slice(0, MAX_TEXT))).trim();
      if (!scanned || !tools.ocr) return layer;
      const png = await tools.documents.picture(file, { page: number, scale: OCR_SCALE }, stop);
      const { text } = await tools.ocr.read(png!, { signal: stop });
      return text || layer;
    });
  });
