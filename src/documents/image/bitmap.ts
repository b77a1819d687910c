/**
 * Windows bitmaps and icons, which sharp does not read. Supports the bitmaps of Microsoft's wingdi.h: headers of 12
 * bytes and of 40 or more, 1 to 32 bits per pixel, plain, with masks, or run-length encoded. Pixels missing at the end
 * become white.
 */
import { DocumentError } from '../document.ts';

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and alpha, from the top left. */
  readonly rgba: Uint8Array;
}

export interface BitmapHeader {
  readonly width: number;
  readonly height: number;
  readonly topDown: boolean;
  readonly bits: number;
  readonly compression: number;
  /** Offset of the palette, or of the masks before it. */
  readonly afterHeader: number;
  readonly paletteEntryBytes: 3 | 4;
  readonly paletteEntries: number;
  readonly masks: readonly number[] | undefined;
}

/** Length of the file header, in bytes, and the values of biCompression. */
const FILE_HEADER = 14;
const RGB = 0;
const RLE8 = 1;
const RLE4 = 2;
const BITFIELDS = 3;
const ALPHA_BITFIELDS = 6;

const damaged = (what: string) => new DocumentError('damaged', `The ${what} image is damaged`);
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength);

/** Reads the header at offset `at`. Throws DocumentError. */
export function readBitmapHeader(bytes: Uint8Array, at = FILE_HEADER): BitmapHeader {
  const data = bufferOf(bytes);
  if (data.length < at + 12) throw damaged('BMP');
  const size = data.readUInt32LE(at);
  if (size === 12) {
    const bits = data.readUInt16LE(at + 10);
    return {
      width: data.readUInt16LE(at + 4),
      height: data.readUInt16LE(at + 6),
      topDown: false,
      bits,
      compression: RGB,
      afterHeader: at + 12,
      paletteEntryBytes: 3,
      paletteEntries: bits <= 8 ? 2 ** bits : 0,
      masks: undefined,
    };
  }
  if (size < 40 || data.length < at + 40) throw damaged('BMP');
  const height = data.readInt32LE(at + 8);
  const bits = data.readUInt16LE(at + 14);
  const compression = data.readUInt32LE(at + 16);
  const hasMasks = compression === BITFIELDS || compression === ALPHA_BITFIELDS;
  const inHeader = size >= 52;
  const masksAt = at + 40;
  if (hasMasks && data.length < masksAt + 16) throw damaged('BMP');
  const used = data.readUInt32LE(at + 32);
  return {
    width: data.readInt32LE(at + 4),
    height: Math.abs(height),
    topDown: height < 0,
    bits,
    compression,
    afterHeader: at + size + (hasMasks && !inHeader ? (compression === ALPHA_BITFIELDS ? 16 : 12) : 0),
    paletteEntryBytes: 4,
    paletteEntries: bits <= 8 ? Math.min(used || 2 ** bits, 256) : 0,
    masks: hasMasks
      ? [0, 4, 8, 12].map((step) =>
          step === 12 && compression === BITFIELDS && size < 56 ? 0 : data.readUInt32LE(masksAt + step),
        )
      : undefined,
  };
}

/** Decodes the pixels of a bitmap file. The caller has checked the size in the header. Throws DocumentError. */
export function decodeBitmap(bytes: Uint8Array, header: BitmapHeader, pixelsAt?: number): Pixels {
  const data = bufferOf(bytes);
  const { width, height, bits, compression } = header;
  const start = pixelsAt ?? data.readUInt32LE(10);
  const palette = paletteOf(data, header);
  const rgba = new Uint8Array(width * height * 4).fill(255);
  if ((compression === RLE8 && bits === 8) || (compression === RLE4 && bits === 4)) {
    decodeRuns(data, start, header, palette, rgba);
  } else if (compression === RGB || header.masks) {
    if (![1, 4, 8, 16, 24, 32].includes(bits)) throw damaged('BMP');
    decodeRows(data, start, header, palette, rgba);
  } else throw new DocumentError('unsupported', 'BMP images with this compression are not supported');
  return { width, height, rgba };
}

function paletteOf(data: Buffer, { afterHeader, paletteEntryBytes, paletteEntries }: BitmapHeader): Uint8Array {
  const palette = new Uint8Array(256 * 4).fill(255);
  for (let entry = 0; entry < paletteEntries; entry++) {
    const at = afterHeader + entry * paletteEntryBytes;
    if (at + 3 > data.length) break;
    palette.set([data[at + 2]!, data[at + 1]!, data[at]!], entry * 4);
  }
  return palette;
}

type ReadPixel = (data: Buffer, row: number, column: number, rgba: Uint8Array, to: number) => void;

