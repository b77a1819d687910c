/**
 * Converts a target that is a file to a snapshot: its pages become one HTML document, which is then handled like any
 * web page. Pages without text go through text recognition; images are described by a vision model, if one is
 * configured.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mapConcurrently } from '#concurrency/map-concurrently.ts';
import { QueueFullError } from '#concurrency/task-queue.ts';
import { defaultThreads } from '#concurrency/threads.ts';
import { extensionOf, typeOfBytes } from '#documents/detect.ts';
import { DocumentError, type DocumentFile, type DocumentPage, type PictureOptions } from '#documents/document.ts';
import type { Documents, ReadFile } from '#documents/documents.ts';
import { pageStartMark } from '#documents/marks.ts';
import { Problem, problem } from '#errors.ts';
import { escapeAttribute, escapeText } from '#html/serialize.ts';
import { blocksToHtml, layOut, type Ocr, type OcrResult, ocrWarnings, withoutRunningText } from '#ocr/index.ts';
import { createTemporaryFolder } from '#storage/temporary.ts';
import { mediaTypeOf } from './engines/media-type.ts';
import { cleanMarkdown } from './formats/clean-output.ts';
import { type Picture, tinyImageText } from './formats/describe-image.ts';
import { VISION_SETTINGS } from './formats/model-settings.ts';
import type { Options } from './options/resolve.ts';
import type { PageFacts, Snapshot } from './snapshot.ts';
import type { Target } from './target.ts';

export interface FileTools {
  readonly documents: Documents;
  /** Absent if text recognition is disabled. */
  readonly ocr?: Ocr | undefined;
  /** Maximum number of scanned pages to recognize in one document. */
  readonly ocrMaxPages: number;
  /** Describes an image in words; absent without a vision model. */
  readonly describe?: ((picture: Picture, options: Options, signal: AbortSignal) => Promise<string>) | undefined;
  /** Takes a screenshot of HTML, for files that cannot be rendered as images directly; absent without a browser. */
  readonly shoot?:
    | ((html: string, options: Options, signal: AbortSignal) => Promise<Uint8Array | undefined>)
    | undefined;
}

export type FileSnapshot = Snapshot & { readonly file: DocumentFile };

export interface FileReadRequest {
  readonly snapshot: FileSnapshot;
  readonly target: Target;
  readonly options: Options;
  readonly signal: AbortSignal;
  /** Deadline from the caller's timeout, in milliseconds of `performance.now()`. */
  readonly deadline?: number | undefined;
}

/**
 * Decodes an image and fits it into `box` x `box` pixels. Throws DocumentError if it is not an image that can be
 * decoded.
 */
export const createImageScaler =
  (documents: Documents, temporaryDir: string) =>
  async (bytes: Uint8Array, contentType: string, box: number, signal: AbortSignal): Promise<Picture> => {
    const folder = createTemporaryFolder(temporaryDir);
    try {
      const path = join(await folder.path(), 'picture');
      await writeFile(path, bytes, { mode: 0o600 });
      const mediaType = typeOfBytes(bytes) ?? mediaTypeOf(contentType);
      if (!mediaType.startsWith('image/')) throw new DocumentError('unsupported', 'The file is not an image');
      const file = { path, size: bytes.byteLength, mediaType, contentType };
      const { metadata } = await documents.read(file, {}, signal);
      const png = await documents.picture(file, { page: 1, fit: { width: box, height: box } }, signal);
      return { png: png!, width: Number(metadata.width), height: Number(metadata.height) };
    } finally {
      await folder.remove();
    }
  };

/** Scale at which scanned pages are rendered for recognition, in pixels per point: 200 dpi. */
export const SCAN_SCALE = 200 / 72;
/**
 * Size of the box, in pixels, for images to describe or show (docs/reference/wire/reader.md, Documents and other
 * types).
 */
const PICTURE_BOX = 1_024;
/** Size of the box, in pixels, for images to recognize: small print needs the resolution. */
export const SCAN_BOX_PX = 4_000;

