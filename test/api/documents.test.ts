/**
 * Files, by URL and by upload, through the whole server: one of each kind, their pages and images, and files of a wrong
 * type.
 */
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createCanvas, GlobalFonts } from '@napi-rs/canvas';
import { Document, HeadingLevel, Packer, Paragraph, Table, TableCell, TableRow } from 'docx';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Pages, type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const LONG_MS = 120_000;

// Not every machine has a font.
const FONTS = path.join(
  path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json')),
  'standard_fonts',
);
GlobalFonts.registerFromPath(path.join(FONTS, 'LiberationSans-Regular.ttf'), 'TestSans');

let site: Site;
let server: TestServer;
let pdf: Buffer;
let docx: Buffer;

const RSS = `<?xml version="1.0"?><rss version="2.0"><channel><title>Kiln news</title><link>https://kiln.test/</link>
<item><title>First firing</title><link>https://kiln.test/1</link><description>It &lt;b&gt;worked&lt;/b&gt;.</description><pubDate>Fri, 01 Mar 2024 10:00:00 GMT</pubDate></item>
<item><title>Second firing</title><link>https://kiln.test/2</link></item></channel></rss>`;
const SITEMAP = `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://kiln.test/a</loc><lastmod>2024-03-01</lastmod></url><url><loc>https://kiln.test/b</loc></url></urlset>`;

async function makePdf(): Promise<Buffer> {
  const made = await PDFDocument.create();
  made.setTitle('On kilns');
  const font = await made.embedFont(StandardFonts.Helvetica);
  for (const [at, words] of ['The first page speaks of clay.', 'The second page speaks of fire.'].entries()) {
    const page = made.addPage([595, 842]);
    page.drawText(`Chapter ${at + 1}`, { x: 50, y: 770, size: 24, font });
    page.drawText(words, { x: 50, y: 720, size: 11, font });
    page.drawText('It has a second line, so that there is a paragraph.', { x: 50, y: 706, size: 11, font });
  }
  return Buffer.from(await made.save());
}

async function makeDocx(): Promise<Buffer> {
  const row = (...cells: string[]) =>
    new TableRow({ children: cells.map((text) => new TableCell({ children: [new Paragraph(text)] })) });
  const children = [
    new Paragraph({ text: 'Glazes', heading: HeadingLevel.HEADING_1 }),
    new Paragraph('Celadon is green.'),
    new Table({ rows: [row('Glaze', 'Cone'), row('Celadon', '10')] }),
  ];
  return Buffer.from(await Packer.toBuffer(new Document({ title: 'Glaze book', sections: [{ children }] })));
}

const served =
  (body: () => Buffer | string, type?: string, more: Record<string, string> = {}): Pages[string] =>
  ({ response }) =>
    void response.writeHead(200, { ...(type && { 'content-type': type }), ...more }).end(body());

beforeAll(async () => {
  [pdf, docx] = await Promise.all([makePdf(), makeDocx()]);
  site = await startSite({
    '/kilns.pdf': served(() => pdf, 'application/pdf'),
    '/cut.pdf': served(() => pdf.subarray(0, 300), 'application/pdf'),
    '/sign-in.pdf': served(
      () => '<!doctype html><title>Sign in</title><h1>Please sign in first</h1>',
      'application/pdf',
    ),
    '/glazes.docx': served(() => docx, DOCX),
    '/download': served(() => docx, 'application/octet-stream', {
      'content-disposition': 'attachment; filename="Glaze%20list.docx"',
    }),
    '/named-text': served(() => pdf, 'text/plain'),
    '/prices.csv': served(() => 'Kind,Price\nGreen,3\nBlack,"4, cold"\n', 'text/csv'),
    '/feed': served(() => RSS, 'application/rss+xml'),
    '/sitemap.xml': served(() => SITEMAP, 'text/xml'),
    '/other.xml': served(() => '<?xml version="1.0"?><kiln><clay>red</clay></kiln>', 'application/xml'),
    '/film.mp4': served(() => 'ftyp', 'video/mp4'),
    '/archive.zip': served(() => Buffer.from('504b0506000000000000000000000000000000000000', 'hex'), 'application/zip'),
  });
  server = await startServer({ allowNetworks: site.allow.join(','), logLevel: 'error' });
});
afterAll(async () => {
  await server.close();
  await site.close();
});

