import { createCanvas, loadImage } from '@napi-rs/canvas';
import { describe, expect, it } from 'vitest';
import { DocumentFault, type PictureOptions } from '../document.ts';
import { drawPdf, write } from './drawn.suite.ts';
import { kind } from './pdf.ts';

const file = () =>
  drawPdf({
    pages: [
      { content: write(60, 700, ['A page with words']) },
      { content: '1 0 0 rg 0 421 595 421 re f', extra: '/MediaBox [0 0 595 842]' },
      { content: '0 1 0 rg 0 0 9000 300 re f', extra: '/MediaBox [0 0 9000 300]' },
    ],
  });

const draw = (bytes: Uint8Array, options: PictureOptions) =>
  kind.picture!({ path: '', size: bytes.length, mediaType: 'application/pdf' }, bytes, options);

async function pixels(png: Uint8Array) {
  const image = await loadImage(Buffer.from(png));
  const context = createCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  const at = (x: number, y: number) => [...context.getImageData(x, y, 1, 1).data].slice(0, 3);
  return {
    width: image.width,
    height: image.height,
    at,
    all: context.getImageData(0, 0, image.width, image.height).data,
  };
}

describe('a picture of a page', () => {
  it('is twice its size in points unless told otherwise', async () => {
    const { width, height, all } = await pixels(await draw(file(), { page: 1 }));
    expect([width, height]).toEqual([1190, 1684]);
    const dark = all.filter((value, at) => at % 4 === 0 && value < 100).length;
    expect(dark).toBeGreaterThan(200);
    expect(dark).toBeLessThan(20_000);
    expect((await pixels(await draw(file(), { page: 1, scale: 1 }))).width).toBe(595);
  });

  it('shows the page that is asked for', async () => {
    const { at } = await pixels(await draw(file(), { page: 2, scale: 1 }));
    expect(at(300, 100)).toEqual([255, 0, 0]);
    expect(at(300, 800)).toEqual([255, 255, 255]);
  });

  it('is never larger than 4,000 pixels a side', async () => {
    const { width, height, at } = await pixels(await draw(file(), { page: 3, scale: 10 }));
    expect(width).toBe(4_000);
    expect(height).toBe(133);
    expect(at(2000, 60)).toEqual([0, 255, 0]);
  });

  it('is refused for a page that is not there, and for what is no PDF', async () => {
    await expect(draw(file(), { page: 4 })).rejects.toThrow(DocumentFault);
    await expect(draw(new TextEncoder().encode('no'), { page: 1 })).rejects.toMatchObject({ kind: 'damaged' });
  });
});
