/** Comments and tracked changes of all kinds that have them: left out, in the text, and as footnotes. */
import { strToU8, zipSync } from 'fflate';
import { PDFDocument, PDFHexString, PDFName, StandardFonts } from 'pdf-lib';
import { describe, expect, it } from 'vitest';
import type { Annotations, DocumentKind } from './document.ts';
import { kind as rtf } from './office/rtf/rtf.ts';
import { kind as ods } from './office/sheet/ods.ts';
import { kind as xlsx } from './office/sheet/xlsx.ts';
import { kind as odp } from './office/slides/odp.ts';
import { kind as pptx } from './office/slides/pptx.ts';
import { docx as writeDocx } from './office/word/docx.suite.ts';
import { kind as docx } from './office/word/docx.ts';
import { kind as odt } from './office/word/odt.ts';
import { htmlOf } from './parse.suite.ts';
import { kind as pdf } from './pdf/pdf.ts';

const read = async (kind: DocumentKind, bytes: Uint8Array, annotations?: Annotations): Promise<string> =>
  htmlOf(await kind.parse({ path: '', size: bytes.length, mediaType: '' }, bytes, { annotations }));

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

describe('DOCX', () => {
  const bytes = writeDocx(
    '<w:p><w:r><w:t>The kiln is </w:t></w:r><w:ins w:author="Ada"><w:r><w:t>very </w:t></w:r><w:del w:author="Jo"><w:r><w:delText>so </w:delText></w:r></w:del></w:ins><w:del w:author="Jo"><w:r><w:delText>too </w:delText></w:r></w:del><w:r><w:t>hot</w:t></w:r><w:r><w:commentReference w:id="3"/></w:r><w:r><w:t>.</w:t></w:r></w:p>',
    {
      related: [['c', 'comments', 'comments.xml']],
      files: {
        'word/comments.xml': strToU8(
          `<w:comments ${W}><w:comment w:id="3" w:author="Ada"><w:p><w:r><w:t>Is it?</w:t></w:r></w:p><w:p><w:r><w:t>Yes &lt;b&gt;</w:t></w:r></w:p></w:comment></w:comments>`,
        ),
      },
    },
  );

  it('shows the final text without comments by default', async () => {
    expect(await read(docx, bytes)).toBe('<p>The kiln is very hot.</p>');
    expect(await read(docx, bytes, 'none')).toBe('<p>The kiln is very hot.</p>');
  });

  it('shows them in the text', async () => {
    expect(await read(docx, bytes, 'inline')).toBe(
      '<p>The kiln is {++very ++}{--too --}hot{&gt;&gt;Is it? Yes &lt;b&gt; (Ada)&lt;&lt;}.</p>',
    );
  });

  it('shows them as footnotes', async () => {
    const html = await read(docx, bytes, 'footnotes');
    expect(html.replace(/<sup>.*?<\/sup>/g, '^').split('\n<ol>')[0]).toBe('<p>The kiln is very ^^hot^.</p>');
    expect(html).toContain(
      '<li id="fn-1">Inserted by Ada: very</li>\n<li id="fn-2">Deleted by Jo: too</li>\n<li id="fn-3">Ada: Is it? Yes &lt;b&gt;</li>',
    );
  });
});

describe('ODT', () => {
  const bytes =
    strToU8(`<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><office:body><office:text><text:tracked-changes>
<text:changed-region text:id="a"><text:insertion><office:change-info><dc:creator>Ada</dc:creator></office:change-info></text:insertion></text:changed-region>
<text:changed-region text:id="b"><text:deletion><office:change-info><dc:creator>Jo</dc:creator></office:change-info><text:p>too </text:p></text:deletion></text:changed-region></text:tracked-changes>
<text:p>The kiln is <text:change-start text:change-id="a"/>very <text:change-end text:change-id="a"/><text:change text:change-id="b"/>hot<office:annotation><dc:creator>Ada</dc:creator><dc:date>2024-03-01</dc:date><text:p>Is it?</text:p></office:annotation>.</text:p></office:text></office:body></office:document>`);

  it('shows the final text, or its changes and comments', async () => {
    expect(await read(odt, bytes)).toBe('<p>The kiln is very hot.</p>');
    expect(await read(odt, bytes, 'inline')).toBe(
      '<p>The kiln is {++very ++}{--too--}hot{&gt;&gt;Is it? (Ada)&lt;&lt;}.</p>',
    );
    const html = await read(odt, bytes, 'footnotes');
    expect(html).toMatch(/Inserted by Ada: very<.*Deleted by Jo: too<.*Ada: Is it\?</s);
  });
});