interface Answer {
  code: number;
  name?: string;
  path?: string;
  message?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a page
  data: any;
}

async function read(body: Record<string, unknown>): Promise<Answer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await fetch(server.reader, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as Answer;
}
const page = (at: string, body: Record<string, unknown> = {}) => read({ url: `${site.origin}${at}`, ...body });

describe('by URL', () => {
  it('reads a PDF with its pages and metadata', { timeout: LONG_MS }, async () => {
    const { data } = await page('/kilns.pdf');
    expect(data).toMatchObject({ title: 'On kilns', numPages: 2, url: `${site.origin}/kilns.pdf` });
    expect(data.content).toMatch(
      /# Chapter 1[\s\S]*speaks of clay\.[\s\S]*It has a second line[\s\S]*# Chapter 2[\s\S]*fire/,
    );
    expect(data.metadata.Title).toBe('On kilns');
    expect(data.publishedTime).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  it('reads one page, by fragment and by option', { timeout: LONG_MS }, async () => {
    const byFragment = await page('/kilns.pdf#2');
    expect(byFragment.data).toMatchObject({ title: 'On kilns#2', url: `${site.origin}/kilns.pdf#2` });
    expect(byFragment.data.content).toContain('fire');
    expect(byFragment.data.content).not.toContain('clay');
    expect(byFragment.data.numPages).toBeUndefined();
    expect((await page('/kilns.pdf', { page: 1 })).data.content).not.toContain('fire');
    const beyond = await page('/kilns.pdf', { page: 9 });
    expect(beyond.data).toMatchObject({ title: 'On kilns', numPages: 2 });
  });

  it('gives the number of pages in text answers too', { timeout: LONG_MS }, async () => {
    const text = await (await fetch(`${server.reader}/${site.origin}/kilns.pdf`)).text();
    expect(text).toMatch(/^Title: On kilns\n\nURL Source: /);
    expect(text).toContain('\n\nNumber of Pages: 2\n\nMarkdown Content:\n');
  });

  it('reads a Word file, by its type and by its content', { timeout: LONG_MS }, async () => {
    for (const at of ['/glazes.docx', '/download']) {
      const { data } = await page(at);
      expect(data.title).toBe('Glaze book');
      expect(data.content).toContain('# Glazes\n\nCeladon is green.');
      expect(data.content).toMatch(/\| Glaze \| Cone \|\n\| --- \| --- \|\n\| Celadon \| 10 \|/);
    }
  });

  it('reads a table, a feed, a site map and other XML', { timeout: LONG_MS }, async () => {
    expect((await page('/prices.csv')).data.content).toBe(
      '| Kind | Price |\n| --- | --- |\n| Green | 3 |\n| Black | 4, cold |',
    );
    const feed = (await page('/feed', { withLinksSummary: true })).data;
    expect(feed.title).toBe('Kiln news');
    expect(feed.content).toContain('[First firing](https://kiln.test/1)');
    expect(feed.content).toContain('It **worked**.');
    expect(Object.values(feed.links)).toEqual(expect.arrayContaining(['https://kiln.test/1', 'https://kiln.test/2']));
    const map = (await page('/sitemap.xml')).data;
    expect(map.title).toBe('Sitemap');
    expect(map.content).toContain('(https://kiln.test/b)');
    expect((await page('/other.xml')).data.content).toContain('<kiln><clay>red</clay></kiln>');
  });

  it('reads a file that is declared as text, and a page that is declared as a file', { timeout: LONG_MS }, async () => {
    expect((await page('/named-text')).data.content).toContain('clay');
    expect((await page('/sign-in.pdf')).data.content).toContain('Please sign in first');
  });

  it('says which engine served and why', { timeout: LONG_MS }, async () => {
    expect((await page('/kilns.pdf')).data.metadata).toMatchObject({
      'lectern:engine': 'direct',
      'lectern:engineReason': expect.any(String),
    });
  });

  it('stops at the timeout of the caller', { timeout: LONG_MS }, async () => {
    const rows = `${'word,'.repeat(30)}word\n`.repeat(60_000);
    const late = await read({ file: { data: Buffer.from(rows).toString('base64'), type: 'text/csv' }, timeout: 0.05 });
    expect(late).toMatchObject({ code: 422, message: 'The file was not read within the timeout' });
  });

  it('names the type that it cannot read', { timeout: LONG_MS }, async () => {
    const expected = { code: 422, name: 'AssertionFailureError' };
    expect(await page('/film.mp4')).toMatchObject({ ...expected, message: expect.stringContaining('video/mp4') });
    expect(await page('/archive.zip')).toMatchObject({ ...expected, message: expect.stringContaining('zip') });
    expect(await page('/cut.pdf')).toMatchObject({ ...expected, message: expect.stringContaining('PDF') });
  });

  it('renders a page', { timeout: LONG_MS }, async () => {
    const first = await fetch(`${server.reader}/${site.origin}/kilns.pdf`, {
      headers: { 'x-respond-with': 'screenshot' },
    });
    const bytes = Buffer.from(await first.arrayBuffer());
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1190, 1684]);
    const { data } = await page('/prices.csv', { respondWith: 'screenshot' });
    expect(data.screenshotUrl).toMatch(/^http.*\.png$/);
  });
});

