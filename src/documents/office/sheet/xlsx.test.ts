// Full run only: writes large files.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOf, parse as parseAs } from '../../parse.suite.ts';
import { tablesOf } from './tables.suite.ts';
import { escapeXml, type HandMade, relationships, rowsOf, workbook } from './workbook.suite.ts';
import { kind } from './xlsx.ts';

const parse = (bytes: Uint8Array, page?: number) => parseAs(kind, bytes, page);
const read = (made: HandMade, page?: number) => parse(workbook(made), page);
const tables = async (made: HandMade) => tablesOf((await read(made)).pages.map(({ html }) => html).join('\n'));
const htmlOf = async (made: HandMade) => (await read(made)).pages.map(({ html }) => html).join('\n');

describe('cells', () => {
  it('reads every type of cell', async () => {
    const rows = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>in line</t></is></c>
      <c r="C1" t="str"><f>A1&amp;"x"</f><v>formula's text</v></c><c r="D1" t="b"><v>1</v></c><c r="E1" t="e"><v>#DIV/0!</v></c>
      <c r="F1"><f>1+1</f><v>2</v></c><c r="G1" t="d"><v>2024-05-06T00:00:00</v></c><c r="H1" s="1"><v>45292</v></c></row>
      <row r="2"><c r="A2"><v>1</v></c></row>`;
    const styles = '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>';
    expect(await tables({ sheets: [{ rows }], strings: ['<t>shared</t>'], styles })).toEqual([
      [
        ['shared', 'in line', "formula's text", 'TRUE', '#DIV/0!', '2', '2024-05-06', '1/1/2024'],
        ['1', '', '', '', '', '', '', ''],
      ],
    ]);
  });

  it('keeps marks of rich text, breaks and escaped characters, and leaves furigana out', async () => {
    const strings = [
      '<r><t xml:space="preserve">plain </t></r><r><rPr><b/></rPr><t>bold</t></r><r><rPr><b val="0"/><i/></rPr><t xml:space="preserve"> slanted</t></r>',
      '<t>two\nlines_x000D_</t>',
      '<t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh>',
    ];
    const rows = strings.map((_, at) => `<row><c t="s"><v>${at}</v></c><c><v>${at}</v></c></row>`).join('');
    const html = await htmlOf({ sheets: [{ rows }], strings });
    expect(html).toContain('<td>plain <b>bold</b> <i>slanted</i></td>');
    expect(html).toContain('<td>two<br>lines</td>');
    expect(html).toContain('<td>東京</td>');
  });

  it('counts days from 1904 when the workbook says so', async () => {
    const rows = '<row><c s="0"><v>43830</v></c><c><v>1</v></c></row>';
    const styles = '<cellXfs><xf numFmtId="14"/></cellXfs>';
    const html = await htmlOf({ sheets: [{ rows }], styles, workbook: '<workbookPr date1904="1"/>' });
    expect(html).toContain('1/1/2024');
  });

  it('reads an inline string without runs, and ISO dates in the format of their cell', async () => {
    const rows =
      '<row><c t="inlineStr"><v>plain &amp; short</v></c><c t="d" s="1"><v>2024-03-09T14:05:00</v></c><c t="d"><v>soon</v></c></row>';
    const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs>';
    expect(await tables({ sheets: [{ rows }], styles })).toEqual(
      [['plain & short', '3/9/2024 14:05', 'soon']].map((row) => [row]),
    );
  });

  it('follows the formats of the file, and escapes what they add', async () => {
    const styles = `<numFmts><numFmt numFmtId="164" formatCode="&quot;&lt;b&gt;&quot;0.0"/><numFmt numFmtId="165" formatCode="&quot;&lt;i&gt;&quot;@"/></numFmts>
      <cellXfs><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>`;
    const rows = '<row><c s="0"><v>1.25</v></c><c s="1" t="inlineStr"><is><t>a &lt; b</t></is></c></row>';
    expect(await htmlOf({ sheets: [{ rows }], styles })).toContain('<td>&lt;b&gt;1.3</td><td>&lt;i&gt;a &lt; b</td>');
  });

  it('links cells by relationship and by formula, to the web only', async () => {
    const xml = `<sheetData><row r="1"><c r="A1" t="str"><v>site</v></c><c r="B1" t="str"><v>script</v></c><c r="C1" t="str"><f>HYPERLINK("https://b.example/?q=1&amp;r=2","there")</f><v>there</v></c></row></sheetData>
      <hyperlinks><hyperlink ref="A1" r:id="l1"/><hyperlink ref="B1" r:id="l2"/></hyperlinks>`;
    const html = await htmlOf({
      sheets: [
        {
          xml,
          relationships: [
            ['hyperlink', 'l1', 'https://a.example/'],
            ['hyperlink', 'l2', 'javascript:alert(1)'],
          ],
        },
      ],
    });
    expect(html).toContain('<a href="https://a.example/">site</a>');
    expect(html).toContain('<td>script</td>');
    expect(html).toContain('<a href="https://b.example/?q=1&amp;r=2">there</a>');
  });
});

describe('visible content', () => {
  it('leaves hidden sheets, rows and columns out and counts them', async () => {
    const xml = `<cols><col min="2" max="2" hidden="1"/></cols><sheetData>
      <row r="1"><c r="A1" t="str"><v>name</v></c><c r="B1" t="str"><v>secret</v></c><c r="C1" t="str"><v>age</v></c></row>
      <row r="2" hidden="1"><c r="A2" t="str"><v>Eve</v></c><c r="C2"><v>9</v></c></row>
      <row r="3"><c r="A3" t="str"><v>Ann</v></c><c r="B3"><v>1</v></c><c r="C3"><v>7</v></c></row></sheetData>`;
    const document = await read({
      sheets: [{ xml }, { name: 'Gone', state: 'hidden', rows: rowsOf([['x']]) }, { name: 'Far', state: 'veryHidden' }],
    });
    expect(document.pages.map(({ html }) => tablesOf(html))).toEqual([
      [
        [
          ['#name', '#age'],
          ['Ann', '7'],
        ],
      ],
    ]);
    expect(document).toMatchObject({ pageCount: 1, hiddenCount: 4 });
  });

  it('leaves white letters on no ground out', async () => {
    const styles = `<fonts><font/><font><color rgb="FFFFFFFF"/></font></fonts><fills><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FF000000"/></patternFill></fill></fills>
      <cellXfs><xf fontId="0"/><xf fontId="1" fillId="0"/><xf fontId="1" fillId="1"/></cellXfs>`;
    const rows =
      '<row><c t="str"><v>seen</v></c><c s="1" t="str"><v>unseen</v></c><c s="2" t="str"><v>on black</v></c></row>';
    const { pages, hiddenCount } = await read({ sheets: [{ rows }], styles });
    expect(tablesOf(pages[0]!.html)).toEqual([[['seen', 'on black']]]);
    expect(hiddenCount).toBe(1);
  });

  it('keeps white letters that are most of a sheet, because their ground is then not known', async () => {
    const styles =
      '<fonts><font/><font><color rgb="FFFFFFFF"/></font></fonts><cellXfs><xf fontId="0"/><xf fontId="1"/></cellXfs>';
    const rows =
      '<row><c t="str"><v>seen</v></c><c s="1" t="str"><v>white</v></c></row><row><c s="1" t="str"><v>also white</v></c></row>';
    const { pages, hiddenCount } = await read({ sheets: [{ rows }], styles });
    expect(tablesOf(pages[0]!.html).flat(2)).toEqual(['seen', 'white', 'also white', '']);
    expect(hiddenCount).toBe(0);
  });

  it('hides the rows that are not listed when rows are hidden by default', async () => {
    const xml = `<sheetFormatPr zeroHeight="1"/><sheetData>
      <row r="1"><c r="A1" t="str"><v>Fruit</v></c><c r="B1" t="str"><v>Kilos</v></c></row>
      <row r="5"><c r="A5" t="str"><v>Plum</v></c><c r="B5"><v>4</v></c></row>
      <row r="6" hidden="1"><c r="A6" t="str"><v>Lost</v></c><c r="B6"><v>5</v></c></row>
      <row r="900"><c r="A900" t="str"><v>Pear</v></c><c r="B900"><v>6</v></c></row></sheetData>
      <mergeCells><mergeCell ref="A900:A902"/></mergeCells>`;
    const document = await read({ sheets: [{ xml }] });
    expect(tablesOf(document.pages[0]!.html)).toEqual([
      [
        ['#Fruit', '#Kilos'],
        ['Plum', '4'],
        ['Pear', '6'],
      ],
    ]);
    expect(document.hiddenCount).toBe(1);
  });

  it('gives one sheet when one is asked for, and all when there is no such sheet', async () => {
    const sheets = ['a', 'b'].map((name) => ({ name, rows: rowsOf([[name, 1]]) }));
    const one = await read({ sheets }, 2);
    expect(one.pages).toMatchObject([{ number: 2, html: expect.stringContaining('<h2>b</h2>') }]);
    expect(one.pageCount).toBe(2);
    expect((await read({ sheets }, 3)).pages).toHaveLength(2);
  });
});

describe('tables', () => {
  it('spans merged cells, in what is seen of them', async () => {
    const xml = `<cols><col min="3" max="3" hidden="1"/></cols>${'<sheetData>'}${rowsOf([
      ['Region', 'Sales', undefined, undefined],
      [undefined, '2023', 'x', '2024'],
      ['North', 1, 2, 3],
      ['South', 4, 5, 6],
    ])}</sheetData><mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:D1"/></mergeCells>`;
    const html = await htmlOf({ sheets: [{ xml }] });
    expect(html).toContain('<tr><th rowspan="2">Region</th><th colspan="2">Sales</th></tr>');
    expect(html).toContain('<tr><th>2023</th><th>2024</th></tr>\n</thead>');
    expect(html).toContain('<tr><td>North</td><td>1</td><td>3</td></tr>');
  });

  it('parts a title, two tables and a note', async () => {
    const rows = rowsOf([
      ['Budget of the year'],
      [],
      ['Item', 'Cost'],
      ['Tea', 3],
      ['Jam', 4],
      [],
      [],
      ['Person', 'Town', 'Age'],
      ['Ann', 'Bonn', 31],
      ['Bob', 'Kiel', 44],
      ['All figures are estimates of the board and were not checked by anybody else.'],
    ]);
    const html = await htmlOf({ sheets: [{ rows }] });
    expect(tablesOf(html)).toEqual([
      [
        ['#Item', '#Cost'],
        ['Tea', '3'],
        ['Jam', '4'],
      ],
      [
        ['#Person', '#Town', '#Age'],
        ['Ann', 'Bonn', '31'],
        ['Bob', 'Kiel', '44'],
      ],
    ]);
    expect(html).toMatch(/<p>Budget of the year<\/p>[\s\S]*<p>All figures are estimates/);
  });

  it('parts tables side by side, and keeps a spacer column in one', async () => {
    const beside = rowsOf([
      ['Item', 'Cost', undefined, 'Person', 'Town'],
      ['Tea', 3, undefined, 'Ann', 'Bonn'],
      ['Jam', 4, undefined, 'Bob', 'Kiel'],
    ]);
    expect(await tables({ sheets: [{ rows: beside }] })).toHaveLength(2);
    const spaced = rowsOf([
      ['Item', 'Unit', undefined, 2023, 2024],
      ['Tea', 'kg', undefined, 3, 4],
    ]);
    expect(await tables({ sheets: [{ rows: spaced }] })).toEqual([
      [
        ['#Item', '#Unit', '#2023', '#2024'],
        ['Tea', 'kg', '3', '4'],
      ],
    ]);
  });

  it('goes on after an empty row when the columns are the same', async () => {
    const rows = rowsOf([['Item', 'Cost'], ['Tea', 3], [], ['Jam', 4], ['Oil', 5]]);
    expect(await tables({ sheets: [{ rows }] })).toEqual([
      [
        ['#Item', '#Cost'],
        ['Tea', '3'],
        ['Jam', '4'],
        ['Oil', '5'],
      ],
    ]);
  });

  it('believes what the author declared to be a table', async () => {
    const xml = `<sheetData>${rowsOf([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
      ['g', 'h', 'i'],
    ])}</sheetData><tableParts><tablePart r:id="t1"/></tableParts>`;
    const made: HandMade = {
      sheets: [{ xml, relationships: [['table', 't1', '../tables/table1.xml']] }],
      parts: {
        'xl/tables/table1.xml':
          '<table xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ref="B2:C3" headerRowCount="1"/>',
      },
    };
    const html = await htmlOf(made);
    expect(tablesOf(html)).toContainEqual([
      ['#e', '#f'],
      ['h', 'i'],
    ]);
  });

  it('writes columns of sentences as text', async () => {
    const text = 'This sheet explains how the figures in the other sheets were collected and checked.';
    const html = await htmlOf({ sheets: [{ rows: rowsOf([['Notes'], [text], ['More of it.']]) }] });
    expect(html).toContain(`<p>${text}</p>`);
    expect(tablesOf(html)).toEqual([]);
  });
});

