/**
 * A target that is a file, as a snapshot: its pages become one HTML document, which goes the way of every page. Pages
 * without text are looked at by text recognition; a picture is described by a vision model when there is one.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TooManyTasks } from '#concurrency/tasks.ts';
import { typeOfBytes } from '#documents/detect.ts';
import { DocumentFault, type DocumentFile, type DocumentPage } from '#documents/document.ts';
import type { Documents, ReadFile } from '#documents/documents.ts';
import { problem } from '#errors.ts';
import { escapeAttribute, escapeText } from '#html/serialize.ts';
import type { Ocr } from '#models/index.ts';
import { temporaryFolder } from '#storage/temporary.ts';
import { mediaTypeOf } from './engines/media-type.ts';
import type { Picture } from './formats/describe-image.ts';
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
      if (!mediaType.startsWith('image/')) throw new DocumentFault('unsupported', 'This is no picture');
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
  const { snapshot, target, options, signal } = read;
  const page = options.page ?? fragmentPage(target.url);
  try {
    const document = await tools.documents.read(snapshot.file, { page }, signal);
    const single = page !== undefined && document.pages.length === 1 && document.pages[0]!.number === page;
    const told: string[] = [];
    const pages = await withText(read, document, tools, told);
    const { title, text, mediaType } = written(
      document,
      pages,
      snapshot.file.name ?? target.url,
      single ? page : undefined,
    );
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

/** `#3` names a page. */
export function fragmentPage(url: string): number | undefined {
  const found = /#(\d{1,6})$/.exec(url);
  return found && Number(found[1]) > 0 ? Number(found[1]) : undefined;
}

async function withText(
  { snapshot, options, signal }: FileRead,
  { mediaType, pages, metadata }: ReadFile,
  tools: FileTools,
  told: string[],
): Promise<DocumentPage[]> {
  const isPicture = mediaType.startsWith('image/');
  const result: DocumentPage[] = [];
  let recognised = 0;
  const left: number[] = [];
  for (const page of pages) {
    if (!page.scanned || options.modelFormat) {
      result.push(page);
      continue;
    }
    const describes = isPicture && tools.describe && page.number === 1;
    if (!describes && (!tools.ocr || recognised >= tools.ocrMaxPages)) {
      left.push(page.number);
      result.push(page);
      continue;
    }
    recognised++;
    const box = describes ? PICTURE_BOX : SCAN_BOX;
    const picture = await tools.documents.picture(
      snapshot.file,
      { page: page.number, scale: SCAN_SCALE, fit: { width: box, height: box } },
      signal,
    );
    if (!picture) left.push(page.number);
    else if (describes) {
      const size = { width: Number(metadata.width), height: Number(metadata.height) };
      const description = await tools.describe!({ png: picture, ...size }, options, signal);
      result.push({ ...page, html: `<p>${escapeText(description)}</p>` });
      continue;
    }
    const html = picture ? (await tools.ocr!.read(picture, { signal })).html : '';
    result.push({ ...page, html: page.html + html });
  }
  if (left.length) told.push(unread(left, tools));
  return result;
}

function unread(pages: readonly number[], { ocr, ocrMaxPages }: FileTools): string {
  const named = pages.slice(0, 20).join(', ') + (pages.length > 20 ? ', ...' : '');
  const which =
    pages.length === 1 ? `Page ${named} is a picture without text` : `Pages ${named} are pictures without text`;
  return ocr
    ? `${which}; only ${ocrMaxPages} are recognised in one read`
    : `${which}, and no text recognition is configured`;
}

/** The whole as HTML; files that are shown as their source stay text. */
function written(document: ReadFile, pages: readonly DocumentPage[], name: string, page: number | undefined) {
  const named = document.title.trim() || (document.source === undefined || document.title ? nameOf(name) : '');
  const title = page === undefined ? named : `${named}#${page}`;
  if (document.source !== undefined) return { title, text: document.source, mediaType: 'text/plain' };
  const lang = document.lang ? ` lang="${escapeAttribute(document.lang)}"` : '';
  const body = pages.map(({ html }) => html).join('\n');
  const text = `<!DOCTYPE html><html${lang}><head><meta charset="utf-8"><title>${escapeText(title)}</title></head><body>${body}</body></html>`;
  return { title, text, mediaType: 'text/html' };
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
  const drawn = await tools.documents
    .picture(
      snapshot.file,
      { page: pages[0]?.number ?? 1, scale: 2, ...(mediaType.startsWith('image/') && { fit }) },
      signal,
    )
    .catch((error: unknown) => {
      // A file that can be read and not drawn, such as SVG.
      if (error instanceof DocumentFault && error.kind === 'unsupported') return undefined;
      throw error;
    });
  const picture = drawn ?? (await tools.shoot?.(html, options, signal));
  if (!picture) {
    told.push('This file could not be drawn: that takes a browser, or LibreOffice for texts and slides.');
    return {};
  }
  return { screenshot: picture, ...(formats.has('pageshot') && { pageshot: picture }) };
}

/** The same words for files that were fetched and files that were sent; only the name of the failure differs. */
function fileProblem(error: unknown, { upload }: Target): unknown {
  if (error instanceof TooManyTasks) return problem('ServiceNodeResourceDrainError', { retryAfter: 5 });
  if (!(error instanceof DocumentFault)) return error;
  const { kind, message } = error;
  if (kind === 'missing program') return problem('DownstreamServiceFailureError', { message }, error);
  const path = upload ? { path: 'file' } : {};
  const malformed = upload && (kind === 'damaged' || kind === 'encrypted');
  return problem(
    malformed ? 'SubmittedDataMalformedError' : 'AssertionFailureError',
    { ...path, reason: kind, message },
    error,
  );
}