describe('images of text', () => {
  const drawn = (): Buffer => {
    const canvas = createCanvas(1_200, 400);
    const context = canvas.getContext('2d');
    context.fillStyle = 'white';
    context.fillRect(0, 0, 1_200, 400);
    context.fillStyle = 'black';
    context.font = '48px TestSans';
    context.fillText('The kiln is hot today', 60, 150);
    context.fillText('and nobody may come near', 60, 230);
    return canvas.toBuffer('image/png');
  };
  const scan = async (): Promise<string> => {
    const made = await PDFDocument.create();
    made.addPage([600, 200]).drawImage(await made.embedPng(drawn()), { x: 0, y: 0, width: 600, height: 200 });
    made.addPage([600, 200]).drawImage(await made.embedPng(drawn()), { x: 0, y: 0, width: 600, height: 200 });
    return made.saveAsBase64();
  };

  it('are recognised, alone and in a PDF', { timeout: LONG_MS }, async () => {
    const image = await read({ file: { data: drawn().toString('base64'), name: 'sign.png' } });
    expect(image.data).toMatchObject({ title: 'sign.png', metadata: { width: '1200', height: '400' } });
    expect(image.data.content).toMatch(/The kiln is hot today\s+and nobody may come near/);
    const pdf = await read({ pdf: await scan() });
    expect(pdf.data.content.match(/The kiln is hot today/g)).toHaveLength(2);
  });

  it('lose the headers and page numbers that pages share, unless they are wanted', { timeout: LONG_MS }, async () => {
    const made = await PDFDocument.create();
    for (const number of [1, 2, 3]) {
      const canvas = createCanvas(1_000, 1_400);
      const context = canvas.getContext('2d');
      context.fillStyle = 'white';
      context.fillRect(0, 0, 1_000, 1_400);
      context.fillStyle = 'black';
      context.font = '28px TestSans';
      context.fillText('Almanac of the kiln', 120, 80);
      for (let at = 0; at < 20; at++)
        context.fillText(`The potters of village ${number} fire ${at + 3} bowls`, 120, 200 + at * 44);
      context.fillText(String(40 + number), 490, 1_340);
      const image = await made.embedPng(canvas.toBuffer('image/png'));
      made.addPage([500, 700]).drawImage(image, { x: 0, y: 0, width: 500, height: 700 });
    }
    const file = await made.saveAsBase64();
    const { data } = await read({ pdf: file });
    expect(data.content).toContain('potters of village 2');
    expect(data.content).not.toMatch(/Almanac|^4[123]$/m);
    expect((await read({ pdf: file, pdfRunningText: 'keep' })).data.content.match(/Almanac of the kiln/g)).toHaveLength(
      3,
    );
  });

  it('are described by their size if they are too small, and named by a hash if they have no name', {
    timeout: LONG_MS,
  }, async () => {
    const dot = createCanvas(20, 20).toBuffer('image/png').toString('base64');
    const { data } = await read({ file: dot });
    expect(data.content).toBe('A small image of 20 x 20 pixels');
    expect(data.title).toMatch(/^[0-9a-f]{64}\.png$/);
    const asked = await read({ file: drawn().toString('base64'), instruction: 'Which colour?' });
    expect(asked).toMatchObject({ code: 422, path: 'instruction', message: expect.stringContaining('LECTERN_VISION') });
  });

  it('are recognised in whatever can be rendered', { timeout: LONG_MS }, async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="200"><text y="90">Words</text></svg>';
    const file = { data: Buffer.from(svg).toString('base64'), type: 'image/svg+xml' };
    expect((await read({ file, respondWith: 'svc-ocr' })).code).toBe(200);
    const table = { data: Buffer.from('Kiln,Cone\nLarge,10\n').toString('base64'), type: 'text/csv' };
    expect((await read({ file: table, respondWith: 'svc-ocr' })).data.content).toContain('Large');
  });

  it('are named in a warning without text recognition', { timeout: LONG_MS }, async () => {
    const without = await startServer({ browser: 'none', tesseract: 'none' });
    const answer = await fetch(without.reader, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ pdf: await scan() }),
    });
    const { data } = (await answer.json()) as Answer;
    expect(data.warning).toContain('Pages 1, 2 are pictures without text: no text recognition is configured');
    await without.close();
  });
});

