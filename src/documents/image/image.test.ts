// Full run only: decodes large images.
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it, vi } from 'vitest';
import { elements, find, textOf } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import type { DocumentFile } from '../document.ts';
import { imageSize, kind } from './image.ts';

// Allows for slow encoding on a busy machine.
vi.setConfig({ testTimeout: 240_000 });

const fileOf = (bytes: Uint8Array, mediaType = 'image/png'): DocumentFile => ({
  path: '',
  size: bytes.length,
  mediaType,
});
const parse = (bytes: Uint8Array, mediaType?: string, page?: number) =>
  kind.parse(fileOf(bytes, mediaType), bytes, { page });
const draw = (bytes: Uint8Array, options = {}) => kind.picture!(fileOf(bytes), bytes, { page: 1, ...options });

const square = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 30 } } });

/** Left half black, right half white. */
const halves = async (width: number, height: number) => {
  const black = await sharp({ create: { width: width / 2, height, channels: 3, background: '#000' } })
    .png()
    .toBuffer();
  return sharp({ create: { width, height, channels: 3, background: '#fff' } }).composite([
    { input: black, left: 0, top: 0 },
  ]);
};

const pixelAt = async (png: Uint8Array, left: number, top: number): Promise<number[]> => {
  const { data } = await sharp(png)
    .removeAlpha()
    .extract({ left, top, width: 1, height: 1 })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [...data];
};

describe('metadata of an image', () => {
  it.each(['png', 'jpeg', 'gif', 'webp', 'avif', 'tiff'] as const)('is read of %s', async (format) => {
    const parsed = await parse(await square(120, 80).toFormat(format).toBuffer());
    expect(parsed).toMatchObject({
      title: '',
      pages: [{ number: 1, html: '', scanned: true }],
      notes: [],
      hiddenCount: 0,
    });
    expect(parsed.metadata).toMatchObject({ width: '120', height: '80' });
    expect(parsed.metadata.format?.toLowerCase()).toBe(format);
  });

  it('includes date, words and camera, and not the place', async () => {
    const bytes = await square(60, 40)
      .withExif({
        IFD0: { ImageDescription: 'A bridge', Make: 'Maker', Model: 'M1', Copyright: 'None' },
        IFD2: { DateTimeOriginal: '2024:05:06 07:08:09', OffsetTimeOriginal: '+02:00' },
        IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' },
      })
      .jpeg()
      .toBuffer();
    const { metadata, publishedTime } = await parse(bytes);
    expect(metadata).toMatchObject({ ImageDescription: 'A bridge', Make: 'Maker', Model: 'M1', Copyright: 'None' });
    expect(publishedTime).toBe('2024-05-06T07:08:09+02:00');
    expect(JSON.stringify(metadata)).not.toMatch(/GPS|51|3230/);
  });

  it('has width and height the right way up', async () => {
    const turned = await square(120, 80).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect((await parse(turned)).metadata).toMatchObject({ width: '80', height: '120' });
    expect(await imageSize(turned)).toEqual({ width: 80, height: 120 });
  });

  it('has a page for each of a TIFF, and only the one that was asked for', async () => {
    const bytes = tiffOf(3);
    expect(await parse(bytes)).toMatchObject({ pageCount: 3, pages: [{ number: 1 }, { number: 2 }, { number: 3 }] });
    expect((await parse(bytes, undefined, 2)).pages).toEqual([{ number: 2, html: '', scanned: true }]);
    expect((await parse(bytes, undefined, 9)).pages).toHaveLength(3);
    expect(await pixelAt(await draw(bytes, { page: 2 }), 0, 0)).toEqual([80, 80, 80]);
  });
});

/** Pages of 2 x 2 gray pixels, each 40 levels lighter than the page before. */
function tiffOf(pages: number): Buffer {
  const parts: Buffer[] = [Buffer.from([0x49, 0x49, 42, 0, 8, 0, 0, 0])];
  const entries = (data: number): readonly (readonly [tag: number, type: number, value: number])[] => [
    [256, 3, 2],
    [257, 3, 2],
    [258, 3, 8],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, data],
    [277, 3, 1],
    [278, 3, 2],
    [279, 4, 4],
  ];
  const size = 2 + 9 * 12 + 4 + 4;
  for (let page = 0; page < pages; page++) {
    const start = 8 + page * size;
    const block = Buffer.alloc(size);
    block.writeUInt16LE(9, 0);
    for (const [at, [tag, type, value]] of entries(start + size - 4).entries()) {
      block.writeUInt16LE(tag, 2 + at * 12);
      block.writeUInt16LE(type, 4 + at * 12);
      block.writeUInt32LE(1, 6 + at * 12);
      block.writeUInt32LE(value, 10 + at * 12);
    }
    block.writeUInt32LE(page + 1 < pages ? start + size : 0, 2 + 9 * 12);
    block.fill(40 * (page + 1), size - 4);
    parts.push(block);
  }
  return Buffer.concat(parts);
}