const REL = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const rels = (items: readonly (readonly [type: string, target: string])[]) =>
  strToU8(
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${items.map(([type, target], n) => `<Relationship Id="r${n}" Type="${REL}/${type}" Target="${target}"/>`).join('')}</Relationships>`,
  );

describe('XLSX', () => {
  const X = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  const cell = (ref: string, text: string) => `<c r="${ref}" t="inlineStr"><is><t>${text}</t></is></c>`;
  const bytes = zipSync({
    '_rels/.rels': rels([['officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': strToU8(
      `<workbook ${X} xmlns:r="${REL}"><sheets><sheet name="Clay" r:id="r0"/></sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': rels([['worksheet', 'sheet1.xml']]),
    'xl/sheet1.xml': strToU8(
      `<worksheet ${X}><sheetData><row r="1">${cell('A1', 'Clay')}${cell('B1', 'Price')}</row><row r="2">${cell('A2', 'Red')}${cell('B2', '3')}</row></sheetData></worksheet>`,
    ),
    'xl/_rels/sheet1.xml.rels': rels([['comments', 'comments1.xml']]),
    'xl/comments1.xml': strToU8(
      `<comments ${X}><authors><author>Ada</author><author>tc={1}</author></authors><commentList><comment ref="B2" authorId="0"><text><r><t>Ada:</t></r><r><t>\nstill?</t></r></text></comment><comment ref="D9" authorId="1"><text><t>[Threaded comment]\n\nYour version of Excel …\n\nComment:\n    more</t></text></comment></commentList></comments>`,
    ),
  });

  it('shows comments in their cells, or after the table', async () => {
    expect(await read(xlsx, bytes)).not.toContain('still');
    const html = await read(xlsx, bytes, 'inline');
    expect(html).toContain('<td>3 {&gt;&gt;still? (Ada)&lt;&lt;}</td>');
    expect(html).toContain('<p>D9: {&gt;&gt;more&lt;&lt;}</p>');
    expect(await read(xlsx, bytes, 'footnotes')).toMatch(/<td>3<sup>.*<li id="an-1">Ada: still\?<\/li>/s);
  });
});

describe('PPTX', () => {
  const P =
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"';
  const bytes = zipSync({
    '_rels/.rels': rels([['officeDocument', 'ppt/presentation.xml']]),
    'ppt/presentation.xml': strToU8(
      `<p:presentation ${P} xmlns:r="${REL}"><p:sldIdLst><p:sldId id="256" r:id="r0"/></p:sldIdLst></p:presentation>`,
    ),
    'ppt/_rels/presentation.xml.rels': rels([
      ['slide', 'slides/slide1.xml'],
      ['commentAuthors', 'commentAuthors.xml'],
    ]),
    'ppt/commentAuthors.xml': strToU8(`<p:cmAuthorLst ${P}><p:cmAuthor id="0" name="Ada"/></p:cmAuthorLst>`),
    'ppt/slides/slide1.xml': strToU8(
      `<p:sld ${P}><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>Kilns</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`,
    ),
    'ppt/slides/_rels/slide1.xml.rels': rels([
      ['comments', '../comments/comment1.xml'],
      ['comments', '../comments/modern.xml'],
    ]),
    'ppt/comments/comment1.xml': strToU8(`<p:cmLst ${P}><p:cm authorId="0"><p:text>Which?</p:text></p:cm></p:cmLst>`),
    'ppt/comments/modern.xml': strToU8(
      `<q:cmLst ${P} xmlns:q="http://schemas.microsoft.com/office/powerpoint/2018/8/main"><q:cm authorId="0"><q:replyLst><q:reply authorId="0"><q:txBody><a:p><a:r><a:t>Both</a:t></a:r></a:p></q:txBody></q:reply></q:replyLst><q:txBody><a:p><a:r><a:t>Or one?</a:t></a:r></a:p></q:txBody></q:cm></q:cmLst>`,
    ),
  });

  it('shows comments at the end of their slide', async () => {
    expect(await read(pptx, bytes)).not.toContain('Which');
    const html = await read(pptx, bytes, 'inline');
    expect(html).toContain(
      '<p>{&gt;&gt;Which? (Ada)&lt;&lt;}</p>\n<p>{&gt;&gt;Or one? (Ada)&lt;&lt;}</p>\n<p>{&gt;&gt;Both (Ada)',
    );
    expect(await read(pptx, bytes, 'footnotes')).toContain('<li id="an-1">Ada: Which?</li>');
  });
});

