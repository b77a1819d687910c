import { describe, expect, it } from 'vitest';
import { drawPdf, page, write } from './drawn.suite.ts';
import { parsePdf } from './printed.suite.ts';

const level = (x0: number, x1: number, y: number) => `${x0} ${y} m ${x1} ${y} l S\n`;
const upright = (x: number, y0: number, y1: number) => `${x} ${y0} m ${x} ${y1} l S\n`;
const put = (x: number, y: number, text: string, font = 'F1') => write(x, y, [text], { font });

/** Texts of rows at the given positions, from `top` downwards. */
const rowsAt = (xs: readonly number[], top: number, rows: readonly (readonly string[])[], pitch = 14, font = 'F1') =>
  rows
    .map((row, at) => row.map((text, column) => (text ? put(xs[column]!, top - at * pitch, text, font) : '')).join(''))
    .join('');

const read = async (content: string): Promise<string> => (await parsePdf(drawPdf(page(content)))).pages[0]!.html;

/** The cells of the tables, a row a line. A cell that spans columns or rows has `>` or `v` for each further one. */
const grid = (html: string): string[] =>
  [...html.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row]) =>
    [...row!.matchAll(/<t[hd]([^>]*)>(.*?)<\/t[hd]>/g)]
      .map(([, spans, text]) => {
        const further = (name: string) => Number(new RegExp(`${name}="(\\d+)"`).exec(spans!)?.[1] ?? 1) - 1;
        return text!.replace(/<[^>]+>/g, '') + '>'.repeat(further('colspan')) + 'v'.repeat(further('rowspan'));
      })
      .join('|'),
  );

const XS = [60, 200, 270, 340, 410];
const VALUES = [
  ['Harbour', '10', '1.5', '20', '2.5'],
  ['Market', '11', '1.6', '21', '2.6'],
  ['Bridge', '12', '1.7', '22', '2.7'],
  ['Tower', '13', '1.8', '23', '2.8'],
];

describe('columns', () => {
  it('are found under headings that span them, between horizontal lines', async () => {
    const html = await read(
      level(60, 450, 760) +
        put(206, 746, 'In the old town') +
        put(346, 746, 'In the new town') +
        rowsAt(XS, 730, [['Place', 'Boats', 'Share', 'Boats', 'Share']]) +
        level(60, 450, 724) +
        rowsAt(XS, 710, VALUES) +
        level(60, 450, 662),
    );
    expect(grid(html)).toEqual([
      'Placev|In the old town>|In the new town>',
      'Boats|Share|Boats|Share',
      ...VALUES.map((row) => row.join('|')),
    ]);
  });

  it('are those of the cell borders that are drawn one by one', async () => {
    const borders = (y: number) => level(60, 200, y) + level(200, 262, y) + level(262, 330, y);
    const html = await read(
      borders(760) +
        rowsAt([64, 204, 266], 748, [['Place', 'Boats', 'Share']]) +
        borders(742) +
        // The values of the last two columns are only a word space apart.
        rowsAt([64, 230, 266], 730, [
          ['Harbour', '10000', '15'],
          ['Market', '11000', '16'],
          ['Bridge', '12000', '17'],
        ]) +
        borders(690),
    );
    expect(grid(html)).toEqual(['Place|Boats|Share', 'Harbour|10000|15', 'Market|11000|16', 'Bridge|12000|17']);
  });

  it('of the head divide rows that have no vertical lines', async () => {
    const tops = [760, 740, 720, 700];
    const html = await read(
      tops.map((y) => level(60, 360, y)).join('') +
        upright(60, 700, 760) +
        upright(360, 700, 760) +
        upright(180, 740, 760) +
        upright(270, 740, 760) +
        rowsAt(
          [64, 190, 280],
          746,
          [
            ['Place', 'Boats', 'Share'],
            ['Harbour', '10', '-'],
            ['Market', '-', '-'],
          ],
          20,
        ),
    );
    expect(grid(html)).toEqual(['Place|Boats|Share', 'Harbour|10|-', 'Market|-|-']);
  });
});

