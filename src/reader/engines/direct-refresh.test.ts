import fc from 'fast-check';
import { expect, test } from 'vitest';
import { refreshOf } from './direct-refresh.ts';

const AT = 'https://site.example/a/b';
const byTag = (content: string) =>
  refreshOf(`<meta http-equiv=refresh content="${content.replaceAll('"', '&quot;')}">`, AT, undefined)?.href;

test.each([
  ['0;url=c', 'https://site.example/a/c'],
  [' 2.5 ; URL = /c ', 'https://site.example/c'],
  ['.5;/c', 'https://site.example/c'],
  ['0,/c', 'https://site.example/c'],
  ['0 /c', 'https://site.example/c'],
  ['0; url="/c" and more', 'https://site.example/c'],
  ["0; url='/c", 'https://site.example/c'],
  ['0; url=https://other.example/?a=1;b=2', 'https://other.example/?a=1;b=2'],
  ['0', undefined],
  ['0;', undefined],
  ['0; url=', undefined],
  ['5.9;/c', 'https://site.example/c'],
  ['6;/c', undefined],
  ['99999999999999999999;/c', undefined],
  ['-1;/c', undefined],
  ['x;/c', undefined],
  ['0;http://[', undefined],
  ['0;data:text/html,x', undefined],
  ['0;file:///etc/passwd', undefined],
])('%j leads to %j', (content, href) => {
  expect(byTag(content)).toBe(href);
  expect(refreshOf('', AT, content)?.href).toBe(href);
});

test('the header takes precedence over the tags, of which the first with a URL counts', () => {
  const tags =
    '<meta http-equiv=refresh content=9><meta http-equiv=refresh content="1;/tag"><meta http-equiv=refresh content="1;/late">';
  expect(refreshOf(tags, AT, undefined)?.pathname).toBe('/tag');
  expect(refreshOf(tags, AT, '1;/header')?.pathname).toBe('/header');
  expect(refreshOf(tags, AT, '60;/header')?.pathname).toBe('/tag');
});

test('any content leads to a web page or nowhere', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0159.;, url=\'"/x:\n'), maxLength: 40 }), (content) => {
      expect(refreshOf('', AT, content)?.protocol ?? 'https:').toMatch(/^https?:$/);
    }),
    { seed: 7, numRuns: 1_000 },
  );
  expect(byTag(`${'0'.repeat(60_000)}x`)).toBeUndefined();
  expect(byTag(`0${' '.repeat(60_000)}x`)).toBeUndefined();
});
