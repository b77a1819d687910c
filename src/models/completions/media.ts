/**
 * Loads the images and PDFs of a request. Fetches them through the egress guard or decodes inline data, checks the
 * limits before decoding pixels, and provides pages that are rendered on demand.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { QueueFullError } from '#concurrency/task-queue.ts';
import { canonicalType, hasLatePdfHeader, TYPES, typeOfBytes } from '#documents/detect.ts';
import { DocumentError, type DocumentFile } from '#documents/document.ts';
import type { Documents } from '#documents/documents.ts';
import { detectImageFormat, isCutOff } from '#documents/image/format.ts';
import { Problem, problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { createTemporaryFolder } from '#storage/temporary.ts';
import { type FaultType, faultsProblem, type Place } from '../inputs/faults.ts';
import type { MediaSource } from './parts.ts';

/** Limits for images (docs/reference/wire/models.md, Chat completions). PDFs have a separate limit. */
export const MOST_IMAGES = 20;
export const MAX_IMAGE_BYTES = 8 * 1024 * 1024;
export const MAX_PDF_BYTES = 32 * 1024 * 1024;
export const MAX_PIXELS = 40_000_000;
/** Maximum number of pages in one request. */
export const MOST_PAGES = 100;

const FETCH_MS = 20_000;
const FETCHES_AT_ONCE = 4;
/** Assumed size of a PDF page before it is rendered: A4 at 200 dpi, in pixels. */
const PDF_PAGE = { width: 1_654, height: 2_339 };
/** Pixels per point (1/72 inch). */
const PDF_SCALE = 200 / 72;
/** Maximum width and height in pixels: of an image for text recognition, and of one for a vision model. */
const READ_BOX = 7_000;
const LOOK_BOX = 2_048;

