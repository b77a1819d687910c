import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOf, parse as parseAs } from '../../parse.suite.ts';
import { tablesOf } from '../sheet/tables.suite.ts';
import { escapeXml } from '../sheet/workbook.suite.ts';
import { deck, type HandMadeDeck, type HandMadeSlide, NAMESPACES, paragraph, shape, xfrm } from './deck.suite.ts';
import { kind } from './pptx.ts';

const parse = (bytes: Uint8Array, page?: number) => parseAs(kind, bytes, page);
const read = (made: HandMadeDeck, page?: number) => parse(deck(made), page);
const slide = async (shapes: string, more: Partial<HandMadeDeck & HandMadeSlide> = {}) => {
  const { pages } = await read({ ...more, slides: [{ ...more, shapes }] });
  return pages[0]!.html;
};
const bullets = [1, 2, 3].map((level) => `<a:lvl${level}pPr><a:buChar char="•"/></a:lvl${level}pPr>`).join('');
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('text', () => {
  it('puts the title first and takes points from the master', async () => {
    const html = await slide(
      shape({ index: 1, text: paragraph('one') + paragraph('two', 1) + paragraph('three', 2) + paragraph('four') }) +
        shape({ type: 'ctrTitle', text: paragraph('The title') }),
      { styles: `<p:bodyStyle>${bullets}</p:bodyStyle>` },
    );
    expect(html.replace(/\n/g, '')).toBe(
      '<h2>The title</h2><ul><li>one<ul><li>two<ul><li>three</li></ul></li></ul></li><li>four</li></ul>',
    );
  });

  it('lets the layout, the shape and the paragraph overrule it', async () => {
    const html = await slide(
      shape({ type: 'subTitle', index: 1, text: paragraph('plain by layout') }) +
        shape({ index: 2, style: '<a:lvl1pPr><a:buNone/></a:lvl1pPr>', text: paragraph('plain by shape') }) +
        shape({ index: 3, text: paragraph('plain itself', 0, '<a:buNone/>') + paragraph('a point') }),
      {
        layout: shape({ type: 'subTitle', index: 1, text: '<a:p/>', style: '<a:lvl1pPr><a:buNone/></a:lvl1pPr>' }),
        styles: `<p:bodyStyle>${bullets}</p:bodyStyle>`,
      },
    );
    expect(html.replace(/\n/g, '')).toBe(
      '<p>plain by layout</p><p>plain by shape</p><p>plain itself</p><ul><li>a point</li></ul>',
    );
  });

  it('numbers points, from where they start, and goes on after points under them', async () => {
    const number = (start = '') => `<a:buAutoNum type="arabicPeriod" ${start}/>`;
    const html = await slide(
      shape({
        text:
          paragraph('four', 0, number('startAt="4"')) +
          paragraph('under', 1, '<a:buChar char="-"/>') +
          paragraph('five', 0, number('startAt="4"')),
      }),
    );
    expect(html.replace(/\n/g, '')).toBe('<ol start="4"><li>four<ul><li>under</li></ul></li><li>five</li></ol>');
  });

  it('keeps marks and links to the web', async () => {
    const run = (text: string, properties: string, inner = '') =>
      `<a:r><a:rPr ${properties}>${inner}</a:rPr><a:t>${text}</a:t></a:r>`;
    const html = await slide(
      shape({
        text: `<a:p>${run('b', 'b="1"')}${run('i', 'i="1"')}${run('2', 'baseline="30000"')}<a:br/>${run('web', '', '<a:hlinkClick r:id="l1"/>')}${run(' file', '', '<a:hlinkClick r:id="l2"/>')}${run(' jump', '', '<a:hlinkClick r:id="" action="ppaction://hlinkshowjump"/>')}</a:p>`,
      }),
      {
        relationships: [
          ['hyperlink', 'l1', 'https://a.example/'],
          ['hyperlink', 'l2', 'file:///etc/passwd'],
        ],
      },
    );
    expect(html).toBe('<p><b>b</b><i>i</i><sup>2</sup><br><a href="https://a.example/">web</a> file jump</p>');
  });

  it('keeps formulas', async () => {
    const math = `<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>`;
    const holder = `<m xmlns="http://schemas.microsoft.com/office/drawing/2010/main">${math}</m>`;
    const html = await slide(shape({ text: `<a:p><a:r><a:t>half: </a:t></a:r>${holder}</a:p>` }));
    expect(html).toMatch(/^<p>half: <math>.*<mfrac>.*<\/math><\/p>$/);
  });

  it('drops dates, footers and slide numbers, and what is hidden or beside the slide', async () => {
    const { pages, hiddenCount } = await read({
      slides: [
        {
          shapes:
            ['dt', 'ftr', 'sldNum'].map((type) => shape({ type, index: 9, text: paragraph(type) })).join('') +
            shape({ text: paragraph('hidden'), facts: 'hidden="1"' }) +
            shape({ text: paragraph('beside'), place: [1200, 0, 100, 100] }) +
            shape({ text: `<a:p><a:r><a:t>kept </a:t></a:r><a:fld type="slidenum"><a:t>9</a:t></a:fld></a:p>` }),
        },
        { shapes: shape({ text: paragraph('no show') }), attributes: 'show="0"' },
      ],
    });
    expect(pages.map(({ html }) => html)).toEqual([expect.stringMatching(/^<p>kept ?<.p>$/)]);
    expect(hiddenCount).toBe(3);
  });

  it('writes notes behind the slide', async () => {
    const html = await slide(shape({ text: paragraph('seen') }), { notes: paragraph('said') + paragraph('more') });
    expect(html).toBe('<p>seen</p>\n<blockquote><p>said</p><p>more</p></blockquote>');
  });
});