export async function readFileSnapshot(asked: FileReadRequest, tools: FileTools): Promise<Snapshot> {
  const read = withPassword(asked);
  const { snapshot, target, options } = read;
  const page = options.page ?? pageInFragment(target.url);
  try {
    const document = await readInTime(read, page, tools);
    const single = page !== undefined && document.pages.length === 1 && document.pages[0]!.number === page;
    const notes: string[] = [];
    if (page !== undefined && !single && document.pageCount !== undefined) {
      notes.push(`This document has ${document.pageCount} pages but no page ${page}: the whole document is returned`);
    }
    const title = titleOf(document, read, single ? page : undefined);
    const description = await describePicture(read, document, tools);
    const { text, mediaType } =
      description === undefined
        ? htmlOf(document, await recognizeText(read, document, tools, notes), title)
        : { text: description, mediaType: 'text/markdown' };
    const pictures = await drawPictures(read, document, text, tools, notes);
    return {
      ...snapshot,
      // Formats that use a model read the pages of the file later.
      file: options.modelFormat ? snapshot.file : undefined,
      mediaType,
      text,
      settled: true,
      ...pictures,
      notes: [...snapshot.notes, ...document.notes, ...notes],
      document: {
        title,
        mediaType: document.mediaType,
        pageCount: single ? undefined : document.pageCount,
        page: single ? page : undefined,
        pages: document.pageCount === undefined ? undefined : document.pages.map(pageFacts),
        metadata: document.metadata,
        publishedTime: document.publishedTime,
        lang: document.lang,
        hiddenCount: document.hiddenCount,
        ...(document.picturesLeftOut && { picturesLeftOut: document.picturesLeftOut }),
        ...(document.figures && { figures: true }),
      },
    };
  } catch (error) {
    throw fileProblem(error, target);
  }
}

/** The password belongs to the file, because rendering its pages needs it too. */
function withPassword(read: FileReadRequest): FileReadRequest {
  const { snapshot, options } = read;
  const { filePassword: password } = options;
  return password ? { ...read, snapshot: { ...snapshot, file: { ...snapshot.file, password } } } : read;
}

/** Returns the document. Throws AssertionFailureError if the caller's timeout expires first. */
async function readInTime(read: FileReadRequest, page: number | undefined, tools: FileTools) {
  const { snapshot, signal, deadline, options } = read;
  const { figures, pdfRunningText, annotations } = options;
  const asked = { page, boxes: true, figures, pdfRunningText, annotations };
  if (deadline === undefined) return tools.documents.read(snapshot.file, asked, signal);
  const late = AbortSignal.timeout(Math.max(1, Math.ceil(deadline - performance.now())));
  try {
    return await tools.documents.read(snapshot.file, asked, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) throw problem('AssertionFailureError', { message: 'The file was not read within the timeout' });
    throw error;
  }
}

/** The page that a URL fragment such as `#3` selects. */
export function pageInFragment(url: string): number | undefined {
  const found = /#(\d{1,6})$/.exec(url);
  return found && Number(found[1]) > 0 ? Number(found[1]) : undefined;
}

/** Reasons why a page remains without text. */
type UnreadReason = 'no recognition' | 'enough' | 'time' | 'failed' | 'blank';

/** The pages, with recognized text added to those that are images. */
async function recognizeText(
  read: FileReadRequest,
  document: ReadFile,
  tools: FileTools,
  notes: string[],
): Promise<readonly DocumentPage[]> {
  const { options, signal } = read;
  if (options.modelFormat) return document.pages;
  const until = read.deadline ?? performance.now() + RECOGNITION_MS;
  const isOnly = document.pages.length === 1;
  let begun = 0;
  const readings = await mapConcurrently(document.pages, { atOnce: defaultThreads(), signal }, async (page, stop) => {
    if (!page.scanned) return undefined;
    const recognize = recognizerOf(page, { ...read, signal: stop }, tools);
    if (!recognize) return 'no recognition';
    if (begun >= tools.ocrMaxPages) return 'enough';
    if (begun > 0 && performance.now() > until) return 'time';
    begun++;
    try {
      return await recognize();
    } catch (error) {
      stop.throwIfAborted();
      // A partly recognized document is still useful; a single image that failed is not.
      if (isOnly || !isPageFailure(error)) throw error;
      return 'failed';
    }
  });
  const result = [...document.pages];
  const recognized: PageReading[] = [];
  const unread = new Map<UnreadReason, number[]>();
  for (const [at, reading] of readings.entries()) {
    if (reading === undefined) continue;
    const reason = typeof reading === 'string' ? reading : reading.words === 0 ? 'blank' : undefined;
    if (reason) unread.set(reason, [...(unread.get(reason) ?? []), result[at]!.number]);
    if (typeof reading !== 'string') recognized.push({ at, reading });
  }
  for (const [at, html] of htmlOfReadings(recognized, result, options)) {
    result[at] = { ...result[at]!, html: result[at]!.html + html };
  }
  notes.push(...ocrWarnings(recognized.map(({ reading }) => reading)));
  for (const [reason, numbers] of unread) notes.push(unreadNote(reason, numbers, tools));
  return result;
}

