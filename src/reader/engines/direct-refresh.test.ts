import fc from 'fast-check';
import { expect, test } from 'vitest';
import { refreshOf, refreshOfHeader } from './direct-refresh.ts';

const AT = 'https://site.example/a/b';
const byTag = async (content: string) =>
  (await refreshOf(`<meta http-equiv=refresh content="${content.replaceAll('"', '&quot;')}">`, AT, undefined))?.href;
const pathOf = async (tags: string, header: string | undefined) => (await refreshOf(tags, AT, header))?.pathname;

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
])('%j leads to %j', async (content, href) => {
  expect(await byTag(content)).toBe(href);
  expect(refreshOfHeader(content, AT)?.href).toBe(href);
});

test('the header takes precedence over the tags, of which the first with a URL counts', async () => {
  const tags =
    '<meta http-equiv=refresh content=9><meta http-equiv=refresh content="1;/tag"><meta http-equiv=refresh content="1;/late">';
  expect(await pathOf(tags, undefined)).toBe('/tag');
  expect(await pathOf(tags, '1;/header')).toBe('/header');
  expect(await pathOf(tags, '60;/header')).toBe('/tag');
});

test('any content leads to a web page or nowhere', async () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0159.;, url=\'"/x:\n'), maxLength: 40 }), (content) => {
      expect(refreshOfHeader(content, AT)?.protocol ?? 'https:').toMatch(/^https?:$/);
    }),
    { seed: 7, numRuns: 1_000 },
  );
  expect(await byTag(`${'0'.repeat(60_000)}x`)).toBeUndefined();
  expect(await byTag(`0${' '.repeat(60_000)}x`)).toBeUndefined();
});
