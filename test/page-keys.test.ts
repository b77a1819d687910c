/** Wherever pages are compared, URLs that differ only in tracking parameters count as the same page. */
import { expect, it } from 'vitest';
import { normalizeUrl } from '#crawl/normalize-url.ts';
import { indexUrl } from '#search/index/write/prepare-page.ts';
import { pageKey } from '#search/merge-hits.ts';

const keys = (url: string) => [normalizeUrl(url)?.key, indexUrl(url)?.href, pageKey(url)];

it.each([
  'utm_source',
  'gclid',
  'gbraid',
  'wbraid',
  'fbclid',
  'twclid',
  'srsltid',
  '_gl',
  '_hsenc',
  'mkt_tok',
  'MC_EID',
])('%s does not change the key of a page', (name) =>
  expect(keys(`https://a.example/tea?page=2&${name}=x1`)).toEqual(keys('https://a.example/tea?page=2')),
);

it('other parameters change the key', () => {
  const [other, page] = [keys('https://a.example/tea?page=3'), keys('https://a.example/tea?page=2')];
  for (const [at, key] of other.entries()) expect(key).not.toBe(page[at]);
});
