/**
 * Pictures: what they say about themselves, and how they look. What they show is for text recognition or a vision model
 * to say. SVG is read as the text in it and never drawn.
 */
import { DocumentError, type DocumentKind } from '../document.ts';
import { isCutOff, NAMES, pictureFormat } from './format.ts';
import { describe, drawn } from './raster.ts';
import { parseSvg } from './svg.ts';

/** Pages of one TIFF that are told of. */
const MAX_PAGES = 5_000;
const DEFAULT_FIT = { width: 1_024, height: 1_024 };

export const kind: DocumentKind = {
  async parse(file, bytes, { page }) {
    const format = pictureFormat(bytes, file.mediaType);
    if (format === 'svg') return parseSvg(bytes, file.contentType);
    const { width, height, pages, metadata, publishedTime } = await describe(bytes, format);
    const pageCount = format === 'tiff' ? pages : 1;
    const numbers = Array.from({ length: Math.min(pageCount, MAX_PAGES) }, (_, at) => at + 1);
    const asked = page !== undefined && numbers.includes(page) ? [page] : numbers;
    return {
      title: '',
      pages: asked.map((number) => ({ number, html: '', scanned: true })),
      pageCount: format === 'tiff' ? pageCount : undefined,
      metadata: { format: NAMES[format], width: String(width), height: String(height), ...metadata },
      publishedTime,
      notes: isCutOff(bytes, format) ? ['The picture is cut off'] : [],
      hiddenCount: 0,
    };
  },

  async picture(file, bytes, { page, fit = DEFAULT_FIT }) {
    const format = pictureFormat(bytes, file.mediaType);
    if (format === 'svg') throw new DocumentError('unsupported', 'An SVG picture is read as text and never drawn');
    const width = Math.max(1, Math.floor(fit.width));
    const height = Math.max(1, Math.floor(fit.height));
    return drawn(bytes, format, { page: format === 'tiff' ? page - 1 : 0, width, height });
  },
};

/** How large a picture is when it is held the right way up, in pixels. Throws DocumentFault. */
export async function pictureSize(bytes: Uint8Array, mediaType = ''): Promise<{ width: number; height: number }> {
  const format = pictureFormat(bytes, mediaType);
  if (format === 'svg') throw new DocumentError('unsupported', 'An SVG picture has no size in pixels');
  const { width, height } = await describe(bytes, format);
  return { width, height };
}