describe('by upload', () => {
  const base64 = (bytes: Buffer) => bytes.toString('base64');

  it('takes base64 in `pdf` and in `file`, a data URL, an object, and a form', { timeout: LONG_MS }, async () => {
    const bodies = [
      { pdf: base64(pdf) },
      { file: base64(pdf) },
      { file: `data:application/pdf;base64,${base64(pdf)}` },
      { file: { data: base64(pdf), name: 'kilns.pdf', type: 'application/pdf' } },
    ];
    for (const body of bodies) {
      const { data } = await read(body);
      expect(data).toMatchObject({ title: 'On kilns', numPages: 2, url: expect.stringMatching(/^blob:[0-9a-f]{64}$/) });
    }
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(docx)], { type: 'application/octet-stream' }), 'Glazes 2.docx');
    const answer = await fetch(server.reader, { method: 'POST', body: form, headers: { accept: 'application/json' } });
    expect(((await answer.json()) as Answer).data.content).toContain('Celadon');
  });

  it('selects a page by the fragment of `url`', { timeout: LONG_MS }, async () => {
    const { data } = await read({ pdf: base64(pdf), url: 'kilns#2' });
    expect(data.url).toMatch(/^blob:[0-9a-f]{64}#2$/);
    expect(data.content).not.toContain('clay');
  });

  it('names the option in an error', { timeout: LONG_MS }, async () => {
    expect(await read({ pdf: base64(pdf.subarray(0, 200)) })).toMatchObject({
      code: 422,
      name: 'SubmittedDataMalformedError',
      path: 'pdf',
    });
    expect(await read({ file: 'no base64 at all!' })).toMatchObject({
      name: 'SubmittedDataMalformedError',
      path: 'file',
    });
    expect(await read({ file: { data: 'QQ==', path: '/etc/passwd' } })).toMatchObject({ name: 'ParamValidationError' });
  });

  it('leaves no file on disk', async () => {
    const temporary = path.join(server.dataDir, 'tmp');
    const left = () =>
      readdirSync(temporary, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    await expect.poll(() => left().map(({ name }) => name), { timeout: 10_000 }).toEqual([]);
  });
});
