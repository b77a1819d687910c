import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { elements, find, textOf } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { type OcrLine, type OcrPage, parseHocr } from '../hocr.ts';
import { NO_RULES, type Rule, removeRules } from '../image/ruling-lines.ts';
import { blocksToHtml, blocksToText } from '../output/html.ts';
import { layOut } from './layout.ts';

const SIZE = 20;
const PITCH = 28;
const LETTER = 10;

/** A line of text at a position; all letters have the same width. Two or more spaces leave a gap of their width. */
function line(text: string, left: number, top: number, size = SIZE): OcrLine {
  const width = (LETTER * size) / SIZE;
  const words = [...text.matchAll(/\S+/g)].map((match) => ({
    text: match[0],
    box: {
      left: left + match.index * width,
      top,
      right: left + (match.index + match[0].length) * width,
      bottom: top + size,
    },
    confidence: 0.95,
  }));
  return { box: { left, top, right: words.at(-1)!.box.right, bottom: top + size }, size, words };
}

const page = (...lines: OcrLine[]): OcrPage => ({ width: 2_000, height: 3_000, lines, rules: NO_RULES });
const stack = (texts: readonly string[], left = 100, top = 100): OcrLine[] =>
  texts.map((text, at) => line(text, left, top + at * PITCH));
const html = (...lines: OcrLine[]): string => blocksToHtml(layOut(page(...lines)));

describe('paragraphs', () => {
  const lines = [
    'The river that runs through the valley',
    'has its source in the snow, and brings',
    'stones down to the plain.',
  ];

  it('joins lines, and parts what is set apart', () => {
    expect(html(...stack(lines), ...stack(lines, 100, 100 + 4.5 * PITCH))).toBe(
      `<p>${lines.join(' ')}</p>\n<p>${lines.join(' ')}</p>`,
    );
  });

  it('begins one where a line is indented, and where the line before ended early', () => {
    const indented = [
      ...stack(lines),
      line(`  ${lines[0]}`, 120, 100 + 3 * PITCH),
      ...stack(lines.slice(1), 100, 100 + 4 * PITCH),
    ];
    expect(html(...indented).match(/<p>/g)).toHaveLength(2);
  });

  it('makes broken words whole, and leaves hyphens before capitals', () => {
    expect(
      html(...stack(['a line that ends with sedi-', 'ment, and with the North-', 'South axis of the valley'])),
    ).toBe('<p>a line that ends with sediment, and with the North- South axis of the valley</p>');
  });

  it('puts no spaces between Chinese or Japanese words', () => {
    expect(html(...stack(['这是 一条 很长的 河流', '从山上 流到海里']))).toBe(
      '<p>这是一条很长的河流从山上流到海里</p>',
    );
  });
});

it('tells headings by their size', () => {
  const body = stack(['The river that runs through the valley', 'has its source in the snow, and brings'], 100, 300);
  expect(html(line('Rivers', 100, 100, 40), line('Where they begin', 100, 200, 30), ...body)).toMatch(
    /^<h1>Rivers<\/h1>\n<h2>Where they begin<\/h2>\n<p>The river/,
  );
});

it('leaves out no level of headings below the highest', () => {
  const body = stack(['The river that runs through the valley', 'has its source in the snow, and brings'], 100, 300);
  expect(html(line('Rivers', 100, 100, 40), line('Where they begin', 100, 200, 26), ...body)).toMatch(
    /^<h1>Rivers<\/h1>\n<h2>Where they begin<\/h2>\n<p>The river/,
  );
});