export interface Picture {
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export interface Page {
  /** Path of the image in the request. */
  readonly at: Place;
  /** Counted from 1. */
  readonly number: number;
  /** In pixels; estimated until the page is rendered. */
  readonly size: { readonly width: number; readonly height: number };
  /** Renders in full detail for text recognition; returns the original bytes if they can be used. */
  renderForOcr(signal: AbortSignal): Promise<Picture>;
  /** Renders a PNG sized for vision models. */
  renderForModel(signal: AbortSignal): Promise<Picture>;
}

export interface MediaTools {
  readonly documents: Pick<Documents, 'read' | 'picture'>;
  readonly fetch: GuardedFetch;
  readonly temporaryDir: string;
}

export interface OpenMedia {
  /** In the order in which the request lists them. */
  readonly pages: readonly Page[];
  /** Removes the temporary files. */
  close(): Promise<void>;
}

/**
 * Throws ParamValidationError with the path of an item that cannot be loaded or exceeds a limit,
 * ServiceNodeResourceDrainError, or the signal's reason.
 */
export async function openMedia(
  sources: readonly MediaSource[],
  tools: MediaTools,
  signal: AbortSignal,
): Promise<OpenMedia> {
  if (sources.length > MOST_IMAGES) {
    throw mediaFault(['messages'], `must have at most ${MOST_IMAGES} images, not ${sources.length}`, 'too_long');
  }
  const folder = createTemporaryFolder(tools.temporaryDir);
  try {
    const dir = await folder.path();
    const found: Page[][] = [];
    const queue = sources.entries();
    const work = async () => {
      for (const [index, source] of queue) {
        found[index] = await opened(source, path.join(dir, String(index)), tools, signal);
      }
    };
    // Throws the first failure, but only after all workers have ended, because the folder is then removed.
    const works = Array.from({ length: Math.min(FETCHES_AT_ONCE, sources.length) }, work);
    const failed = (await Promise.allSettled(works)).find(({ status }) => status === 'rejected');
    if (failed) throw (failed as PromiseRejectedResult).reason;
    const pages = found.flat();
    if (pages.length > MOST_PAGES) {
      throw mediaFault(
        ['messages'],
        `must have at most ${MOST_PAGES} pages, not ${pages.length}: select some with \`pages\``,
      );
    }
    return { pages, close: () => folder.remove() };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

async function opened(source: MediaSource, file: string, tools: MediaTools, signal: AbortSignal): Promise<Page[]> {
  const { at } = source;
  const { bytes, contentType } =
    'url' in source.given ? await fetched(source.given.url, at, tools, signal) : decoded(source);
  if (bytes.byteLength === 0) throw mediaFault(at, 'is empty');
  const mediaType = typeOf(bytes, contentType);
  const isPdf = mediaType === TYPES.pdf;
  if (!isPdf && !mediaType.startsWith('image/')) {
    throw mediaFault(at, 'must be a PNG, JPEG, WebP or TIFF image, or a PDF');
  }
  if (mediaType === TYPES.svg)
    throw mediaFault(at, 'is an SVG image, which is not supported: send a PNG, JPEG, WebP or TIFF image');
  if (!isPdf && bytes.byteLength > MAX_IMAGE_BYTES) throw tooManyBytes(at, MAX_IMAGE_BYTES);
  await writeFile(file, bytes, { mode: 0o600 });
  return blaming(at, signal, async () => {
    // Without this check, the missing part of a truncated image would be silently missing from the response.
    if (!isPdf && isCutOff(bytes, detectImageFormat(bytes, mediaType)))
      throw mediaFault(at, 'is truncated: its end is missing');
    return await pagesOf(
      { path: file, size: bytes.byteLength, mediaType, contentType, name: source.name },
      source,
      tools,
      signal,
    );
  });
}

/** The media type detected from the bytes, or the declared one for image types without a signature. */
function typeOf(bytes: Uint8Array, contentType: string): string {
  const found = typeOfBytes(bytes) ?? (hasLatePdfHeader(bytes) ? TYPES.pdf : undefined);
  if (found) return found;
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4_096)).toString('latin1');
  if (/<(?:[a-z]+:)?svg[\s>]/i.test(start.replaceAll('\0', ''))) return TYPES.svg;
  const declared = canonicalType(contentType.split(';', 1)[0]!.trim().toLowerCase());
  return declared.startsWith('image/') ? declared : '';
}

async function pagesOf(
  file: DocumentFile,
  { at, pages: wanted }: MediaSource,
  { documents }: MediaTools,
  signal: AbortSignal,
): Promise<Page[]> {
  const isPdf = file.mediaType === TYPES.pdf;
  // Reads only one page, to determine the page count.
  const { pageCount = 1, metadata } = await documents.read(file, { page: 1 }, signal);
  const size = isPdf ? PDF_PAGE : { width: Number(metadata.width), height: Number(metadata.height) };
  if (!isPdf && size.width * size.height > MAX_PIXELS) throw tooManyPixels(at, size);
  const missing = wanted?.find((page) => page > pageCount);
  if (missing !== undefined)
    throw mediaFault([...at.slice(0, -1), 'pages'], `has no page ${missing}: it has ${pageCount}`);
  const numbers = wanted ?? Array.from({ length: Math.min(pageCount, MOST_PAGES + 1) }, (_, index) => index + 1);
  const isPlain = /^image\/(?:png|jpeg|webp)$/.test(file.mediaType);
  return numbers.map((number) => {
    const draw = async (box: number, stop: AbortSignal): Promise<Picture> => {
      const fit = { width: box, height: box };
      const bytes = await blaming(at, stop, () =>
        documents.picture(file, { page: number, scale: PDF_SCALE, fit }, stop),
      );
      if (!bytes) throw mediaFault(at, 'cannot be rendered');
      return { bytes, ...pngSize(bytes) };
    };
    return {
      at,
      number,
      size,
      renderForOcr: async (stop) =>
        isPlain ? { bytes: await readFile(file.path), ...size } : await draw(READ_BOX, stop),
      renderForModel: (stop) => draw(LOOK_BOX, stop),
    };
  });
}

/** From the IHDR chunk: https://www.w3.org/TR/png-3/#11IHDR */
function pngSize(png: Uint8Array): { width: number; height: number } {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** Ignores white space; any other character outside the base64 alphabet is a fault. */
function decoded({ at, given }: MediaSource): { bytes: Uint8Array; contentType: string } {
  const { base64, contentType } = given as { base64: string; contentType: string };
  if (base64.length > MAX_PDF_BYTES * 1.4) throw tooManyBytes(at, MAX_PDF_BYTES);
  const letters = base64.replace(/\s+/g, '');
  if (!/^[\w+/-]*={0,2}$/.test(letters)) throw mediaFault(at, 'must be base64');
  return { bytes: Buffer.from(letters, 'base64'), contentType };
}

/** Blocked, invalid and unreachable URLs produce the same message, so that it reveals nothing about internal hosts. */
async function fetched(url: string, at: Place, { fetch }: MediaTools, signal: AbortSignal) {
  const noAnswer = () => mediaFault(at, 'cannot be fetched');
  try {
    const response = await fetch(url, {
      headers: { accept: 'image/*, application/pdf' },
      signal,
      timeoutMs: FETCH_MS,
      maxBytes: MAX_PDF_BYTES,
    });
    if (response.status !== 200) {
      response.discard();
      throw mediaFault(at, `cannot be fetched: the server responded with status ${response.status}`);
    }
    const { bytes, truncated } = await response.collect();
    if (truncated) throw noAnswer();
    return { bytes, contentType: response.headers['content-type'] ?? '' };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Problem && error.facts.errors) throw error;
    if (error instanceof Problem && error.name === 'TargetFileTooLargeError') throw tooManyBytes(at, MAX_PDF_BYTES);
    throw noAnswer();
  }
}

/** Converts document errors into faults in the request. */
async function blaming<T>(at: Place, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof QueueFullError) throw problem('ServiceNodeResourceDrainError', { retryAfter: 5 }, error);
    if (error instanceof DocumentError) throw mediaFault(at, `cannot be read: ${error.message}`);
    throw error;
  }
}

const tooManyBytes = (at: Place, limit: number) =>
  mediaFault(at, `is larger than ${limit / 1024 / 1024} MB`, 'too_long');

const tooManyPixels = (at: Place, { width, height }: Page['size']) =>
  mediaFault(at, `has ${width} x ${height} pixels, more than ${MAX_PIXELS / 1e6} million`, 'too_long');

/** Creates a ParamValidationError with one fault at this path. */
export const mediaFault = (at: Place, message: string, type: FaultType = 'media_error') =>
  faultsProblem([{ field: ['body', ...at].join(' -> '), message, type }]);