describe('rendering an image', () => {
  it('fits into the box, is PNG, and is never enlarged', async () => {
    const large = await square(3_000, 1_500).jpeg().toBuffer();
    expect(await sharp(await draw(large)).metadata()).toMatchObject({ format: 'png', width: 1_024, height: 512 });
    const fitted = await sharp(await draw(large, { fit: { width: 300, height: 100 } })).metadata();
    expect(fitted).toMatchObject({ width: 200, height: 100 });
    expect(await sharp(await draw(await square(30, 20).png().toBuffer())).metadata()).toMatchObject({
      width: 30,
      height: 20,
    });
  });

  it('is turned the right way up', async () => {
    const turned = await (await halves(40, 20)).withMetadata({ orientation: 6 }).png().toBuffer();
    const png = await draw(turned);
    expect(await sharp(png).metadata()).toMatchObject({ width: 20, height: 40 });
    expect(await pixelAt(png, 10, 2)).toEqual([0, 0, 0]);
    expect(await pixelAt(png, 10, 37)).toEqual([255, 255, 255]);
  });

  it('shows what there is of one cut off, with a note', async () => {
    const bytes = await (await halves(400, 300)).png().toBuffer();
    const cut = bytes.subarray(0, bytes.length - 40);
    expect((await parse(cut)).notes).toEqual(['The image is cut off']);
    expect(await sharp(await draw(cut)).metadata()).toMatchObject({ width: 400, height: 300 });
  });

  it('is the first of an animation', async () => {
    const frames = await sharp({ create: { width: 20, height: 20_000, channels: 3, background: '#fff' } })
      .raw()
      .toBuffer();
    const raw = { width: 20, height: 20_000, channels: 3, pageHeight: 20 } as const;
    const gif = await sharp(frames, { raw }).gif({ keepDuplicateFrames: true }).toBuffer();
    expect((await sharp(gif).metadata()).pages).toBe(1_000);
    expect(await parse(gif)).toMatchObject({ pageCount: undefined, pages: [{ number: 1 }] });
    expect(await sharp(await draw(gif)).metadata()).toMatchObject({ width: 20, height: 20 });
  });
});

interface BitmapLook {
  readonly bits: number;
  readonly compression?: number;
  readonly header?: number;
  readonly topDown?: boolean;
}

