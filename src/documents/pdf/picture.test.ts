// Full run only: renders pages.
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { describe, expect, it } from 'vitest';
import { DocumentError, type PictureOptions, type PicturesOptions } from '../document.ts';
import { fitImage, type ImageFit } from '../image/fit.ts';
import { decodePixels } from '../image/raster.ts';
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

const drawAll = (bytes: Uint8Array, options: PicturesOptions) =>
  kind.pictures!({ path: '', size: bytes.length, mediaType: 'application/pdf' }, bytes, options);

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
  it('has twice its size in points by default', async () => {
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
    await expect(draw(file(), { page: 4 })).rejects.toThrow(DocumentError);
    await expect(draw(new TextEncoder().encode('no'), { page: 1 })).rejects.toMatchObject({ kind: 'damaged' });
  });
});

const FITTING: ImageFit = {
  ...{ width: 224, height: 224, resize: 'shortest', resizeTo: 224 },
  ...{ kernel: 'bicubic', middle: 'floor', fill: 0 },
};

/**
 * Uses everything that PDF.js keeps from page to page: fonts, a picture, a form, a pattern, a glyph defined by drawing
 * operators, and graphics states.
 */
function mixedFile(): Uint8Array {
  const stream = (entries: string, content: string) =>
    `<< ${entries} /Length ${content.length} >>\nstream\n${content}\nendstream`;
  const gray = String.fromCharCode(...Array.from({ length: 64 }, (_, at) => (at * 37) % 256));
  const objects = [
    stream('/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8', gray),
    stream(
      '/Type /XObject /Subtype /Form /BBox [0 0 100 100] /Group << /S /Transparency >>',
      '0 0 1 rg 0 0 60 60 re f',
    ),
    stream(
      '/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep 9 /YStep 9 /Resources << >>',
      '1 0 0 rg 0 0 4 4 re f',
    ),
    '<< /Type /ExtGState /ca 0.4 /BM /Multiply >>',
    '<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [0.1 0 0 0.1 0 0] /FirstChar 97 /LastChar 97 /Widths [9] /Encoding << /Differences [97 /a] >> /CharProcs << /a 15 0 R >> /Resources << >> >>',
    stream('', '9 0 0 0 9 9 d1 0 0 8 4 re f'),
  ];
  const pages = Array.from({ length: 9 }, (_, at) => ({
    content: [
      write(40, 780 - 9 * at, [`Page ${at} of words`, 'and of more words'], { font: at % 2 ? 'F1' : 'F2' }),
      at % 3 ? '' : `q 200 0 0 200 ${40 + 20 * at} 300 cm /I Do Q`,
      at % 2 ? '' : '/Pattern cs /P scn 60 60 300 120 re f',
      `q /G gs 0 1 0 rg 100 ${100 + 30 * at} 260 200 re f Q`,
      at === 4 ? 'q 2 0 0 2 40 400 cm /F Do Q' : '',
      'BT /F9 30 Tf 60 620 Td (aaaa) Tj ET',
    ].join('\n'),
    extra: at === 7 ? '/MediaBox [0 0 300 500] /Rotate 90' : '',
  }));
  return drawPdf({
    pages,
    objects,
    fonts: '/F9 14 0 R',
    resources: '/XObject << /I 10 0 R /F 11 0 R >> /Pattern << /P 12 0 R >> /ExtGState << /G 13 0 R >>',
  });
}

describe('pages from one opening', { timeout: 240_000 }, () => {
  const everyPage = Array.from({ length: 9 }, (_, at) => at + 1);

  /** Renders the pages in as many batches as necessary. */
  async function drawInRuns(bytes: Uint8Array, options: PicturesOptions): Promise<Uint8Array[]> {
    const drawn: Uint8Array[] = [];
    while (drawn.length < options.pages.length) {
      drawn.push(...(await drawAll(bytes, { ...options, pages: options.pages.slice(drawn.length) })));
    }
    return drawn;
  }

  it('equal each page rendered alone, to the pixel', async () => {
    const bytes = mixedFile();
    const different = new Set<string>();
    const fitted = await drawInRuns(bytes, { pages: everyPage, scale: 1, as: FITTING });
    const files = await drawInRuns(bytes, { pages: everyPage, scale: 1, as: 'png' });
    for (const page of everyPage) {
      const alone = await decodePixels(await draw(bytes, { page, scale: 1 }), 'png');
      const together = await decodePixels(files[page - 1]!, 'png');
      expect([together.width, together.height]).toEqual([alone.width, alone.height]);
      expect(Buffer.compare(together.rgb, alone.rgb), `page ${page}`).toBe(0);
      expect(Buffer.compare(fitted[page - 1]!, fitImage(alone, FITTING).rgb), `page ${page}`).toBe(0);
      different.add(Buffer.from(fitted[page - 1]!).toString('base64'));
    }
    expect(different.size).toBe(everyPage.length);
  });

  it('come in the requested order, at least one at a time', async () => {
    const bytes = file();
    const [first] = await drawAll(bytes, { pages: [2, 1], scale: 1, as: 'png' });
    expect((await pixels(first!)).at(300, 100)).toEqual([255, 0, 0]);
  });

  it('come one at a time if they are large', async () => {
    const large = { ...FITTING, width: 2_400, height: 2_400, resizeTo: 2_400 };
    expect(await drawAll(file(), { pages: [1, 1, 2, 2], scale: 1, as: large })).toHaveLength(1);
  });

  it('end before one that cannot be drawn, which fails when it is the first', async () => {
    expect(await drawInRuns(file(), { pages: [1, 2], scale: 1, as: FITTING })).toHaveLength(2);
    expect(await drawAll(file(), { pages: [1, 4, 2], scale: 1, as: FITTING })).toHaveLength(1);
    await expect(drawAll(file(), { pages: [4, 2], as: FITTING })).rejects.toThrow('The PDF has no page 4; it has 3');
  });
});
