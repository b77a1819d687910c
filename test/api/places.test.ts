/**
 * Where the parts of a document stand, through the whole server: pages with their offsets, page markers, the pages of
 * chunks, the places of blocks in explanations, and pictures.
 */
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { Document, ImageRun, Packer, Paragraph } from 'docx';
import { degrees, PDFDocument, StandardFonts } from 'pdf-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workbook } from '../../src/documents/office/sheet/workbook.suite.ts';
import { deck } from '../../src/documents/office/slides/deck.suite.ts';
import { startServer, type TestServer } from '../support/server.ts';

const LONG_MS = 120_000;
let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
type Answer = any;

async function read(file: Uint8Array, body: Record<string, unknown> = {}, name = 'file'): Promise<Answer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const upload = { data: Buffer.from(file).toString('base64'), name };
  const answer = await fetch(server.reader, {
    method: 'POST',
    headers,
    body: JSON.stringify({ file: upload, ...body }),
  });
  return answer.json();
}

/** The text of each page, cut out of the content of an answer. */
const texts = ({ content, pages }: Answer): string[] =>
  pages.map(({ start, end }: { start: number; end: number }) => content.slice(start, end));

const SECTIONS = [
  ['Clay', 'The first page speaks of clay 𝒞 and of water that makes it soft.'],
  [],
  ['Fire', 'The third page speaks of fire, which makes the clay hard again.'],
] as const;

/** Three pages, the second without content. */
async function threePages(): Promise<Uint8Array> {
  const made = await PDFDocument.create();
  made.setTitle('On kilns');
  const font = await made.embedFont(StandardFonts.Helvetica);
  for (const [title, text] of SECTIONS) {
    const page = made.addPage([595.5, 842]);
    if (title) page.drawText(title, { x: 50, y: 770, size: 24, font });
    if (text) page.drawText(text.replace('𝒞', 'C'), { x: 50, y: 720, size: 11, font });
  }
  return made.save();
}

