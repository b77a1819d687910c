import { createHash } from 'node:crypto';
import { array, assert, constantFrom, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detach, find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { collectImages } from './images.ts';
import { anchorsIn, collectLinks, documentBaseUrl, resolveUrl } from './links.ts';

const BASE = 'https://clay.example/a/';
const PAGE = `<a href="b">One\n two</a> <a href="/b#x"><b>Th</b>ree</a> <a>no</a> <a href="javascript:f()">js</a>
  <a href="file:///etc">file</a> <a href="b">again</a> <a href="http://[">bad</a><a href="c"></a>`;

describe('links', () => {
  test('mode all: returns every link in order', () => {
    expect(collectLinks(parseDocument(PAGE), BASE, 'all')).toEqual([
      ['One two', 'https://clay.example/a/b'],
      ['Three', 'https://clay.example/b#x'],
      ['js', 'javascript:f()'],
      ['file', 'file:///etc'],
      ['again', 'https://clay.example/a/b'],
      ['bad', 'http://['],
      ['', 'https://clay.example/a/c'],
    ]);
  });
  test('mode unique: returns the first text of each URL', () => {
    expect(collectLinks(parseDocument(PAGE), BASE, 'unique').map(([text]) => text)).toEqual([
      'One two',
      'Three',
      'js',
      'file',
      'bad',
      '',
    ]);
  });
  test('replaces the text of a removed link with its URL, and prefers a visible link to the same URL', () => {
    const document = parseDocument('<p><a href=/a>obey</a> <a href=/b>me</a></p><a href=/a>Seen</a>');
    const anchors = anchorsIn(document);
    detach(find(document, 'p')!);
    const [a, b] = ['https://clay.example/a', 'https://clay.example/b'];
    expect(collectLinks(document, BASE, 'unique', anchors)).toEqual([
      ['Seen', a],
      [b, b],
    ]);
    expect(collectLinks(document, BASE, 'all', anchors)).toEqual([
      [a, a],
      [b, b],
      ['Seen', a],
    ]);
  });
  test('returns a link at the end of the page', () => {
    expect(collectLinks(parseDocument('<a href=/z>last'), BASE)).toEqual([['last', 'https://clay.example/z']]);
  });
});

test('resolves URLs like the URL class', () => {
  const pieces = constantFrom(
    ...'https:// http:// // / . .. - -- % %2e %41 ? # @ : :80 :443 a B xn 0x7f 1 com example. ü ~ | ^ \' " \\ ; = + !'.split(
      ' ',
    ),
    ' ',
    '\t',
  );
  const start = constantFrom('https://a.example', 'http://b-c.example/', 'https://', '');
  const parsed = (address: string): string | null => {
    try {
      return new URL(address.trim(), BASE).href;
    } catch {
      return null;
    }
  };
  let settled = 0;
  assert(
    property(start, array(pieces, { maxLength: 8 }), (begins, parts) => {
      const address = begins + parts.join('');
      const resolved = parsed(address);
      if (resolved === address) settled++;
      return resolveUrl(address, BASE) === resolved;
    }),
    { numRuns: 20_000, seed: 7 },
  );
  expect(settled).toBeGreaterThan(1_000);
});

describe('a document without a URL', () => {
  const NONE = `blob:${'0'.repeat(64)}`;
  test.each([
    ['/a b?c#d', '/a b?c#d'],
    [' ../x.html ', '../x.html'],
    ['#part', '#part'],
    ['//cdn.example/x', '//cdn.example/x'],
    ['https://Tea.example', 'https://tea.example/'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
    ['java\nscript:alert(1)', 'javascript:alert(1)'],
    ['', null],
    ['//[', null],
  ])('resolves %j', (href, url) => expect(resolveUrl(href, NONE)).toBe(url));
  test('with a base element has a base', () => {
    expect(documentBaseUrl(parseDocument('<base href="https://clay.example/a/">'), NONE)).toBe(
      'https://clay.example/a/',
    );
  });
  test('keeps its pictures as they are', () => {
    expect(collectImages(parseDocument('<img src="i.png">'), NONE)).toEqual([{ url: 'i.png', alt: '' }]);
  });
});

test('returns the base URL of a document', () => {
  const base = (html: string) => documentBaseUrl(parseDocument(html), BASE);
  expect(base('<base href="/x/"><base href="/y/">')).toBe('https://clay.example/x/');
  expect(base('<base target=_top><base href="z/">')).toBe('https://clay.example/a/z/');
  expect(base('<base href="http://[">')).toBe(BASE);
  expect(base('<base href="javascript:1">')).toBe(BASE);
  expect(base('')).toBe(BASE);
});

describe('images', () => {
  const urls = (html: string, options = {}) =>
    collectImages(parseDocument(html), BASE, options).map((image) => image.url);
  const DATA = 'data:image/png;base64,AAAA';
  const hash = createHash('md5').update(DATA).digest('hex');
  test.each([
    ['<img src="i.png" srcset="j.png 2x">', 'https://clay.example/a/i.png'],
    ['<img srcset=" j.png 1x, k.png 2x">', 'https://clay.example/a/j.png'],
    [`<img src="${DATA}" data-src="l.png">`, 'https://clay.example/a/l.png'],
    ['<img data-src="m.png">', 'https://clay.example/a/m.png'],
    [`<img src="${DATA}">`, `blob:http://localhost/${hash}`],
    [`<img src="${DATA}" data-src="${DATA}">`, `blob:http://localhost/${hash}`],
  ])('%s', (html, url) => expect(urls(html)).toEqual([url]));
  test('omits images without a URL', () => expect(urls('<img><img src=""><img src="http://[">')).toEqual([]));
  test('keeps data URLs, or names them with the given origin', () => {
    expect(urls(`<img src="${DATA}">`, { keepDataUrl: true })).toEqual([DATA]);
    expect(urls(`<img src="${DATA}">`, { origin: 'https://x.example' })).toEqual([`blob:https://x.example/${hash}`]);
  });
  test('reads a srcset full of commas', () => {
    const [url] = urls(`<img srcset="a${','.repeat(50_000)}b${','.repeat(50_000)} 2x">`);
    expect(url?.endsWith(',b')).toBe(true);
  });
  test('uses alt, else title', () => {
    const html = '<img src=a alt="A\r\n\n\nB" title=T><img src=b title=T><img src=c>';
    expect(collectImages(parseDocument(html), BASE).map((image) => image.alt)).toEqual(['A B', 'T', '']);
  });
});