interface PageReading {
  /** Index of the page. */
  readonly at: number;
  readonly reading: OcrResult;
}

/** The recognized text of pages as HTML, without headers and footers that pages share; by the index of the page. */
function htmlOfReadings(
  readings: readonly PageReading[],
  pages: readonly DocumentPage[],
  { pdfRunningText }: FileReadRequest['options'],
): [at: number, html: string][] {
  if (pdfRunningText === 'keep') return readings.map(({ at, reading }) => [at, reading.html]);
  const numbered = readings.map(({ at, reading }) => ({ number: pages[at]!.number, page: reading.page }));
  const kept = withoutRunningText(numbered);
  return readings.map(({ at, reading }, index) => [
    at,
    kept[index] === reading.page ? reading.html : blocksToHtml(layOut(kept[index]!)),
  ]);
}

/** Time limit for text recognition in a read without a timeout. */
const RECOGNITION_MS = 90_000;

const isPageFailure = (error: unknown) =>
  error instanceof DocumentError || (error instanceof Problem && error.name === 'DownstreamServiceFailureError');

/** Renders a page as an image and recognizes its text as HTML; `undefined` if text recognition is disabled. */
function recognizerOf(
  page: DocumentPage,
  { snapshot, signal }: FileReadRequest,
  { documents, ocr }: FileTools,
): (() => Promise<OcrResult>) | undefined {
  if (!ocr) return undefined;
  const draw = async () => {
    const fit = { width: SCAN_BOX_PX, height: SCAN_BOX_PX };
    const picture = await documents.picture(snapshot.file, { page: page.number, scale: SCAN_SCALE, fit }, signal);
    if (!picture) throw new DocumentError('unsupported', 'The page cannot be rendered');
    return picture;
  };
  return async () => ocr.read(await draw(), { signal });
}

function unreadNote(reason: UnreadReason, pages: readonly number[], { ocrMaxPages }: FileTools): string {
  const named = pages.slice(0, 20).join(', ') + (pages.length > 20 ? ', ...' : '');
  const which = pages.length === 1 ? `Page ${named} is a picture` : `Pages ${named} are pictures`;
  const why = {
    'no recognition': 'no text recognition is configured',
    enough: `at most ${ocrMaxPages} pages are recognized in one read`,
    time: 'no time was left for text recognition',
    failed: 'recognition failed',
    blank: 'no text was recognized',
  }[reason];
  return `${which} without text: ${why}`;
}

/**
 * The document's own title, else the file name, else the hash of its bytes with an extension. Plain text has no title.
 */
function titleOf(document: ReadFile, { snapshot, target }: FileReadRequest, page: number | undefined): string {
  const own = document.title.trim();
  const hashed = target.upload && `${target.url.replace(/^blob:|#.*$/g, '')}${extensionOf(document.mediaType)}`;
  const named = own || (document.source === undefined ? nameOf(snapshot.file.name ?? hashed ?? target.url) : '');
  return page === undefined ? named : `${named}#${page}`;
}

/**
 * Describes an image in Markdown: with the vision model, or with a fixed sentence for tiny images. `undefined` if the
 * file is not an image, or if there is no model.
 */
async function describePicture(read: FileReadRequest, document: ReadFile, { describe, documents }: FileTools) {
  const { snapshot, options, signal } = read;
  const { mediaType, metadata, pages } = document;
  if (!mediaType.startsWith('image/') || pages.length !== 1 || !pages[0]!.scanned || options.modelFormat)
    return undefined;
  const size = { width: Number(metadata.width), height: Number(metadata.height) };
  const small = tinyImageText(size);
  if (small) return small;
  if (!describe) {
    if (options.instruction === undefined) return undefined;
    throw problem('DownstreamServiceFailureError', {
      path: 'instruction',
      message: `no vision model is configured; \`instruction\` on an image needs ${VISION_SETTINGS}`,
    });
  }
  const fit = { width: PICTURE_BOX, height: PICTURE_BOX };
  const png = await documents.picture(snapshot.file, { page: 1, fit }, signal);
  return png && cleanMarkdown(await describe({ png, ...size }, options, signal));
}

