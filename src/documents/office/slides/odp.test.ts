import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { faultOf, parse as parseAs } from '../../parse.suite.ts';
import { tablesOf } from '../sheet/tables.suite.ts';
import { escapeXml } from '../sheet/workbook.suite.ts';
import { kind } from './odp.ts';

const NAMES = ['office', 'table', 'text', 'style', 'drawing', 'chart', 'presentation']
  .map((name) => `xmlns:${name === 'drawing' ? 'draw' : name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ');
const MORE = `${NAMES} xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"`;

const content = (pages: string) =>
  `<office:document-content ${MORE}><office:body><office:presentation>${pages}</office:presentation></office:body></office:document-content>`;
const page = (shapes: string) => `<draw:page>${shapes}</draw:page>`;
const box = (text: string, more = '') =>
  `<draw:frame ${more}><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame>`;
const parse = (bytes: Uint8Array) => parseAs(kind, bytes);
const flat = (pages: string) => parse(strToU8(content(pages)));
const htmlOf = async (shapes: string) => (await flat(page(shapes))).pages[0]!.html;

describe('slides', () => {
  it('leaves out bullets that are in every cell of a table', async () => {
    const cell = (text: string) =>
      `<table:table-cell><text:list><text:list-item><text:p>${text}</text:p></text:list-item></text:list></table:table-cell>`;
    const row = (...texts: string[]) => `<table:table-row>${texts.map(cell).join('')}</table:table-row>`;
    const html = await htmlOf(
      `<draw:frame><table:table>${row('Clay', 'Heat')}${row('red', 'high')}</table:table></draw:frame>`,
    );
    expect(tablesOf(html)).toEqual([
      [
        ['#Clay', '#Heat'],
        ['red', 'high'],
      ],
    ]);
  });

  it('drops what every slide repeats, prompts, and shapes that are not shown', async () => {
    const { pages, hiddenCount } = await flat(
      page(
        ['header', 'footer', 'date-time', 'page-number']
          .map((name) => box(name, `presentation:class="${name}"`))
          .join('') +
          box('Click to add text', 'presentation:class="outline" presentation:placeholder="true"') +
          box('unseen', 'draw:display="none"') +
          box('seen'),
      ),
    );
    expect(pages.map(({ html }) => html)).toEqual(['<p>seen</p>']);
    expect(hiddenCount).toBe(1);
  });

  it('reads shapes with text, and groups, by where they stand', async () => {
    const at = (y: number) => `svg:x="1cm" svg:y="${y}in" svg:width="50mm" svg:height="20pt"`;
    const html = await htmlOf(
      `<draw:g><draw:custom-shape ${at(4)}><text:p>third</text:p></draw:custom-shape><draw:rect ${at(3)}><text:p>second</text:p></draw:rect></draw:g>${box('first', at(1))}`,
    );
    expect(html.replace(/<\/?p>/g, '').split('\n')).toEqual(['first', 'second', 'third']);
  });

  it('reads the values that charts keep', async () => {
    const cells = (values: readonly string[]) =>
      values.map((value) => `<table:table-cell><text:p>${value}</text:p></table:table-cell>`).join('');
    const chart = `<office:document-content ${MORE}><office:body><office:chart><chart:chart><chart:title><text:p>Depth &amp; time</text:p></chart:title><table:table><table:table-header-rows><table:table-row>${cells(['', 'East'])}</table:table-row></table:table-header-rows><table:table-rows><table:table-row>${cells(['May', '7'])}</table:table-row></table:table-rows></table:table></chart:chart></office:chart></office:body></office:document-content>`;
    const frame =
      '<draw:frame><draw:object xlink:href="./Object 1"/><draw:image xlink:href="./ObjectReplacements/Object 1"/></draw:frame>';
    const bytes = zipSync({ 'content.xml': strToU8(content(page(frame))), 'Object 1/content.xml': strToU8(chart) });
    const { pages } = await parse(bytes);
    expect(pages[0]!.html).toContain('<p><b>Depth &amp; time</b></p>');
    expect(tablesOf(pages[0]!.html)).toEqual([
      [
        ['#', '#East'],
        ['May', '7'],
      ],
    ]);
  });
});

describe('hostile files', () => {
  it('never lets text become markup', async () => {
    const text = fc.string({ unit: fc.constantFrom('<', '>', '&', '"', "'", '/', 'img', 'script', 'b', ' ') });
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const written = escapeXml(value);
        const html = await htmlOf(box(written, 'presentation:class="title"') + box(written));
        expect(html).not.toMatch(/<(?!\/?(?:h2|p)>)/);
      }),
      { seed: 10, numRuns: 200 },
    );
  });

  it('ends with groups inside groups', async () => {
    const html = await htmlOf(`${'<draw:g>'.repeat(900)}${box('deep')}${'</draw:g>'.repeat(900)}${box('seen')}`);
    expect(html).toContain('seen');
  });

  it('gives the slides that stand before the damage', async () => {
    const whole = content(page(box('one')) + page(box('two')) + page(box('three')));
    const { pages, notes } = await parse(strToU8(whole.slice(0, whole.indexOf('three'))));
    expect(pages.map(({ html }) => html)).toEqual(['<p>one</p>', '<p>two</p>']);
    expect(notes).toEqual(['The file is damaged; only the readable part is included']);
  });

  it('calls another kind of document damaged', async () => {
    expect(await faultOf(parse(strToU8(`<office:document ${MORE}/>`)))).toBe('damaged');
  });
});
