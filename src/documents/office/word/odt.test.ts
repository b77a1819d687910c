import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { elements, textOf } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';
import { faultOf, htmlOf, parse } from '../../parse.suite.ts';
import { kind } from './odt.ts';

const NAMES: Readonly<Record<string, string>> = {
  text: 'text',
  table: 'table',
  draw: 'drawing',
  style: 'style',
  office: 'office',
  meta: 'meta',
  fo: 'xsl-fo-compatible',
  svg: 'svg-compatible',
  chart: 'chart',
};

const DECLARED = `${Object.entries(NAMES)
  .map(([prefix, name]) => ` xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(
    '',
  )} xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:math="http://www.w3.org/1998/Math/MathML"`;

const flat = (body: string, styles = '', meta = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?><office:document${DECLARED}><office:meta>${meta}</office:meta><office:styles>${styles}</office:styles><office:automatic-styles/><office:body><office:text>${body}</office:text></office:body></office:document>`;

const read = (body: string, styles?: string, meta?: string) => parse(kind, strToU8(flat(body, styles, meta)));
const html = async (body: string, styles?: string) => htmlOf(await read(body, styles));

const faultWith = (bytes: Uint8Array) => faultOf(parse(kind, bytes));

const style = (name: string, family: string, properties: string, more = '') =>
  `<style:style style:name="${name}" style:family="${family}"${more}>${properties}</style:style>`;
const text = (name: string, properties: string) => style(name, 'text', `<style:text-properties ${properties}/>`);
const p = (content: string, name = '') => `<text:p${name && ` text:style-name="${name}"`}>${content}</text:p>`;

it('reads headings with their numbers, and the title', async () => {
  const styles = `${style('Title', 'paragraph', '')}<text:outline-style style:name="Outline"><text:outline-level-style text:level="1" style:num-format="1"/><text:outline-level-style text:level="2" style:num-format="a" style:num-suffix=")" text:display-levels="2"/></text:outline-style>`;
  const h = (level: number, content: string, more = '') =>
    `<text:h text:outline-level="${level}"${more}>${content}</text:h>`;
  const found = await read(
    p('The book', 'Title') +
      h(1, 'One') +
      h(2, 'Deep') +
      h(1, 'Two') +
      h(2, 'Free', ' text:is-list-header="true"') +
      h(9, 'Low'),
    styles,
  );
  expect(htmlOf(found).split('\n')).toEqual([
    '<h1>The book</h1>',
    '<h1>1 One</h1>',
    '<h2>1.a) Deep</h2>',
    '<h1>2 Two</h1>',
    '<h2>Free</h2>',
    '<h6>Low</h6>',
  ]);
  expect(found.title).toBe('The book');
});

it('reads runs, spaces and links', async () => {
  const styles =
    text('B', 'fo:font-weight="bold"') +
    text('I', 'fo:font-style="italic"') +
    text('U', 'style:text-position="super 58%"') +
    text('S', 'style:text-line-through-style="solid"');
  const body = p(
    'a <text:span text:style-name="B">b <text:span text:style-name="I">c</text:span></text:span>\n  d<text:s text:c="2"/>e<text:tab/>f<text:line-break/>g<text:span text:style-name="U">2</text:span><text:span text:style-name="S">x</text:span> <text:a xlink:href="https://example.com/">l</text:a><text:a xlink:href="javascript:x">j</text:a>',
  );
  expect(await html(body, styles)).toBe(
    '<p>a <b>b <i>c</i></b> d  e\tf<br>g<sup>2</sup><s>x</s> <a href="https://example.com/">l</a>j</p>',
  );
});