/** Two pixels wide, two high: red and green over blue and white. */
function bitmapOf(body: Buffer, { bits, compression = 0, header = 40, topDown = false }: BitmapLook): Buffer {
  const colors = bits <= 8 ? Buffer.from('0000ff0000ff0000ff000000ffffff00', 'hex') : Buffer.alloc(0);
  const masks = compression === 3 && header === 40 ? Buffer.from('00f80000e00700001f000000', 'hex') : Buffer.alloc(0);
  const head = Buffer.alloc(14 + header);
  head.write('BM');
  head.writeUInt32LE(14 + header + masks.length + colors.length, 10);
  head.writeUInt32LE(header, 14);
  head.writeInt32LE(2, 18);
  head.writeInt32LE(topDown ? -2 : 2, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(bits, 28);
  head.writeUInt32LE(compression, 30);
  head.writeUInt32LE(bits <= 8 ? 4 : 0, 46);
  return Buffer.concat([head, masks, colors, body]);
}

const RED = [255, 0, 0];
const GREEN = [0, 255, 0];
const BLUE = [0, 0, 255];
const WHITE = [255, 255, 255];

async function expectFour(png: Uint8Array) {
  expect(await pixelAt(png, 0, 0)).toEqual(RED);
  expect(await pixelAt(png, 1, 0)).toEqual(GREEN);
  expect(await pixelAt(png, 0, 1)).toEqual(BLUE);
  expect(await pixelAt(png, 1, 1)).toEqual(WHITE);
}

describe('bitmaps and icons', () => {
  it.each([
    ['24 bits', 'ff0000ffffff00000000ff00ff000000', { bits: 24 }],
    ['24 bits from the top', '0000ff00ff000000ff0000ffffff0000', { bits: 24, topDown: true }],
    ['32 bits', 'ff000000ffffff000000ff0000ff0000', { bits: 32 }],
    ['16 bits', '1f00ff7f007ce003', { bits: 16 }],
    ['16 bits with masks', '1f00ffff00f8e007', { bits: 16, compression: 3 }],
    ['8 bits', '0203000000010000', { bits: 8 }],
    ['4 bits', '2300000001000000', { bits: 4 }],
    ['8 bits in runs', '01020103000001000101000100000000', { bits: 8, compression: 1 }],
    ['4 bits in runs, as they are', '0223000002010001', { bits: 4, compression: 2 }],
  ])('of %s are drawn', async (_, body, look) => {
    const bytes = bitmapOf(Buffer.from(body, 'hex'), look);
    expect((await parse(bytes, 'image/bmp')).metadata).toEqual({ format: 'BMP', width: '2', height: '2' });
    await expectFour(await draw(bytes));
  });

  it('are white where they are cut off', async () => {
    const bytes = bitmapOf(Buffer.from('ff0000ffffff0000', 'hex'), { bits: 24 });
    const png = await draw(bytes);
    expect(await pixelAt(png, 0, 1)).toEqual(BLUE);
    expect(await pixelAt(png, 0, 0)).toEqual(WHITE);
  });

  it('give the largest picture of an icon, whichever form it has', async () => {
    const png = await square(48, 48).png().toBuffer();
    const bitmap = bitmapOf(Buffer.concat([Buffer.from('ff000000ffffff000000ff0000ff0000', 'hex'), Buffer.alloc(8)]), {
      bits: 32,
    }).subarray(14);
    bitmap.writeInt32LE(4, 8);
    const both = iconOf([2, bitmap], [48, png]);
    expect((await parse(both, 'image/x-icon')).metadata).toMatchObject({ width: '48', height: '48' });
    expect(await pixelAt(await draw(both), 5, 5)).toEqual([200, 30, 30]);
    await expectFour(await draw(iconOf([2, bitmap])));
  });
});

function iconOf(...pictures: (readonly [side: number, bytes: Buffer])[]): Buffer {
  const head = Buffer.alloc(6 + 16 * pictures.length);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(pictures.length, 4);
  let at = head.length;
  for (const [index, [side, bytes]] of pictures.entries()) {
    const entry = 6 + 16 * index;
    head[entry] = side;
    head[entry + 1] = side;
    head.writeUInt16LE(32, entry + 6);
    head.writeUInt32LE(bytes.length, entry + 8);
    head.writeUInt32LE(at, entry + 12);
    at += bytes.length;
  }
  return Buffer.concat([head, ...pictures.map(([, bytes]) => bytes)]);
}

/** A PNG chunk with a wrong checksum. */
const pngOf = (width: number, height: number): Buffer => {
  const bytes = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000080600000000000000', 'hex');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};

describe('hostile images', () => {
  it('are refused by their head when they would be too large', async () => {
    const valid = await square(20_000, 1).png().toBuffer();
    valid.writeUInt32BE(20_000, 20);
    const bitmap = bitmapOf(Buffer.alloc(64), { bits: 24 });
    bitmap.writeInt32LE(1_000_000, 18);
    bitmap.writeInt32LE(1_000_000, 22);
    const webp = await square(100, 100).webp({ lossless: true }).toBuffer();
    webp.writeUInt32LE(0x0fffffff, 21);
    for (const bytes of [valid, bitmap, webp]) {
      await expect(parse(bytes)).rejects.toMatchObject({ kind: expect.stringMatching(/^(?:too large|damaged)$/) });
      await expect(draw(bytes)).rejects.toMatchObject({ kind: expect.stringMatching(/^(?:too large|damaged)$/) });
    }
    await expect(parse(bitmap)).rejects.toMatchObject({ kind: 'too large' });
    await expect(parse(pngOf(1_000_000, 1_000_000))).rejects.toMatchObject({
      kind: expect.stringMatching(/too large|damaged/),
    });
  });

  it('are damaged when there is nothing behind their head', async () => {
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from('hello, I am a picture'),
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      Buffer.from('BM'),
      Buffer.from([0, 0, 1, 0, 9, 0]),
    ]) {
      await expect(parse(bytes)).rejects.toMatchObject({ kind: 'damaged' });
      await expect(draw(bytes)).rejects.toMatchObject({ kind: 'damaged' });
    }
  });

  it('are named when nothing here reads them', async () => {
    const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1');
    await expect(parse(heic)).rejects.toMatchObject({
      kind: 'unsupported',
      message: 'HEIC images are not supported',
    });
    await expect(parse(Buffer.from('8BPS\0\x01'))).rejects.toMatchObject({
      message: 'PSD images are not supported',
    });
  });

  it('are what their bytes are, not what they claim', async () => {
    const png = await square(10, 10).png().toBuffer();
    expect((await parse(png, 'image/svg+xml')).metadata.format).toBe('PNG');
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><text>words</text></svg>');
    expect((await parse(svg, 'image/png')).pages[0]!.html).toBe('<p>words</p>');
    await expect(draw(svg)).rejects.toMatchObject({ kind: 'unsupported' });
    const gifWithScript = Buffer.concat([
      await square(10, 10).gif().toBuffer(),
      Buffer.from('<script>alert(1)</script>'),
    ]);
    expect((await parse(gifWithScript)).metadata.format).toBe('GIF');
  });

  it('yield pages or an error, whatever their bytes', async () => {
    const seeds = await Promise.all([
      ...(['png', 'jpeg', 'gif', 'webp', 'tiff'] as const).map((format) => square(24, 16).toFormat(format).toBuffer()),
      bitmapOf(Buffer.from('01020103000001000101000100000000', 'hex'), { bits: 8, compression: 1 }),
      iconOf([24, await square(24, 24).png().toBuffer()]),
    ]);
    const changed = fc
      .tuple(fc.constantFrom(...seeds), fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 8 }), fc.nat(400))
      .map(([seed, changes, cut]) => {
        const bytes = Buffer.from(seed);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        return bytes.subarray(0, Math.max(4, bytes.length - (cut > 300 ? cut - 300 : 0)));
      });
    await fc.assert(
      fc.asyncProperty(changed, async (bytes) => {
        for (const work of [parse, draw]) {
          const outcome = await work(bytes).catch((error: unknown) => error);
          if (outcome instanceof Error)
            expect(outcome).toMatchObject({ kind: expect.stringMatching(/damaged|too large|unsupported/) });
        }
      }),
      { seed: 11, numRuns: 50 },
    );
  });
});

