/** Tests PDF pages for a model: as text, as recognized text and as pictures. No files may be left behind. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDocuments, type Documents } from '#documents/documents.ts';
import { fitImage } from '#documents/image/fit.ts';
import { imageSize } from '#documents/image/image.ts';
import { decodePixels } from '#documents/image/raster.ts';
import { createLibreOffice } from '#documents/office/libreoffice.ts';
import { drawPdf, write } from '#documents/pdf/drawn.suite.ts';
import type { Ocr } from '#ocr/index.ts';
import { pagesAsPictures, pagesAsTexts } from './pdf.ts';
import { clipRule } from './picture-rule.ts';

const signal = new AbortController().signal;
const wait = 180_000;
let documents: Documents;
let temporaryDir: string;

beforeAll(async () => {
  temporaryDir = await mkdtemp(path.join(os.tmpdir(), 'pages-'));
  const libreoffice = createLibreOffice({ program: 'none', temporaryDir });
  documents = createDocuments({ memoryMb: 1_024, timeoutMs: 120_000, libreoffice });
});
afterAll(async () => {
  await documents.close();
  await rm(temporaryDir, { recursive: true, force: true });
});

/** A page with text, and a page with only a drawing. */
const file = drawPdf({
  pages: [
    { content: write(60, 700, ['The river is long, and its water is safe to drink.']) },
    { content: '60 60 400 600 re f' },
  ],
});

it(
  'returns the text layer of a page, or its recognized text',
  async () => {
    const recognized: Uint8Array[] = [];
    const ocr = {
      read: async (picture: Uint8Array) => {
        recognized.push(picture);
        return { text: 'what the picture says' };
      },
    } as unknown as Ocr;
    const texts = await pagesAsTexts(file, { tools: { documents, ocr, temporaryDir }, signal });
    expect(texts).toEqual(['The river is long, and its water is safe to drink.', 'what the picture says']);
    expect(recognized).toHaveLength(1);
    expect((await imageSize(recognized[0]!)).width).toBeGreaterThan(1_500);
    const without = await pagesAsTexts(file, { tools: { documents, ocr: undefined, temporaryDir }, signal });
    expect(without).toEqual([texts[0], '']);
  },
  wait,
);

it(
  'renders pages at the width of the model, at least 595 pixels, and leaves no files',
  async () => {
    const tools = { documents, ocr: undefined, temporaryDir };
    const files = await pagesAsPictures(file, { as: 'png', tools, signal }, (png) => png);
    expect(await imageSize(files[1]!)).toEqual({ width: 1_024, height: 1_449 });
    const alone = async (side: number, page: number) => {
      const at = path.join(temporaryDir, 'alone.pdf');
      await writeFile(at, file);
      const options = { page, scale: Math.max(595, side) / 595 };
      const png = await documents.picture(
        { path: at, size: file.length, mediaType: 'application/pdf' },
        options,
        signal,
      );
      return Buffer.from(fitImage(await decodePixels(png!, 'png'), clipRule(side)).rgb);
    };
    for (const side of [224, 700]) {
      const drawn = await pagesAsPictures(file, { as: clipRule(side), tools, signal }, (rgb) => Buffer.from(rgb));
      expect(drawn).toHaveLength(2);
      for (const [at, rgb] of drawn.entries()) expect(rgb.equals(await alone(side, at + 1))).toBe(true);
    }
    expect(await readdir(path.join(temporaryDir, 'programs'))).toEqual([]);
  },
  wait,
);