it('reads lists, their starts and what continues them', async () => {
  const styles =
    '<text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-bullet text:level="2" text:bullet-char="•"/></text:list-style><text:list-style style:name="D"><text:list-level-style-number text:level="1" style:num-format="1"/><text:list-level-style-number text:level="2" style:num-format="1" text:display-levels="2"/></text:list-style>';
  const item = (content: string, more = '') => `<text:list-item${more}>${content}</text:list-item>`;
  const list = (name: string, content: string, more = '') =>
    `<text:list${name && ` text:style-name="${name}"`}${more}>${content}</text:list>`;
  expect(
    await html(
      list('N', item(p('one') + p('more') + list('', item(p('dot')))) + item(p('two'))) +
        p('between') +
        list('N', item(p('three')), ' text:continue-numbering="true"') +
        p('x') +
        list('N', item(p('seven'), ' text:start-value="7"')),
      styles,
    ),
  ).toBe(
    '<ol><li>one<p>more</p><ul><li>dot</li></ul></li>\n<li>two</li></ol>\n<p>between</p>\n<ol start="3"><li>three</li></ol>\n<p>x</p>\n<ol start="7"><li>seven</li></ol>',
  );
  expect(await html(list('D', item(p('a') + list('', item(p('b')) + item(p('c'))))), styles)).toBe(
    '<ol><li>a<ul><li>1.1 b</li>\n<li>1.2 c</li></ul></li></ol>',
  );
});