describe('drawings', () => {
  const drawing = `<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart">
    <xdr:twoCellAnchor><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="2" name="P" descr="A red roof"/></xdr:nvPicPr><xdr:blipFill><a:blip r:embed="i1"/></xdr:blipFill></xdr:pic></xdr:twoCellAnchor>
    <xdr:twoCellAnchor><xdr:sp><xdr:txBody><a:p><a:r><a:t>Boxed &lt;text&gt;</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:twoCellAnchor>
    <xdr:twoCellAnchor><xdr:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c1"/></a:graphicData></a:graphic></xdr:graphicFrame></xdr:twoCellAnchor></xdr:wsDr>`;
  const chart = `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales </a:t></a:r><a:r><a:t>by year</a:t></a:r></a:p></c:rich></c:tx></c:title></c:chart></c:chartSpace>`;
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );

  it('shows pictures, text boxes and titles of charts', async () => {
    const html = await htmlOf({
      sheets: [
        {
          xml: `<sheetData>${rowsOf([['a', 1]])}</sheetData><drawing r:id="d1"/>`,
          relationships: [['drawing', 'd1', '../drawings/drawing1.xml']],
        },
      ],
      parts: {
        'xl/drawings/drawing1.xml': drawing,
        'xl/drawings/_rels/drawing1.xml.rels': relationships([
          ['image', 'i1', '../media/a.png'],
          ['chart', 'c1', '../charts/chart1.xml'],
        ]),
        'xl/charts/chart1.xml': chart,
        'xl/media/a.png': pixel,
      },
    });
    expect(html).toMatch(/<img alt="A red roof" src="data:image\/png;base64,/);
    expect(html).toContain('<p>Boxed &lt;text&gt;</p>');
    expect(html).toContain('<p>Chart: Sales by year</p>');
  });

  it.each([
    ["'Own data'!$B$1:$B$2", 'Chart: axes: Month; series: Rain', 1],
    ['Gone!$B$1:$B$2', 'Chart: axes: Month', 2],
    ['[1]Other!$B$1:$B$2', 'Chart: axes: Month', 2],
    ["'[book.xlsx]Own data'!$B$1:$B$2", 'Chart: axes: Month', 2],
  ])('shows the values of a chart unless they are in visible cells: %s', async (formula, line, count) => {
    const cache = (kind: string, values: readonly string[]) =>
      `<c:${kind}Ref><c:f>${formula}</c:f><c:${kind}Cache>${values.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join('')}</c:${kind}Cache></c:${kind}Ref>`;
    const title = (text: string) =>
      `<c:title><c:tx><c:rich><a:p><a:r><a:t>${text}</a:t></a:r></a:p></c:rich></c:tx></c:title>`;
    const series = `<c:ser><c:tx>${cache('str', ['Rain'])}</c:tx><c:cat>${cache('str', ['May', 'June'])}</c:cat><c:val>${cache('num', ['7', '9'])}</c:val></c:ser>`;
    const plot = `<c:autoTitleDeleted val="1"/><c:plotArea><c:barChart>${series}</c:barChart><c:catAx>${title('Month')}</c:catAx></c:plotArea>`;
    const html = await htmlOf({
      sheets: [
        {
          name: 'Own data',
          xml: `<sheetData>${rowsOf([
            ['May', 7],
            ['June', 9],
          ])}</sheetData><drawing r:id="d1"/>`,
          relationships: [['drawing', 'd1', '../drawings/drawing1.xml']],
        },
        { name: 'Gone', state: 'hidden', rows: rowsOf([['May', 7]]) },
      ],
      parts: {
        'xl/drawings/drawing1.xml': drawing,
        'xl/drawings/_rels/drawing1.xml.rels': relationships([['chart', 'c1', '../charts/chart1.xml']]),
        'xl/charts/chart1.xml': `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart>${plot}</c:chart></c:chartSpace>`,
      },
    });
    expect(html).toContain(`<p>${line}</p>`);
    const found = tablesOf(html);
    expect(found).toHaveLength(count);
    if (count === 2) {
      expect(found[1]).toEqual([
        ['#', '#Rain'],
        ['May', '7'],
        ['June', '9'],
      ]);
    }
  });
});

