/** Watermarks are left out and named; other rotated text stays. */
import { expect, it } from 'vitest';
import { drawPdf, page, write } from './drawn.suite.ts';
import { kind } from './pdf.ts';
import { parsePdf } from './printed.suite.ts';

const TEXT = write(60, 760, ['The boats leave the harbour before the sun is up.', 'They come back at noon.']);

interface Look {
  readonly degrees: number;
  readonly size: number;
  readonly paint: string;
}

function turned(text: string, { degrees, size, paint }: Look): string {
  const [cos, sin] = [Math.cos, Math.sin].map((of) => of((degrees * Math.PI) / 180).toFixed(4));
  return `q ${paint} BT /F2 ${size} Tf ${cos} ${sin} ${-Number(sin)} ${cos} 150 250 Tm (${text}) Tj ET Q\n`;
}

const LIGHT: Look = { degrees: 45, size: 80, paint: '0.8 g' };
const STATES = '/ExtGState << /G << /ca 0.3 >> >>';

it.each<[string, Look]>([
  ['light', LIGHT],
  ['downwards', { ...LIGHT, degrees: -40 }],
  ['transparent', { ...LIGHT, paint: '/G gs 1 0 0 rg' }],
])('%s slanted large text is a watermark', async (_, look) => {
  const { pages, notes } = await parsePdf(drawPdf({ ...page(turned('NOT FINAL', look) + TEXT), resources: STATES }));
  expect(pages[0]!.html).not.toContain('FINAL');
  expect(pages[0]!.html).toContain('They come back at noon.');
  expect(notes).toEqual(['A watermark is left out: "NOT FINAL"']);
});

it.each<[string, Look]>([
  ['dark', { ...LIGHT, paint: '0 g' }],
  ['small', { ...LIGHT, size: 12 }],
  ['upright', { ...LIGHT, degrees: 90 }],
])('%s rotated text stays', async (_, look) => {
  const { pages, notes } = await parsePdf(drawPdf(page(turned('Boats', look) + TEXT)));
  expect(pages[0]!.html).toContain('Boats</strong>');
  expect(notes).toEqual([]);
});

it('stays if nothing else is on the page, or if the caller keeps running text', async () => {
  const alone = await parsePdf(drawPdf(page(turned('NOT FINAL', LIGHT))));
  expect(alone.pages[0]!.html).toContain('FINAL');
  const bytes = drawPdf(page(turned('NOT FINAL', LIGHT) + TEXT));
  const file = { path: '', size: bytes.length, mediaType: 'application/pdf' };
  const kept = await kind.parse(file, bytes, { pdfRunningText: 'keep' });
  expect(kept.pages[0]!.html).toContain('FINAL');
  expect(kept.notes).toEqual([]);
});
