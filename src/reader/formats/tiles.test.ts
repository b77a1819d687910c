// Full run only: changes state of the whole process.
// Own process: it draws an SVG with sharp, which the image tests forbid in their process.
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { computeTiles } from './tiles.ts';

const WIDTH = 300;
const LINE = 40;

/** A page with lines of black bars; in each 40 pixels of height, 20 are black. */
const page = (height: number, between = 'white') => {
  const bars = Array.from(
    { length: Math.floor(height / LINE) },
    (_, at) => `<rect x="20" y="${at * LINE + 5}" width="200" height="20"/>`,
  );
  return sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}"><rect width="100%" height="100%" fill="${between}"/>${bars.join('')}</svg>`,
    ),
  )
    .png()
    .toBuffer();
};

async function cut(png: Uint8Array) {
  const pieces: Uint8Array[] = [];
  for await (const piece of computeTiles(png)) pieces.push(piece);
  return pieces;
}

const raw = (png: Uint8Array) => sharp(png).greyscale().raw().toBuffer();

describe('the tiles of a long image', () => {
  it('are the image itself if it is short', async () => {
    const png = await page(1_900);
    const pieces = await cut(png);
    expect(pieces).toHaveLength(1);
    expect(pieces[0]).toBe(png);
  });

  it('cover all of it, in order', async () => {
    const png = await page(7_000);
    const pieces = await cut(png);
    expect(pieces.length).toBeGreaterThan(3);
    expect(Buffer.concat(await Promise.all(pieces.map(raw))).equals(await raw(png))).toBe(true);
    for (const piece of pieces) expect((await sharp(piece).metadata()).height).toBeLessThanOrEqual(2_000);
  });

  it('are split between lines', async () => {
    for (const piece of await cut(await page(7_000))) {
      const pixels = await raw(piece);
      expect(new Set(pixels.subarray(0, WIDTH)).size).toBe(1);
      expect(new Set(pixels.subarray(-WIDTH)).size).toBe(1);
    }
  });

  it('are split anywhere if there is no gap', async () => {
    const noise = await sharp({
      create: {
        width: WIDTH,
        height: 4_000,
        channels: 3,
        background: 'grey',
        noise: { type: 'gaussian', mean: 128, sigma: 40 },
      },
    })
      .png()
      .toBuffer();
    const heights = await Promise.all((await cut(noise)).map(async (piece) => (await sharp(piece).metadata()).height));
    expect(heights).toEqual([1_600, 1_600, 800]);
  });
});