describe('hostile files', () => {
  it('never lets text become markup', async () => {
    const text = fc.string({
      unit: fc.constantFrom('<', '>', '&', '"', "'", '/', 'td', 'script', 'b', ' ', '_x003C_'),
    });
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const sheet = {
          name: escapeXml(value) || 'x',
          rows: rowsOf([
            ['k', 'v'],
            ['1', value],
          ]),
        };
        const { pages } = await read({ sheets: [sheet], strings: [`<t>${escapeXml(value)}</t>`] });
        const shown = value.replaceAll('_x003C_', '<').trim();
        expect(tablesOf(pages[0]!.html)[0]?.[1]?.[1] ?? '').toBe(shown);
        expect(pages[0]!.html).not.toMatch(/<(?!\/?(?:h2|table(?: role="table")?|thead|tbody|tr|th|td|p)>)/);
      }),
      { seed: 6, numRuns: 200 },
    );
  });

  it.each([
    ['no archive', new TextEncoder().encode('PK but not really')],
    ['an archive of something else', workbook({ sheets: [], parts: { 'xl/workbook.xml': '<html/>' } })],
    [
      'a binary workbook without its main part',
      workbook({ sheets: [], parts: { '_rels/.rels': relationships([['officeDocument', 'r', 'xl/workbook.bin']]) } }),
    ],
    ['a broken workbook', workbook({ sheets: [], parts: { 'xl/workbook.xml': '' } })],
  ])('calls %s damaged', async (_, bytes) => {
    expect(await faultOf(parse(bytes))).toBe('damaged');
  });

  it('gives what can be read of a broken sheet, and the other sheets', async () => {
    const broken = `<sheetData>${rowsOf([
      ['a', 1],
      ['b', 2],
    ])}</sheetData><oops`;
    const { pages, notes } = await read({
      sheets: [
        { name: 'Bad', xml: broken },
        { name: 'Good', rows: rowsOf([['c', 3]]) },
      ],
    });
    expect(pages[0]!.html).toContain('<td>b</td>');
    expect(pages[1]!.html).toContain('<td>c</td>');
    expect(notes).toEqual(['The sheet “Bad” could only be read in part']);
  });

  it('reads the sound part of a file that was cut off', async () => {
    const rows = Array.from({ length: 3000 }, (_, at) => [`row ${at}`, at * 7, `x${(at * 7919) % 1000}`]);
    const whole = workbook({ sheets: [{ rows: rowsOf(rows) }] });
    const { pages, notes } = await parse(whole.subarray(0, whole.length * 0.7));
    expect(pages[0]!.html).toContain('row 100');
    expect(notes.length).toBeGreaterThan(0);
  });

  it('keeps within bounds where a sheet says it is immense', async () => {
    const corners = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>';
    const merge = '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>';
    const cols = '<cols><col min="1" max="2000000000" width="5"/><col min="5" max="99999999" hidden="1"/></cols>';
    const { pages } = await read({ sheets: [{ xml: `${cols}<sheetData>${corners}</sheetData>${merge}` }] });
    expect(pages[0]!.html).toContain('1');
    expect(pages[0]!.html.length).toBeLessThan(2_000);
  });

  it('is not led to write millions of empty cells', async () => {
    const diagonal = Array.from(
      { length: 3_000 },
      (_, at) => `<row r="${at + 1}"><c r="${column(at)}${at + 1}"><v>7</v></c></row>`,
    );
    const { pages } = await read({ sheets: [{ rows: diagonal.join('') }] });
    expect(pages[0]!.html.length).toBeLessThan(33.6e6);
  });

  it('stops at 32 MiB of HTML and says so', async () => {
    const rows = Array.from({ length: 40_000 }, (_, at) => `<row><c t="s"><v>0</v></c><c><v>${at}</v></c></row>`).join(
      '',
    );
    const { pages, notes } = await read({ sheets: [{ rows }], strings: [`<t>${'x'.repeat(1000)}</t>`] });
    expect(notes).toEqual(['The sheet “Data” is too large to be shown in full: its end is missing']);
    expect(pages[0]!.html.length).toBeLessThan(33.6e6);
    expect(pages[0]!.html.endsWith('</table>\n')).toBe(true);
  });

  it('bounds what one text in very many cells becomes', async () => {
    const rows = '<row><c t="s"><v>0</v></c></row>'.repeat(20_000);
    const made = { sheets: [{ rows }], strings: [`<t>${'word '.repeat(400)}</t>`] };
    const { pages, notes } = await read(made);
    expect(pages[0]!.html.length).toBeLessThan(1.1 * Math.max(1024 ** 2, 100 * workbook(made).length));
    expect(notes).toEqual(['The sheet “Data” is too large to be shown in full: its end is missing']);
  });

  it('reads 20,000 merged cells', async () => {
    const refs = Array.from({ length: 20_000 }, (_, at) => `${at * 2 + 1}`);
    const rows = refs.map((at) => `<row r="${at}"><c r="A${at}"><v>1</v></c><c r="C${at}"><v>2</v></c></row>`).join('');
    const merges = refs.map((at) => `<mergeCell ref="A${at}:B${at}"/>`).join('');
    const { pages } = await read({
      sheets: [{ xml: `<sheetData>${rows}</sheetData><mergeCells>${merges}</mergeCells>` }],
    });
    expect(pages[0]!.html).toContain('<td');
  });

  it('reads several tables with all columns that a sheet can have', async () => {
    const wide = (at: number) => `<row r="${at}">${'<c t="str"><v>a</v></c><c><v>1</v></c>'.repeat(8_000)}</row>`;
    const rows = Array.from({ length: 4 }, (_, at) => wide(at * 3 + 1) + wide(at * 3 + 2)).join('');
    let count = 0;
    const { pages } = await read({ sheets: [{ rows: rows.replaceAll('a</v>', () => `n${count++}</v>`) }] });
    expect(pages[0]!.html.match(/<table/g)).toHaveLength(4);
  });

  it('refuses entities', async () => {
    const bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><sst><si><t>&b;</t></si></sst>';
    const { pages } = await read({
      sheets: [{ rows: '<row><c t="s"><v>0</v></c><c><v>1</v></c></row>' }],
      parts: { 'xl/sharedStrings.xml': bomb },
    });
    expect(pages[0]!.html).not.toContain('aaa');
  });
});

function column(index: number): string {
  return index < 26 ? String.fromCharCode(65 + index) : column(Math.floor(index / 26) - 1) + column(index % 26);
}
