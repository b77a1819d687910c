// Full run only: writes large files.
import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { elements, textOf } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';
import { faultOf, htmlOf, parse } from '../../parse.suite.ts';
import { documentXml, docx, type Parts, p, packageFiles, r, style, styled } from './docx.suite.ts';
import { kind } from './docx.ts';

const read = (body: string, parts?: Parts) => parse(kind, docx(body, parts));
const html = async (body: string, parts?: Parts) => htmlOf(await read(body, parts));

const faultWith = (bytes: Uint8Array) => faultOf(parse(kind, bytes));

describe('headings', () => {
  it('are told by outline level, by name, and by the styles below', async () => {
    const styles =
      style('berschrift1', 'heading 1', '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>') +
      style('Own', 'My heading', '<w:basedOn w:val="berschrift1"/>') +
      style('H3', 'heading 3') +
      style('T', 'Title') +
      style('Loop', 'Loop', '<w:basedOn w:val="Loop"/>');
    const found = await read(
      p('A book', styled('T')) +
        p('One', styled('berschrift1')) +
        p('Own', styled('Own')) +
        p('Three', styled('H3')) +
        p('Direct', '<w:outlineLvl w:val="1"/>') +
        p('Body', '<w:outlineLvl w:val="9"/>') +
        p('Loop', styled('Loop')),
      { styles },
    );
    expect(htmlOf(found).split('\n')).toEqual([
      '<h1>A book</h1>',
      '<h1>One</h1>',
      '<h1>Own</h1>',
      '<h3>Three</h3>',
      '<h2>Direct</h2>',
      '<p>Body</p>',
      '<p>Loop</p>',
    ]);
    expect(found.title).toBe('A book');
  });

  it('keep the number that shows, and lose the look of their style', async () => {
    const styles = style(
      'H1',
      'heading 1',
      '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:rPr><w:b/><w:i/></w:rPr>',
    );
    const numbering =
      '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="upperRoman"/><w:lvlText w:val="Part %1:"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>';
    expect(await html(p('Start', styled('H1')) + p('End', styled('H1')), { styles, numbering })).toBe(
      '<h1>Part I: Start</h1>\n<h1>Part II: End</h1>',
    );
  });
});

describe('runs', () => {
  it('carry their marks, nested as seldom as can be', async () => {
    const body = p(
      r('a ') +
        r('b ', '<w:b/>') +
        r('c', '<w:b/><w:i/>') +
        r(' d', '<w:b/>') +
        r(' e') +
        r('2', '<w:vertAlign w:val="superscript"/>') +
        r('gone', '<w:strike/>'),
    );
    expect(await html(body)).toBe('<p>a <b>b <i>c</i> d</b> e<sup>2</sup><s>gone</s></p>');
  });

  it('in a code font are code, unless all text is in one', async () => {
    const font = '<w:rFonts w:ascii="Consolas"/>';
    expect(await html(p(r('use ') + r('x = 1', font)))).toBe('<p>use <code>x = 1</code></p>');
    const styles = `<w:docDefaults><w:rPrDefault><w:rPr>${font}</w:rPr></w:rPrDefault></w:docDefaults>`;
    expect(await html(p(r('use ') + r('x = 1', font)), { styles })).toBe('<p>use x = 1</p>');
    expect(await html(p(r('let a', font)) + p(r('let b', font)))).toBe('<pre>let a\nlet b</pre>');
  });

  it('that nobody sees are left out and counted', async () => {
    const found = await read(
      p(
        r('seen') +
          r('vanished', '<w:vanish/>') +
          r('white', '<w:color w:val="FFFFFF"/>') +
          r('tiny', '<w:sz w:val="2"/>'),
      ) + p(r('on black', '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="000000"/>')),
    );
    expect(htmlOf(found)).toBe('<p>seen</p>\n<p>on black</p>');
    expect(found.hiddenCount).toBe(3);
  });

  it('that were changed show what is there now', async () => {
    const body = p(
      `${r('kept ')}<w:ins w:id="1">${r('new')}</w:ins><w:del w:id="2"><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom>${r('away')}</w:moveFrom>`,
    );
    const joined = `<w:p><w:pPr><w:rPr><w:del w:id="3"/></w:rPr></w:pPr>${r('first ')}</w:p>${p('second')}`;
    expect(await html(body + joined)).toBe('<p>kept new</p>\n<p>first second</p>');
  });

  it('hold tabs, breaks, symbols and readings', async () => {
    const ruby = `<w:r><w:ruby><w:rt>${r('とう')}</w:rt><w:rubyBase>${r('東')}</w:rubyBase></w:ruby></w:r>`;
    const body = p(
      `<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>${ruby}`,
    );
    expect(await html(body)).toBe('<p>a\tb<br>c-α✓<ruby>東<rt>とう</rt></ruby></p>');
  });
});

