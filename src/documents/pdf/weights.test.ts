/** Medium weights stand out from light text, but not from regular text. */
import { expect, it } from 'vitest';
import { htmlOf, parse } from '../parse.suite.ts';
import { drawPdf, write } from './drawn.suite.ts';
import { kind } from './pdf.ts';

const font = (name: string) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
const PROSE = ['The boats leave the harbour before the sun is up and come back at noon.', 'Then the market opens.'];

const htmlWith = async (body: string): Promise<string> => {
  const content = write(60, 700, ['The harbour'], { font: 'F5' }) + write(60, 670, PROSE, { font: body });
  const objects = [font('Sample-Light'), font('Sample-Medium')];
  return htmlOf(await parse(kind, drawPdf({ pages: [{ content }], objects, fonts: '/F4 10 0 R /F5 11 0 R' })));
};

it('takes a medium weight for bold in light text only', async () => {
  expect(await htmlWith('F4')).toMatch(/<h\d>The harbour<\/h\d>/);
  expect(await htmlWith('F1')).toContain('<p>The harbour</p>');
});
