import { strToU8 } from 'fflate';
import { describe, expect, it } from 'vitest';
import { TYPES, typeOfBytes } from '../../detect.ts';
import type { Annotations } from '../../document.ts';
import { faultOf, parse } from '../../parse.suite.ts';
import { kind } from './excel-xml.ts';
import { tablesOf } from './tables.suite.ts';

const workbook = (sheets: string, before = ''): Uint8Array =>
  strToU8(
    `<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet" xmlns:html="http://www.w3.org/TR/REC-html40">${before}${sheets}</Workbook>`,
  );
const sheet = (rows: string, { name = 'Clay', columns = '', more = '' } = {}) =>
  `<Worksheet ss:Name="${name}"><Table>${columns}${rows}</Table><WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel">${more}</WorksheetOptions></Worksheet>`;
const row = (cells: string, more = '') => `<Row ${more}>${cells}</Row>`;
const cell = (value: string | number, more = '', type = typeof value === 'number' ? 'Number' : 'String') =>
  `<Cell ${more}><Data ss:Type="${type}">${value}</Data></Cell>`;

const tablesIn = async (bytes: Uint8Array) => (await parse(kind, bytes)).pages.map(({ html }) => tablesOf(html));

it('is recognized by its content', () => {
  expect(typeOfBytes(workbook(''))).toBe(TYPES.excelXml);
  expect(typeOfBytes(strToU8('<?xml version="1.0"?><Workbook><Sheet/></Workbook>'))).toBeUndefined();
});

describe('cells', () => {
  it('are shown by their formats', async () => {
    const styles =
      '<Styles><Style ss:ID="Default"/><Style ss:ID="day"><NumberFormat ss:Format="Short Date"/></Style><Style ss:ID="share" ss:Parent="day"><NumberFormat ss:Format="0.0%"/></Style><Style ss:ID="price"><NumberFormat ss:Format="&quot;€&quot;#,##0.00"/></Style></Styles>';
    const bytes = workbook(
      sheet(
        row(cell('Clay') + cell('Day') + cell('Share') + cell('Price')) +
          row(
            cell('red') +
              cell('2004-03-09T00:00:00.000', 'ss:StyleID="day"', 'DateTime') +
              cell(0.125, 'ss:StyleID="share"') +
              cell(1234.5, 'ss:StyleID="price"'),
          ) +
          row(cell('blue') + cell('#N/A', '', 'Error') + cell(1, '', 'Boolean')),
      ),
      styles,
    );
    expect((await tablesIn(bytes))[0]![0]!.slice(1)).toEqual([
      ['red', '3/9/2004', '12.5%', '€1,234.50'],
      ['blue', '#N/A', 'TRUE', ''],
    ]);
  });

  it('keep their places, spans, links and formatted words', async () => {
    const rich =
      '<Cell><ss:Data ss:Type="String" xmlns="http://www.w3.org/TR/REC-html40"><B>very</B><Font> hot &amp; red</Font></ss:Data></Cell>';
    const bytes = workbook(
      sheet(
        row(cell('a') + cell('b') + cell('c')) +
          row(cell(1) + cell(2, 'ss:Index="3"'), 'ss:Index="2"') +
          row(cell('wide', 'ss:MergeAcross="1" ss:MergeDown="1"') + cell('link', 'ss:HRef="https://k.example/"')) +
          row(`<Cell ss:Index="3"><Data ss:Type="String">under</Data></Cell>`) +
          row(rich + cell(3, 'ss:Formula="=RC[-1]*2"')),
      ),
    );
    const { html } = (await parse(kind, bytes)).pages[0]!;
    expect(tablesOf(html)[0]!.slice(1)).toEqual([
      ['1', '', '2'],
      ['wide', 'link'],
      ['under'],
      ['very hot & red', '3', ''],
    ]);
    expect(html).toContain('<td colspan="2" rowspan="2">wide</td><td><a href="https://k.example/">link</a></td>');
    expect(html).toContain('<b>very</b> hot &amp; red');
  });

  it('leave hidden rows, columns and sheets out, and count them', async () => {
    const { pages, hiddenCount } = await parse(
      kind,
      workbook(
        sheet(
          row(cell('a') + cell('secret') + cell('c')) +
            row(cell('gone'), 'ss:Hidden="1"') +
            row(cell(1) + cell(2) + cell(3)),
          { columns: '<Column/><Column ss:Hidden="1"/>' },
        ) +
          sheet(row(cell('x')), { name: 'Off', more: '<Visible>SheetHidden</Visible>' }) +
          sheet(row(cell('y')), { name: 'On' }),
      ),
    );
    expect(pages.map(({ name }) => name)).toEqual(['Clay', 'On']);
    expect(tablesOf(pages[0]!.html)[0]).toEqual([
      ['#a', '#c'],
      ['1', '3'],
    ]);
    expect(hiddenCount).toBe(3);
  });
});

it('shows comments if they are asked for', async () => {
  const note = (text: string) =>
    `<Comment ss:Author="Ada"><ss:Data xmlns="http://www.w3.org/TR/REC-html40"><B>Ada:</B><Font>${text}</Font></ss:Data></Comment>`;
  const bytes = workbook(
    sheet(
      row(cell('Clay') + cell('Price')) +
        row(`${cell('red')}<Cell><Data ss:Type="Number">3</Data>${note('still?')}</Cell>`) +
        row(`<Cell ss:Index="4">${note('more')}</Cell>`, 'ss:Index="9"'),
    ),
  );
  const read = async (annotations: Annotations) =>
    (await kind.parse({ path: '', size: 0, mediaType: '' }, bytes, { annotations })).pages[0]!.html;
  expect(await read('none')).not.toContain('still');
  expect(await read('inline')).toContain('<td>3 {&gt;&gt;still? (Ada)&lt;&lt;}</td>');
  expect(await read('inline')).toContain('<p>D9: {&gt;&gt;more (Ada)&lt;&lt;}</p>');
  expect(await read('footnotes')).toContain('<li id="an-1">Ada: still?</li>');
});

it('keeps what can be read of a damaged file', async () => {
  const whole = Buffer.from(workbook(sheet(row(cell('first') + cell('x')) + row(cell('second'))))).toString();
  const { pages, notes } = await parse(kind, strToU8(whole.slice(0, whole.indexOf('second'))));
  expect(pages[0]!.html).toContain('first');
  expect(notes.join()).toContain('damaged');
  expect(await faultOf(parse(kind, strToU8('<?xml version="1.0"?><Workbook')))).toBe('damaged');
});
