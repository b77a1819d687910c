/**
 * Compares one known spreadsheet, saved by LibreOffice in every format that we read, with the tables that a careful
 * person would transcribe. The score is the share of cells in the right place.
 */
// Full run only: converts whole documents.
import { beforeAll, describe, expect, it } from 'vitest';
import type { ParsedDocument } from '../../document.ts';
import { parse } from '../../parse.suite.ts';
import { convertFile } from '../converted.suite.ts';
import { kind as ods } from './ods.ts';
import { cellScore, tablesOf } from './tables.suite.ts';
import { kind as xlsx } from './xlsx.ts';

const FODS = 'application/vnd.oasis.opendocument.spreadsheet';

const text = (value: string, more = '') =>
  `<table:table-cell office:value-type="string" ${more}>${value
    .split('\n')
    .map((line) => `<text:p>${line}</text:p>`)
    .join('')}</table:table-cell>`;
const number = (value: number, style = '', shown = String(value)) =>
  `<table:table-cell ${style && `table:style-name="${style}"`} office:value-type="float" office:value="${value}"><text:p>${shown}</text:p></table:table-cell>`;
const percent = (value: number, shown: string) =>
  `<table:table-cell table:style-name="percent" office:value-type="percentage" office:value="${value}"><text:p>${shown}</text:p></table:table-cell>`;
const date = (value: string) =>
  `<table:table-cell table:style-name="date" office:value-type="date" office:date-value="${value}"><text:p>${value}</text:p></table:table-cell>`;
const covered = (count = 1) => `<table:covered-table-cell table:number-columns-repeated="${count}"/>`;
const none = (count = 1) => `<table:table-cell table:number-columns-repeated="${count}"/>`;
const row = (cells: string, more = '') => `<table:table-row ${more}>${cells}</table:table-row>`;
const gap = row(none());
const table = (name: string, rows: string, columns = '<table:table-column/>', style = '') =>
  `<table:table table:name="${name}" ${style && `table:style-name="${style}"`}>${columns}${rows}</table:table>`;

