/** Renders the figures of a PDF as images, within limits. */
import type { Canvas } from '@napi-rs/canvas';
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import type { FigureBox } from './figures.ts';
import { openPdf } from './open.ts';

export interface DrawnFigure extends FigureBox {
  /** A data URL. */
  readonly source: string;
}

type RenderTarget = Pick<Parameters<PDFPageProxy['render']>[0], 'canvas' | 'canvasContext'>;

const MAX_FIGURES = 50;
/** Maximum size of one image, and of all, in bytes. */
const MAX_FIGURE_BYTES = 1024 * 1024;
const MAX_ALL_BYTES = 4 * 1024 * 1024;
/** Pixels per point, and the longest side in pixels. */
const SCALE = 2;
const LONGEST = 1_600;
/** Images of the file with more pixels are left out. */
const MAX_IMAGE_PIXELS = 25_000_000;
/** PNG files up to this size are kept; a larger image becomes a JPEG if that is smaller. */
const SMALL_PNG_BYTES = 64 * 1024;
const JPEG_QUALITY = 85;
/** Time limits for one figure and for all. */
const MAX_FIGURE_MS = 5_000;
const MAX_ALL_MS = 20_000;

interface DrawableFile {
  readonly bytes: Uint8Array;
  readonly password: string | undefined;
}

/** Draws figures in order. Returns those that could be drawn before `until`, in ms of `performance.now()`. */
export async function drawFigures(
  { bytes, password }: DrawableFile,
  figures: readonly FigureBox[],
  until: number,
): Promise<DrawnFigure[]> {
  if (figures.length === 0) return [];
  const latest = Math.min(until, performance.now() + MAX_ALL_MS);
  const drawn: DrawnFigure[] = [];
  let left = MAX_ALL_BYTES;
  const { document, close } = await openPdf(bytes, { maxImagePixels: MAX_IMAGE_PIXELS, password });
  try {
    for (const figure of figures) {
      if (drawn.length >= MAX_FIGURES || performance.now() > latest) break;
      const image = await inTime(draw(document, figure)).catch(() => null);
      // PDF.js cannot abort a page, so no other figure is drawn behind one that takes too long.
      if (image === 'late') break;
      if (!image || image.bytes.length > Math.min(MAX_FIGURE_BYTES, left)) continue;
      left -= image.bytes.length;
      drawn.push({ ...figure, source: `data:${image.type};base64,${image.bytes.toString('base64')}` });
    }
  } finally {
    await close();
  }
  return drawn;
}

async function inTime<T>(work: Promise<T>): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, MAX_FIGURE_MS, 'late');
  });
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Renders only the part of the page in the box. */
async function draw(document: PDFDocumentProxy, { page: number, displayed: box }: FigureBox) {
  const { createCanvas } = await import('@napi-rs/canvas');
  const page = await document.getPage(number);
  const [width, height] = [box.x1 - box.x0, box.y1 - box.y0];
  const scale = Math.min(SCALE, LONGEST / width, LONGEST / height);
  const viewport = page.getViewport({ scale, offsetX: -box.x0 * scale, offsetY: -box.y0 * scale });
  const canvas = createCanvas(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
  // The canvas has the methods that PDF.js uses, but is not of the DOM type.
  const target = { canvas: null, canvasContext: canvas.getContext('2d') } as unknown as RenderTarget;
  await page.render({ ...target, viewport, background: '#ffffff' }).promise;
  page.cleanup();
  return isBlank(canvas) ? null : encode(canvas);
}

/** Whether nothing was drawn: the image is damaged, or has too many pixels. */
function isBlank(canvas: Canvas): boolean {
  const pixels = canvas.data();
  for (let at = 0; at < pixels.length; at += 4) {
    if (pixels[at] !== 255 || pixels[at + 1] !== 255 || pixels[at + 2] !== 255) return false;
  }
  return true;
}

async function encode(canvas: Canvas): Promise<{ bytes: Buffer; type: string }> {
  const png = await canvas.encode('png');
  if (png.length <= SMALL_PNG_BYTES) return { bytes: png, type: 'image/png' };
  const jpeg = await canvas.encode('jpeg', JPEG_QUALITY);
  return jpeg.length < png.length ? { bytes: jpeg, type: 'image/jpeg' } : { bytes: png, type: 'image/png' };
}
