/**
 * Compares one known presentation, in its original form and as saved by LibreOffice for PowerPoint, with the lines that
 * a careful person would transcribe. The score is the share of lines in the right order.
 */
// Full run only: converts whole documents.
import { beforeAll, describe, expect, it } from 'vitest';
import { elements, textOf } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';
import type { ParsedDocument } from '../../document.ts';
import { parse } from '../../parse.suite.ts';
import { convertFile } from '../converted.suite.ts';
import { kind as odp } from './odp.ts';
import { kind as pptx } from './pptx.ts';

const FODP = 'application/vnd.oasis.opendocument.presentation';

const frame = (kind: string, place: readonly [x: number, y: number, width: number, height: number], content: string) =>
  `<draw:frame ${kind ? `presentation:class="${kind}" presentation:style-name="pr1"` : 'draw:style-name="gr1"'} svg:x="${place[0]}cm" svg:y="${place[1]}cm" svg:width="${place[2]}cm" svg:height="${place[3]}cm"><draw:text-box>${content}</draw:text-box></draw:frame>`;
const page = (name: string, content: string, style = 'dp1') =>
  `<draw:page draw:name="${name}" draw:style-name="${style}" draw:master-page-name="Default" presentation:presentation-page-layout-name="AL1">${content}</draw:page>`;
const p = (text: string) => `<text:p>${text}</text:p>`;
const list = (items: readonly string[], style = 'bullets') =>
  `<text:list text:style-name="${style}">${items.map((item) => `<text:list-item>${item}</text:list-item>`).join('')}</text:list>`;
const TITLE = [1, 1, 26, 2] as const;
const level = (number: number, kind: 'bullet' | 'number') =>
  kind === 'bullet'
    ? `<text:list-level-style-bullet text:level="${number}" text:bullet-char="●"><style:list-level-properties text:space-before="${number * 0.5}cm" text:min-label-width="0.5cm"/></text:list-level-style-bullet>`
    : `<text:list-level-style-number text:level="${number}" style:num-format="1" style:num-suffix="."><style:list-level-properties text:space-before="0cm" text:min-label-width="0.8cm"/></text:list-level-style-number>`;

