/** Which text becomes a heading, and text that is painted twice. */
import { describe, expect, it } from 'vitest';
import { htmlOf, parse } from '../parse.suite.ts';
import { type DrawnFile, drawPdf, write } from './drawn.suite.ts';
import { kind } from './pdf.ts';

const ITALIC = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Oblique /Encoding /WinAnsiEncoding >>';
const PROSE = [
  'The boats leave the harbour before the sun is up and come back at noon with what they',
  'have caught. The market opens when the first of them is tied to the quay, and it closes',
  'when nothing is left to be sold. On Sundays nobody goes out, and the nets hang to dry.',
];

interface Placed {
  readonly lines: readonly string[];
  readonly font?: string;
  readonly size?: number;
}

const prose = { lines: PROSE };
const line = (text: string, font = 'F1', size = 11): Placed => ({ lines: [text], font, size });

/** Blocks below each other, with more space between them than between lines. */
function pageOf(blocks: readonly Placed[]): { readonly content: string } {
  let y = 780;
  let content = '';
  for (const { lines, font = 'F1', size = 11 } of blocks) {
    content += write(60, y, lines, { font, size });
    y -= 14 * lines.length + 10;
  }
  return { content };
}

const headingsOf = async (...pages: readonly (readonly Placed[])[]): Promise<string[]> => {
  const file: DrawnFile = { pages: pages.map(pageOf), objects: [ITALIC], fonts: '/F4 10 0 R' };
  const html = htmlOf(await parse(kind, drawPdf(file)));
  return [...html.matchAll(/<h\d>(.*?)<\/h\d>/g)].map(([, text]) => text!.replace(/<[^>]*>/g, ''));
};

const stream = (content: string): string => `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;

describe('headings', () => {
  it('are numbered lines in the type of the text, if their numbers continue each other', async () => {
    const page = [
      line('A harbour town', 'F1', 20),
      prose,
      line('1 The first part'),
      prose,
      line('1.1 The quay'),
      prose,
      line('2 The second part'),
      prose,
    ];
    expect(await headingsOf(page)).toEqual(['A harbour town', '1 The first part', '1.1 The quay', '2 The second part']);
    const unrelated = [prose, line('17 Boats were lost'), prose, line('4 Nets were torn'), prose];
    expect(await headingsOf(unrelated)).toEqual([]);
  });

  it('are bold lines with a list number, but not bold items of a list', async () => {
    expect(await headingsOf([prose, line('1. The quay', 'F2'), prose, line('2. The market', 'F2'), prose])).toEqual([
      '1. The quay',
      '2. The market',
    ]);
    const list = [line('1. Nets', 'F2'), line('2. Ropes', 'F2'), line('3. Sails', 'F2')];
    expect(await headingsOf([prose, ...list])).not.toContain('1. Nets');
  });

  it('are slanted lines in one look above text', async () => {
    const page = [prose, line('The quay', 'F4'), prose, line('The market', 'F4'), prose];
    expect(await headingsOf(page)).toEqual(['The quay', 'The market']);
    expect(await headingsOf([prose, line('A single slanted line', 'F4'), prose])).toEqual([]);
  });

  it('are lines in capitals above text, and names of sections', async () => {
    expect(await headingsOf([prose, line('THE QUAY'), prose, line('THE MARKET'), prose])).toEqual([
      'THE QUAY',
      'THE MARKET',
    ]);
    expect(await headingsOf([line('Abstract'), prose, line('References'), prose])).toEqual(['Abstract', 'References']);
  });

  it('are not captions', async () => {
    const captions = ['Table 3: Boats by year', 'Fig. 2. The quay', 'Tabelle IV', '[Figure 7] The nets'];
    for (const caption of captions) {
      expect(await headingsOf([line('The town', 'F1', 20), prose, line(caption, 'F2', 14), prose])).toEqual([
        'The town',
      ]);
    }
    expect(await headingsOf([prose, line('Tables of the town', 'F2', 14), prose])).toEqual(['Tables of the town']);
  });

  it('are not names, institutions and addresses below the title', async () => {
    const page = [
      line('The boats of a harbour town', 'F1', 20),
      line('Ada North, Ben South', 'F1', 14),
      line('Institute of Nets', 'F1', 14),
      line('ada@harbour.example', 'F1', 14),
      line('Abstract', 'F2'),
      prose,
      line('1 Introduction', 'F2', 14),
      prose,
    ];
    expect(await headingsOf(page)).toEqual(['The boats of a harbour town', 'Abstract', '1 Introduction']);
  });

  it('have levels by their numbers', async () => {
    const file = drawPdf({
      pages: [pageOf([line('1 Boats', 'F2', 14), prose, line('1.1 Small boats', 'F2', 14), prose])],
    });
    expect(htmlOf(await parse(kind, file))).toMatch(/<h2>1 Boats<\/h2>[\s\S]*<h3>1\.1 Small boats<\/h3>/);
  });
});

describe('text painted twice', () => {
  const htmlFrom = async (content: string) => htmlOf(await parse(kind, drawPdf({ pages: [{ content }] })));
  const paragraph = write(60, 600, PROSE);

  it('is bold text, once, if whole lines are repeated', async () => {
    const twice = write(60, 700, ['Harbour news']) + write(60.4, 700, ['Harbour news']);
    expect(await htmlFrom(twice + paragraph)).toContain('>Harbour news</h');
  });

  it('is bold text, once, if each letter is repeated', async () => {
    const letters = Array.from(
      'HARBOUR',
      (letter, at) => write(60 + 8 * at, 700, [letter]) + write(60.6 + 8 * at, 700, [letter]),
    );
    expect(await htmlFrom(letters.join('') + paragraph)).toContain('>HARBOUR</h');
  });

  it('counts once with a shadow in another color', async () => {
    const shadow = `0.6 g\n${write(61, 699, ['Harbour news'])}0 g\n${write(60, 700, ['Harbour news'])}`;
    expect((await htmlFrom(shadow + paragraph)).match(/Harbour/g)).toHaveLength(1);
  });

  it('keeps the copy that is visible', async () => {
    const covered = `${write(60, 700, ['Harbour news'])}0.9 g 50 690 200 30 re f 0 g\n${write(60, 700, ['Harbour news'])}`;
    expect((await htmlFrom(covered + paragraph)).match(/Harbour/g)).toHaveLength(1);
  });

  it('keeps a wide glyph with the text of the narrow one before it, such as a ligature that is named wrongly', async () => {
    const objects = [
      '<< /Type /Font /Subtype /Type1 /BaseFont /Sample /FirstChar 105 /LastChar 106 /Widths [220 560] /ToUnicode 11 0 R /FontDescriptor 12 0 R >>',
      stream('1 begincodespacerange <00> <FF> endcodespacerange 2 beginbfchar <69> <0069> <6A> <0069> endbfchar'),
      '<< /Type /FontDescriptor /FontName /Sample /Flags 32 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent 0 /CapHeight 700 /StemV 80 >>',
    ];
    const content = 'BT /F1 11 Tf 60 700 Td (sign) Tj /F4 11 Tf (ij) Tj /F1 11 Tf (cant) Tj ET';
    const html = htmlOf(await parse(kind, drawPdf({ pages: [{ content }], objects, fonts: '/F4 10 0 R' })));
    expect(html).toContain('signiicant');
  });

  it('keeps letters that are really doubled', async () => {
    expect(await htmlFrom(write(60, 700, ['Will still fill a balloon: 11 - 11, ill, llll']))).toContain(
      'Will still fill a balloon: 11 - 11, ill, llll',
    );
  });
});