describe('SVG', () => {
  const svg = (body: string) =>
    Buffer.from(
      `<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="90" viewBox="0 0 9 9">${body}</svg>`,
    );

  it('is the text in it, with its title', async () => {
    const parsed = await parse(
      svg(
        '<title>A chart</title><desc>Of rain &amp; sun</desc><style>text{fill:red}</style><defs><text>no</text></defs>' +
          '<text x="1">Jan<tspan x="1" dy="2">uary</tspan></text><g><text>Fe<tspan>b</tspan></text></g><script>alert(1)</script>',
      ),
      'image/svg+xml',
    );
    expect(parsed).toMatchObject({
      title: 'A chart',
      pages: [{ number: 1, html: '<p>Of rain &amp; sun</p>\n<p>Jan uary</p>\n<p>Feb</p>' }],
      metadata: { format: 'SVG', width: '90', viewBox: '0 0 9 9' },
    });
  });

  it.each(['<textarea rows="2"/>', '<iframe src="x"/>', '<title/>', '<STYLE />', '<plaintext>', '<noembed/>'])(
    'reads HTML inside of it to its end: %s',
    async (element) => {
      const { pages } = await parse(
        svg(`<foreignObject><div>${element} words</div></foreignObject><text>after</text>`),
        'image/svg+xml',
      );
      expect(pages[0]!.html).toBe('<p>words</p>\n<p>after</p>');
    },
  );

  it('leaves out and counts what is hidden', async () => {
    const { pages, hiddenCount } = await parse(
      svg(
        '<text display="none">a</text><g style="x:y; visibility: hidden"><text>b</text></g><text>c<tspan display="none">d</tspan></text>',
      ),
    );
    expect(pages[0]!.html).toBe('<p>c</p>');
    expect(hiddenCount).toBeGreaterThanOrEqual(2);
  });

  it('expands no entities and opens no files', async () => {
    const bomb = `<!DOCTYPE svg [<!ENTITY a "lol"><!ENTITY b "${'&a;'.repeat(1_000)}"><!ENTITY c SYSTEM "file:///etc/passwd">]>
<svg xmlns="http://www.w3.org/2000/svg"><text>${'&b;'.repeat(1_000)}&c;</text></svg>`;
    const { pages } = await parse(Buffer.from(bomb), 'image/svg+xml');
    expect(pages[0]!.html.length).toBeLessThan(20_000);
    expect(pages[0]!.html).not.toMatch(/lol|root:/);
  });

  it('keeps text from becoming markup', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 40 }), async (text) => {
        const source = `<![CDATA[${text.replaceAll(']]>', '')}]]>`;
        const { pages } = await parse(svg(`<text>x${source}</text>`), 'image/svg+xml');
        const document = parseDocument(pages[0]!.html);
        const names = [...elements(find(document, 'body')!)].map(({ name }) => name);
        expect(names).toEqual(['p']);
        expect(textOf(document)[0]).toBe('x');
      }),
      { seed: 12, numRuns: 200 },
    );
  });

  it('reads very deep and very long files', async () => {
    expect((await parse(svg('<g>'.repeat(100_000)))).pages).toHaveLength(1);
    const long = await parse(svg('<text>ab</text>'.repeat(50_000)));
    expect(long.pages[0]!.html.match(/<p>ab<\/p>/g)).toHaveLength(50_000);
  });
});
