import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fileNameOf } from './file-name.ts';

const AT = 'https://site.example/a/b%20c.pdf?x=/y';
const nameIn = (header: string) => fileNameOf(AT, header);

test.each([
  ['attachment; filename=report.pdf', 'report.pdf'],
  ['attachment; filename="a; b.pdf"; size=3', 'a; b.pdf'],
  ['attachment; filename="say \\"hi\\".pdf"', 'say "hi".pdf'],
  ['inline; filename=my report.pdf', 'my report.pdf'],
  ["attachment; filename=x; filename*=UTF-8'de'%c3%9cber.pdf", 'Über.pdf'],
  ["attachment; filename*=ISO-8859-1''%dcber.pdf", 'Über.pdf'],
  ['attachment; filename="%C3%9Cber.pdf"', 'Über.pdf'],
  [`attachment; filename="${Buffer.from('Über.pdf').toString('latin1')}"`, 'Über.pdf'],
  ["attachment; filename=x.pdf; filename*=UTF-8''%ff", 'x.pdf'],
  ["attachment; filename*=no-such''x.pdf; filename=y.pdf", 'y.pdf'],
  ['attachment; filename="../../etc/passwd"', 'passwd'],
  ['attachment; filename="C:\\\\dir\\\\x.pdf"', 'x.pdf'],
  ["attachment; filename*=UTF-8''a%e2%80%aegpj.exe", 'agpj.exe'],
])('%j names %j', (header, name) => expect(nameIn(header)).toBe(name));

test.each(['', 'attachment', 'attachment; filename=""', 'attachment; filename=".."', 'attachment; filename="/"'])(
  '%j leaves the name to the URL',
  (header) => expect(nameIn(header)).toBe('b c.pdf'),
);

test('a URL without a name has none', () => {
  expect(fileNameOf('https://site.example/')).toBeUndefined();
  expect(fileNameOf('https://site.example/%2e%2e%2f')).toBeUndefined();
});

test('no header results in a name with a slash, a control character or too many characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      const name = nameIn(`attachment; filename="${text}"`)!;
      expect(name).not.toMatch(/[/\\\p{Cc}]/u);
      expect([...name].length).toBeLessThanOrEqual(255);
      expect(name).not.toMatch(/^\.*$/);
    }),
    { seed: 7, numRuns: 500 },
  );
});
