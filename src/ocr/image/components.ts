/** Finds pieces of ink the size of letters or words, and arranges pieces in lines, which are recognized separately. */
import type { OcrBox } from '../hocr.ts';
import type { Gray } from './ink.ts';

/** Ink is examined in a grid of squares. This is the number of squares per line height. */
const SQUARES = 8;
/** Maximum gap within a piece, in multiples of the line height. */
const JOIN = 0.3;
/** Size of a piece, in multiples of the line height: larger than dots and smaller than pictures. */
const MIN_HEIGHT = 0.5;
const MAX_HEIGHT = 1.6;
const MAX_WIDTH = 12;
const MAX_PIECES = 10_000;

interface Look {
  /** Line height in pixels; 0 if the image has no lines. */
  readonly lineHeight: number;
  /** Darker levels are ink. */
  readonly level: number;
}

export function findPieces({ pixels, width, height }: Gray, { lineHeight, level }: Look): OcrBox[] {
  if (lineHeight <= 0) return [];
  const side = Math.max(2, Math.round(lineHeight / SQUARES));
  const columns = Math.ceil(width / side);
  const rows = Math.ceil(height / side);
  const squares = new Uint8Array(columns * rows);
  for (let y = 0; y < height; y++) {
    const row = Math.floor(y / side) * columns;
    for (let x = 0; x < width; x++) if (pixels[y * width + x]! < level) squares[row + Math.floor(x / side)] = 1;
  }
  const reach = Math.max(1, Math.round((JOIN * lineHeight) / side));
  const pieces: OcrBox[] = [];
  const waiting: number[] = [];
  for (let start = 0; start < squares.length && pieces.length < MAX_PIECES; start++) {
    if (squares[start] === 0) continue;
    let [left, right, top, bottom] = [columns, 0, rows, 0];
    squares[start] = 0;
    waiting.push(start);
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const [x, y] = [at % columns, Math.floor(at / columns)];
      [left, right] = [Math.min(left, x), Math.max(right, x)];
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
      for (let row = Math.max(0, y - 1); row <= Math.min(rows - 1, y + 1); row++) {
        for (let column = Math.max(0, x - reach); column <= Math.min(columns - 1, x + reach); column++) {
          const next = row * columns + column;
          if (squares[next] === 0) continue;
          squares[next] = 0;
          waiting.push(next);
        }
      }
    }
    const [wide, high] = [((right - left + 1) * side) / lineHeight, ((bottom - top + 1) * side) / lineHeight];
    if (high < MIN_HEIGHT || high > MAX_HEIGHT || wide > MAX_WIDTH) continue;
    pieces.push({
      left: left * side,
      top: top * side,
      right: Math.min(width, (right + 1) * side),
      bottom: Math.min(height, (bottom + 1) * side),
    });
  }
  return pieces;
}

export interface Sheet {
  /** A gray PNG with lines of pieces. */
  readonly picture: Uint8Array;
  /** Positions of the pieces in the picture. The boxes are listed in order, once for each repetition. */
  readonly places: readonly OcrBox[];
}

/**
 * Minimum total number of pieces. Pieces are repeated, because a line of one letter is not recognized as text, and
 * repeated readings can be compared.
 */
const MIN_IN_ALL = 9;
const TIMES = 3;
const MAX_ON_LINE = 24;
/**
 * Space around each piece, as a multiple of the greatest height: close enough to form a line, too far apart to form a
 * word.
 */
const SPACE = 1.9;

/** Needs at least one box. Each is at most a few lines high, in pixels of `picture`, which is a prepared image. */
export async function createSheet(picture: Uint8Array, boxes: readonly OcrBox[]): Promise<Sheet> {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  const { data, info } = await sharp(picture).toColorspace('b-w').raw().toBuffer({ resolveWithObject: true });
  const taken = Array.from(
    { length: Math.max(boxes.length * TIMES, MIN_IN_ALL) },
    (_, at) => boxes[at % boxes.length]!,
  );
  const lineHeight = Math.max(...boxes.map(({ top, bottom }) => bottom - top));
  const space = Math.ceil(SPACE * lineHeight);
  const places: OcrBox[] = [];
  let [x, y] = [2 * space, 2 * space];
  let width = 0;
  for (const [at, box] of taken.entries()) {
    if (at > 0 && at % MAX_ON_LINE === 0) [x, y] = [2 * space, y + lineHeight + space];
    const right = x + box.right - box.left;
    // Pieces are aligned on the baseline, like digits and capitals.
    places.push({ left: x, right, top: y + lineHeight - (box.bottom - box.top), bottom: y + lineHeight });
    x = right + space;
    width = Math.max(width, x + space);
  }
  const height = y + lineHeight + 2 * space;
  const sheet = new Uint8Array(width * height).fill(groundOf(data));
  for (const [at, { left, top, right, bottom }] of taken.entries()) {
    const place = places[at]!;
    for (let line = 0; line < bottom - top; line++) {
      const from = (top + line) * info.width;
      sheet.set(data.subarray(from + left, from + right), (place.top + line) * width + place.left);
    }
  }
  const png = sharp(sheet, { raw: { width, height, channels: 1 } })
    .toColorspace('b-w')
    .png({ compressionLevel: 1 });
  return { picture: await png.toBuffer(), places };
}

/** The most frequent level: the background. */
function groundOf(pixels: Uint8Array): number {
  const counts = new Uint32Array(256);
  for (const level of pixels) counts[level]!++;
  return counts.indexOf(counts.reduce((most, count) => Math.max(most, count), 0));
}