describe('pages of a PDF', { timeout: LONG_MS }, () => {
  let pdf: Uint8Array;
  beforeAll(async () => {
    pdf = await threePages();
  });

  it('have offsets into the content, and a size in points', async () => {
    const { data } = await read(pdf);
    expect(data.numPages).toBe(3);
    expect(data.pages).toMatchObject([
      { number: 1, width: 595.5, height: 842 },
      { number: 2, width: 595.5, height: 842 },
      { number: 3, width: 595.5, height: 842 },
    ]);
    const [first, second, third] = texts(data);
    expect(first).toMatch(/^# Clay\n\nThe first page [\s\S]* soft\.$/);
    expect(second).toBe('');
    expect(third).toMatch(/^# Fire\n\nThe third page [\s\S]* again\.$/);
    expect(data.content).not.toContain('lectern');
  });

  it('stay right after front matter, the title of the whole page and truncation', async () => {
    const titled = (await read(pdf, { respondWith: 'markdown+frontmatter' })).data;
    expect(titled.content).toMatch(/^---\n[\s\S]*# On kilns\n\n# Clay/);
    expect(texts(titled)[0]).toMatch(/^# Clay\n/);
    expect(texts(titled)[2]).toMatch(/^# Fire\n/);
    const long = await PDFDocument.create();
    const font = await long.embedFont(StandardFonts.Helvetica);
    for (let number = 1; number <= 6; number++) {
      const page = long.addPage();
      for (let line = 0; line < 20; line++) {
        const text = `Line ${line} of page ${number} says that pots of clay ${line * number} are fired twice.`;
        page.drawText(text, { x: 50, y: 760 - line * 26, size: 11, font });
      }
    }
    const { data } = await read(await long.save(), { maxTokens: 500 });
    expect(data.pages).toHaveLength(6);
    const cut = texts(data);
    expect(cut[0]).toMatch(/^Line \d of page 1 [\s\S]*Line 19 of page 1 [^\n]*$/);
    expect(cut[1]).toMatch(/^Line \d of page 2 /);
    expect(cut[5]).toBe('');
    expect(data.pages[5]).toMatchObject({ start: data.content.length, end: data.content.length });
  });

  it('of a selection are those that the selection has', async () => {
    const { data } = await read(pdf, { targetSelector: 'h1' });
    expect(texts(data)).toEqual(['# Clay', '', '# Fire']);
    const one = (await read(pdf, { page: 3 })).data;
    expect(one.numPages).toBeUndefined();
    expect(one.pages).toMatchObject([{ number: 3, start: 0, end: one.content.length }]);
  });

  it('are absent without Markdown, and for web pages', async () => {
    const html = (await read(pdf, { respondWith: 'html' })).data;
    expect(html.pages).toBeUndefined();
    expect(html.html).toContain('<h1>Clay</h1>');
    expect(html.html).not.toContain('data-lectern');
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const page = '<div data-lectern-page="4"></div><p data-lectern-box="1 2 3 4 5">A web page.</p>';
    const body = JSON.stringify({ html: page, explain: true, pageMarkers: true });
    const web: Answer = await (await fetch(server.reader, { method: 'POST', headers, body })).json();
    expect(web.data.pages).toBeUndefined();
    expect(web.data.content).toBe('A web page.');
    expect(web.data.explanation.blocks[0]).not.toHaveProperty('page');
    expect(web.data.explanation.blocks[0]).not.toHaveProperty('box');
    expect(web.data.warning).toContain('pageMarkers has no effect: the target is not a document with pages.');
  });

  it('have markers if requested, in every kind of response and request', async () => {
    const { data } = await read(pdf, { pageMarkers: true });
    expect(data.content).toBe(
      [
        '<!-- page 1 -->\n\n# Clay',
        'The first page speaks of clay C and of water that makes it soft.',
        '<!-- page 2 -->',
        '<!-- page 3 -->\n\n# Fire',
        'The third page speaks of fire, which makes the clay hard again.',
      ].join('\n\n'),
    );
    expect(texts(data)[1]).toBe('<!-- page 2 -->');
    expect(texts(data)[2]).toMatch(/^<!-- page 3 -->\n\n# Fire\n/);
    expect(data.warning ?? '').not.toContain('pageMarkers');
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(pdf)], { type: 'application/pdf' }), 'kilns.pdf');
    const headers = { accept: 'text/plain', 'x-page-markers': 'true' };
    const text = await (await fetch(server.reader, { method: 'POST', headers, body: form })).text();
    expect(text).toContain(`Markdown Content:\n${data.content}\n`);
    const inQuery = await fetch(`${server.reader}?pageMarkers=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ file: Buffer.from(pdf).toString('base64') }),
    });
    expect(((await inQuery.json()) as Answer).data.content).toContain('<!-- page 2 -->');
  });

  it('are named by chunks, and markers stay with the heading of their page', async () => {
    const { data } = await read(pdf, { pageMarkers: true, markdownChunking: 'h1' });
    expect(data.chunks).toEqual([
      '<!-- page 1 -->\n\n# Clay\n\nThe first page speaks of clay C and of water that makes it soft.',
      '<!-- page 2 -->\n\n<!-- page 3 -->\n\n# Fire\n\nThe third page speaks of fire, which makes the clay hard again.',
    ]);
    expect(data.chunkPages).toEqual([
      [1, 1],
      [2, 3],
    ]);
    const plain = (await read(pdf, { markdownChunking: 's1' })).data;
    expect(plain.chunks).toHaveLength(2);
    expect(plain.chunkPages).toEqual([
      [1, 1],
      [3, 3],
    ]);
  });

  it('and boxes are places of the blocks of an explanation', async () => {
    const { data } = await read(pdf, { explain: true });
    const [heading, text, third] = data.explanation.blocks;
    expect(heading).toMatchObject({ text: '# Clay', page: 1, box: { page: 1 } });
    expect(third).toMatchObject({ text: '# Fire', page: 3, box: { page: 3 } });
    // The baseline is 720 points from the lower edge of a page that is 842 points high.
    const { x, y, width, height } = text.box;
    expect(x).toBeCloseTo(50, 0);
    expect(y).toBeGreaterThan(842 - 720 - 11);
    expect(y + height).toBeLessThan(842 - 720 + 11);
    expect(y).toBeLessThan(842 - 720);
    expect(width).toBeGreaterThan(200);
    expect(width).toBeLessThan(400);
    const marked = (await read(pdf, { explain: true, pageMarkers: true })).data;
    const lines = marked.content.split('\n');
    for (const block of marked.explanation.blocks) expect(lines[block.line - 1]).toBe(block.text);
    expect(marked.explanation.blocks).toHaveLength(data.explanation.blocks.length);
  });

  it('give boxes as displayed, also for a page that is turned', async () => {
    const made = await PDFDocument.create();
    const font = await made.embedFont(StandardFonts.Helvetica);
    const page = made.addPage([400, 600]);
    const text = 'A line that runs up along the left edge of the page';
    for (const at of [0, 1, 2]) page.drawText(text, { x: 60 + 14 * at, y: 100, size: 11, font, rotate: degrees(90) });
    const { data } = await read(await made.save(), { explain: true });
    expect(data.pages).toMatchObject([{ width: 400, height: 600 }]);
    const { box } = data.explanation.blocks[0];
    expect(box.x).toBeGreaterThan(45);
    expect(box.x + box.width).toBeLessThan(100);
    expect(box.height).toBeGreaterThan(200);
    expect(box.y + box.height).toBeCloseTo(500, -1);
  });
});

describe('pages of other kinds', { timeout: LONG_MS }, () => {
  it('are the slides of a presentation, with titles and sizes', async () => {
    const shape = (type: string, text: string) =>
      `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
    const slides = ['Clay', 'Fire'].map((title) => ({
      shapes: shape('title', title) + shape('body', `All about ${title.toLowerCase()} in a kiln.`),
    }));
    const { data } = await read(deck({ slides }), { pageMarkers: true, explain: true });
    expect(data.pages).toMatchObject([
      { number: 1, name: 'Clay' },
      { number: 2, name: 'Fire' },
    ]);
    expect(texts(data)[1]).toMatch(/^<!-- page 2 -->\n\n#+ Fire\n[\s\S]*All about fire/);
    expect(data.explanation.blocks.at(-1)).toMatchObject({ page: 2 });
    expect(data.explanation.blocks.at(-1)).not.toHaveProperty('box');
  });

  it('are the sheets of a workbook, with their names', async () => {
    const row = (number: number, ...cells: string[]) =>
      `<row r="${number}">${cells.map((text, at) => `<c r="${'AB'[at]}${number}" t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`;
    const rows = row(1, 'Glaze', 'Cone') + row(2, 'Celadon', 'ten') + row(3, 'Raku', 'six');
    const file = workbook({
      sheets: [
        { name: 'Prices', rows },
        { name: 'Empty', rows: '' },
        { name: 'Stock', rows },
      ],
    });
    const { data } = await read(file, { pageMarkers: true });
    expect(data.pages).toMatchObject([{ name: 'Prices' }, { name: 'Empty' }, { name: 'Stock' }]);
    expect(data.pages[0]).not.toHaveProperty('width');
    expect(texts(data)).toEqual([
      expect.stringMatching(/^<!-- page 1 -->\n\n## Prices\n\n\| Glaze \| Cone \|/),
      '<!-- page 2 -->',
      expect.stringMatching(/^<!-- page 3 -->\n\n## Stock\n\n\| Glaze \| Cone \|/),
    ]);
  });
});

describe('pictures', { timeout: LONG_MS }, () => {
  /** A picture in the middle of a page, in two strips, with text above and a caption below. */
  async function withFigure(): Promise<Uint8Array> {
    const made = await PDFDocument.create();
    const font = await made.embedFont(StandardFonts.Helvetica);
    const canvas = createCanvas(80, 40);
    const paint = canvas.getContext('2d');
    paint.fillStyle = '#c02020';
    paint.fillRect(0, 0, 80, 40);
    const strip = await made.embedPng(canvas.toBuffer('image/png'));
    const page = made.addPage([400, 600]);
    page.drawText('Above the picture, a kiln is described in words.', { x: 50, y: 520, size: 11, font });
    page.drawImage(strip, { x: 60, y: 400, width: 160, height: 80 });
    page.drawImage(strip, { x: 60, y: 320, width: 160, height: 80 });
    page.drawText('Figure 1: A kiln of red brick', { x: 60, y: 300, size: 11, font });
    page.drawText('Below the picture, the text goes on about pots.', { x: 50, y: 240, size: 11, font });
    return made.save();
  }

  it('of a PDF are left out unless images are requested', async () => {
    const file = await withFigure();
    expect((await read(file)).data.content).not.toContain('![');
    const { data } = await read(file, { retainImages: 'all', explain: true });
    const [, url] = /!\[Image 1: Figure 1: A kiln of red brick\]\((\S+)\)/.exec(data.content)!;
    expect(data.content.indexOf('Above the')).toBeLessThan(data.content.indexOf('!['));
    expect(data.content).toMatch(/\)\n\nFigure 1: A kiln of red brick\n\nBelow the picture/);
    expect(url).toMatch(new RegExp(`^${server.reader}/\\.pictures/[\\w-]{32}\\.png$`));
    const answer = await fetch(url!);
    expect(answer.headers.get('content-type')).toBe('image/png');
    const image = await loadImage(Buffer.from(await answer.arrayBuffer()));
    expect([image.width, image.height]).toEqual([320, 320]);
    const block = data.explanation.blocks.find(({ text }: Answer) => text.startsWith('!['));
    expect(block.box).toEqual({ page: 1, x: 60, y: 120, width: 160, height: 160 });
    expect((await read(file)).data.content).not.toContain('![');
    expect((await read(file, { retainImages: 'none' })).data.content).not.toContain('![');
  });

  it('can be inline, and are not stored for callers who forbid it', async () => {
    const file = await withFigure();
    const inline = (await read(file, { retainImages: 'all', keepImgDataUrl: true })).data.content;
    expect(inline).toMatch(/!\[Image 1: [^\]]+\]\(data:image\/png;base64,/);
    const headers = { dnt: '1', 'content-type': 'application/json', accept: 'application/json' };
    const body = JSON.stringify({ file: Buffer.from(file).toString('base64'), retainImages: 'all' });
    const answer: Answer = await (await fetch(server.reader, { method: 'POST', headers, body })).json();
    expect(answer.data.content).toMatch(/!\[Image 1: [^\]]+\]\(blob:/);
  });

  it('of a Word file are at temporary URLs, with their captions', async () => {
    const canvas = createCanvas(64, 64);
    const children = [
      new Paragraph('Text before the picture.'),
      new Paragraph({
        children: [
          new ImageRun({ type: 'png', data: canvas.toBuffer('image/png'), transformation: { width: 64, height: 64 } }),
        ],
      }),
      new Paragraph('Figure 2. The glaze after firing'),
    ];
    const file = await Packer.toBuffer(new Document({ sections: [{ children }] }));
    const { data } = await read(file, { withImagesSummary: true }, 'glaze.docx');
    const [, url] = /!\[Image 1: Figure 2\. The glaze after firing\]\((\S+)\)/.exec(data.content)!;
    expect(Object.values(data.images)).toEqual([url]);
    expect((await fetch(url!)).headers.get('content-type')).toBe('image/png');
    expect((await fetch(`${server.reader}/.pictures/${'x'.repeat(32)}.png`)).status).toBe(404);
  });
});

it('the interface description has the fields', async () => {
  const answer: Answer = await (await fetch(`${server.reader}/openapi.json`)).json();
  const { Page, Explanation, ReadOptions } = answer.components.schemas;
  expect(Page.properties).toMatchObject({ pages: { type: 'array' }, chunkPages: { type: 'array' } });
  expect(Explanation.properties.blocks.items.properties).toMatchObject({ page: {}, box: {} });
  expect(ReadOptions.properties).toHaveProperty('pageMarkers');
});
