import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startFetch, startServer } from '../loopback.suite.ts';
import { fetchSitemap, sitemapParts } from './sitemap.ts';
import { createSitemapParser } from './sitemap-parser.ts';

/** Parses a text in pieces of `length` characters. */
function parse(text: string, length = text.length || 1) {
  const parser = createSitemapParser();
  const urls: string[] = [];
  for (let from = 0; from < text.length; from += length) urls.push(...parser.push(text.slice(from, from + length)));
  urls.push(...parser.end());
  return { kind: parser.kind, urls };
}
const locs = (count: number) =>
  Array.from({ length: count }, (_, at) => `<url><loc>https://a.test/${at}</loc></url>`).join('');

describe('a sitemap', () => {
  test.each([1, 7, 100_000])('yields page or sitemap URLs in pieces of %i', (length) => {
    expect(
      parse(
        '<?xml version="1.0"?><urlset xmlns="s"><url><loc>\n https://a.test/?x=1&amp;y=2 </loc></url><url><loc><![CDATA[https://a.test/2]]></loc></url><url><loc>ftp://a.test/</loc></url></urlset>',
        length,
      ),
    ).toEqual({ kind: 'pages', urls: ['https://a.test/?x=1&y=2', 'https://a.test/2'] });
    expect(parse('<sm:sitemapindex><sm:sitemap><sm:loc>https://a.test/s.xml</sm:loc>', length)).toEqual({
      kind: 'sitemaps',
      urls: ['https://a.test/s.xml'],
    });
    expect(parse('https://a.test/1\nhttps://a.test/2\nno address\nhttps://a.test/3', length)).toEqual({
      kind: 'pages',
      urls: ['https://a.test/1', 'https://a.test/2', 'https://a.test/3'],
    });
    expect(parse('<html><body>A page.</body></html>', length)).toEqual({ kind: undefined, urls: [] });
    expect(parse('')).toEqual({ kind: undefined, urls: [] });
    expect(parse(`<urlset>${locs(1_000)}`, length).urls).toHaveLength(1_000);
  });

  test('yields pages, but not their images', () => {
    const url =
      '<url><loc>https://a.test/1</loc><image:image><image:loc>https://a.test/1.jpg</image:loc></image:image></url>';
    expect(parse(`<urlset>${url}</urlset>`).urls).toEqual(['https://a.test/1']);
    const prefixed = url.replaceAll(/(<\/?)(url|loc)/g, '$1s:$2');
    expect(parse(`<s:urlset>${prefixed}</s:urlset>`).urls).toEqual(['https://a.test/1']);
  });

  test('yields the same URLs in any pieces, whatever it contains', () => {
    const parts = fc.constantFrom(
      '<urlset>',
      '<loc>',
      '</loc>',
      '<![CDATA[',
      ']]>',
      'https://a.test/',
      '&#x',
      ' ',
      '<',
    );
    fc.assert(
      fc.property(fc.array(parts), fc.integer({ min: 1, max: 30 }), (some, length) => {
        const text = `<urlset>${some.join('')}`;
        const { urls } = parse(text, length);
        expect(urls).toEqual(parse(text).urls);
        for (const url of urls) expect(URL.canParse(url)).toBe(true);
      }),
      { seed: 20_264 },
    );
  });

  test('stays within its limits without closing tags, with too many URLs or with entities', () => {
    expect(parse(`<urlset>${'<loc>'.repeat(300_000)}`, 65_536).urls).toEqual([]);
    expect(parse(`<urlset>${'<loc>'.repeat(300_000)}`).urls).toEqual([]);
    expect(parse(`<urlset>${'<loc>https://a.test/</loc>'.repeat(60_000)}`, 65_536).urls).toHaveLength(50_000);
    expect(parse(`<urlset><loc>https://a.test/${'x'.repeat(1_000_000)}</loc>${locs(1)}`, 65_536).urls).toEqual([
      'https://a.test/0',
    ]);
    expect(parse(`https://a.test/1\n${'x'.repeat(1_000_000)}\nhttps://a.test/2`, 65_536).urls).toEqual([
      'https://a.test/1',
      'https://a.test/2',
    ]);
    const bomb = `<!DOCTYPE x [<!ENTITY a "${'a'.repeat(100)}"><!ENTITY b "${'&a;'.repeat(1_000)}">]>`;
    expect(parse(`${bomb.slice(0, 3_900)}<urlset><loc>https://a.test/&b;</loc>`).urls).toEqual(['https://a.test/&b;']);
  });
});

describe('a fetched sitemap', () => {
  const serve = async (body: Uint8Array, status = 200) => {
    const site = await startServer((_, response) => response.writeHead(status).end(body));
    return { url: site.origin, fetch: startFetch([site]) };
  };
  const signal = new AbortController().signal;

  test('may be compressed', async () => {
    for (const pack of [(text: string) => gzipSync(text), (text: string) => Buffer.from(text)]) {
      const { url, fetch } = await serve(pack(`<urlset>${locs(3)}</urlset>`));
      expect(await fetchSitemap(fetch, url, { signal })).toEqual({
        isIndex: false,
        urls: ['https://a.test/0', 'https://a.test/1', 'https://a.test/2'],
      });
    }
  });

  test('yields the URLs before a damaged part', async () => {
    const compressed = gzipSync(`<urlset>${locs(20_000)}</urlset>`);
    const { url, fetch } = await serve(compressed.subarray(0, compressed.length - 100));
    const urls: string[] = [];
    const read = async () => {
      for await (const part of sitemapParts(fetch, url, { signal })) urls.push(...part.urls);
    };
    await expect(read()).rejects.toMatchObject({ name: 'AssertionFailureError' });
    expect(urls.length).toBeGreaterThan(10_000);
    await expect(fetchSitemap(fetch, url, { signal })).rejects.toThrow('damaged');
  });

  test('fails if it is missing, and is undefined if it is not a sitemap', async () => {
    const absent = await serve(Buffer.from('no'), 404);
    await expect(fetchSitemap(absent.fetch, absent.url, { signal })).rejects.toThrow('404');
    const page = await serve(Buffer.from('<html>'.repeat(10_000)));
    expect(await fetchSitemap(page.fetch, page.url, { signal })).toBeUndefined();
  });

  test('does not block the event loop, however large it is when decompressed', async () => {
    const { url, fetch } = await serve(gzipSync(`<urlset>${' '.repeat(200_000_000)}${locs(1)}`));
    let iterations = 0;
    let isOver = false;
    const countIterations = (): void => {
      iterations++;
      if (!isOver) setImmediate(countIterations);
    };
    countIterations();
    expect(await fetchSitemap(fetch, url, { signal })).toBeUndefined();
    isOver = true;
    expect(iterations).toBeGreaterThan(100);
  });
});
