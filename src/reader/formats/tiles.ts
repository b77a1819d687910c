/**
 * A picture of a long page in pieces that a vision model can read: it would see the whole as one small picture. Cuts go
 * through rows of one colour, as between lines of text, where there are any. Only for what our own browser drew: other
 * pictures are decoded where that can be ended.
 */
import type { Sharp } from 'sharp';

/** The height of a piece, in pixels, and how far above its end a place to cut is looked for. */
const TILE_HEIGHT = 1_600;
const SEARCHED = 400;
/** More than a whole page may have (engines/browser/shots.ts). */
const MAX_PIXELS = 100_000_000;

/** The pieces from top to bottom, as PNG; the picture itself when it is hardly longer than one of them. */
export async function* tiles(png: Uint8Array): AsyncGenerator<Uint8Array> {
  const { default: sharp } = await import('sharp');
  const open = () => sharp(png, { limitInputPixels: MAX_PIXELS, sequentialRead: true });
  const { width, height } = await open().metadata();
  for (let top = 0; top < height; ) {
    const rest = height - top;
    const isLast = rest <= TILE_HEIGHT + SEARCHED;
    if (isLast && top === 0) return yield png;
    const from = top + TILE_HEIGHT - SEARCHED;
    const end = isLast ? height : from + (await lastPlainRow(open().extract(strip(width, from, SEARCHED)), width));
    yield await open()
      .extract(strip(width, top, end - top))
      .png()
      .toBuffer();
    top = end;
  }
}

const strip = (width: number, top: number, height: number) => ({ left: 0, top, width, height });

/** The lowest row of one colour in a strip; its height when there is none. */
async function lastPlainRow(picture: Sharp, width: number): Promise<number> {
  const grey = await picture.greyscale().raw().toBuffer();
  for (let row = SEARCHED - 1; row > 0; row--) {
    const pixels = grey.subarray(row * width, (row + 1) * width);
    if (pixels.every((value) => value === pixels[0])) return row;
  }
  return SEARCHED;
}