const SOURCE = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" office:version="1.3" office:mimetype="${FODP}">
<office:meta><dc:title>The lighthouse</dc:title></office:meta>
<office:styles><style:style style:name="standard" style:family="graphic"/>
<style:style style:name="Default-title" style:family="presentation"/><style:style style:name="Default-notes" style:family="presentation"/>
<style:presentation-page-layout style:name="AL1"><presentation:placeholder presentation:object="title" svg:x="1cm" svg:y="1cm" svg:width="26cm" svg:height="2cm"/></style:presentation-page-layout></office:styles>
<office:automatic-styles>
<style:page-layout style:name="PM1"><style:page-layout-properties fo:page-width="28cm" fo:page-height="15.75cm"/></style:page-layout>
<style:style style:name="dp1" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="visible"/></style:style>
<style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>
<style:style style:name="gr1" style:family="graphic" style:parent-style-name="standard"><style:graphic-properties draw:stroke="none" draw:fill="none"/></style:style>
<style:style style:name="pr1" style:family="presentation" style:parent-style-name="Default-title"/>
<style:style style:name="pr2" style:family="presentation" style:parent-style-name="Default-notes"/>
<style:style style:name="strong" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
<text:list-style style:name="bullets">${level(1, 'bullet')}${level(2, 'bullet')}</text:list-style>
<text:list-style style:name="numbers">${level(1, 'number')}</text:list-style>
</office:automatic-styles>
<office:master-styles><style:master-page style:name="Default" style:page-layout-name="PM1" draw:style-name="dp1"/></office:master-styles>
<office:body><office:presentation>
${page('one', frame('title', TITLE, p('The lighthouse of<text:line-break/>Old Harbour')) + frame('', [1, 5, 26, 3], p('A short history &amp; more')))}
${page(
  'two',
  frame(
    '',
    [1, 4, 26, 9],
    list([
      p('Built of <text:span text:style-name="strong">granite</text:span>') +
        list([p('from the north quarry'), p('by ship')]),
      p('<text:a xlink:href="https://lamp.example/">Lamp</text:a> of 1871'),
    ]) + list([p('Climb'), p('Light')], 'numbers'),
  ) +
    frame('title', TITLE, p('How it was built')) +
    `<presentation:notes draw:style-name="dp1"><draw:page-thumbnail presentation:class="page" draw:page-number="2" svg:x="1cm" svg:y="1cm" svg:width="5cm" svg:height="3cm"/><draw:frame presentation:class="notes" presentation:style-name="pr2" svg:x="1cm" svg:y="1cm" svg:width="10cm" svg:height="10cm"><draw:text-box>${p('Mention the storm of 1880.')}</draw:text-box></draw:frame></presentation:notes>`,
)}
${page('gone', frame('title', TITLE, p('Hidden slide')), 'dp2')}
${page(
  'three',
  frame('title', TITLE, p('Two sides')) +
    frame('', [14.5, 4, 12, 2], p('Right head')) +
    frame('', [14.5, 6.5, 12, 6], p('Right text')) +
    frame('', [1, 4, 12, 2], p('Left head')) +
    frame('', [1, 6.5, 12, 6], p('Left text')) +
    frame('', [40, 4, 5, 2], p('Outside')),
)}
${page(
  'four',
  frame('title', TITLE, p('Keepers')) +
    `<draw:frame svg:x="1cm" svg:y="4cm" svg:width="20cm" svg:height="5cm"><table:table table:use-first-row-styles="true"><table:table-column/><table:table-column/><table:table-column/>
    <table:table-row><table:table-cell>${p('Name')}</table:table-cell><table:table-cell>${p('From')}</table:table-cell><table:table-cell>${p('To')}</table:table-cell></table:table-row>
    <table:table-row><table:table-cell table:number-rows-spanned="2">${p('Hansen')}</table:table-cell><table:table-cell>${p('1871')}</table:table-cell><table:table-cell>${p('1890')}</table:table-cell></table:table-row>
    <table:table-row><table:covered-table-cell/><table:table-cell>${p('1893')}</table:table-cell><table:table-cell>${p('1899')}</table:table-cell></table:table-row></table:table></draw:frame>`,
)}
</office:presentation></office:body></office:document>`;

const EXPECTED = [
  'h2 The lighthouse of Old Harbour',
  'p A short history & more',
  'h2 How it was built',
  'li Built of granite',
  'li from the north quarry',
  'li by ship',
  'li Lamp of 1871',
  'li Climb',
  'li Light',
  'p Mention the storm of 1880.',
  'h2 Two sides',
  'p Left head',
  'p Left text',
  'p Right head',
  'p Right text',
  'h2 Keepers',
  'th Name',
  'th From',
  'th To',
  'td Hansen',
  'td 1871',
  'td 1890',
  'td 1893',
  'td 1899',
];

/** Each block with its own text, in order: `li by ship`. */
function linesOf(html: string): string[] {
  const lines: string[] = [];
  for (const element of elements(parseFragment(html))) {
    if (!/^(?:h2|p|li|th|td)$/.test(element.name)) continue;
    let text = '';
    for (let node = element.first; node; node = node.next) {
      if (!(node.type === 1 && /^(?:ul|ol|p)$/.test(node.name))) text += textOf(node);
    }
    if (text.trim() !== '') lines.push(`${element.name} ${text.replace(/\s+/g, ' ').trim()}`);
  }
  return lines;
}

/** Length of the longest common subsequence, as a share of the expected blocks. */
function orderScore(found: readonly string[], expected: readonly string[]): number {
  let above = new Array<number>(expected.length + 1).fill(0);
  for (const line of found) {
    const here = [0];
    for (const [at, other] of expected.entries())
      here.push(line === other ? above[at]! + 1 : Math.max(above[at + 1]!, here[at]!));
    above = here;
  }
  return above.at(-1)! / expected.length;
}

const read: Record<string, ParsedDocument> = {};

beforeAll(async () => {
  read.pptx = await parse(pptx, await convertFile(SOURCE, FODP, 'pptx'));
  read.fodp = await parse(odp, Buffer.from(SOURCE));
}, 120_000);

describe.each(['fodp', 'pptx'])('%s', (format) => {
  it('has its lines in reading order', () => {
    const found = linesOf(read[format]!.pages.map(({ html }) => html).join('\n'));
    const score = orderScore(found, EXPECTED);
    console.log(`lines in order, ${format}: ${score.toFixed(3)}`);
    expect(score).toBeGreaterThanOrEqual(0.95);
    expect(found.length).toBeLessThanOrEqual(EXPECTED.length + 1);
  });

  it('has its marks, links, notes and what is not seen', () => {
    const document = read[format]!;
    const html = document.pages.map((one) => one.html).join('\n');
    expect(html).toContain('Built of <b>granite</b>');
    expect(html).toContain('<a href="https://lamp.example/">Lamp</a>');
    expect(html).toMatch(/<blockquote>\s*<p>Mention the storm of 1880\.<\/p>\s*<\/blockquote>/);
    expect(html).toMatch(/<ol>\s*<li>Climb/);
    expect(html).toContain('<td rowspan="2">Hansen</td>');
    expect(html).not.toMatch(/Hidden slide|Outside/);
    expect(document).toMatchObject({ title: 'The lighthouse', pageCount: 4, hiddenCount: 2, notes: [] });
    expect(document.pages.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  });
});
