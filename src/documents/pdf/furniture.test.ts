/** Rows at the edges of pages: what is repeated is left out, what only looks similar stays. */
import { describe, expect, it } from 'vitest';
import { htmlOf, parse } from '../parse.suite.ts';
import { drawPdf, write } from './drawn.suite.ts';
import { kind } from './pdf.ts';

const PROSE = ['The boats leave the harbour before the sun is up and come back at noon.', 'Then the market opens.'];

const htmlOfPages = async (rows: readonly string[], y: number): Promise<string> => {
  const pages = rows.map((row) => ({ content: write(60, y, [row]) + write(60, 600, PROSE) }));
  return htmlOf(await parse(kind, drawPdf({ pages })));
};

describe('furniture', () => {
  it('is a row whose text is the same but for its numbers, on three pages', async () => {
    const slugs = ['harbour.indd 7 14/09/18 10:37', 'harbour.indd 9 14/09/18 10:41', 'harbour.indd 12 15/09/18 9:02'];
    expect(await htmlOfPages(slugs, 30)).not.toContain('indd');
    expect(await htmlOfPages(slugs.slice(0, 2), 30)).toContain('indd');
    expect(await htmlOfPages(slugs, 500)).toContain('indd');
  });

  it('is not most of the text', async () => {
    const ticket = 'Delivery note of the harbour office, valid for one boat and one day';
    const pages = [1, 2].map((number) => ({ content: write(60, 780, [ticket]) + write(60, 400, [`Boat ${number}`]) }));
    expect(htmlOf(await parse(kind, drawPdf({ pages })))).toContain('Delivery note');
  });

  it('is not a numbered heading, whatever its alphabet', async () => {
    const html = await htmlOfPages(['1 \xc9\xe9\xe8', '2 \xc0\xe0\xe1', '3 \xd6\xf6\xf3'], 760);
    for (const heading of ['1 Ééè', '2 Ààá', '3 Ööó']) expect(html).toContain(heading);
  });
});

describe('a repeated row of a table is no furniture', () => {
  const XS = [60, 250, 340];
  const level = (y: number) => `60 ${y} m 480 ${y} l S\n`;
  const rowsFrom = (top: number, rows: readonly (readonly string[])[]) =>
    rows.flatMap((row, at) => row.map((text, column) => write(XS[column]!, top - at * 14, [text]))).join('');
  const valuesFrom = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => [`Harbour ${from + at}`, String(107 + 7 * at), `${from + at}.5`]);
  const HEAD = ['Place', 'Boats', 'Share'];

  it.each(['with lines', 'without lines'])('the head of a table over three pages, %s', async (lines) => {
    const pages = [1, 41, 81].map((from) => ({
      content:
        (lines === 'with lines' ? level(804) + level(784) + level(230) : '') +
        rowsFrom(790, [HEAD, ...valuesFrom(from, 40)]) +
        write(60, 815, ['Report of the harbour office']) +
        write(290, 30, [`Page ${Math.ceil(from / 40)}`]),
    }));
    const html = htmlOf(await parse(kind, drawPdf({ pages })));
    expect(html.match(/<th>Place<\/th>/g)).toHaveLength(1);
    expect(html.match(/<table>/g)).toHaveLength(1);
    for (let at = 1; at <= 120; at++) expect(html).toContain(`<td>Harbour ${at}</td>`);
    expect(html).not.toContain('Report of');
    expect(html).not.toContain('Page ');
  });

  it('but columns of running text below a running head make no table', async () => {
    const column = (x: number, page: number) =>
      write(
        x,
        785,
        Array.from({ length: 20 }, (_, at) => `boat ${page} leaves the harbour before day ${at}`),
        {
          size: 10,
        },
      );
    const pages = [1, 2, 3].map((page) => ({
      content:
        write(60, 805, ['A. Sailor'], { size: 10 }) +
        write(320, 805, ['Boats of the harbour'], { size: 10 }) +
        column(60, page) +
        column(320, page),
    }));
    const html = htmlOf(await parse(kind, drawPdf({ pages })));
    expect(html).not.toContain('A. Sailor');
    expect(html).toContain('boat 3 leaves');
  });

  it('but a box of details on every page makes none', async () => {
    const box = [
      ['Title', 'Boats'],
      ['Number', '17'],
      ['State', 'final'],
      ['Owner', 'Harbour'],
      ['Place', 'Office'],
    ];
    const pages = [1, 2, 3].map((page) => ({
      content: rowsFrom(815, box) + write(60, 600, [...PROSE, `The page is ${'one two three'.split(' ')[page - 1]}.`]),
    }));
    expect(htmlOf(await parse(kind, drawPdf({ pages })))).not.toContain('Number');
  });
});

describe('running text', () => {
  it('is kept if the caller asks for it', async () => {
    const pages = [1, 2, 3].map((page) => ({
      content:
        write(60, 815, ['Report of the harbour office']) + write(60, 600, PROSE) + write(290, 30, [`Page ${page}`]),
    }));
    const bytes = drawPdf({ pages });
    const file = { path: '', size: bytes.length, mediaType: 'application/pdf' };
    const { pages: kept } = await kind.parse(file, bytes, { pdfRunningText: 'keep' });
    expect(kept.map(({ html }) => /Report of.*Page \d/s.test(html))).toEqual([true, true, true]);
  });
});
