/** Detects the format of an image by its first bytes, regardless of its name and declared type. */
import { DocumentError } from '../document.ts';

export type ImageFormat = 'png' | 'jpeg' | 'gif' | 'webp' | 'avif' | 'tiff' | 'bmp' | 'ico' | 'svg';

export const FORMAT_NAMES: Readonly<Record<ImageFormat, string>> = {
  png: 'PNG',
  jpeg: 'JPEG',
  gif: 'GIF',
  webp: 'WebP',
  avif: 'AVIF',
  tiff: 'TIFF',
  bmp: 'BMP',
  ico: 'ICO',
  svg: 'SVG',
};

const MAGIC: readonly (readonly [start: string, format: ImageFormat])[] = [
  ['\x89PNG\r\n\x1a\n', 'png'],
  ['\xff\xd8\xff', 'jpeg'],
  ['GIF87a', 'gif'],
  ['GIF89a', 'gif'],
  ['II*\0', 'tiff'],
  ['MM\0*', 'tiff'],
  ['II+\0', 'tiff'],
  ['MM\0+', 'tiff'],
  ['BM', 'bmp'],
  ['\0\0\x01\0', 'ico'],
  ['\0\0\x02\0', 'ico'],
];

/** Throws DocumentError: `unsupported` for other image formats, `damaged` for anything that is not an image. */
export function detectImageFormat(bytes: Uint8Array, mediaType: string): ImageFormat {
  const start = latin1(bytes.subarray(0, 4_096));
  const found = MAGIC.find(([magic]) => start.startsWith(magic))?.[1];
  if (found) return found;
  if (start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP') return 'webp';
  if (start.slice(4, 8) === 'ftyp') {
    if (/avi[fs]/.test(start.slice(8, 64))) return 'avif';
    throw unsupported(/hei[cx]|hev[cx]|mif1/.test(start.slice(8, 64)) ? 'HEIC' : 'this type');
  }
  // UTF-16 has a zero byte next to each letter.
  if (/<(?:[a-z]+:)?svg[\s>]/i.test(start.replaceAll('\0', ''))) return 'svg';
  if (mediaType === 'image/svg+xml' && /^[^\w]*</.test(start.replaceAll('\0', ''))) return 'svg';
  const other = OTHERS.find(([magic]) => start.startsWith(magic))?.[1];
  if (other) throw unsupported(other);
  throw new DocumentError('damaged', 'The file is damaged or is not an image');
}

const OTHERS: readonly (readonly [start: string, name: string])[] = [
  ['8BPS', 'PSD'],
  ['\0\0\0\x0cJXL ', 'JPEG XL'],
  ['\xff\x0a', 'JPEG XL'],
  ['\0\0\0\x0cjP  ', 'JPEG 2000'],
  ['\xffO\xffQ', 'JPEG 2000'],
  ['\xd7\xcd\xc6\x9a', 'WMF'],
  ['\x01\0\0\0', 'EMF'],
  ['v/1\x01', 'OpenEXR'],
  ['qoif', 'QOI'],
  ['#?RADIANCE', 'HDR'],
  ['P1', 'PBM'],
  ['P2', 'PGM'],
  ['P3', 'PPM'],
  ['P4', 'PBM'],
  ['P5', 'PGM'],
  ['P6', 'PPM'],
  ['\x0a', 'PCX'],
];

const unsupported = (name: string) => new DocumentError('unsupported', `${name} images are not supported`);

/** Size of the tail that is searched for the end marker; some programs append data after the marker. */
const TAIL_BYTES = 64 * 1024;

/** Whether the end of an image is missing. Only for formats with an end marker. */
export function isCutOff(bytes: Uint8Array, format: ImageFormat): boolean {
  const tail = latin1(bytes.subarray(Math.max(0, bytes.length - TAIL_BYTES)));
  if (format === 'png') return !tail.includes('IEND');
  if (format === 'jpeg') return !tail.includes('\xff\xd9');
  if (format === 'webp') return bytes.length < 8 + Buffer.from(bytes.subarray(0, 8)).readUInt32LE(4);
  return false;
}

const latin1 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