describe('positions', () => {
  it('reads groups and placeholders by where they stand', async () => {
    const group = `<p:grpSp><p:nvGrpSpPr><p:cNvPr id="3" name="g"/></p:nvGrpSpPr><p:grpSpPr><a:xfrm><a:off x="0" y="100"/><a:ext cx="400" cy="100"/><a:chOff x="0" y="0"/><a:chExt cx="40" cy="10"/></a:xfrm></p:grpSpPr>${
      shape({ text: paragraph('right'), place: [20, 0, 20, 10] }) +
      shape({ text: paragraph('left'), place: [0, 0, 20, 10] })
    }</p:grpSp>`;
    const html = await slide(
      shape({ text: paragraph('last'), place: [0, 300, 400, 50] }) +
        group +
        shape({ index: 4, text: paragraph('first') }),
      { layout: shape({ index: 4, text: '<a:p/>', place: [0, 0, 400, 50] }) },
    );
    expect(html.replace(/<\/?p>/g, '').split('\n')).toEqual(['first', 'left', 'right', 'last']);
  });
});

describe('graphics', () => {
  const frame = (content: string) =>
    `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" name="f" descr="What it shows"/></p:nvGraphicFramePr>${xfrm([0, 0, 100, 100], 'p:xfrm')}<a:graphic><a:graphicData>${content}</a:graphicData></a:graphic></p:graphicFrame>`;

  it('reads tables with merged cells', async () => {
    const cell = (text: string, more = '') =>
      `<a:tc ${more}><a:txBody><a:bodyPr/>${text === '' ? '<a:p/>' : paragraph(text)}</a:txBody></a:tc>`;
    const html = await slide(
      frame(
        `<a:tbl><a:tblPr firstRow="1"/><a:tr>${cell('Head', 'gridSpan="2"')}${cell('', 'hMerge="1"')}</a:tr><a:tr>${cell('a', 'rowSpan="2"')}${cell('b')}</a:tr><a:tr>${cell('', 'vMerge="1"')}${cell('c')}</a:tr></a:tbl>`,
      ),
    );
    expect(html).toContain('<thead><tr><th colspan="2">Head</th></tr></thead>');
    expect(html).toContain('<tr><td rowspan="2">a</td><td>b</td></tr><tr><td>c</td></tr>');
  });

  it('reads charts as tables of the values that they keep', async () => {
    const cache = (kind: string, values: readonly (string | number)[], code = '') =>
      `<c:${kind}Ref><c:f>Sheet1!A1</c:f><c:${kind}Cache>${code && `<c:formatCode>${code}</c:formatCode>`}<c:ptCount val="${values.length}"/>${values.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join('')}</c:${kind}Cache></c:${kind}Ref>`;
    const series = (name: string, values: readonly number[]) =>
      `<c:ser><c:tx>${cache('str', [name])}</c:tx><c:cat>${cache('str', ['Q1', 'Q2 &amp; Q3'])}</c:cat><c:val>${cache('num', values, '0.0%')}</c:val></c:ser>`;
    const chart = `<c:chartSpace ${NAMESPACES}><c:chart><c:title><c:tx><c:rich>${paragraph('Shares')}</c:rich></c:tx></c:title><c:plotArea><c:barChart>${series('East', [0.1, 0.25])}${series('West', [0.3, 0.5])}</c:barChart></c:plotArea></c:chart></c:chartSpace>`;
    const html = await slide(frame('<c:chart r:id="c1"/>'), {
      relationships: [['chart', 'c1', '../charts/chart1.xml']],
      parts: { 'ppt/charts/chart1.xml': chart },
    });
    expect(html).toContain('<p><b>Shares</b></p>');
    expect(tablesOf(html)).toEqual([
      [
        ['#', '#East', '#West'],
        ['Q1', '10.0%', '30.0%'],
        ['Q2 & Q3', '25.0%', '50.0%'],
      ],
    ]);
  });

  it('gives the series of a scatter chart their own columns of categories', async () => {
    const numbers = (tag: string, values: readonly number[]) =>
      `<c:${tag}><c:numLit>${values.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join('')}</c:numLit></c:${tag}>`;
    const series = (name: string, x: readonly number[], y: readonly number[]) =>
      `<c:ser><c:tx><c:v>${name}</c:v></c:tx>${numbers('xVal', x)}${numbers('yVal', y)}</c:ser>`;
    const axis = (text: string) =>
      `<c:valAx><c:title><c:tx><c:rich>${paragraph(text)}</c:rich></c:tx></c:title></c:valAx>`;
    const plots = `<c:scatterChart>${series('East', [1, 2], [5, 6])}${series('West', [1], [7])}${series('North', [3, 4, 5], [8, 9, 10])}</c:scatterChart>`;
    const html = await slide(frame('<c:chart r:id="c1"/>'), {
      relationships: [['chart', 'c1', '../charts/chart1.xml']],
      parts: {
        'ppt/charts/chart1.xml': `<c:chartSpace ${NAMESPACES}><c:chart><c:plotArea>${plots}${axis('Days')}${axis('Tons')}</c:plotArea></c:chart></c:chartSpace>`,
      },
    });
    expect(html).toContain('<p>Axes: Days, Tons</p>');
    expect(tablesOf(html)).toEqual([
      [
        ['#', '#East', '#West', '#', '#North'],
        ['1', '5', '7', '3', '8'],
        ['2', '6', '', '4', '9'],
        ['', '', '', '5', '10'],
      ],
    ]);
  });

  it('reads SmartArt as a list', async () => {
    const point = (id: string, text: string, type = 'node') =>
      `<dgm:pt modelId="${id}" type="${type}"><dgm:t><a:bodyPr/>${paragraph(text)}</dgm:t></dgm:pt>`;
    const link = (from: string, to: string, order: number) =>
      `<dgm:cxn modelId="l${from}${to}" srcId="${from}" destId="${to}" srcOrd="${order}"/>`;
    const model = `<dgm:dataModel ${NAMESPACES}><dgm:ptLst><dgm:pt modelId="0" type="doc"/>${point('2', 'Two')}${point('1', 'One')}${point('3', 'Under one')}${point('9', 'arrow', 'sibTrans')}</dgm:ptLst><dgm:cxnLst>${link('0', '2', 1)}${link('0', '1', 0)}${link('1', '3', 0)}${link('3', '1', 0)}</dgm:cxnLst></dgm:dataModel>`;
    const html = await slide(frame('<dgm:relIds r:dm="d1"/>'), {
      relationships: [['diagramData', 'd1', '../diagrams/data1.xml']],
      parts: { 'ppt/diagrams/data1.xml': model },
    });
    expect(html).toBe('<ul><li>One<ul><li>Under one</li></ul></li><li>Two</li></ul>');
  });

  it('shows pictures with their alt text, and what else can only be told', async () => {
    const picture = (more: string) =>
      `<p:pic><p:nvPicPr><p:cNvPr id="6" name="p" ${more}</p:nvPicPr><p:blipFill><a:blip r:embed="i1"/></p:blipFill></p:pic>`;
    const decorative =
      '><a:extLst><a:ext><d:decorative xmlns:d="http://schemas.microsoft.com/office/drawing/2017/decorative" val="1"/></a:ext></a:extLst></p:cNvPr>';
    const html = await slide(picture('descr="A &lt;ship&gt;"/>') + picture(decorative) + frame('<p:oleObj/>'), {
      relationships: [['image', 'i1', '../media/image1.png']],
      parts: { 'ppt/media/image1.png': pixel },
    });
    expect(html).toMatch(
      /^<p><img alt="A &lt;ship&gt;" src="data:image\/png;base64,[^"]+"><\/p>\n<p>What it shows<\/p>$/,
    );
  });

  it('reads what newer programs draw once', async () => {
    const both = `<mc:AlternateContent><mc:Choice Requires="p14">${shape({ text: paragraph('new') })}</mc:Choice><mc:Fallback>${shape({ text: paragraph('old') })}</mc:Fallback></mc:AlternateContent>`;
    expect(await slide(both)).toBe('<p>new</p>');
    expect(await slide(both.replace('p14', 'cx1'))).toBe('<p>old</p>');
  });
});