describe('lists', () => {
  it('finds bullets, also those read as letters, and their depth', () => {
    const lines = [
      line('• one thing', 100, 100),
      line('° inside it', 140, 128),
      line('° and this', 140, 156),
      line('• another', 100, 184),
    ];
    expect(html(...lines)).toBe(
      '<ul><li>one thing<ul><li>inside it</li><li>and this</li></ul></li><li>another</li></ul>',
    );
    expect(html(...stack(['e first of them', 'e second of them']))).toBe(
      '<ul><li>first of them</li><li>second of them</li></ul>',
    );
    expect(html(...stack(['• first of them', '• second of them', '¢« third of them']))).toBe(
      '<ul><li>first of them</li><li>second of them</li><li>third of them</li></ul>',
    );
  });

  it('keeps numbers, and lines that go on below the text of their item', () => {
    const lines = [
      line('3. the third thing', 100, 100),
      line('which is long', 130, 128),
      line('4. the fourth', 100, 156),
    ];
    expect(html(...lines)).toBe('<ol start="3"><li>the third thing which is long</li><li>the fourth</li></ol>');
    expect(blocksToText(layOut(page(...lines)))).toBe('3. the third thing which is long\n4. the fourth');
  });

  it('leaves a lone letter or number alone', () => {
    expect(html(...stack(['e mail and other words', 'that go on']))).toBe('<p>e mail and other words that go on</p>');
  });
});

