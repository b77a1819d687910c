/** Renders pages as images. */
import type { Canvas } from '@napi-rs/canvas';
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import { DocumentError, type PictureOptions, type PicturesOptions } from '../document.ts';
import { fitImage } from '../image/fit.ts';
import { decodePixels } from '../image/raster.ts';
import type { Pixels } from '../image/resample.ts';
import { openPdf } from './open.ts';

type RenderTarget = Pick<Parameters<PDFPageProxy['render']>[0], 'canvas' | 'canvasContext'>;

/** Pixels per point: 144 dpi. */
const DEFAULT_SCALE = 2;
/** Longest side, in pixels. */
const LARGEST = 4_000;
const MAX_IMAGE_PIXELS = 50_000_000;
/**
 * Time after which no further page of a batch is started: long compared with opening the file, but short for tasks that
 * wait for the process.
 */
const runMs = (openingMs: number) => Math.min(2_000, Math.max(250, 10 * openingMs));
/** Total size of the images of one batch; beyond it, no further page is started. */
const MAX_RUN_BYTES = 16 * 1024 * 1024;

export const renderPage = (
  bytes: Uint8Array,
  { page, scale = DEFAULT_SCALE }: PictureOptions,
  password?: string,
): Promise<Uint8Array> =>
  withDocument({ bytes, password }, async (document) => (await draw(document, page, scale)).encode('png'));

/** See `pictures` of DocumentKind. */
export function renderPages(
  bytes: Uint8Array,
  { pages, scale = DEFAULT_SCALE, as }: PicturesOptions,
  password?: string,
): Promise<Uint8Array[]> {
  const begun = performance.now();
  return withDocument({ bytes, password }, async (document) => {
    const opened = performance.now();
    const until = opened + runMs(opened - begun);
    const drawn: Uint8Array[] = [];
    let size = 0;
    for (const page of pages) {
      try {
        const canvas = await draw(document, page, scale);
        const picture = as === 'png' ? await canvas.encode('png') : fitImage(await pixelsOn(canvas), as).rgb;
        drawn.push(picture);
        size += picture.length;
      } catch (error) {
        // The next batch starts with this page and reports its error, independently of earlier pages.
        if (drawn.length === 0) throw error;
        break;
      }
      if (performance.now() >= until || size >= MAX_RUN_BYTES) break;
    }
    return drawn;
  });
}

async function withDocument<T>(
  { bytes, password }: { readonly bytes: Uint8Array; readonly password: string | undefined },
  work: (document: PDFDocumentProxy) => Promise<T>,
): Promise<T> {
  const { document, close } = await openPdf(bytes, { maxImagePixels: MAX_IMAGE_PIXELS, password });
  try {
    return await work(document);
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    throw new DocumentError('damaged', 'The page of the PDF cannot be rendered', error);
  } finally {
    await close();
  }
}

async function draw(document: PDFDocumentProxy, number: number, scale: number): Promise<Canvas> {
  const { createCanvas } = await import('@napi-rs/canvas');
  if (number < 1 || number > document.numPages)
    throw new DocumentError('damaged', `The PDF has no page ${number}; it has ${document.numPages}`);
  const page = await document.getPage(number);
  const size = page.getViewport({ scale: 1 });
  const fitting = Math.min(scale, LARGEST / size.width, LARGEST / size.height);
  const viewport = page.getViewport({ scale: fitting });
  const canvas = createCanvas(Math.max(1, Math.floor(viewport.width)), Math.max(1, Math.floor(viewport.height)));
  // The canvas has the methods that PDF.js uses, but is not of the DOM type.
  const target = { canvas: null, canvasContext: canvas.getContext('2d') } as unknown as RenderTarget;
  await page.render({ ...target, viewport, background: '#ffffff' }).promise;
  page.cleanup();
  return canvas;
}

/** Returns the same pixels as the PNG of the canvas. */
async function pixelsOn(canvas: Canvas): Promise<Pixels> {
  const { width, height } = canvas;
  const rgba = canvas.data();
  const rgb = new Uint8Array(width * height * 3);
  let covered = 255;
  for (let from = 0, to = 0; to < rgb.length; from += 4, to += 3) {
    rgb[to] = rgba[from]!;
    rgb[to + 1] = rgba[from + 1]!;
    rgb[to + 2] = rgba[from + 2]!;
    covered &= rgba[from + 3]!;
  }
  // The page is painted on opaque paper. Otherwise these colors would be premultiplied by alpha.
  return covered === 255 ? { width, height, rgb } : decodePixels(await canvas.encode('png'), 'png');
}