const SOURCE = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" office:version="1.3" office:mimetype="${FODS}">
<office:meta><dc:title>Household of the harbour</dc:title><meta:initial-creator>Port office</meta:initial-creator><meta:creation-date>2024-03-01T10:00:00</meta:creation-date></office:meta>
<office:automatic-styles>
<number:date-style style:name="iso"><number:year number:style="long"/><number:text>-</number:text><number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/></number:date-style>
<number:percentage-style style:name="pct"><number:number number:decimal-places="1" number:min-decimal-places="1" number:min-integer-digits="1"/><number:text>%</number:text></number:percentage-style>
<number:number-style style:name="thousands"><number:number number:decimal-places="2" number:min-decimal-places="2" number:min-integer-digits="1" number:grouping="true"/></number:number-style>
<style:style style:name="date" style:family="table-cell" style:data-style-name="iso"/>
<style:style style:name="percent" style:family="table-cell" style:data-style-name="pct"/>
<style:style style:name="money" style:family="table-cell" style:data-style-name="thousands"/>
<style:style style:name="hiddenTable" style:family="table"><style:table-properties table:display="false"/></style:style>
<style:style style:name="shownTable" style:family="table"><style:table-properties table:display="true"/></style:style>
</office:automatic-styles>
<office:body><office:spreadsheet>
${table(
  'Prices',
  row(text('Prices at the quay', 'table:number-columns-spanned="4"') + covered(3)) +
    gap +
    row(text('Item') + text('Since') + text('Price') + text('Share')) +
    row(text('Rope') + date('2024-01-15') + number(1234.5, 'money', '1,234.50') + percent(0.256, '25.6%')) +
    row(
      text('Tar &amp; pitch\nin barrels') +
        date('2023-12-01') +
        number(99.999, 'money', '100.00') +
        percent(0.5, '50.0%'),
    ) +
    row(text('Secret') + date('2020-01-01') + number(1) + percent(1, '100.0%'), 'table:visibility="collapse"') +
    row(
      `<table:table-cell office:value-type="string"><text:p><text:a xlink:href="https://nets.example/">Nets</text:a></text:p><office:annotation><text:p>a comment</text:p></office:annotation></table:table-cell>` +
        date('2024-02-29') +
        number(-3, 'money', '-3.00') +
        percent(0.244, '24.4%'),
    ),
  '',
  'shownTable',
)}
${table(
  'Crews',
  row(text('Ship', 'table:number-rows-spanned="2"') + text('Crew', 'table:number-columns-spanned="2"') + covered()) +
    row(covered() + text('officers') + text('sailors')) +
    row(text('Anna', 'table:number-rows-spanned="2"') + number(3) + number(21)) +
    row(covered() + number(4) + number(22)) +
    row(text('Berta') + number(2) + number(9)),
)}
${table('Hidden', row(text('nobody sees this')), undefined, 'hiddenTable')}
${table(
  'Two',
  row(text('Pier') + text('Depth') + none() + text('Captain') + text('Ship') + text('Years')) +
    row(text('North') + number(7) + none() + text('Ann') + text('Anna') + number(4)) +
    row(text('South') + number(9) + none() + text('Bob') + text('Berta') + number(11)) +
    gap.repeat(2) +
    row(text('東京') + text('שלום') + text('مرحبا')),
)}
</office:spreadsheet></office:body></office:document>`;

const EXPECTED = [
  [
    ['#Item', '#Since', '#Price', '#Share'],
    ['Rope', '2024-01-15', '1,234.50', '25.6%'],
    ['Tar & pitchin barrels', '2023-12-01', '100.00', '50.0%'],
    ['Nets', '2024-02-29', '-3.00', '24.4%'],
  ],
  [
    ['#Ship', '#Crew'],
    ['#officers', '#sailors'],
    ['Anna', '3', '21'],
    ['4', '22'],
    ['Berta', '2', '9'],
  ],
  [
    ['#Pier', '#Depth'],
    ['North', '7'],
    ['South', '9'],
  ],
  [
    ['#Captain', '#Ship', '#Years'],
    ['Ann', 'Anna', '4'],
    ['Bob', 'Berta', '11'],
  ],
  [['東京', 'שלום', 'مرحبا']],
];

const read: Record<string, ParsedDocument> = {};

beforeAll(async () => {
  read.xlsx = await parse(xlsx, await convertFile(SOURCE, FODS, 'xlsx'));
  read.fods = await parse(ods, Buffer.from(SOURCE));
}, 120_000);

describe.each(['fods', 'xlsx'])('%s', (format) => {
  it('has its tables', () => {
    const document = read[format]!;
    const found = tablesOf(document.pages.map(({ html }) => html).join('\n'));
    const score = cellScore(found, EXPECTED);
    console.log(`cells in place, ${format}: ${score.toFixed(3)}`);
    expect(score).toBeGreaterThanOrEqual(0.98);
  });

  it('has its headings, titles, links and words about itself', () => {
    const document = read[format]!;
    const html = document.pages.map((page) => page.html).join('\n');
    expect([...html.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, name]) => name)).toEqual(['Prices', 'Crews', 'Two']);
    expect(html).toContain('<p>Prices at the quay</p>');
    expect(html).toContain('<td>Tar &amp; pitch<br>in barrels</td>');
    expect(html).toContain('<th rowspan="2">Ship</th><th colspan="2">Crew</th>');
    expect(html).toContain('<td rowspan="2">Anna</td>');
    expect(html).toContain('<a href="https://nets.example/">Nets</a>');
    expect(html).not.toMatch(/Secret|nobody sees|a comment/);
    expect(document).toMatchObject({ title: 'Household of the harbour', pageCount: 3, hiddenCount: 2, notes: [] });
    expect(document.publishedTime).toMatch(/^20\d\d-/);
  });
});
