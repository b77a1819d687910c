import { strToU8 } from 'fflate';
import { describe, expect, it } from 'vitest';
import { htmlOf, parse } from '../../parse.suite.ts';
import { documentXml, docx, type Parts, p, r, style } from './docx.suite.ts';
import { kind } from './docx.ts';

const html = async (body: string, parts?: Parts) => htmlOf(await parse(kind, docx(body, parts)));
const control = (content: string, properties = '') =>
  `<w:sdt><w:sdtPr><w:showingPlcHdr/>${properties}</w:sdtPr><w:sdtContent>${content}</w:sdtContent></w:sdt>`;
const block = '<w:placeholder><w:docPart w:val="Prompt1"/></w:placeholder>';
const glossary = documentXml('')
  .replace('<w:body></w:body>', '')
  .replaceAll('w:document', 'w:glossaryDocument')
  .replace(
    '</w:glossaryDocument>',
    `<w:docParts><w:docPart><w:docPartPr><w:name w:val="Prompt1"/></w:docPartPr><w:docPartBody>${p('Enter the name of the ship')}</w:docPartBody></w:docPart></w:docParts></w:glossaryDocument>`,
  );
const withGlossary: Parts = {
  related: [['9', 'glossaryDocument', 'glossary/document.xml']],
  files: { 'word/glossary/document.xml': strToU8(glossary) },
};
const styles = style('Grey', 'Placeholder Text', '', 'character');
const grey = (text: string) => r(text, '<w:rStyle w:val="Grey"/>');

describe('the text of a content control that is marked as a prompt', () => {
  it('is left out if it is the prompt', async () => {
    const body = p(`${r('Ship: ')}${control(r('Enter the name ') + r('of the ship'), block)}`);
    expect(await html(body, withGlossary)).toBe('<p>Ship:</p>');
  });

  it('is kept if it is another text, whatever its style', async () => {
    const body = p(`${r('Ship: ')}${control(grey('Aurora'), block)}`);
    expect(await html(body, { ...withGlossary, styles })).toBe('<p>Ship: Aurora</p>');
  });

  it('is a prompt without a stored prompt only if all of it has the style of prompts', async () => {
    expect(await html(p(`${r('a')}${control(grey('Click here'))}`), { styles })).toBe('<p>a</p>');
    expect(await html(p(`${r('a')}${control(grey('Au') + r('rora'))}`), { styles })).toBe('<p>aAurora</p>');
    expect(await html(control(p('A paragraph')))).toBe('<p>A paragraph</p>');
  });
});
