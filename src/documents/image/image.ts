/**
 * Images: their metadata as a document, and rendering. Their content is read by text recognition or a vision model.
 * Only the text of an SVG is read; it is never rendered.
 */
import { DocumentError, type DocumentKind } from '../document.ts';
import { detectImageFormat, FORMAT_NAMES, isCutOff } from './format.ts';
import { readImageInfo, renderPng } from './raster.ts';
import { parseSvg } from './svg.ts';

/** Maximum number of pages of a TIFF. */
const MAX_PAGES = 5_000;
const DEFAULT_FIT = { width: 1_024, height: 1_024 };

export const kind: DocumentKind = {
  async parse(file, bytes, { page }) {
    const format = detectImageFormat(bytes, file.mediaType);
    if (format === 'svg') return parseSvg(bytes, file.contentType);
    const { width, height, pages, metadata, publishedTime } = await readImageInfo(bytes, format);
    const pageCount = format === 'tiff' ? pages : 1;
    const numbers = Array.from({ length: Math.min(pageCount, MAX_PAGES) }, (_, at) => at + 1);
    const requested = page !== undefined && numbers.includes(page) ? [page] : numbers;
    return {
      title: '',
      pages: requested.map((number) => ({ number, html: '', scanned: true })),
      pageCount: format === 'tiff' ? pageCount : undefined,
      metadata: { format: FORMAT_NAMES[format], width: String(width), height: String(height), ...metadata },
      publishedTime,
      notes: isCutOff(bytes, format) ? ['The image is cut off'] : [],
      hiddenCount: 0,
    };
  },

  async picture(file, bytes, { page, fit = DEFAULT_FIT }) {
    const format = detectImageFormat(bytes, file.mediaType);
    if (format === 'svg') throw new DocumentError('unsupported', 'SVG images are read as text and cannot be rendered');
    const width = Math.max(1, Math.floor(fit.width));
    const height = Math.max(1, Math.floor(fit.height));
    return renderPng(bytes, format, { page: format === 'tiff' ? page - 1 : 0, width, height });
  },
};

/** The size of an image in pixels after its Exif rotation. Throws DocumentError. */
export async function imageSize(bytes: Uint8Array, mediaType = ''): Promise<{ width: number; height: number }> {
  const format = detectImageFormat(bytes, mediaType);
  if (format === 'svg') throw new DocumentError('unsupported', 'An SVG image has no size in pixels');
  const { width, height } = await readImageInfo(bytes, format);
  return { width, height };
}