describe('PDF', () => {
  async function commented(): Promise<Uint8Array> {
    const document = await PDFDocument.create();
    const page = document.addPage([400, 400]);
    const font = await document.embedFont(StandardFonts.Helvetica);
    page.drawText('The kiln is hot.', { x: 50, y: 300, size: 12, font });
    page.drawText('Glaze follows.', { x: 50, y: 250, size: 12, font });
    const note = (Subtype: string, Rect: number[], contents: string) =>
      document.context.register(
        document.context.obj({
          ...{ Type: 'Annot', Subtype, Rect, F: 4, C: [1, 1, 0] },
          QuadPoints: [Rect[0]!, Rect[3]!, Rect[2]!, Rect[3]!, Rect[0]!, Rect[1]!, Rect[2]!, Rect[1]!],
          Contents: PDFHexString.fromText(contents),
          T: PDFHexString.fromText('Ada'),
        }),
      );
    page.node.set(
      PDFName.of('Annots'),
      document.context.obj([
        note('Highlight', [50, 298, 90, 312], 'Is it?'),
        note('Text', [300, 100, 320, 120], 'Far from text'),
      ]),
    );
    return document.save();
  }

  it('shows comments at the nearest text, or at the end of the page', async () => {
    const bytes = await commented();
    expect(await read(pdf, bytes)).not.toMatch(/Is it|Far/);
    const html = await read(pdf, bytes, 'inline');
    expect(html).toContain('The kiln {&gt;&gt;Is it? (Ada)&lt;&lt;} is hot.');
    expect(html).toContain('<p>{&gt;&gt;Far from text (Ada)&lt;&lt;}</p>');
    expect(await read(pdf, bytes, 'footnotes')).toContain('<li id="an-1">Ada: Is it?</li>');
  });
});

describe('ODS', () => {
  const cell = (text: string, note = '') => `<table:table-cell>${note}<text:p>${text}</text:p></table:table-cell>`;
  const about = (text: string) =>
    `<office:annotation><dc:creator>Ada</dc:creator><dc:date>2024-03-01</dc:date><text:p>${text}</text:p></office:annotation>`;
  const bytes = strToU8(
    `<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><office:body><office:spreadsheet><table:table table:name="Clay"><table:table-row>${cell('Clay')}${cell('Price')}</table:table-row><table:table-row table:number-rows-repeated="2">${cell('Red')}${cell('3', about('still?'))}</table:table-row><table:table-row table:visibility="collapse">${cell('Blue', about('hidden'))}</table:table-row><table:table-row><table:table-cell table:number-columns-repeated="3"/><table:table-cell>${about('more')}</table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document>`,
  );

  it('shows comments of visible cells in their cells, or after the table', async () => {
    expect(await read(ods, bytes)).not.toContain('still');
    const html = await read(ods, bytes, 'inline');
    expect(html.match(/<td>3.*?<\/td>/g)).toEqual(['<td>3 {&gt;&gt;still? (Ada)&lt;&lt;}</td>', '<td>3</td>']);
    expect(html).toContain('<p>D5: {&gt;&gt;more (Ada)&lt;&lt;}</p>');
    expect(html).not.toContain('hidden');
    expect(await read(ods, bytes, 'footnotes')).toMatch(/<td>3<sup>.*<li id="an-1">Ada: still\?<\/li>/s);
  });
});

describe('ODP', () => {
  const bytes = strToU8(
    `<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:officeooo="http://openoffice.org/2009/office" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><office:body><office:presentation><draw:page><draw:frame><draw:text-box><text:p>Kilns</text:p></draw:text-box></draw:frame><office:annotation><dc:creator>Ada</dc:creator><text:p>Which?</text:p></office:annotation><officeooo:annotation><dc:creator>Jo</dc:creator><text:p>Both</text:p></officeooo:annotation></draw:page></office:presentation></office:body></office:document>`,
  );

  it('shows comments at the end of their slide', async () => {
    expect(await read(odp, bytes)).not.toContain('Which');
    expect(await read(odp, bytes, 'inline')).toContain(
      '<p>{&gt;&gt;Which? (Ada)&lt;&lt;}</p>\n<p>{&gt;&gt;Both (Jo)&lt;&lt;}</p>',
    );
  });
});

describe('RTF', () => {
  const bytes = strToU8(
    '{\\rtf1\\ansi The kiln is {\\*\\atrfstart 1}hot{\\*\\atrfend 1}{\\*\\atnid A}{\\*\\atnauthor Ada}\\chatn{\\*\\annotation{\\*\\atnref 1}{\\*\\atndate 1}\\pard\\plain {\\chatn}Is it?\\par Caf\\u233 e {\\b really}} today.\\par}',
  );

  it('shows comments where they are', async () => {
    expect(await read(rtf, bytes)).toBe('<p>The kiln is hot today.</p>');
    expect(await read(rtf, bytes, 'inline')).toBe(
      '<p>The kiln is hot{&gt;&gt;Is it? Café really (Ada)&lt;&lt;} today.</p>',
    );
    expect(await read(rtf, bytes, 'footnotes')).toContain('<li id="fn-1">Ada: Is it? Café really</li>');
  });
});
