/**
 * A target that is a file, as a snapshot: its pages become one HTML document, which goes the way of every page. Pages
 * without text are looked at by text recognition; a picture is described by a vision model when there is one.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QueueFullError } from '#concurrency/task-queue.ts';
import { extensionOf, typeOfBytes } from '#documents/detect.ts';
import { DocumentError, type DocumentFile, type DocumentPage, type PictureOptions } from '#documents/document.ts';
import type { Documents, ReadFile } from '#documents/documents.ts';
import { Problem, problem } from '#errors.ts';
import { escapeAttribute, escapeText } from '#html/serialize.ts';
import type { Ocr } from '#ocr/index.ts';
import { temporaryFolder } from '#storage/temporary.ts';
import { mediaTypeOf } from './engines/media-type.ts';
import { type Picture, smallPicture } from './formats/describe-image.ts';
import { VISION_SETTINGS } from './formats/write-by-model.ts';
import { cleanMarkdown } from './formats/written.ts';
import type { Options } from './options/resolve.ts';
import type { Snapshot } from './snapshot.ts';
import type { Target } from './target.ts';

export interface FileTools {
  readonly documents: Documents;
  /** Absent when text recognition is turned off. */
  readonly ocr?: Ocr | undefined;
  /** How many scanned pages of a document are recognised. */
  readonly ocrMaxPages: number;
  /** What a picture shows, in words; absent without a vision model. */
  readonly describe?: ((picture: Picture, options: Options, signal: AbortSignal) => Promise<string>) | undefined;
  /** A picture of HTML, for pages that cannot be drawn otherwise; absent without a browser. */
  readonly shoot?:
    | ((html: string, options: Options, signal: AbortSignal) => Promise<Uint8Array | undefined>)
    | undefined;
}

export type FileSnapshot = Snapshot & { readonly file: DocumentFile };

export interface FileRead {
  readonly snapshot: FileSnapshot;
  readonly target: Target;
  readonly options: Options;
  readonly signal: AbortSignal;
  /** When the caller's own time limit is over, as `performance.now()` milliseconds. */
  readonly deadline?: number | undefined;
}

/**
 * A picture that a page shows, fitted into `box` x `box` pixels. Throws DocumentFault when it is none that can be shown.
 */
export const createPictureFitter =
  (documents: Documents, temporaryDir: string) =>
  async (bytes: Uint8Array, contentType: string, box: number, signal: AbortSignal): Promise<Picture> => {
    const folder = temporaryFolder(temporaryDir);
    try {
      const path = join(await folder.path(), 'picture');
      await writeFile(path, bytes, { mode: 0o600 });
      const mediaType = typeOfBytes(bytes) ?? mediaTypeOf(contentType);
      if (!mediaType.startsWith('image/')) throw new DocumentError('unsupported', 'This is no picture');
      const file = { path, size: bytes.byteLength, mediaType, contentType };
      const { metadata } = await documents.read(file, {}, signal);
      const png = await documents.picture(file, { page: 1, fit: { width: box, height: box } }, signal);
      return { png: png!, width: Number(metadata.width), height: Number(metadata.height) };
    } finally {
      await folder.remove();
    }
  };

/** Pixels per point in which scanned pages are recognised: 200 dpi. */
export const SCAN_SCALE = 200 / 72;
/** The box into which a picture is fitted before it is described or shown (contract, section 16). */
const PICTURE_BOX = 1_024;
/** The box for text recognition, which needs every stroke. */
export const SCAN_BOX = 4_000;

export async function readFileSnapshot(read: FileRead, tools: FileTools): Promise<Snapshot> {
  const { snapshot, target, options } = read;
  const page = options.page ?? fragmentPage(target.url);
  try {
    const document = await readInTime(read, page, tools);
    const single = page !== undefined && document.pages.length === 1 && document.pages[0]!.number === page;
    const told: string[] = [];
    if (page !== undefined && !single && document.pageCount !== undefined) {
      told.push(`This document has ${document.pageCount} pages and no page ${page}, all of it is here`);
    }
    const title = titleOf(document, read, single ? page : undefined);
    const description = await described(read, document, tools);
    const { text, mediaType } =
      description === undefined
        ? written(document, await withText(read, document, tools, told), title)
        : { text: description, mediaType: 'text/markdown' };
    const pictures = await pictureOf(read, document, text, tools, told);
    return {
      ...snapshot,
      // Those who write by a model still look at its pages.
      file: options.modelFormat ? snapshot.file : undefined,
      mediaType,
      text,
      settled: true,
      ...pictures,
      notes: [...snapshot.notes, ...document.notes, ...told],
      document: {
        title,
        mediaType: document.mediaType,
        pageCount: single ? undefined : document.pageCount,
        page: single ? page : undefined,
        metadata: document.metadata,
        publishedTime: document.publishedTime,
        lang: document.lang,
        hiddenCount: document.hiddenCount,
      },
    };
  } catch (error) {
    throw fileProblem(error, target);
  }
}