describe('columns and tables', () => {
  const left = ['the left column begins here and', 'goes on for some lines of text', 'until it comes to its own end'];
  const right = [
    'the right column is read after',
    'the left one although it stands',
    'beside it on the very same page',
  ];

  it('reads columns one after the other, under a title that spans both', () => {
    const lines = [line('A title that goes from the left column over to the right one of the page', 100, 40)];
    for (const [at] of left.entries())
      lines.push(line(left[at]!, 100, 100 + at * PITCH), line(right[at]!, 500, 105 + at * PITCH));
    expect(
      blocksToText(layOut(page(...lines)))
        .split('\n\n')
        .slice(1),
    ).toEqual([left.join(' '), right.join(' ')]);
  });

  it('reads columns also when Tesseract took their lines for one', () => {
    const lines = left.map((text, at) => line(text.padEnd(40) + right[at], 100, 100 + at * PITCH));
    expect(blocksToText(layOut(page(...lines))).split('\n\n')).toEqual([left.join(' '), right.join(' ')]);
  });

  const rows = [
    'Name        Born      Height',
    'Ada         1815      1.65',
    'Blaise      1623      1.70',
    'Carl        1777      1.68',
  ];

  it('makes a table of short pieces that stand under each other', () => {
    expect(html(...stack(rows))).toBe(
      '<table><thead><tr><th>Name</th><th>Born</th><th>Height</th></tr></thead><tbody>' +
        '<tr><td>Ada</td><td>1815</td><td>1.65</td></tr><tr><td>Blaise</td><td>1623</td><td>1.70</td></tr>' +
        '<tr><td>Carl</td><td>1777</td><td>1.68</td></tr></tbody></table>',
    );
  });

  it('puts the second line of a cell to the first, and has no header where there is none', () => {
    const lines = [
      'Ada         1815      Countess',
      '                      of Lovelace',
      'Blaise      1623      of Clermont',
    ];
    const found = layOut(page(...lines.map((text, at) => line(text, 100, 100 + at * 24))));
    const cells = found[0]?.kind === 'table' ? found[0].rows.map((row) => row.map(({ text }) => text)) : [];
    expect(found).toMatchObject([{ kind: 'table', header: false }]);
    expect(cells).toEqual([
      ['Ada', '1815', 'Countess of Lovelace'],
      ['Blaise', '1623', 'of Clermont'],
    ]);
  });

  it('finds a table in a column', () => {
    const lines = left.map((text, at) => line(text, 100, 100 + at * PITCH));
    lines.push(...stack(['the left column goes on and on', 'and it comes to its end here'], 100, 100 + 3 * PITCH));
    lines.push(...stack(['the right column has a table in', 'it, which stands below its text'], 600, 100));
    lines.push(
      ...['Ada       1815     1.65', 'Blaise    1623     1.70', 'Carl      1777     1.68'].map((text, at) =>
        line(text, 600, 160 + at * PITCH),
      ),
    );
    expect(layOut(page(...lines)).map(({ kind }) => kind)).toEqual(['paragraph', 'paragraph', 'table']);
  });

  it('reads columns also when a table stands in one of them, and pieces of a figure in the other', () => {
    const rows = [
      'Run       Speed    Heat',
      'Ten       12.5     103.4',
      'Twelve    24.0     68.3',
      'Last      19.5     55.1',
    ];
    const table = rows.map((text, at) => line(text, 600, 104 + at * 36));
    const figure = [line('y', 120, 104), line('0.5', 300, 140), line('Figure 1', 110, 216)];
    const texts = [0, 1, 2].flatMap((at) => [
      ...stack(left, 100, 256 + at * 3 * PITCH),
      ...stack(right, 600, 256 + at * 3 * PITCH),
    ]);
    const blocks = layOut(page(...figure, ...table, ...texts));
    expect(blocks.slice(-3)).toMatchObject([{ kind: 'paragraph' }, { kind: 'table' }, { kind: 'paragraph' }]);
    const text = blocksToText(blocks);
    const places = ['Figure 1', left[0]!, 'Twelve', right[0]!].map((words) => text.indexOf(words));
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it('reads short pieces row by row that make no table', () => {
    const rows = ['Opt            3 pt', 'pt        6 pt', '12 pt          4 pt', 'pt        9 pt'];
    const all = [...rows, ...rows];
    expect(blocksToText(layOut(page(...stack(all)))).split(/\s+/)).toEqual(all.join(' ').split(/\s+/));
  });
});

describe('drawn tables', () => {
  const along = (at: number, from: number, to: number): Rule => ({ at, from, to });
  const grid = {
    horizontal: [along(100, 100, 700), along(150, 100, 700), along(200, 300, 700), along(250, 100, 700)],
    vertical: [along(100, 100, 250), along(300, 150, 250), along(500, 150, 250), along(700, 100, 250)],
  };
  const words = [
    line('Bridges of the valley', 120, 115),
    line('Old and', 120, 165),
    line('stone', 120, 205),
    line('12', 320, 165),
    line('1357 AD', 520, 165),
    line('3', 320, 215),
  ];

  it('have the cells that their lines make, merged where a line is missing', () => {
    const text = [line('Above the table stands a line of text', 100, 40), line('and below it another one', 100, 300)];
    const found = blocksToHtml(layOut({ ...page(...text, ...words), rules: grid }));
    expect(found).toBe(
      '<p>Above the table stands a line of text</p>\n' +
        '<table><tbody><tr><td colspan="3">Bridges of the valley</td></tr>' +
        '<tr><td rowspan="2">Old and stone</td><td>12</td><td>1357 AD</td></tr><tr><td>3</td><td></td></tr></tbody></table>\n' +
        '<p>and below it another one</p>',
    );
  });

  it('are none when there is only a frame, or next to nothing in them', () => {
    const frame = {
      horizontal: [along(90, 90, 800), along(400, 90, 800)],
      vertical: [along(90, 90, 400), along(800, 90, 400)],
    };
    const kinds = (lines: OcrLine[], rules: OcrPage['rules']) =>
      layOut({ ...page(...lines), rules }).map(({ kind }) => kind);
    expect(kinds(stack(['words in a frame are only', 'words that have a frame']), frame)).toEqual(['paragraph']);
    expect(kinds([line('one word', 320, 215)], grid)).toEqual(['paragraph']);
  });

  it('are found in a picture, whose text is left alone', () => {
    const [width, height] = [800, 400];
    const pixels = new Uint8Array(width * height).fill(250);
    const dark = (left: number, top: number, right: number, bottom: number) => {
      for (let y = top; y < bottom; y++) pixels.fill(20, y * width + left, y * width + right);
    };
    for (const y of [50, 150, 250]) dark(50, y, 653, y + 3);
    for (const x of [50, 350, 650]) dark(x, 50, x + 3, 253);
    // Letters: stems in a row that looks like a line where they meet, and a solid block.
    for (let x = 60; x < 300; x += 12) dark(x, 90, x + 7, 120);
    dark(60, 90, 300, 93);
    dark(700, 300, 790, 390);
    const { horizontal, vertical } = removeRules(
      { pixels, width, height },
      { lineHeight: 40, background: 250, faint: 190 },
    );
    expect(horizontal.map(({ at }) => Math.round(at))).toEqual([51, 151, 251]);
    expect(vertical.map(({ at }) => Math.round(at))).toEqual([51, 351, 651]);
    expect(pixels[151 * width + 200]).toBe(250);
    expect(pixels[105 * width + 62]).toBe(20);
    expect(pixels[350 * width + 750]).toBe(20);
  });
});

const word = fc.record({
  text: fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).map((text) => `w${text.replace(/\s/gu, '_')}`),
  box: fc
    .tuple(fc.nat(1_900), fc.nat(2_900), fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 80 }))
    .map(([left, top, width, height]) => ({ left, top, right: left + width, bottom: top + height })),
  confidence: fc.double({ min: 0.5, max: 1, noNaN: true }),
});
const anyPage = fc
  .array(fc.array(word, { minLength: 1, maxLength: 8 }), { maxLength: 40 })
  .map((lines) =>
    page(...lines.map((words) => ({ box: words[0]!.box, size: words[0]!.box.bottom - words[0]!.box.top, words }))),
  );

