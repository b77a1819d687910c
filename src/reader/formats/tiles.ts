/**
 * Splits a picture of a long page into tiles that a vision model can read; the model would scale the whole page down to
 * one small picture. Splits run through rows of a single color, such as those between lines of text, if the picture has
 * any. Use only for pictures from the browser engine: other pictures are decoded in processes that can be killed.
 */
import type { Sharp } from 'sharp';

/** Height of a tile in pixels, and the height of the range above its end in which a row for the split is searched. */
const TILE_HEIGHT = 1_600;
const SEARCH_HEIGHT = 400;
/** Larger than the largest page picture (engines/browser/screenshots.ts). */
const MAX_PIXELS = 100_000_000;

/** Returns the tiles from top to bottom, as PNG; the picture itself if it is barely taller than one tile. */
export async function* computeTiles(png: Uint8Array): AsyncGenerator<Uint8Array> {
  const { default: sharp } = await import('sharp');
  const open = () => sharp(png, { limitInputPixels: MAX_PIXELS, sequentialRead: true });
  const { width, height } = await open().metadata();
  for (let top = 0; top < height; ) {
    const rest = height - top;
    const isLast = rest <= TILE_HEIGHT + SEARCH_HEIGHT;
    if (isLast && top === 0) return yield png;
    const from = top + TILE_HEIGHT - SEARCH_HEIGHT;
    const end = isLast ? height : from + (await lastPlainRow(open().extract(strip(width, from, SEARCH_HEIGHT)), width));
    yield await open()
      .extract(strip(width, top, end - top))
      .png()
      .toBuffer();
    top = end;
  }
}

const strip = (width: number, top: number, height: number) => ({ left: 0, top, width, height });

/** The lowest row of a single color in a strip; the height of the strip if there is none. */
async function lastPlainRow(picture: Sharp, width: number): Promise<number> {
  const gray = await picture.greyscale().raw().toBuffer();
  for (let row = SEARCH_HEIGHT - 1; row > 0; row--) {
    const pixels = gray.subarray(row * width, (row + 1) * width);
    if (pixels.every((value) => value === pixels[0])) return row;
  }
  return SEARCH_HEIGHT;
}