/** The document, or AssertionFailureError when the caller's time is over before it is read. */
async function readInTime({ snapshot, signal, deadline }: FileRead, page: number | undefined, tools: FileTools) {
  if (deadline === undefined) return tools.documents.read(snapshot.file, { page }, signal);
  const late = AbortSignal.timeout(Math.max(1, Math.ceil(deadline - performance.now())));
  try {
    return await tools.documents.read(snapshot.file, { page }, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) throw problem('AssertionFailureError', { message: 'The file was not read within the timeout' });
    throw error;
  }
}

/** `#3` names a page. */
export function fragmentPage(url: string): number | undefined {
  const found = /#(\d{1,6})$/.exec(url);
  return found && Number(found[1]) > 0 ? Number(found[1]) : undefined;
}

/** Why a page without text stays as it is. */
type Unread = 'no recognition' | 'enough' | 'time' | 'failed' | 'blank';

/** The pages, those that are pictures with the text that is in them, or with what they show. */
async function withText(
  read: FileRead,
  document: ReadFile,
  tools: FileTools,
  told: string[],
): Promise<readonly DocumentPage[]> {
  const { options, signal } = read;
  if (options.modelFormat) return document.pages;
  const until = read.deadline ?? performance.now() + RECOGNITION_MS;
  const unread = new Map<Unread, number[]>();
  const result: DocumentPage[] = [];
  let recognised = 0;
  for (const page of document.pages) {
    if (!page.scanned) {
      result.push(page);
      continue;
    }
    const reads = readerOf(page, read, tools);
    let reason: Unread | undefined;
    if (!reads) reason = 'no recognition';
    else if (recognised >= tools.ocrMaxPages) reason = 'enough';
    else if (recognised > 0 && performance.now() > until) reason = 'time';
    else {
      recognised++;
      try {
        const html = await reads();
        if (!html.trim()) unread.set('blank', [...(unread.get('blank') ?? []), page.number]);
        result.push({ ...page, html: page.html + html });
        continue;
      } catch (error) {
        signal.throwIfAborted();
        // A document with other pages is worth more than none; of a picture alone nothing would be left.
        if (document.pages.length === 1 || !isPageFailure(error)) throw error;
        reason = 'failed';
      }
    }
    unread.set(reason, [...(unread.get(reason) ?? []), page.number]);
    result.push(page);
  }
  for (const [reason, numbers] of unread) told.push(unreadWords(reason, numbers, tools));
  return result;
}

/** As long as text recognition may go on in one read, when the caller sets no limit. */
const RECOGNITION_MS = 90_000;

const isPageFailure = (error: unknown) =>
  error instanceof DocumentError || (error instanceof Problem && error.name === 'DownstreamServiceFailureError');

/** What turns a page without text into HTML; undefined when there is nothing that could. */
function readerOf(
  page: DocumentPage,
  { snapshot, signal }: FileRead,
  { documents, ocr }: FileTools,
): (() => Promise<string>) | undefined {
  if (!ocr) return undefined;
  const draw = async () => {
    const fit = { width: SCAN_BOX, height: SCAN_BOX };
    const picture = await documents.picture(snapshot.file, { page: page.number, scale: SCAN_SCALE, fit }, signal);
    if (!picture) throw new DocumentError('unsupported', 'The page cannot be drawn');
    return picture;
  };
  return async () => (await ocr.read(await draw(), { signal })).html;
}

function unreadWords(reason: Unread, pages: readonly number[], { ocrMaxPages }: FileTools): string {
  const named = pages.slice(0, 20).join(', ') + (pages.length > 20 ? ', ...' : '');
  const which = pages.length === 1 ? `Page ${named} is a picture` : `Pages ${named} are pictures`;
  const why = {
    'no recognition': 'no text recognition is configured',
    enough: `text is recognised in ${ocrMaxPages} pages of one read`,
    time: 'there was no time left to recognise text',
    failed: 'recognition failed',
    blank: 'none was recognised',
  }[reason];
  return `${which} without text: ${why}`;
}

/** What it calls itself, else the file's name, else the hash of its bytes with an ending; text has none. */
function titleOf(document: ReadFile, { snapshot, target }: FileRead, page: number | undefined): string {
  const own = document.title.trim();
  const hashed = target.upload && `${target.url.replace(/^blob:|#.*$/g, '')}${extensionOf(document.mediaType)}`;
  const named = own || (document.source === undefined ? nameOf(snapshot.file.name ?? hashed ?? target.url) : '');
  return page === undefined ? named : `${named}#${page}`;
}