/** The document as HTML; files that are shown as source remain text. */
function htmlOf(document: ReadFile, pages: readonly DocumentPage[], title: string) {
  if (document.source !== undefined) return { text: document.source, mediaType: 'text/plain' };
  const lang = document.lang ? ` lang="${escapeAttribute(document.lang)}"` : '';
  const hasPages = document.pageCount !== undefined;
  const body = pages.map(({ number, html }) => (hasPages ? `${pageStartMark(number)}\n${html}` : html)).join('\n');
  const text = `<!DOCTYPE html><html${lang}><head><meta charset="utf-8"><title>${escapeText(title)}</title></head><body>${body}</body></html>`;
  return { text, mediaType: 'text/html' };
}

/** Longest name of a page, in characters. */
const MAX_NAME = 200;

const pageFacts = ({ number, name, width, height }: DocumentPage): PageFacts => ({
  number,
  ...(name && { name: name.slice(0, MAX_NAME) }),
  ...(width !== undefined && height !== undefined && { width: hundredths(width), height: hundredths(height) }),
});

const hundredths = (points: number): number => Math.round(points * 100) / 100;

/** Returns a file name, or the last part of a URL path. */
function nameOf(text: string): string {
  const last =
    text
      .replace(/[?#].*$/s, '')
      .replace(/\/+$/, '')
      .split('/')
      .pop() ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** Renders the selected page of a document as a picture, else the first page. */
async function drawPictures(
  { snapshot, options, signal }: FileReadRequest,
  { pages, mediaType }: ReadFile,
  html: string,
  tools: FileTools,
  notes: string[],
): Promise<{ screenshot?: Uint8Array; pageshot?: Uint8Array }> {
  const { formats, modelFormat, viewport } = options;
  const wanted = formats.has('screenshot') || formats.has('pageshot') || modelFormat === 'vlm';
  if (!wanted) return {};
  const fit = { width: viewport?.width ?? PICTURE_BOX, height: viewport?.height ?? PICTURE_BOX };
  const box = { page: pages[0]?.number ?? 1, scale: 2, ...(mediaType.startsWith('image/') && { fit }) };
  const picture = await drawPage({ file: snapshot.file, html, options, signal }, box, tools);
  if (!picture) {
    notes.push('This file could not be rendered: this needs a browser, or LibreOffice for text documents and slides.');
    return {};
  }
  return { screenshot: picture, ...(formats.has('pageshot') && { pageshot: picture }) };
}

export type ImageScaler = ReturnType<typeof createImageScaler>;

export interface DrawRequest {
  readonly file: DocumentFile;
  /** The HTML made from the file: the browser renders it if the file itself cannot be rendered. */
  readonly html: string;
  readonly options: Options;
  readonly signal: AbortSignal;
}

/**
 * Renders a page of a file as PNG; `undefined` if neither the document reader nor a browser can. Throws DocumentError
 * and the browser's errors.
 */
export async function drawPage(
  { file, html, options, signal }: DrawRequest,
  box: PictureOptions,
  { documents, shoot }: FileTools,
): Promise<Uint8Array | undefined> {
  const drawn = await documents.picture(file, box, signal).catch((error: unknown) => {
    // Some files, such as SVG, can be read but not rendered directly.
    if (error instanceof DocumentError && error.kind === 'unsupported') return undefined;
    throw error;
  });
  return drawn ?? (await shoot?.(html, options, signal));
}

/**
 * Maps an error of the document reader to a problem. Fetched and submitted files have the same messages; only the
 * problem name differs.
 */
export function fileProblem(error: unknown, { upload }: Target): unknown {
  if (error instanceof QueueFullError) return problem('ServiceNodeResourceDrainError', { retryAfter: 5 });
  if (!(error instanceof DocumentError)) return error;
  const { kind, message } = error;
  if (kind === 'missing program') return problem('DownstreamServiceFailureError', { message }, error);
  const needsPassword = kind === 'encrypted' || kind === 'wrong password';
  const path = needsPassword ? { path: 'filePassword' } : upload ? { path: upload.option ?? 'file' } : {};
  const malformed = upload && (kind === 'damaged' || needsPassword);
  return problem(
    malformed ? 'SubmittedDataMalformedError' : 'AssertionFailureError',
    { ...path, reason: kind, message },
    error,
  );
}
