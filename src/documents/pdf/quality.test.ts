/**
 * Measures how much of a known source is recovered from a printed PDF. Each kind of layout is printed and gets a score
 * from 0 to 1, which must reach a minimum. Order is the share of adjacent pairs that are still adjacent; cells are
 * counted by position.
 */
// Full run only: converts whole documents with LibreOffice.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attribute, ELEMENT, type Element, elements, following, TEXT } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { drawPdf } from './drawn.suite.ts';
import { type Printer, parsePdf, printByOffice, startPrinter } from './printed.suite.ts';

let printer: Printer;
const scores: Record<string, number> = {};
beforeAll(async () => {
  printer = await startPrinter();
}, 120_000);
afterAll(async () => {
  await printer.close();
  console.log(
    Object.entries(scores)
      .map(([name, score]) => `${score.toFixed(3)}  ${name}`)
      .join('\n'),
  );
});

const textOf = (element: Element): string => {
  let text = '';
  for (let node = following(element, element); node; node = following(node, element)) {
    if (node.type === TEXT) text += node.value;
  }
  return text.trim();
};

const elementsOf = (html: string, name?: string): Element[] =>
  [...elements(parseDocument(`<body>${html}</body>`), name)].filter(({ type }) => type === ELEMENT);

const plain = (html: string): string =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&');

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

