/** Raster images, decoded by sharp. The size of each is checked before it is decoded. */
import type { Metadata, Sharp } from 'sharp';
import { DocumentError } from '../document.ts';
import { type BitmapHeader, decodeBitmap, iconHeader, largestIcon, pixelsOfIcon, readBitmapHeader } from './bitmap.ts';
import { exifDate, readExif } from './exif.ts';
import { FORMAT_NAMES, type ImageFormat } from './format.ts';

/** Larger images are refused before they are decoded. */
const MAX_PIXELS = 100_000_000;

type RasterFormat = Exclude<ImageFormat, 'svg'>;

export interface ImageInfo {
  /** Width after Exif rotation. */
  readonly width: number;
  readonly height: number;
  /** Pages of a TIFF or frames of an animation; 1 for other images. */
  readonly pages: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly publishedTime: string | undefined;
}

/** Reads the header of an image. Width and height are those of page `page`, counted from 0. Throws DocumentError. */
export async function readImageInfo(bytes: Uint8Array, format: RasterFormat, page = 0): Promise<ImageInfo> {
  const plain = { pages: 1, metadata: {}, publishedTime: undefined };
  if (format === 'bmp') return { ...plain, ...checked(readBitmapHeader(bytes), format) };
  if (format === 'ico') {
    const icon = largestIcon(bytes);
    return icon.isPng ? readImageInfo(icon.bytes, 'png') : { ...plain, ...checked(iconHeader(icon.bytes), format) };
  }
  const metadata = await decoding(format, async () => (await opened(bytes, page)).metadata());
  const size = checked(metadata.autoOrient, format);
  const texts = metadata.exif ? readExif(metadata.exif) : {};
  const { DateTimeOriginal, OffsetTimeOriginal, DateTime } = texts;
  return {
    ...size,
    pages: metadata.pages ?? 1,
    metadata: { ...texts, ...commentsOf(metadata) },
    publishedTime: exifDate(DateTimeOriginal, OffsetTimeOriginal) ?? exifDate(DateTime, undefined),
  };
}

/** Renders a page of an image as PNG, rotated by Exif and scaled down to fit a box. Throws DocumentError. */
export async function renderPng(
  bytes: Uint8Array,
  format: RasterFormat,
  { page, width, height }: { page: number; width: number; height: number },
): Promise<Uint8Array> {
  const size = await readImageInfo(bytes, format, page);
  const scale = Math.min(1, width / size.width, height / size.height);
  const fitted = {
    width: Math.max(1, Math.round(size.width * scale)),
    height: Math.max(1, Math.round(size.height * scale)),
  };
  return decoding(format, async () => {
    const picture = await open(bytes, format, page);
    // Computes the exact size, because sharp rounds in two steps and can be off by one pixel.
    return picture
      .resize({ ...fitted, fit: 'fill' })
      .toColorspace('srgb')
      .png()
      .toBuffer();
  });
}

/**
 * The first page of an image in full size, rotated by Exif and flattened on white: red, green and blue, row by row.
 * Throws DocumentError.
 */
export async function decodePixels(
  bytes: Uint8Array,
  format: RasterFormat,
): Promise<{ width: number; height: number; rgb: Uint8Array }> {
  await readImageInfo(bytes, format);
  return decoding(format, async () => {
    const picture = await open(bytes, format, 0, 'error');
    const { data, info } = await picture
      .toColorspace('srgb')
      .flatten({ background: '#ffffff' })
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return { width: info.width, height: info.height, rgb: data };
  });
}

async function open(bytes: Uint8Array, format: RasterFormat, page: number, tolerance?: Tolerance): Promise<Sharp> {
  if (format === 'bmp') return openPixels(decodeBitmap(bytes, readBitmapHeader(bytes)));
  if (format !== 'ico') return (await opened(bytes, page, tolerance)).autoOrient();
  const icon = largestIcon(bytes);
  return icon.isPng ? opened(icon.bytes, 0, tolerance) : openPixels(pixelsOfIcon(icon.bytes, iconHeader(icon.bytes)));
}

async function openPixels({
  rgba,
  width,
  height,
}: {
  rgba: Uint8Array;
  width: number;
  height: number;
}): Promise<Sharp> {
  return (await sharpHere())(rgba, { raw: { width, height, channels: 4 }, limitInputPixels: MAX_PIXELS });
}

/** How sharp treats a truncated image: `none` shows the available part; `error` fails. */
type Tolerance = 'none' | 'error';

const opened = async (bytes: Uint8Array, page: number, failOn: Tolerance = 'none'): Promise<Sharp> =>
  (await sharpHere())(bytes, { limitInputPixels: MAX_PIXELS, sequentialRead: true, failOn, page });

async function sharpHere() {
  const { default: sharp } = await import('sharp');
  // The process handles one image at a time, so more threads and a cache would only use memory.
  sharp.concurrency(1);
  sharp.cache(false);
  // Detection already excludes these formats. Vector formats are blocked in sharp too, because rendering them could
  // load other files.
  sharp.block({ operation: ['VipsForeignLoadSvg', 'VipsForeignLoadPdf', 'VipsForeignLoadMagick'] });
  return sharp;
}

function checked({ width, height }: Pick<BitmapHeader, 'width' | 'height'>, format: RasterFormat) {
  if (!(width > 0 && height > 0)) throw new DocumentError('damaged', `The ${FORMAT_NAMES[format]} image is damaged`);
  if (width * height > MAX_PIXELS) throw tooLarge(format);
  return { width, height };
}

const tooLarge = (format: RasterFormat, cause?: unknown) =>
  new DocumentError('too large', `The ${FORMAT_NAMES[format]} image has more than 100 million pixels`, cause);

async function decoding<T>(format: RasterFormat, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    if (error instanceof Error && /pixel limit|too large|dimensions/i.test(error.message))
      throw tooLarge(format, error);
    throw new DocumentError('damaged', `The ${FORMAT_NAMES[format]} image is damaged`, error);
  }
}

const MAX_COMMENT = 2_000;

/** PNG text chunks that describe the image (PNG specification, section 11.3.3.1). */
const commentsOf = ({ comments }: Metadata): Record<string, string> =>
  Object.fromEntries(
    (comments ?? [])
      .filter(({ keyword }) => /^(?:Title|Author|Description|Copyright|Creation Time|Software|Comment)$/.test(keyword))
      .map(({ keyword, text }) => [keyword, text.slice(0, MAX_COMMENT).replace(/\s+/g, ' ').trim()]),
  );
