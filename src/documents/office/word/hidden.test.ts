import { describe, expect, it } from 'vitest';
import { htmlOf, parse } from '../../parse.suite.ts';
import { HIDDEN_KEPT, MOSTLY_HIDDEN } from '../hidden-text.ts';
import { kind as rtf } from '../rtf/rtf.ts';
import { docx, type Parts, p, r, style, styled } from './docx.suite.ts';
import { kind } from './docx.ts';
import { kind as odt } from './odt.ts';

const read = (body: string, parts?: Parts) => parse(kind, docx(body, parts));
const TINY = '<w:rPr><w:sz w:val="2"/></w:rPr>';
const sentence = 'The ferry leaves at nine and comes back in the evening. ';

const fodt = (styles: string, body: string): Uint8Array =>
  Buffer.from(
    `<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"><office:styles>${styles}</office:styles><office:body><office:text>${body}</office:text></office:body></office:document>`,
  );

describe('a style', () => {
  it('whose base style is missing does not inherit from a style without an id', async () => {
    const styles =
      `<w:style w:type="paragraph"><w:name w:val="Nameless"/>${TINY}</w:style>` +
      style('Normal', 'Normal', '<w:basedOn w:val="Gone"/>') +
      style('Body', 'Body');
    const found = await read(p('first', styled('Normal')) + p('second', styled('Body')), { styles });
    expect(htmlOf(found)).toBe('<p>first</p>\n<p>second</p>');
    expect(found.hiddenCount).toBe(0);
  });

  it('of OpenDocument without a parent does not inherit from a style without a name', async () => {
    const styles =
      '<style:style style:family="paragraph"><style:text-properties fo:font-size="1pt"/></style:style>' +
      '<style:style style:name="Body" style:family="paragraph"/>';
    const found = await parse(odt, fodt(styles, '<text:p text:style-name="Body">seen</text:p>'));
    expect(htmlOf(found)).toBe('<p>seen</p>');
  });
});

describe('hidden text', () => {
  it('is kept, with a note, if it is nearly all of the document', async () => {
    const styles = style('Small', 'Small', TINY);
    const found = await read(p('Ferry') + p(sentence.repeat(20), styled('Small')), { styles });
    expect(htmlOf(found)).toContain('comes back in the evening');
    expect(found.notes).toEqual([HIDDEN_KEPT]);
    expect(found.hiddenCount).toBe(0);
  });

  it('is left out, with a note, if it is more than half of the document', async () => {
    const found = await read(p(sentence.repeat(5)) + p(r(sentence.repeat(20), '<w:vanish/>')));
    expect(htmlOf(found)).toBe(`<p>${sentence.repeat(5).trim()}</p>`);
    expect(found.notes).toEqual([MOSTLY_HIDDEN]);
    expect(found.hiddenCount).toBe(1);
  });

  it('is left out and only counted if it is short', async () => {
    const found = await read(p('Ferry') + p(r(sentence, '<w:vanish/>')));
    expect(htmlOf(found)).toBe('<p>Ferry</p>');
    expect(found.notes).toEqual([]);
    expect(found.hiddenCount).toBe(1);
  });

  it('of OpenDocument and RTF follows the same rule', async () => {
    const section = `<text:p>Ferry</text:p><text:section text:display="none"><text:p>${sentence.repeat(20)}</text:p></text:section>`;
    for (const found of [
      await parse(odt, fodt('', section)),
      await parse(rtf, Buffer.from(`{\\rtf1\\ansi Ferry\\par{\\v ${sentence.repeat(20)}}\\par}`)),
    ]) {
      expect(htmlOf(found)).toContain('comes back in the evening');
      expect(found.notes).toEqual([HIDDEN_KEPT]);
      expect(found.hiddenCount).toBe(0);
    }
  });
});