/**
 * What a picture shows, in Markdown: in the words of the vision model, or a sentence when it is too small to show
 * anything. Undefined for what is no picture, or when there is no model.
 */
async function described(read: FileRead, document: ReadFile, { describe, documents }: FileTools) {
  const { snapshot, options, signal } = read;
  const { mediaType, metadata, pages } = document;
  if (!mediaType.startsWith('image/') || pages.length !== 1 || !pages[0]!.scanned || options.modelFormat)
    return undefined;
  const size = { width: Number(metadata.width), height: Number(metadata.height) };
  const small = smallPicture(size);
  if (small) return small;
  if (!describe) {
    if (options.instruction === undefined) return undefined;
    throw problem('DownstreamServiceFailureError', {
      path: 'instruction',
      message: `instruction on a picture needs ${VISION_SETTINGS}: nothing is configured`,
    });
  }
  const fit = { width: PICTURE_BOX, height: PICTURE_BOX };
  const png = await documents.picture(snapshot.file, { page: 1, fit }, signal);
  return png && cleanMarkdown(await describe({ png, ...size }, options, signal));
}

/** The whole as HTML; files that are shown as their source stay text. */
function written(document: ReadFile, pages: readonly DocumentPage[], title: string) {
  if (document.source !== undefined) return { text: document.source, mediaType: 'text/plain' };
  const lang = document.lang ? ` lang="${escapeAttribute(document.lang)}"` : '';
  const body = pages.map(({ html }) => html).join('\n');
  const text = `<!DOCTYPE html><html${lang}><head><meta charset="utf-8"><title>${escapeText(title)}</title></head><body>${body}</body></html>`;
  return { text, mediaType: 'text/html' };
}

/** A file's own name, or the last part of its address. */
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

/** The picture of a document is that of its first, or its selected, page. */
async function pictureOf(
  { snapshot, options, signal }: FileRead,
  { pages, mediaType }: ReadFile,
  html: string,
  tools: FileTools,
  told: string[],
): Promise<{ screenshot?: Uint8Array; pageshot?: Uint8Array }> {
  const { formats, modelFormat, viewport } = options;
  const wanted = formats.has('screenshot') || formats.has('pageshot') || modelFormat === 'vlm';
  if (!wanted) return {};
  const fit = { width: viewport?.width ?? PICTURE_BOX, height: viewport?.height ?? PICTURE_BOX };
  const box = { page: pages[0]?.number ?? 1, scale: 2, ...(mediaType.startsWith('image/') && { fit }) };
  const picture = await drawPage({ file: snapshot.file, html, options, signal }, box, tools);
  if (!picture) {
    told.push('This file could not be drawn: that takes a browser, or LibreOffice for texts and slides.');
    return {};
  }
  return { screenshot: picture, ...(formats.has('pageshot') && { pageshot: picture }) };
}

/** See createPictureFitter. */
export type PictureFitter = ReturnType<typeof createPictureFitter>;

export interface Drawn {
  readonly file: DocumentFile;
  /** What was made of it: drawn by the browser when the file itself cannot be. */
  readonly html: string;
  readonly options: Options;
  readonly signal: AbortSignal;
}

/** A page of a file as PNG; undefined when nothing here can draw it. Throws DocumentFault and what the browser throws. */
export async function drawPage(
  { file, html, options, signal }: Drawn,
  box: PictureOptions,
  { documents, shoot }: FileTools,
): Promise<Uint8Array | undefined> {
  const drawn = await documents.picture(file, box, signal).catch((error: unknown) => {
    // A file that can be read and not drawn, such as SVG.
    if (error instanceof DocumentError && error.kind === 'unsupported') return undefined;
    throw error;
  });
  return drawn ?? (await shoot?.(html, options, signal));
}

/** The same words for files that were fetched and files that were sent; only the name of the failure differs. */
export function fileProblem(error: unknown, { upload }: Target): unknown {
  if (error instanceof QueueFullError) return problem('ServiceNodeResourceDrainError', { retryAfter: 5 });
  if (!(error instanceof DocumentError)) return error;
  const { kind, message } = error;
  if (kind === 'missing program') return problem('DownstreamServiceFailureError', { message }, error);
  const path = upload ? { path: upload.option ?? 'file' } : {};
  const malformed = upload && (kind === 'damaged' || kind === 'encrypted');
  return problem(
    malformed ? 'SubmittedDataMalformedError' : 'AssertionFailureError',
    { ...path, reason: kind, message },
    error,
  );
}