describe('the document', () => {
  it('is named after its first slide when it only has the name that every file has', async () => {
    const core =
      '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>PowerPoint Presentation</dc:title><dc:creator>Ann</dc:creator></cp:coreProperties>';
    const rels =
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="x/officeDocument" Target="ppt/presentation.xml"/><Relationship Id="b" Type="x/core-properties" Target="docProps/core.xml"/></Relationships>';
    const slides = [
      { shapes: shape({ type: 'title', text: paragraph('A &amp; B') }) },
      { shapes: shape({ text: paragraph('x') }) },
    ];
    const made = { slides, parts: { '_rels/.rels': rels, 'docProps/core.xml': core } };
    expect(await read(made)).toMatchObject({ title: 'A & B', metadata: { creator: 'Ann' } });
    expect(await read(made, 2)).toMatchObject({
      title: 'A & B',
      pageCount: 2,
      pages: [{ number: 2, html: '<p>x</p>' }],
    });
    expect((await read(made, 3)).pages).toHaveLength(2);
  });
});

describe('hostile files', () => {
  it('never lets text become markup', async () => {
    const text = fc.string({ unit: fc.constantFrom('<', '>', '&', '"', "'", '/', 'img', 'script', 'b', ' ') });
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const written = escapeXml(value);
        const html = await slide(
          shape({ type: 'title', text: paragraph(written) }) +
            shape({ text: paragraph(written, 0, '<a:buChar char="x"/>') }),
          { notes: paragraph(written) },
        );
        expect(html).not.toMatch(/<(?!\/?(?:h2|ul|li|p|blockquote)>)/);
      }),
      { seed: 9, numRuns: 200 },
    );
  });

  it.each([
    ['no archive', new TextEncoder().encode('PK')],
    ['another kind of file', deck({ slides: [], parts: { 'ppt/presentation.xml': '<html/>' } })],
  ])('calls %s damaged', async (_, bytes) => {
    expect(await faultOf(parse(bytes))).toBe('damaged');
  });

  it('reads the other slides when one is missing, and the sound part of a broken one', async () => {
    const slides = ['one', 'two', 'three'].map((text) => ({ shapes: shape({ text: paragraph(text) }) }));
    const broken = `<p:sld ${NAMESPACES}><p:cSld><p:spTree>${shape({ text: paragraph('half') })}<p:sp><p:txB`;
    const { pages, notes } = await read({
      slides,
      parts: { 'ppt/slides/slide0.xml': '', 'ppt/slides/slide2.xml': broken },
    });
    expect(pages.map(({ html }) => html)).toEqual(['<p>two</p>', '<p>half</p>']);
    expect(notes).toEqual(['Slide 1 could not be read']);
  });

  it('ends with groups inside groups, and with thousands of shapes', async () => {
    const deep = '<p:grpSp>'.repeat(900) + shape({ text: paragraph('deep') }) + '</p:grpSp>'.repeat(900);
    const many = Array.from({ length: 6_000 }, (_, at) =>
      shape({ text: paragraph('x'), place: [at % 900, at % 500, 9, 9] }),
    ).join('');
    expect(await slide(deep + shape({ text: paragraph('seen') }))).toContain('seen');
    expect((await slide(many)).match(/<p>x<\/p>/g)?.length).toBe(5_000);
  });

  it('bounds spans', async () => {
    const html = await slide(
      `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc gridSpan="99999999" rowSpan="-3"><a:txBody>${paragraph('a')}</a:txBody></a:tc><a:tc><a:txBody>${paragraph('b')}</a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`,
    );
    expect(html).toContain('colspan="1000"');
  });
});
