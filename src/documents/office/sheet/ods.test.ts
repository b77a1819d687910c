import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { faultOf, parse as parseAs } from '../../parse.suite.ts';
import { kind } from './ods.ts';
import { tablesOf } from './tables.suite.ts';
import { escapeXml } from './workbook.suite.ts';

const NAMES = ['office', 'table', 'text', 'style', 'meta', 'drawing', 'chart', 'presentation']
  .map((name) => `xmlns:${name === 'drawing' ? 'draw' : name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ');
const MORE = `${NAMES} xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"`;

const content = (tables: string, styles = '') =>
  `<office:document-content ${MORE}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:spreadsheet>${tables}</office:spreadsheet></office:body></office:document-content>`;
const sheet = (rows: string, name = 'S') => `<table:table table:name="${name}">${rows}</table:table>`;
const row = (cells: string, more = '') => `<table:table-row ${more}>${cells}</table:table-row>`;
const cell = (text: string, more = '') => `<table:table-cell ${more}><text:p>${text}</text:p></table:table-cell>`;
const float = (value: number) => cell(String(value), `office:value-type="float" office:value="${value}"`);

const parse = (bytes: Uint8Array, page?: number) => parseAs(kind, bytes, page);
const flat = (tables: string, styles?: string, page?: number) => parse(strToU8(content(tables, styles)), page);
const zipped = (files: Record<string, string | Uint8Array>) =>
  zipSync(
    Object.fromEntries(
      Object.entries(files).map(([name, data]) => [name, typeof data === 'string' ? strToU8(data) : data]),
    ),
  );

describe('cells', () => {
  it('repeats cells and rows as told', async () => {
    const { pages } = await flat(
      sheet(
        row(cell('h', 'table:number-columns-repeated="3"')) +
          row(`<table:table-cell table:number-columns-repeated="2"/>${float(5)}`, 'table:number-rows-repeated="2"') +
          row(`${cell('x')}<table:table-cell table:number-columns-repeated="16383"/>`) +
          row('<table:table-cell table:number-columns-repeated="16384"/>', 'table:number-rows-repeated="1048000"'),
      ),
    );
    expect(tablesOf(pages[0]!.html)).toEqual([
      [
        ['h', 'h', 'h'],
        ['', '', '5'],
        ['', '', '5'],
        ['x', '', ''],
      ],
    ]);
  });

  it('keeps paragraphs, breaks and spaces, and closes the links that it opens', async () => {
    const inside = `<text:p>a<text:s text:c="2"/>b<text:line-break/>c</text:p><text:p><text:a xlink:href="javascript:x()">d</text:a> <text:a xlink:href="https://e.example/">e</text:a></text:p>`;
    const { pages } = await flat(sheet(row(`<table:table-cell>${inside}</table:table-cell>${float(1)}`)));
    expect(pages[0]!.html).toContain('<td>a  b<br>c<br>d <a href="https://e.example/">e</a></td>');
  });

  it('leaves comments, tracked changes and tables inside cells out', async () => {
    const { pages } = await flat(
      `<table:tracked-changes><table:deletion><table:cell-content-deletion><table:table-cell><text:p>gone</text:p></table:table-cell></table:cell-content-deletion></table:deletion></table:tracked-changes>` +
        sheet(
          row(
            `<table:table-cell><office:annotation><text:p>comment</text:p></office:annotation><text:p>kept</text:p></table:table-cell>${float(1)}`,
          ),
        ),
    );
    expect(tablesOf(pages[0]!.html)).toEqual([[['kept', '1']]]);
  });
});

describe('visible content', () => {
  const styles = `<style:style style:name="white" style:family="table-cell"><style:text-properties fo:color="#ffffff"/></style:style>
    <style:style style:name="onBlue" style:family="table-cell" style:parent-style-name="white"><style:table-cell-properties fo:background-color="#0000ff"/></style:style>`;

  it('leaves hidden columns and white letters out and counts them', async () => {
    const columns =
      '<table:table-column/><table:table-column table:visibility="collapse" table:number-columns-repeated="2"/><table:table-column/>';
    const { pages, hiddenCount } = await flat(
      sheet(
        columns +
          row(cell('a') + cell('b') + cell('c') + cell('d')) +
          row(float(1) + float(2) + cell('') + float(4)) +
          row(cell('w', 'table:style-name="white"') + cell('-') + cell('-') + cell('o', 'table:style-name="onBlue"')),
      ),
      styles,
    );
    expect(tablesOf(pages[0]!.html)).toEqual([
      [
        ['#a', '#d'],
        ['1', '4'],
        ['', 'o'],
      ],
    ]);
    expect(hiddenCount).toBe(3);
  });

  it('gives one sheet when one is asked for', async () => {
    const sheets = ['a', 'b', 'c'].map((name) => sheet(row(cell(name) + float(1)), name)).join('');
    expect((await flat(sheets, '', 2)).pages).toMatchObject([
      { number: 2, html: expect.stringContaining('<h2>b</h2>') },
    ]);
    expect((await flat(sheets, '', 9)).pages).toHaveLength(3);
  });
});

describe('drawings', () => {
  it('shows pictures and the titles of charts', async () => {
    const frames = `<table:shapes><draw:frame><draw:image xlink:href="Pictures/a.png"/><svg:desc>A mole</svg:desc></draw:frame>
      <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></table:shapes>`;
    const chart = `<office:document-content ${MORE}><office:body><office:chart><chart:chart><chart:title><text:p>Depths</text:p></chart:title></chart:chart></office:chart></office:body></office:document-content>`;
    const pixel = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const bytes = zipped({
      'content.xml': content(sheet(frames + row(cell('a') + float(1)))),
      'Pictures/a.png': pixel,
      'Object 1/content.xml': chart,
    });
    const { pages } = await parse(bytes);
    expect(pages[0]!.html).toMatch(/<p><img alt="A mole" src="data:image\/png;base64,/);
    expect(pages[0]!.html).toContain('<p>Chart: Depths</p>');
  });
});

describe('hostile files', () => {
  it('never lets text become markup', async () => {
    const text = fc.string({ unit: fc.constantFrom('<', '>', '&', '"', "'", '/', 'td', 'script', 'b', ' ') });
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const { pages } = await flat(
          sheet(row(cell('k') + cell('v')) + row(float(1) + cell(escapeXml(value))), escapeXml(value)),
        );
        expect(pages[0]!.html).not.toMatch(/<(?!\/?(?:h2|table(?: role="table")?|thead|tbody|tr|th|td|p)>)/);
        expect(tablesOf(pages[0]!.html)[0]?.[1]?.[1] ?? '').toBe(value.replace(/ +/g, ' ').trim());
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  it('bounds cells that are repeated without end', async () => {
    const bomb = row(cell('x', 'table:number-columns-repeated="99999999"'), 'table:number-rows-repeated="999999999"');
    const { pages, notes } = await flat(sheet(bomb.repeat(3)) + sheet(row(cell('after')), 'T'));
    expect(notes[0]).toContain('too large');
    // A table that is short in the file must not take long to read.
    const lines = row(cell('word '.repeat(20)), 'table:number-rows-repeated="100000"');
    const long = await parse(zipped({ 'content.xml': content(sheet(lines)) }));
    expect(long.pages[0]!.html.length).toBeLessThan(1.5 * 1024 ** 2);
    expect(long.pages[0]!.html.length).toBeGreaterThan(0.5 * 1024 ** 2);
    expect(long.notes).toEqual(['The sheet “S” is too large to be shown in full: its end is missing']);
    expect(pages.reduce((sum, { html }) => sum + html.length, 0)).toBeLessThan(33.6e6);
  });

  it('reads rows that are repeated once or never', async () => {
    const { pages } = await flat(
      sheet(
        row(float(1) + float(2), 'table:number-rows-repeated="-5"') +
          row(cell('a', 'table:number-columns-repeated="x"')),
      ),
    );
    expect(pages[0]!.html).toContain('<td>1</td><td>2</td>');
  });

  it('reads many columns with a word each', async () => {
    const columns = '<table:table-column table:visibility="collapse"/><table:table-column/>'.repeat(8_000);
    const { pages, hiddenCount } = await flat(sheet(columns + row(cell('x').repeat(16_000)).repeat(20)));
    expect(hiddenCount).toBe(8_000);
    expect(pages[0]!.html.match(/<td>/g)).toHaveLength(160_000);
  });

  it('gives what stands before the damage', async () => {
    const whole = content(sheet(row(cell('a') + float(1)).repeat(50)));
    const { pages, notes } = await parse(strToU8(whole.slice(0, whole.length * 0.6)));
    expect(pages[0]!.html).toContain('<td>a</td>');
    expect(notes).toContain('The file is damaged; only the readable part is included');
  });

  it.each([
    [
      'damaged',
      'another kind of document',
      strToU8('<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"/>'),
    ],
    ['damaged', 'no XML', strToU8('<')],
    ['damaged', 'an archive without content', zipped({ 'meta.xml': '<a/>' })],
    [
      'encrypted',
      'one with a password',
      zipped({ 'content.xml': 'x', 'META-INF/manifest.xml': '<manifest:encryption-data/>' }),
    ],
  ])('says %s of %s', async (fault, _, bytes) => {
    expect(await faultOf(parse(bytes))).toBe(fault);
  });
});