it('keeps the links of a paragraph in a style for code if its text has another font', async () => {
  const styles = style(
    'HTML',
    'HTML Preformatted',
    '<w:rPr><w:rFonts w:ascii="Courier New" w:hAnsi="Courier New"/></w:rPr>',
  );
  const body = (font: string) =>
    docx(
      `<w:p><w:pPr>${styled('HTML')}</w:pPr>${r('Write to ', font)}<w:hyperlink r:id="m">${r('a@b.example', font)}</w:hyperlink></w:p>`,
      { styles, related: [['m', 'hyperlink', 'mailto:a@b.example']] },
    );
  expect(htmlOf(await parse(kind, body('<w:rFonts w:ascii="Times New Roman"/>')))).toBe(
    '<p>Write to <a href="mailto:a@b.example">a@b.example</a></p>',
  );
  expect(htmlOf(await parse(kind, body('')))).toBe('<pre>Write to a@b.example</pre>');
});

describe('links', () => {
  const field = (instruction: string, text: string) =>
    `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>${instruction}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${r(text)}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;

  it('are those of the web and of mail', async () => {
    const related = [
      ['1', 'hyperlink', 'https://example.com/?a=1&amp;b=2'],
      ['2', 'hyperlink', 'javascript:alert(1)'],
      ['3', 'hyperlink', 'file:///etc/passwd'],
      ['4', 'hyperlink', 'mailto:a@example.com'],
    ] as const;
    const links = related.map(([id]) => `<w:hyperlink r:id="${id}">${r(`link ${id}`)}</w:hyperlink>`).join('');
    expect(await html(p(`${links}<w:hyperlink w:anchor="x">${r(' inside')}</w:hyperlink>`), { related })).toBe(
      '<p><a href="https://example.com/?a=1&amp;b=2">link 1</a>link 2link 3<a href="mailto:a@example.com">link 4</a> inside</p>',
    );
  });

  it('may be fields, whose instructions are not shown', async () => {
    const body = p(
      `${field(' HYPERLINK "https://example.com/x" \\o "tip" ', 'there')}${r(' on page ')}${field(' PAGE ', '7')}`,
    );
    expect(await html(body)).toBe('<p><a href="https://example.com/x">there</a> on page 7</p>');
    expect(await html(p(`<w:fldSimple w:instr="HYPERLINK https://example.com/y">${r('y')}</w:fldSimple>`))).toBe(
      '<p><a href="https://example.com/y">y</a></p>',
    );
  });
});

describe('lists', () => {
  const level = (at: number, format: string, text: string, more = '') =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/>${more}</w:lvl>`;
  const abstract = (id: number, ...levels: string[]) =>
    `<w:abstractNum w:abstractNumId="${id}">${levels.join('')}</w:abstractNum>`;
  const num = (id: number, of: number, more = '') =>
    `<w:num w:numId="${id}"><w:abstractNumId w:val="${of}"/>${more}</w:num>`;
  const item = (text: string, numId: number, ilvl = 0, more = '') =>
    p(text, `<w:numPr><w:ilvl w:val="${ilvl}"/><w:numId w:val="${numId}"/></w:numPr>${more}`);
  const numbering =
    abstract(0, level(0, 'decimal', '%1.'), level(1, 'lowerLetter', '%2)'), level(2, 'bullet', '•')) +
    abstract(1, level(0, 'decimal', '%1.'), level(1, 'decimal', '%1.%2')) +
    num(1, 0) +
    num(2, 0, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>') +
    num(3, 1);

  it('are nested by their levels and go on after text', async () => {
    const body =
      item('one', 1) +
      item('a', 1, 1) +
      item('dot', 1, 2) +
      item('b', 1, 1) +
      item('two', 1) +
      p('between') +
      item('three', 1) +
      item('five', 2) +
      item('six', 2);
    expect(await html(body, { numbering })).toBe(
      '<ol><li>one<ol><li>a<ul><li>dot</li></ul></li>\n<li>b</li></ol></li>\n<li>two</li></ol>\n<p>between</p>\n<ol start="3"><li>three</li>\n<li value="5">five</li>\n<li>six</li></ol>',
    );
  });

  it('keep a number that Markdown cannot write', async () => {
    expect(await html(item('one', 3) + item('first', 3, 1) + item('second', 3, 1), { numbering })).toBe(
      '<ol><li>one<ul><li>1.1 first</li>\n<li>1.2 second</li></ul></li></ol>',
    );
  });

  it('take in paragraphs that are indented like their items', async () => {
    const indent = '<w:ind w:left="720"/>';
    expect(
      await html(item('one', 1, 0, indent) + p('more', indent) + item('two', 1, 0, indent) + p('out'), { numbering }),
    ).toBe('<ol><li>one<p>more</p></li>\n<li>two</li></ol>\n<p>out</p>');
  });

  it('are none where numbering is taken away or unknown', async () => {
    expect(await html(item('a', 0) + item('b', 99), { numbering })).toBe('<p>a</p>\n<p>b</p>');
  });
});

describe('tables', () => {
  const cell = (content: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${content}</w:tc>`;
  const row = (...cells: string[]) => `<w:tr>${cells.join('')}</w:tr>`;
  const table = (...rows: string[]) => `<w:tbl><w:tblPr/>${rows.join('')}</w:tbl>`;

  it('keep merged cells', async () => {
    const body = table(
      row(cell(p('a'), '<w:gridSpan w:val="2"/>'), cell(p('b'))),
      row(cell(p('c'), '<w:vMerge w:val="restart"/>'), cell(p('1')), cell(p('2'))),
      row(cell(p(''), '<w:vMerge/>'), cell(p('3')), cell(p('4'))),
    );
    expect(await html(body)).toBe(
      '<table><thead><tr><th colspan="2">a</th><th>b</th></tr></thead><tbody><tr><td rowspan="2">c</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></tbody></table>',
    );
  });

  const small = table(row(cell(p('k')), cell(p('v'))), row(cell(p('l')), cell(p('w'))));
  const smallHtml =
    '<table><thead><tr><th>k</th><th>v</th></tr></thead><tbody><tr><td>l</td><td>w</td></tr></tbody></table>';

  it('in tables follow them, and are lines if they have one row', async () => {
    const outer = (inner: string) =>
      table(row(cell(p('x')), cell(p('y'))), row(cell(p('see') + inner + p('')), cell(p('z'))));
    expect(await html(outer(small))).toBe(
      `<table><thead><tr><th>x</th><th>y</th></tr></thead><tbody><tr><td>see<br>(nested table 1)</td><td>z</td></tr></tbody></table>\n<p>Nested table 1:</p>\n${smallHtml}`,
    );
    expect(await html(outer(table(row(cell(p('k')), cell(p('v'))))))).toContain('<td>see<br>k: v</td>');
  });

  it('in tables in tables follow both', async () => {
    const around = (inner: string) => table(row(cell(p('x')), cell(p('y'))), row(cell(inner + p('')), cell(p('z'))));
    const found = await html(around(around(small)));
    expect(found.match(/<table>/g)).toHaveLength(3);
    expect(found).toMatch(/<td>\(nested table 2\)<\/td>.*\n<p>Nested table 2:.*\n.*<td>\(nested table 1\)<\/td>/);
    expect(found).toContain(`<p>Nested table 1:</p>\n${smallHtml}`);
  });

  it('that only arrange tables and headings are replaced with their content', async () => {
    const titled = row(cell(p('Prices', '<w:outlineLvl w:val="1"/>')), cell(p('')));
    expect(await html(table(titled, row(cell(small + p('')), cell(p('more')))))).toBe(
      `<h2>Prices</h2>\n${smallHtml}\n<p>more</p>`,
    );
    expect(await html(table(row(cell(p('only') + table(row(cell(p('1')), cell(p('2')))) + p('end')))))).toBe(
      '<p>only</p>\n<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>\n<p>end</p>',
    );
    expect(await html(table(row(cell(p('a'))), row(cell(small + p('')))))).toBe(`<p>a</p>\n${smallHtml}`);
  });

  it('keep a row that is covered by merged cells', async () => {
    const merged = (kind: string) => `<w:vMerge${kind}/>`;
    const body = table(
      row(cell(p('a'), merged(' w:val="restart"')), cell(p('b'), merged(' w:val="restart"'))),
      row(cell(p(''), merged('')), cell(p(''), merged(''))),
      row(cell(p('c')), cell(p('d'))),
    );
    expect(await html(body)).toBe(
      '<table><thead><tr><th rowspan="2">a</th><th rowspan="2">b</th></tr></thead><tbody><tr></tr><tr><td>c</td><td>d</td></tr></tbody></table>',
    );
  });

  it('leave out rows that are hidden or deleted', async () => {
    const found = await read(
      table(
        row(cell(p('a'))),
        `<w:tr><w:trPr><w:hidden/></w:trPr>${cell(p('b'))}</w:tr>`,
        `<w:tr><w:trPr><w:del w:id="1"/></w:trPr>${cell(p('c'))}</w:tr>`,
        row(cell(p('d'))),
      ),
    );
    expect(htmlOf(found)).toBe('<table><tbody><tr><td>a</td></tr><tr><td>d</td></tr></tbody></table>');
    expect(found.hiddenCount).toBe(1);
  });
});

describe('content outside the text', () => {
  const PNG = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const drawing = (id: string, description: string) =>
    `<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="${description}"/><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:embed="${id}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`;

  it('is a picture with its text, or the text alone', async () => {
    const related = [
      ['1', 'image', 'media/a.png'],
      ['2', 'image', 'media/b.emf'],
      ['3', 'image', 'https://example.com/x.png'],
    ] as const;
    const files = { 'word/media/a.png': PNG, 'word/media/b.emf': strToU8('\x01\x00\x00\x00') };
    expect(
      await html(p(drawing('1', 'A &quot;dot&quot;')) + p(drawing('2', 'A chart')) + p(drawing('3', 'Far')), {
        related,
        files,
      }),
    ).toBe(
      `<p><img alt="A &quot;dot&quot;" src="data:image/png;base64,${PNG.toString('base64')}"></p>\n<p>A chart</p>\n<p>Far</p>`,
    );
  });

  it('is a text box, once', async () => {
    const box = (text: string) => `<w:txbxContent>${p(text)}</w:txbxContent>`;
    const body = p(
      `${r('around')}<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><wp:docPr id="1" name="Box"/><a:graphic><a:graphicData><wps:wsp><wps:txbx>${box('inside')}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>${box('inside')}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>${r(' it')}`,
    );
    expect(await html(body)).toBe('<p>around it</p>\n<p>inside</p>');
  });

  it('is a formula', async () => {
    const run = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
    const fraction = `<m:f><m:num>${run('a+1')}</m:num><m:den>${run('2')}</m:den></m:f>`;
    expect(await html(p(`<m:oMathPara><m:oMath>${run('x=')}${fraction}</m:oMath></m:oMathPara>`))).toBe(
      '<p><math display="block"><mi>x</mi><mo>=</mo><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac></math></p>',
    );
  });

  it('is a note, at the end of its page', async () => {
    const footnotes = `<w:footnote w:id="-1" w:type="separator">${p('---')}</w:footnote><w:footnote w:id="2">${p(`<w:r><w:footnoteRef/></w:r>${r('The note.')}`)}</w:footnote>`;
    const body =
      p(`${r('Text')}<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:footnoteReference w:id="9"/></w:r>`) +
      p(`<w:r><w:br w:type="page"/></w:r>${r('Next')}`);
    const found = await read(body, { footnotes });
    expect(found.pages.map((page) => page.html)).toEqual([
      '<p>Text<sup><a href="#fn-1" id="fnref-1">1</a></sup></p>\n<ol><li id="fn-1">The note.</li></ol>',
      '<p>Next</p>',
    ]);
  });
});

it('writes a note once, however often it is referred to', async () => {
  const reference = '<w:r><w:footnoteReference w:id="2"/></w:r>';
  const footnotes = `<w:footnote w:id="2">${p(`${r('The note')}${reference}`)}</w:footnote>`;
  expect(await html(p(`${r('a')}${reference}${r('b')}${reference}`), { footnotes })).toBe(
    '<p>a<sup><a href="#fn-1" id="fnref-1">1</a></sup>b<sup><a href="#fn-1">1</a></sup></p>\n<ol><li id="fn-1">The note</li></ol>',
  );
});

describe('objects in the text', () => {
  const drawing = (content: string) =>
    `<w:p>${r('Before')}<w:r><w:drawing><wp:inline><wp:docPr id="1" name="x" descr="Chart 1"/><a:graphic><a:graphicData>${content}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>${p('After')}`;

  it('gives the values of a chart as a table', async () => {
    const points = (values: readonly string[]) =>
      values.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join('');
    const chart = `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Heat</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:v>Kiln</c:v></c:tx><c:cat><c:strLit>${points(['May', 'June'])}</c:strLit></c:cat><c:val><c:numLit>${points(['3', '4.5'])}</c:numLit></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`;
    const body = drawing('<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="c"/>');
    const parts = { related: [['c', 'chart', 'chart1.xml']] as const, files: { 'word/chart1.xml': strToU8(chart) } };
    expect((await html(body, parts)).replace(/\n+/g, '')).toBe(
      '<p>Before</p><p><b>Heat</b></p><table><thead><tr><th></th><th>Kiln</th></tr></thead><tbody><tr><td>May</td><td>3</td></tr><tr><td>June</td><td>4.5</td></tr></tbody></table><p>After</p>',
    );
  });

  it('gives the texts of SmartArt as a list', async () => {
    const point = (id: string, text: string, type = 'node') =>
      `<dgm:pt modelId="${id}" type="${type}"><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`;
    const link = (from: string, to: string, order: number) =>
      `<dgm:cxn modelId="x${to}" srcId="${from}" destId="${to}" srcOrd="${order}"/>`;
    const data = `<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst>${point('0', '', 'doc')}${point('2', 'Fire')}${point('1', 'Shape')}</dgm:ptLst><dgm:cxnLst>${link('0', '1', 0)}${link('0', '2', 1)}</dgm:cxnLst></dgm:dataModel>`;
    const body = drawing('<dgm:relIds xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" r:dm="d"/>');
    const parts = { related: [['d', 'diagramData', 'data1.xml']] as const, files: { 'word/data1.xml': strToU8(data) } };
    expect((await html(body, parts)).replace(/\n+/g, '')).toContain('<ul><li>Shape</li><li>Fire</li></ul>');
  });
});

describe('pages', () => {
  const rendered = '<w:r><w:lastRenderedPageBreak/></w:r>';

  it('are those that Word has counted, when it has', async () => {
    const bytes = docx(
      p('one') +
        p(`${r('split ')}${rendered}${r('paragraph')}`) +
        p(`${rendered}${r('three')}`) +
        p('<w:r><w:br w:type="page"/></w:r>') +
        p(`${rendered}${r('four')}`),
    );
    const found = await parse(kind, bytes);
    expect(found.pages.map((page) => [page.number, page.html])).toEqual([
      [1, '<p>one</p>\n<p>split paragraph</p>'],
      [2, ''],
      [3, '<p>three</p>'],
      [4, '<p>four</p>'],
    ]);
    expect(found.pageCount).toBe(4);
    expect((await parse(kind, bytes, 3)).pages).toEqual([{ number: 3, html: '<p>three</p>' }]);
    expect((await parse(kind, bytes, 9)).pages).toHaveLength(4);
  });

  it('are one when nothing breaks them', async () => {
    expect((await read(p('one'))).pageCount).toBeUndefined();
  });
});

it('says what the document says about itself', async () => {
  const found = await read(p('x'), {
    core: '<dc:title>A  title</dc:title><dc:creator>Ann</dc:creator><cp:keywords>k</cp:keywords><dcterms:created>2020-01-02T03:04:05Z</dcterms:created><dcterms:modified>2021-01-02T03:04:05Z</dcterms:modified>',
  });
  expect(found.title).toBe('A title');
  expect(found.metadata).toMatchObject({ creator: 'Ann', keywords: 'k', created: '2020-01-02T03:04:05Z' });
  expect(found.publishedTime).toBe('2021-01-02T03:04:05.000Z');
});

it('reads the strict kind and the one of a single file', async () => {
  const strict = documentXml(p('strict')).replaceAll(
    'http://schemas.openxmlformats.org/wordprocessingml/2006/main',
    'http://purl.oclc.org/ooxml/wordprocessingml/main',
  );
  const files = packageFiles('');
  expect(htmlOf(await parse(kind, zipSync({ ...files, 'word/document.xml': strToU8(strict) })))).toBe('<p>strict</p>');
  const parts = Object.entries(packageFiles(p('flat'))).map(
    ([name, bytes]) =>
      `<pkg:part pkg:name="/${name}"><pkg:xmlData>${new TextDecoder().decode(bytes).replace(/^<\?xml.*?\?>/, '')}</pkg:xmlData></pkg:part>`,
  );
  const flat = `<?xml version="1.0"?><pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">${parts.join('')}</pkg:package>`;
  expect(htmlOf(await parse(kind, strToU8(flat)))).toBe('<p>flat</p>');
});

it('makes a list of a table of contents', async () => {
  const styles = style('V1', 'toc 1') + style('V2', 'toc 2');
  const line = (text: string, page: string, id: string) =>
    p(`<w:r><w:t>${text}</w:t><w:tab/></w:r>${r(page)}`, styled(id));
  expect(await html(line('One', '3', 'V1') + line('Deep', '14', 'V2'), { styles })).toBe(
    '<ul><li>One<ul><li>Deep</li></ul></li></ul>',
  );
});

describe('bad files', () => {
  it('are damaged when they are something else', async () => {
    expect(await faultWith(strToU8('no document'))).toBe('damaged');
    expect(await faultWith(zipSync({ 'a.txt': strToU8('x') }))).toBe('damaged');
    expect(await faultWith(zipSync({ 'word/document.xml': strToU8('<html><body><p>x</p></body></html>') }))).toBe(
      'damaged',
    );
    expect(await faultWith(strToU8('<?xml version="1.0"?><package/>'))).toBe('damaged');
  });

  it('that are cut off give what is left, and say so', async () => {
    const paragraphs = Array.from({ length: 3_000 }, (_, n) => p(`Paragraph ${n} ${Math.imul(n, 2654435761)}`));
    const files = packageFiles(paragraphs.join(''));
    const ordered = zipSync({ '_rels/.rels': files['_rels/.rels']!, 'word/document.xml': files['word/document.xml']! });
    const found = await parse(kind, ordered.subarray(0, ordered.length * 0.6));
    expect(htmlOf(found)).toContain('<p>Paragraph 1000 ');
    expect(htmlOf(found)).not.toContain('<p>Paragraph 2999 ');
    expect(found.notes).toEqual(['The document is damaged: the part after the damage is missing']);
  });

  it('that explode are too large', async () => {
    const bomb = p('x').repeat(10) + ' '.repeat(30_000_000);
    expect(await faultWith(docx(bomb))).toBe('too large');
    expect(await faultWith(docx('<w:p>'.repeat(100_000)))).toBe('too large');
    expect(await faultWith(docx(`<w:tbl><w:tr><w:tc>`.repeat(400)))).toBe('too large');
  });

  it('define no entities', async () => {
    const files = packageFiles('');
    const laughs = `<!DOCTYPE x [<!ENTITY a "ha">]>${documentXml(p('&a;')).replace(/^<\?xml.*?\?>/, '')}`;
    expect(await faultWith(zipSync({ ...files, 'word/document.xml': strToU8(laughs) }))).toBe('damaged');
  });
});

it('reads 100,000 paragraphs', async () => {
  const found = await read(Array.from({ length: 100_000 }, (_, n) => `<w:p><w:r><w:t>${n}</w:t></w:r></w:p>`).join(''));
  expect(htmlOf(found)).toMatch(/^<p>0<\/p>\n<p>1<\/p>[\s\S]*<p>99999<\/p>$/);
}, 60_000);

it('cuts its HTML at the limit', async () => {
  const files = packageFiles(Array.from({ length: 40 }, (_, n) => p(`${n} `.repeat(400_000))).join(''));
  const found = await parse(kind, zipSync(files, { level: 0 }));
  expect(htmlOf(found).length).toBeGreaterThan(16 * 1024 * 1024);
  expect(htmlOf(found).length).toBeLessThan(32 * 1024 * 1024);
  expect(found.notes).toEqual(['The document is too long: its end is missing']);
}, 120_000);

it('never turns text into markup', async () => {
  const nasty = fc.string({
    unit: fc.constantFrom('<', '>', '&', '"', "'", 'b', '/', ' ', 'script', '\u0007', '&lt;', '=', 'x'),
    minLength: 1,
  });
  const written = (text: string) =>
    text.replace(/[&<>"]/g, (unit) => `&#${unit.charCodeAt(0)};`).replaceAll('\u0007', '');
  await fc.assert(
    fc.asyncProperty(nasty, nasty, async (text, other) => {
      const body =
        p(r(written(text), '<w:b/>') + r(written(other))) +
        `<w:tbl><w:tr><w:tc>${p(r(written(other)))}</w:tc><w:tc>${p('x')}</w:tc></w:tr></w:tbl>`;
      const tree = parseFragment(await html(body));
      const names = new Set([...elements(tree)].map(({ name }) => name));
      for (const name of names) expect(['p', 'b', 'table', 'tbody', 'tr', 'td']).toContain(name);
      const plain = (value: string) => value.replace(/[\s\u0007]+/g, '');
      expect(plain(textOf(tree))).toBe(plain(`${text + other + other}x`));
    }),
    { seed: 11, numRuns: 300 },
  );
});