function decodeRows(data: Buffer, start: number, header: BitmapHeader, palette: Uint8Array, rgba: Uint8Array): void {
  const { width, height, bits, topDown } = header;
  const rowBytes = Math.ceil((width * bits) / 32) * 4;
  const read = pixelReader(header, palette);
  for (let line = 0; line < height; line++) {
    const row = start + line * rowBytes;
    if (row + Math.ceil((width * bits) / 8) > data.length) break;
    const to = (topDown ? line : height - 1 - line) * width * 4;
    for (let column = 0; column < width; column++) read(data, row, column, rgba, to + column * 4);
  }
}

function pixelReader({ bits, masks }: BitmapHeader, palette: Uint8Array): ReadPixel {
  if (bits <= 8) {
    const perByte = 8 / bits;
    return (data, row, column, rgba, to) => {
      const byte = data[row + Math.floor(column / perByte)]!;
      const index = (byte >> (8 - bits * ((column % perByte) + 1))) & (2 ** bits - 1);
      rgba.set(palette.subarray(index * 4, index * 4 + 3), to);
    };
  }
  if (bits === 24 || (bits === 32 && !masks)) {
    const bytes = bits / 8;
    return (data, row, column, rgba, to) => {
      const at = row + column * bytes;
      rgba[to] = data[at + 2]!;
      rgba[to + 1] = data[at + 1]!;
      rgba[to + 2] = data[at]!;
    };
  }
  const channels = (masks ?? [0x7c00, 0x3e0, 0x1f, 0]).map(channelOf);
  return (data, row, column, rgba, to) => {
    const value = bits === 16 ? data.readUInt16LE(row + column * 2) : data.readUInt32LE(row + column * 4);
    for (const [at, channel] of channels.entries()) if (channel) rgba[to + at] = channel(value);
  };
}

/** Returns a function that scales the bits of a mask to 0 to 255. */
function channelOf(mask: number): ((value: number) => number) | undefined {
  if (mask === 0) return undefined;
  const shift = 31 - Math.clz32(mask & -mask);
  const maxValue = mask >>> shift;
  return (value) => Math.round((((value & mask) >>> shift) * 255) / maxValue);
}

function decodeRuns(data: Buffer, start: number, header: BitmapHeader, palette: Uint8Array, rgba: Uint8Array): void {
  const { width, height, bits } = header;
  let x = 0;
  let y = 0;
  const put = (index: number) => {
    if (x < width && y < height)
      rgba.set(palette.subarray(index * 4, index * 4 + 3), ((height - 1 - y) * width + x) * 4);
    x++;
  };
  const indexOf = (byte: number, nth: number) => (bits === 8 ? byte : nth % 2 === 0 ? byte >> 4 : byte & 15);
  for (let at = start; at + 1 < data.length && y < height; ) {
    const count = data[at]!;
    const value = data[at + 1]!;
    at += 2;
    if (count > 0) for (let n = 0; n < count; n++) put(indexOf(value, n));
    else if (value === 0) [x, y] = [0, y + 1];
    else if (value === 1) return;
    else if (value === 2) {
      x += data[at] ?? 0;
      y += data[at + 1] ?? 0;
      at += 2;
    } else {
      for (let n = 0; n < value; n++) put(indexOf(data[at + (bits === 8 ? n : n >> 1)] ?? 0, n));
      const bytes = bits === 8 ? value : (value + 1) >> 1;
      at += bytes + (bytes % 2);
    }
  }
}

/** The largest image of an icon: a complete PNG, or a bitmap without its file header. Throws DocumentError. */
export function largestIcon(bytes: Uint8Array): { bytes: Uint8Array; isPng: boolean } {
  const data = bufferOf(bytes);
  const count = data.length < 6 ? 0 : Math.min(data.readUInt16LE(4), 256);
  let best: { bytes: Uint8Array; side: number; bits: number } | undefined;
  for (let entry = 6; entry < 6 + count * 16 && entry + 16 <= data.length; entry += 16) {
    const size = data.readUInt32LE(entry + 8);
    const from = data.readUInt32LE(entry + 12);
    if (from + 40 > data.length) continue;
    const side = data[entry] || 256;
    const bits = data.readUInt16LE(entry + 6);
    if (best && (best.side > side || (best.side === side && best.bits >= bits))) continue;
    best = { bytes: bytes.subarray(from, from + size), side, bits };
  }
  if (!best) throw damaged('ICO');
  return { bytes: best.bytes, isPng: best.bytes[0] === 0x89 && best.bytes[1] === 0x50 };
}

/** A bitmap in an icon declares twice its height, because a transparency mask follows it. */
export function iconHeader(bytes: Uint8Array): BitmapHeader {
  const header = readBitmapHeader(bytes, 0);
  return { ...header, height: Math.floor(header.height / 2) };
}

export const pixelsOfIcon = (bytes: Uint8Array, header: BitmapHeader): Pixels =>
  decodeBitmap(bytes, header, header.afterHeader + header.paletteEntries * header.paletteEntryBytes);