describe('rows', () => {
  it('are found in a frame with a line only under the head', async () => {
    const html = await read(
      [760, 740, 670].map((y) => level(60, 360, y)).join('') +
        [60, 180, 270, 360].map((x) => upright(x, 670, 760)).join('') +
        rowsAt([64, 190, 280], 746, [['Place', 'Boats', 'Share']]) +
        rowsAt([64, 190, 280], 726, VALUES),
    );
    expect(grid(html)).toEqual(['Place|Boats|Share', ...VALUES.map((row) => row.slice(0, 3).join('|'))]);
  });

  it('keep cells with several values if the other rows have lines', async () => {
    const lines = [760, 740, 720, 700, 668];
    const html = await read(
      lines.map((y) => level(60, 360, y)).join('') +
        [60, 180, 270, 360].map((x) => upright(x, 668, 760)).join('') +
        rowsAt(
          [64, 190, 280],
          746,
          [
            ['Film', 'Friday', 'Saturday'],
            ['One', '16:30', '17:30'],
            ['Two', '18:00', '19:00'],
          ],
          20,
        ) +
        rowsAt([64, 190, 280], 688, [
          ['Three', '16:30', '17:30'],
          ['', '20:15', '21:15'],
        ]),
    );
    expect(grid(html)).toEqual([
      'Film|Friday|Saturday',
      'One|16:30|17:30',
      'Two|18:00|19:00',
      'Three|16:30 20:15|17:30 21:15',
    ]);
  });

  it('join the lines of a wrapped label', async () => {
    const html = await read(
      level(60, 360, 760) +
        rowsAt([60, 220, 300], 746, [['Place', 'Boats', 'Share']]) +
        level(60, 360, 740) +
        rowsAt([60, 220, 300], 726, [
          ['Harbour', '10', '15'],
          ['Market and all of', '11', '16'],
          ['the streets', '', ''],
          ['Bridge', '12', '17'],
          ['Tower', '13', '18'],
        ]) +
        level(60, 360, 660),
    );
    expect(grid(html)).toEqual([
      'Place|Boats|Share',
      'Harbour|10|15',
      'Market and all of the streets|11|16',
      'Bridge|12|17',
      'Tower|13|18',
    ]);
  });

  it('join lines beside values that are centered on them', async () => {
    const html = await read(
      level(60, 360, 760) +
        rowsAt([60, 220, 300], 746, [['Place', 'Boats', 'Share']]) +
        level(60, 360, 740) +
        rowsAt(
          [60, 220, 300],
          722,
          [
            ['', '10', '15'],
            ['', '11', '16'],
            ['', '12', '17'],
          ],
          28,
        ) +
        rowsAt([60], 729, [['Harbour'], ['Quarter'], ['Market'], ['Street'], ['Bridge'], ['Tower']]) +
        level(60, 360, 650),
    );
    expect(grid(html)).toEqual([
      'Place|Boats|Share',
      'Harbour Quarter|10|15',
      'Market Street|11|16',
      'Bridge Tower|12|17',
    ]);
  });
});

describe('what is no part of a table', () => {
  it('is a caption and a note inside its frame', async () => {
    const html = await read(
      [780, 760, 740, 720, 700].map((y) => level(60, 360, y)).join('') +
        upright(60, 700, 780) +
        upright(360, 700, 780) +
        upright(200, 720, 760) +
        rowsAt(
          [64, 210],
          766,
          [
            ['Table 3 Boats of the town', ''],
            ['Place', 'Boats'],
            ['Harbour', 'Many boats'],
            ['Source: the harbour office', ''],
          ],
          20,
        ),
    );
    expect(grid(html)).toEqual(['Place|Boats', 'Harbour|Many boats']);
    expect(html.replace(/<table>.*<\/table>/, '|')).toMatch(
      /Table 3 Boats of the town.*\n\|\n.*Source: the harbour office/,
    );
  });

  it('is the grid of a chart: its labels become one paragraph', async () => {
    const lines = [760, 740, 720, 700, 680, 660];
    const html = await read(
      lines.map((y) => level(60, 460, y)).join('') +
        [60, 140, 220, 300, 380, 460].map((x) => upright(x, 660, 760)).join('') +
        put(64, 666, '3.1') +
        put(150, 686, '4.5') +
        put(230, 706, '6.2') +
        put(310, 726, '7.7') +
        put(390, 746, '9.0'),
    );
    expect(html).toBe('<p>9.0 7.7 6.2 4.5 3.1</p>');
  });

  it('is code with aligned parts, but monospaced values are a table', async () => {
    const xs = [60, 200];
    const code = await read(
      rowsAt(
        xs,
        760,
        [
          ['let a = 1;', '// one'],
          ['let bc = 2;', '// two'],
          ['let def = 3;', '// three'],
        ],
        14,
        'F3',
      ),
    );
    expect(code).not.toContain('<table>');
    const html = await read(
      rowsAt(
        xs,
        760,
        [
          ['Age', 'Share'],
          ['20-29', '0.26'],
          ['30-39', '0.20'],
          ['40-49', '0.14'],
        ],
        14,
        'F3',
      ),
    );
    expect(grid(html)).toEqual(['Age|Share', '20-29|0.26', '30-39|0.20', '40-49|0.14']);
  });
});

describe('a table that continues on the next page', () => {
  const part = (head: readonly string[], rows: readonly (readonly string[])[], top = 700) => {
    const bottom = top - 20 * (rows.length + 1);
    const ys = Array.from({ length: rows.length + 2 }, (_, at) => top - 20 * at);
    return (
      ys.map((y) => level(60, 360, y)).join('') +
      [60, 180, 270, 360].map((x) => upright(x, bottom, top)).join('') +
      rowsAt([64, 190, 280], top - 14, [head, ...rows], 20)
    );
  };
  const HEAD = ['Place', 'Boats', 'Share'];
  const pagesOf = async (...contents: string[]) =>
    (await parsePdf(drawPdf({ pages: contents.map((content) => ({ content })) }))).pages.map(({ html }) => html);

  it('is one table, without the repeated head', async () => {
    const rows = (from: number) => [
      [`Harbour ${from}`, '10', '15'],
      [`Market ${from}`, '11', '16'],
    ];
    const [first, second, third] = await pagesOf(
      part(HEAD, rows(1)),
      part(HEAD, rows(2)),
      part(HEAD, rows(3)) + put(60, 600, 'An end.'),
    );
    expect(grid(first!)).toEqual([
      'Place|Boats|Share',
      ...[1, 2, 3].flatMap((at) => rows(at).map((row) => row.join('|'))),
    ]);
    expect(second).toBe('');
    expect(third).toBe('<p>An end.</p>');
  });

  it('is not joined with another one', async () => {
    const html = await pagesOf(
      part(HEAD, [['Harbour', '10', '15']]),
      part(['Street', 'Carts', 'Price'], [['Long', '1', '2']]),
    );
    expect(html.map((one) => grid(one).length)).toEqual([2, 2]);
  });
});