/** The share of a source's adjacent words that are also adjacent in the result. */
function orderScore(source: string, html: string): number {
  const words = wordsOf(source);
  const pairs = new Map<string, number>();
  const read = wordsOf(plain(html));
  for (let at = 1; at < read.length; at++) {
    const pair = `${read[at - 1]} ${read[at]}`;
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let found = 0;
  for (let at = 1; at < words.length; at++) {
    const pair = `${words[at - 1]} ${words[at]}`;
    const left = pairs.get(pair) ?? 0;
    if (left > 0) found += 1;
    pairs.set(pair, left - 1);
  }
  return found / (words.length - 1);
}

/** The share of a source's headings and paragraphs that become a single heading or paragraph again. */
function blockScore(source: string, html: string): number {
  const blocks = (text: string) =>
    ['h1', 'h2', 'p'].flatMap((name) =>
      elementsOf(text, name).map((element) => `${name[0]} ${textOf(element).replace(/\s+/g, ' ')}`),
    );
  const read = new Set(blocks(html));
  const wanted = blocks(source);
  return wanted.filter((block) => read.has(block)).length / wanted.length;
}

/** Cells as `row,column,height,width,text`, by the rules of HTML tables. */
function cellsOf(html: string): string[] {
  return elementsOf(html, 'table').flatMap((table, number) => {
    const taken = new Set<string>();
    return within(table, 'tr').flatMap((row, y) => {
      let x = 0;
      return within(row).flatMap((cell) => {
        if (cell.name !== 'td' && cell.name !== 'th') return [];
        while (taken.has(`${y},${x}`)) x += 1;
        const height = Number(attribute(cell, 'rowspan') ?? 1);
        const width = Number(attribute(cell, 'colspan') ?? 1);
        for (let dy = 0; dy < height; dy++) for (let dx = 0; dx < width; dx++) taken.add(`${y + dy},${x + dx}`);
        return [`${number}:${y},${x},${height},${width},${textOf(cell).replace(/\s+/g, ' ')}`];
      });
    });
  });
}

const within = (root: Element, name?: string): Element[] => [...elements(root, name)];

/** The harmonic mean of the share of cells found and the share of found cells that are right. */
function cellScore(source: string, html: string): number {
  const wanted = cellsOf(source);
  const read = new Set(cellsOf(html));
  const found = wanted.filter((cell) => read.has(cell)).length;
  return wanted.length + read.size === 0 ? 0 : (2 * found) / (wanted.length + read.size);
}

/** Items with their depth: `2 Inner`. */
function itemsOf(html: string): string[] {
  return elementsOf(html, 'li').map((item) => {
    let depth = 0;
    for (let node = item.parent; node; node = node.type === ELEMENT ? node.parent : null) {
      if (node.type === ELEMENT && (node.name === 'ul' || node.name === 'ol')) depth += 1;
    }
    const own = textOf(item).split(/\s{2,}|\n/)[0]!;
    const inner = within(item, 'li')[0];
    return `${depth} ${inner ? own.slice(0, own.indexOf(textOf(inner))) : own}`.trim();
  });
}

const listScore = (source: string, html: string): number => {
  const wanted = itemsOf(source);
  const read = new Set(itemsOf(html));
  return wanted.filter((item) => read.has(item)).length / wanted.length;
};

/** Words that seldom repeat, so that no pair matches by chance. */
const SYLLABLES = 'ba ko ri mu te la no si fa gu de po ha wi zo ne ru mi ka so'.split(' ');

/** Sentences that are the same in every run and seldom repeat. */
function prose(sentences: number, seed: number): string {
  let state = seed * 7919 + 17;
  const next = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  return Array.from({ length: sentences }, () => {
    const words = Array.from({ length: 7 + Math.floor(next() * 12) }, () =>
      Array.from({ length: 1 + Math.floor(next() * 3) }, () => SYLLABLES[Math.floor(next() * SYLLABLES.length)]!).join(
        '',
      ),
    );
    return `${words[0]![0]!.toUpperCase()}${words.join(' ').slice(1)}.`;
  }).join(' ');
}

const paragraphs = (count: number, seed: number): string =>
  Array.from({ length: count }, (_, at) => `<p>${prose(5, seed * 100 + at)}</p>`).join('\n');

const STYLE = `<style>body { font: 11pt "DejaVu Serif" } h1 { font-size: 22pt } h2 { font-size: 15pt }
  table.ruled { border-collapse: collapse } table.ruled td, table.ruled th { border: 1px solid; padding: 3px 6px }
  table.plain { border-spacing: 24px 2px } table.booktabs { border-collapse: collapse; border-top: 2px solid; border-bottom: 2px solid; width: 100% }
  table.booktabs tr:first-child { border-bottom: 1px solid } td, th { text-align: left } .two { columns: 2; column-gap: 24px } .three { columns: 3; column-gap: 20px }</style>`;

const note = (name: string, score: number, floor: number) => {
  scores[name] = score;
  expect(score, name).toBeGreaterThanOrEqual(floor);
};

const readHtml = async (bytes: Uint8Array): Promise<string> =>
  (await parsePdf(bytes)).pages.map(({ html }) => html).join('\n');

describe('reading order', () => {
  const layouts: Record<string, [body: string, floor: number]> = {
    'one column': [`<h1>A harbour town</h1>${paragraphs(12, 1)}`, 0.99],
    'two columns under a title': [
      `<h1 style="text-align:center">A harbour town</h1><div class="two"><h2>First part</h2>${paragraphs(4, 2)}<h2>Second part</h2>${paragraphs(4, 3)}</div>`,
      0.98,
    ],
    'two columns, justified, between full width': [
      `<h1>A harbour town</h1>${paragraphs(1, 4)}<div class="two" style="text-align:justify">${paragraphs(6, 5)}</div>${paragraphs(2, 6)}`,
      0.97,
    ],
    'two columns, parted by a heading': [
      `<div class="two">${paragraphs(4, 7)}</div><h2 style="font-size:20pt">A heading over both columns of the page</h2><div class="two">${paragraphs(4, 8)}</div>`,
      0.97,
    ],
    'three columns': [`<h1>News</h1><div class="three">${paragraphs(6, 9)}</div>${paragraphs(1, 10)}`, 0.97],
    'a sidebar': [
      `<h1>A harbour town</h1><div style="display:flex;gap:24px"><div style="flex:3">${paragraphs(4, 11)}</div><div style="flex:1"><h2>Aside</h2>${paragraphs(1, 12)}</div></div>${paragraphs(1, 13)}`,
      0.97,
    ],
    'nine pages': [
      Array.from({ length: 9 }, (_, at) => `<h2>Part ${at + 1}</h2>${paragraphs(7, 20 + at)}`).join(''),
      0.99,
    ],
  };
  it.each(Object.entries(layouts))(
    '%s',
    async (name, [body, floor]) => {
      const html = await readHtml(await printer.print(STYLE + body));
      note(`order: ${name}`, orderScore(plain(body), html), floor);
      note(`blocks: ${name}`, blockScore(body, html), 0.9);
    },
    60_000,
  );

  it('is measured: what is out of order scores less', () => {
    const source = paragraphs(8, 90);
    const scrambled = source
      .split(/(?<=\.)\s/)
      .sort()
      .join(' ');
    expect(orderScore(plain(source), source)).toBe(1);
    expect(orderScore(plain(source), scrambled)).toBeLessThan(0.97);
    const words = wordsOf(plain(source)).sort().join(' ');
    expect(orderScore(plain(source), words)).toBeLessThan(0.3);
    expect(blockScore(source, source.replaceAll('</p>\n<p>', ' '))).toBe(0);
    expect(cellScore('<table><tr><td>a</td><td>b</td></tr></table>', '<table><tr><td>a b</td></tr></table>')).toBe(0);
  });

  it.each([90, 180, 270])(
    'two columns on a page turned by %i degrees',
    async (turn) => {
      const body = `<h1>A harbour town</h1><div class="two">${paragraphs(6, 30)}</div>`;
      const bytes = await turned(await printer.print(STYLE + body), turn);
      note(`order: page turned by ${turn}`, orderScore(plain(body), await readHtml(bytes)), 0.98);
    },
    60_000,
  );

  it('right to left', async () => {
    const body = `<div dir="rtl" style="font-family: 'DejaVu Sans'"><h1>שלום עולם</h1>
      <p>זה משפט בעברית (עם סוגריים) ומספר 123 וגם English words בתוך השורה. ועוד משפט ארוך כדי שהשורה תישבר לשתי שורות לפחות בדף הזה.</p>
      <h2>مرحبا بالعالم</h2><p>هذه جملة باللغة العربية مع رقم 456 وكلمة PDF في الوسط، وهي طويلة بما يكفي لتمتد على أكثر من سطر واحد في الصفحة المطبوعة.</p></div>`;
    note('order: right to left', orderScore(plain(body), await readHtml(await printer.print(STYLE + body))), 0.95);
  }, 60_000);

  it('Chinese without fonts of its own, across and down', async () => {
    const lines = ['港口位于河流与大海相接的地方', '每天早晨船只在日出之前出海', '中午带着捕到的鱼回来市场开张'];
    const html = await readHtml(chinese(lines, 'H'));
    note('text: Chinese', html.includes(lines.join('')) ? 1 : 0, 1);
    note('text: Chinese, down the page', (await readHtml(chinese(lines, 'V'))).includes(lines.join('')) ? 1 : 0, 1);
  }, 60_000);
});

describe('tables', () => {
  const cells = (rows: readonly (readonly string[])[], name: string) =>
    `<table class="${name}">${rows.map((row, at) => `<tr>${row.map((cell) => (at === 0 ? `<th>${cell}</th>` : `<td>${cell}</td>`)).join('')}</tr>`).join('')}</table>`;
  const CITIES = [
    ['City', 'People', 'Area', 'Founded'],
    ['Berlin', '3,700,000', '891', '1237'],
    ['Paris', '2,100,000', '105', '250 BC'],
    ['Rome', '2,800,000', '1,285', '753 BC'],
    ['Oslo', '700,000', '454', '1040'],
  ];
  const tables: Record<string, [body: string, floor: number]> = {
    ruled: [cells(CITIES, 'ruled'), 1],
    'ruled, with long cells': [
      cells(
        [
          ['Name', 'What it is', 'Count'],
          ['Harbour', prose(4, 40), '1'],
          ['Market', prose(3, 41), '12'],
          ['Bridge', 'A bridge', '3'],
        ],
        'ruled',
      ),
      1,
    ],
    'ruled, with merged cells': [
      `<table class="ruled"><tr><th rowspan="2">Region</th><th colspan="2">Sales</th></tr><tr><th>2023</th><th>2024</th></tr><tr><td>North</td><td>10</td><td>20</td></tr><tr><td rowspan="2">South</td><td>30</td><td>40</td></tr><tr><td>50</td><td>60</td></tr><tr><td colspan="3">All numbers are guesses</td></tr></table>`,
      1,
    ],
    'level lines alone': [cells(CITIES, 'booktabs'), 1],
    'no lines': [cells(CITIES, 'plain'), 1],
    'no lines, words in cells': [
      cells(
        [
          ['Dish', 'From', 'Taste'],
          ['Green tea', 'Japan', 'Fresh'],
          ['Black tea', 'India and Ceylon', 'Strong'],
          ['Fish soup', 'Marseille', 'Of the sea'],
          ['Bread', 'Everywhere', 'Plain'],
        ],
        'plain',
      ),
      0.9,
    ],
  };
  it.each(Object.entries(tables))(
    '%s',
    async (name, [table, floor]) => {
      const body = `<h1>Tables</h1>${paragraphs(2, 50)}${table}${paragraphs(2, 51)}`;
      const html = await readHtml(await printer.print(STYLE + body));
      note(`cells: ${name}`, cellScore(table, html), floor);
      note(`order around the table: ${name}`, orderScore(plain(paragraphs(2, 51)), html), 0.98);
    },
    60_000,
  );

  it('all of them from LibreOffice', async () => {
    const body = `${STYLE}<h1>Tables</h1>${paragraphs(1, 60)}${cells(CITIES, 'ruled').replace('<table', '<table border="1" cellspacing="0"')}${paragraphs(1, 61)}`;
    const [bytes] = printByOffice({ 'tables.html': body }, 'writer_web_pdf_Export');
    const html = await readHtml(bytes!);
    note('cells: LibreOffice', cellScore(body, html), 0.9);
  }, 240_000);
});

describe('lists', () => {
  it('nested, of both kinds', async () => {
    const list = `<ul><li>Boats<ul><li>Rowing boats<ul><li>Small</li><li>Large</li></ul></li><li>Sailing boats</li></ul></li><li>Bridges</li></ul><p>And then</p><ol><li>Wake up</li><li>Go out<ol><li>Untie</li><li>Row</li></ol></li><li>Come back</li></ol>`;
    note(
      'items: nested lists',
      listScore(list, await readHtml(await printer.print(STYLE + paragraphs(1, 70) + list))),
      1,
    );
  }, 60_000);
});

async function turned(bytes: Uint8Array, degrees: number): Promise<Uint8Array> {
  const { PDFDocument, degrees: angle } = await import('pdf-lib');
  const document = await PDFDocument.load(bytes);
  for (const one of document.getPages()) one.setRotation(angle(degrees));
  return document.save();
}

/** Text in a font that is not in the file: only its character map defines the codes. */
function chinese(lines: readonly string[], direction: 'H' | 'V'): Uint8Array {
  const hex = (line: string) => Array.from(line, (sign) => sign.charCodeAt(0).toString(16).padStart(4, '0')).join('');
  const face = `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> /FontDescriptor 12 0 R >>`;
  const descriptor =
    '<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>';
  const font = `<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-${direction} /DescendantFonts [11 0 R] >>`;
  const place = (at: number) => (direction === 'H' ? `60 ${700 - 18 * at}` : `${500 - 18 * at} 780`);
  const content = lines.map((line, at) => `BT /F9 12 Tf ${place(at)} Td <${hex(line)}> Tj ET`).join('\n');
  return drawPdf({ pages: [{ content }], objects: [font, face, descriptor], fonts: '/F9 10 0 R' });
}
