import { strToU8 } from 'fflate';
import { describe, expect, it } from 'vitest';
import { TYPES, typeOfBytes } from '../../detect.ts';
import type { Annotations } from '../../document.ts';
import { faultOf, htmlOf, parse } from '../../parse.suite.ts';
import { kind } from './word-xml.ts';

const NAMES =
  'xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" xmlns:wx="http://schemas.microsoft.com/office/word/2003/auxHint" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:aml="http://schemas.microsoft.com/aml/2001/core"';

const wordXml = (body: string, before = ''): Uint8Array =>
  strToU8(
    `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<?mso-application progid="Word.Document"?>\n<w:wordDocument ${NAMES}>${before}<w:body><wx:sect>${body}<w:sectPr><w:hdr><w:p><w:r><w:t>Header</w:t></w:r></w:p></w:hdr></w:sectPr></wx:sect></w:body></w:wordDocument>`,
  );
const r = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
const p = (content: string, properties = '') => `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;

const htmlFor = async (body: string, before?: string) => htmlOf(await parse(kind, wordXml(body, before)));

it('is recognized by its content, also under another name and in UTF-16', () => {
  expect(typeOfBytes(wordXml(''))).toBe(TYPES.wordXml);
  const utf16 = Buffer.from(`\ufeff${Buffer.from(wordXml('')).toString().replace('UTF-8', 'UTF-16')}`, 'utf16le');
  expect(typeOfBytes(utf16)).toBe(TYPES.wordXml);
  expect(typeOfBytes(strToU8('<?xml version="1.0"?><note>Word.Document</note>'))).toBeUndefined();
});

describe('text', () => {
  it('has headings, formats, links and footnotes', async () => {
    const styles =
      '<w:styles><w:style w:type="paragraph" w:default="on" w:styleId="Normal"><w:name w:val="Normal"/></w:style><w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:type="paragraph" w:styleId="H2"><w:name w:val="Heading_20_2"/></w:style></w:styles>';
    const html = await htmlFor(
      p(r('Kilns'), '<w:pStyle w:val="berschrift1"/>') +
        p(r('Fuel'), '<w:pStyle w:val="H2"/>') +
        p(
          `<w:r><w:rPr><w:b/></w:rPr><w:t>Hot</w:t></w:r><w:hlink w:dest="https://k.example/?a=1&amp;b">${r(' kiln')}</w:hlink><w:r><w:footnote><w:p>${r('In use.')}</w:p></w:footnote></w:r>`,
        ),
      styles,
    );
    expect(html).toContain('<h1>Kilns</h1>\n<h2>Fuel</h2>');
    expect(html).toContain('<b>Hot</b><a href="https://k.example/?a=1&amp;b"> kiln</a><sup>');
    expect(html).toContain('<li id="fn-1">In use.</li>');
    expect(html).not.toContain('Header');
  });

  it('has lists with their numbers', async () => {
    const lists =
      '<w:lists><w:listDef w:listDefId="4"><w:lvl w:ilvl="0"><w:start w:val="3"/><w:nfc w:val="4"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:nfc w:val="23"/><w:lvlText w:val="o"/></w:lvl></w:listDef><w:list w:ilfo="2"><w:ilst w:val="4"/></w:list></w:lists>';
    const item = (text: string, level: number) =>
      p(r(text), `<w:listPr><w:ilvl w:val="${level}"/><w:ilfo w:val="2"/></w:listPr>`);
    const html = await htmlFor(item('bisque', 0) + item('glaze', 1) + item('lustre', 0), lists);
    expect(html).toBe('<ol start="3"><li>bisque<ul><li>glaze</li></ul></li>\n<li>lustre</li></ol>');
  });

  it('has tables with merged cells, and pictures', async () => {
    const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(r(text))}</w:tc>`;
    const png = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
    const html = await htmlFor(
      `<w:tbl><w:tr>${cell('a', '<w:vmerge w:val="restart"/>')}${cell('b')}</w:tr><w:tr>${cell('', '<w:vmerge/>')}${cell('c')}</w:tr></w:tbl>${p(
        `<w:r><w:pict><w:binData w:name="wordml://1.png">${png}</w:binData><v:shape alt="Kiln"><v:imagedata src="wordml://1.png"/></v:shape></w:pict></w:r>`,
      )}`,
    );
    expect(html).toContain('rowspan="2"');
    expect(html).toContain('<img alt="Kiln" src="data:image/png;base64,');
  });

  it('has its title and dates', async () => {
    const about =
      '<o:DocumentProperties><o:Title>On kilns</o:Title><o:Author>Ada</o:Author><o:LastSaved>2004-03-09T08:00:00Z</o:LastSaved></o:DocumentProperties>';
    const { title, metadata, publishedTime } = await parse(kind, wordXml(p(r('Text')), about));
    expect([title, metadata.creator, publishedTime]).toEqual(['On kilns', 'Ada', '2004-03-09T08:00:00.000Z']);
  });
});

it('shows comments and changes if they are asked for', async () => {
  const note = (type: string, content: string) =>
    `<aml:annotation aml:id="1" w:type="${type}" aml:author="Ada">${content === '' ? '' : `<aml:content>${content}</aml:content>`}</aml:annotation>`;
  const bytes = wordXml(
    p(
      `${r('The kiln is ')}${note('Word.Insertion', r('very '))}${note('Word.Deletion', '<w:r><w:delText>too </w:delText></w:r>')}${note('Word.Comment.Start', '')}${r('hot')}${note('Word.Comment.End', '')}<w:r>${note('Word.Comment', p(r('Is it?')))}</w:r>`,
    ),
  );
  const read = async (annotations: Annotations) =>
    htmlOf(await kind.parse({ path: '', size: bytes.length, mediaType: '' }, bytes, { annotations }));
  expect(await read('none')).toBe('<p>The kiln is very hot</p>');
  expect(await read('inline')).toBe('<p>The kiln is {++very ++}{--too --}hot{&gt;&gt;Is it? (Ada)&lt;&lt;}</p>');
});

it('keeps what can be read of a damaged file', async () => {
  const whole = Buffer.from(wordXml(p(r('First')) + p(r('Second')))).toString();
  const { notes, pages } = await parse(kind, strToU8(whole.slice(0, whole.indexOf('Second') + 3)));
  expect(pages[0]!.html).toContain('First');
  expect(notes.join()).toContain('damaged');
  expect(await faultOf(parse(kind, strToU8('<?xml version="1.0"?><w:wordDocument')))).toBe('damaged');
});