it('reads tables with merged cells, headers and repeated cells', async () => {
  const cell = (content: string, more = '') => `<table:table-cell${more}>${content && p(content)}</table:table-cell>`;
  const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`;
  const body = `<table:table>${row(cell('a', ' table:number-columns-spanned="2"'), '<table:covered-table-cell/>', cell('b'))}${row(cell('c', ' table:number-rows-spanned="2"'), cell('', ' table:number-columns-repeated="2"'))}${row('<table:covered-table-cell/>', cell('1'), cell('2'))}</table:table>`;
  expect(await html(body)).toBe(
    '<table><thead><tr><th colspan="2">a</th><th>b</th></tr></thead><tbody><tr><td rowspan="2">c</td><td></td><td></td></tr><tr><td>1</td><td>2</td></tr></tbody></table>',
  );
});

it('leaves out what is hidden, deleted or a remark', async () => {
  const styles = text('H', 'text:display="none"') + text('W', 'fo:color="#ffffff"');
  const found = await read(
    `<text:tracked-changes><text:changed-region><text:deletion>${p('deleted')}</text:deletion></text:changed-region></text:tracked-changes>${p('seen<text:span text:style-name="H">hidden</text:span><text:span text:style-name="W">white</text:span><office:annotation><dc:creator>Ann</dc:creator><text:p>remark</text:p></office:annotation>')}<text:section text:display="none">${p('section')}</text:section>`,
    styles,
  );
  expect(htmlOf(found)).toBe('<p>seen</p>');
  expect(found.hiddenCount).toBe(3);
});

it('reads notes, frames and formulas', async () => {
  const note =
    '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>The note.</text:p></text:note-body></text:note>';
  const picture = '<draw:frame><draw:image xlink:href="Pictures/none.svm"/><svg:desc>A chart</svg:desc></draw:frame>';
  const box = `<draw:frame><draw:text-box>${p('boxed')}</draw:text-box></draw:frame>`;
  const formula =
    '<draw:frame><draw:object><math:math><math:mfrac><math:mi>a</math:mi><math:mi onclick="x">b</math:mi></math:mfrac><math:annotation>{a} over {b}</math:annotation></math:math></draw:object></draw:frame>';
  expect(await html(p(`Text${note}`) + p(`see ${picture}`) + p(`around${box}`) + p(formula))).toBe(
    '<p>Text<sup><a href="#fn-1" id="fnref-1">1</a></sup></p>\n<p>see A chart</p>\n<p>around</p>\n<p>boxed</p>\n<p><math><mfrac><mi>a</mi><mi>b</mi></mfrac></math></p>\n<ol><li id="fn-1">The note.</li></ol>',
  );
});

it('tells pages by breaks, hard and soft', async () => {
  const styles = style('New', 'paragraph', '<style:paragraph-properties fo:break-before="page"/>');
  const found = await read(p('one') + p('two', 'New') + p('three<text:soft-page-break/> goes on') + p('four'), styles);
  expect(found.pages.map((page) => page.html)).toEqual([
    '<p>one</p>',
    '<p>two</p>\n<p>three goes on</p>',
    '<p>four</p>',
  ]);
  expect(found.pageCount).toBe(3);
});

it('says what the document says about itself', async () => {
  const found = await read(
    p('x'),
    '',
    '<dc:title>T</dc:title><meta:initial-creator>Ann</meta:initial-creator><dc:creator>Bob</dc:creator><dc:date>2021-02-03T04:05:06</dc:date><meta:keyword>a</meta:keyword><meta:keyword>b</meta:keyword><dc:language>de-DE</dc:language>',
  );
  expect(found).toMatchObject({
    title: 'T',
    lang: 'de-DE',
    metadata: { creator: 'Ann', lastModifiedBy: 'Bob', keywords: 'a, b' },
  });
  expect(found.publishedTime).toMatch(/^2021-02-0[234]T/);
});

it('gives the stored values of a chart as a table', async () => {
  const row = (...cells: string[]) =>
    `<table:table-row>${cells.map((cell) => `<table:table-cell><text:p>${cell}</text:p></table:table-cell>`).join('')}</table:table-row>`;
  const chart = `<office:document><office:body><office:chart><chart:chart><chart:title><text:p>Heat</text:p></chart:title><chart:plot-area/><table:table><table:table-header-rows>${row('', 'Kiln')}</table:table-header-rows><table:table-rows>${row('May', '3')}</table:table-rows></table:table></chart:chart></office:chart></office:body></office:document>`;
  const found = await html(`${p(`Before<draw:frame><draw:object>${chart}</draw:object></draw:frame>`)}${p('After')}`);
  expect(found.replace(/\n+/g, '')).toBe(
    '<p>Before</p><p><b>Heat</b></p><table><thead><tr><th></th><th>Kiln</th></tr></thead><tbody><tr><td>May</td><td>3</td></tr></tbody></table><p>After</p>',
  );
});

describe('bad files', () => {
  it('are damaged, encrypted or too large', async () => {
    expect(await faultWith(strToU8('text'))).toBe('damaged');
    expect(await faultWith(zipSync({ 'content.xml': strToU8('<html/>') }))).toBe('damaged');
    expect(await faultWith(zipSync({ 'encrypted-package': strToU8('x') }))).toBe('encrypted');
    const manifest = strToU8('<manifest:manifest><manifest:encryption-data/></manifest:manifest>');
    expect(await faultWith(zipSync({ 'META-INF/manifest.xml': manifest, 'content.xml': strToU8('x') }))).toBe(
      'encrypted',
    );
    expect(await faultWith(strToU8(flat('<text:list>'.repeat(100_000))))).toBe('too large');
    expect(await faultWith(zipSync({ 'content.xml': strToU8(flat(' '.repeat(30_000_000))) }))).toBe('too large');
  });

  it('that are cut off give what is left', async () => {
    const found = await parse(kind, strToU8(flat(p('one') + p('two')).split('two')[0]!));
    expect(htmlOf(found)).toBe('<p>one</p>');
    expect(found.notes).toHaveLength(1);
  });

  it('may claim numbers beyond reason', async () => {
    const body = `${p('a<text:s text:c="999999999"/>b')}<table:table><table:table-row><table:table-cell table:number-columns-repeated="999999999"/><table:table-cell table:number-columns-spanned="999999999">${p('c')}</table:table-cell></table:table-row></table:table>`;
    expect((await html(body)).length).toBeLessThan(100_000);
  });
});

it('never takes text for markup', async () => {
  const nasty = fc.string({
    unit: fc.constantFrom('<', '>', '&', '"', "'", 'b', '/', 'script', '=', 'x'),
    minLength: 1,
  });
  const written = (value: string) => value.replace(/[&<>"]/g, (unit) => `&#${unit.charCodeAt(0)};`);
  await fc.assert(
    fc.asyncProperty(nasty, nasty, async (one, other) => {
      const body = `${p(written(one))}<text:h text:outline-level="1">${written(other)}</text:h><text:list><text:list-item>${p(written(one))}</text:list-item></text:list>`;
      const tree = parseFragment(await html(body));
      for (const { name } of elements(tree)) expect(['p', 'h1', 'ul', 'li']).toContain(name);
      expect(textOf(tree).replace(/\s/g, '')).toBe(one + other + one);
    }),
    { seed: 13, numRuns: 300 },
  );
});