it('keeps every word, and none of them becomes markup', () => {
  fc.assert(
    fc.property(anyPage, (any) => {
      const letters = (text: string) => [...text.replace(/[\s\u00ad\u2010-]/gu, '')].sort().join('');
      const document = parseDocument(blocksToHtml(layOut(any)));
      const words = any.lines.flatMap((each) => each.words.map(({ text }) => text));
      expect(letters(textOf(document))).toBe(letters(words.join('').replace(/\r|\0/g, '\ufffd')));
      const names = new Set([...elements(find(document, 'body')!)].map(({ name }) => name));
      for (const name of names)
        expect('body h1 h2 h3 p ul ol li table thead tbody tr th td'.split(' ')).toContain(name);
    }),
    { seed: 4711, numRuns: 300 },
  );
});

const anyRule = fc
  .tuple(fc.nat(2_000), fc.nat(1_000), fc.nat(2_000))
  .map(([from, length, at]) => ({ from, to: from + length, at }));
const anyRules = fc.record({
  horizontal: fc.array(anyRule, { maxLength: 12 }),
  vertical: fc.array(anyRule, { maxLength: 12 }),
});

it('keeps every word also among lines drawn anywhere', () => {
  fc.assert(
    fc.property(anyPage, anyRules, (any, rules) => {
      const letters = (text: string) => [...text.replace(/[\s\u00ad\u2010-]/gu, '')].sort().join('');
      const words = any.lines.flatMap((each) => each.words.map(({ text }) => text));
      expect(letters(blocksToText(layOut({ ...any, rules })))).toBe(letters(words.join('')));
    }),
    { seed: 4712, numRuns: 300 },
  );
});

it('takes pages of very many words', () => {
  const lines = Array.from({ length: 6_000 }, (_, at) =>
    line('one two   three    four    five', 100 + (at % 7) * 40, at * 25),
  );
  expect(blocksToText(layOut(page(...lines))).match(/one/g)).toHaveLength(6_000);
});

describe('hOCR', () => {
  it('gives lines, words, boxes and how sure they are', () => {
    const hocr = `<div class='ocr_page' id='page_1' title='image "x"; bbox 0 0 600 400; ppageno 0'>
<span class='ocr_line' id='line_1_1' title="bbox 10 20 110 50; baseline 0 -3; x_size 28; x_descenders 5">
<span class='ocrx_word' id='word_1_1' title='bbox 10 20 50 50; x_wconf 91'><strong>A&amp;B</strong></span>
<span class='ocrx_word' id='word_1_2' title='bbox 60 20 110 50; x_wconf 40'>&lt;c&#39;</span>
</span>
<span class='ocr_line' id='line_1_2' title="bbox 0 60 9 70"> </span>`;
    expect(parseHocr(hocr)).toEqual({
      rules: NO_RULES,
      width: 600,
      height: 400,
      lines: [
        {
          box: { left: 10, top: 20, right: 110, bottom: 50 },
          size: 28,
          words: [
            { text: 'A&B', box: { left: 10, top: 20, right: 50, bottom: 50 }, confidence: 0.91 },
            { text: "<c'", box: { left: 60, top: 20, right: 110, bottom: 50 }, confidence: 0.4 },
          ],
        },
      ],
    });
  });

  it('takes anything', () => {
    expect(parseHocr('')).toEqual({ width: 0, height: 0, lines: [], rules: NO_RULES });
    expect(parseHocr("<span class='ocrx_word' title='bbox 1 2 3 4'>lost</span>").lines).toEqual([]);
  });
});
