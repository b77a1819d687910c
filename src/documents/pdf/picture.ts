/** A page as a picture. */
import type { PDFPageProxy } from 'pdfjs-dist';
import { DocumentFault, type PictureOptions } from '../document.ts';
import { open } from './open.ts';

type RenderTarget = Pick<Parameters<PDFPageProxy['render']>[0], 'canvas' | 'canvasContext'>;

const DEFAULT_SCALE = 2;
/** Pixels on a side. */
const LARGEST = 4_000;
const MAX_IMAGE_PIXELS = 50_000_000;

export async function drawPage(
  bytes: Uint8Array,
  { page: number, scale = DEFAULT_SCALE }: PictureOptions,
): Promise<Uint8Array> {
  const { createCanvas } = await import('@napi-rs/canvas');
  const { document, close } = await open(bytes, { maxImagePixels: MAX_IMAGE_PIXELS });
  try {
    if (number < 1 || number > document.numPages) throw new DocumentFault('damaged', 'The PDF has no such page');
    const page = await document.getPage(number);
    const size = page.getViewport({ scale: 1 });
    const fitting = Math.min(scale, LARGEST / size.width, LARGEST / size.height);
    const viewport = page.getViewport({ scale: fitting });
    const canvas = createCanvas(Math.max(1, Math.floor(viewport.width)), Math.max(1, Math.floor(viewport.height)));
    // The canvas has all that PDF.js draws with, but is not the DOM's.
    const target = { canvas: null, canvasContext: canvas.getContext('2d') } as unknown as RenderTarget;
    await page.render({ ...target, viewport, background: '#ffffff' }).promise;
    return await canvas.encode('png');
  } catch (error) {
    if (error instanceof DocumentFault) throw error;
    throw new DocumentFault('damaged', 'The page of the PDF cannot be drawn', error);
  } finally {
    await close();
  }
}
