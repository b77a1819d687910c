import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { documentBaseUrl } from '../content/links.ts';
import { extractMetadata } from './metadata.ts';
import { FACT_SOURCES } from './sources.ts';

const URL_OF_PAGE = 'https://www.clay.example/news/kiln';
const read = (html: string) => extractMetadata(parseDocument(html), URL_OF_PAGE);
const jsonLd = (value: unknown) => `<script type="application/ld+json">${JSON.stringify(value)}</script>`;

describe('title', () => {
  test.each([
    [
      '<title>A kiln is fired | Clay House</title><meta property="og:site_name" content="Clay House">',
      'A kiln is fired',
    ],
    [
      '<title>Clay House - A kiln is fired</title><meta property="og:site_name" content="Clay House">',
      'A kiln is fired',
    ],
    ['<title>A kiln is fired – clay.example</title>', 'A kiln is fired'],
    ['<title>A kiln is fired | News</title><h1>A kiln is fired</h1>', 'A kiln is fired'],
    ['<title>Glaze - the basics</title>', 'Glaze - the basics'],
    ['<title> Two\n  lines </title>', 'Two lines'],
    ['<meta property="og:title" content="From the graph"><title>From the head</title>', 'From the graph'],
    ['<h1>Only a heading</h1>', 'Only a heading'],
    ['<p>none</p>', ''],
  ])('%s', (html, title) => expect(read(html).title).toBe(title));

  test('is one line without chunk separators', () => expect(read('<title>a\u001db</title>').title).toBe('a b'));
});

test('description: is the first meta whose name or property ends in description', () => {
  const html =
    '<meta name="keywords" content="k"><meta property="og:description" content=" first "><meta name="description" content="second">';
  expect(read(html).description).toBe('first');
  expect(read('<p>none').description).toBe('');
});

describe('published time', () => {
  test.each([
    [
      `${jsonLd({ '@type': 'NewsArticle', datePublished: '2024-05-01' })}<meta property="article:published_time" content="2020">`,
      '2024-05-01',
    ],
    [
      jsonLd({
        '@graph': [
          { '@type': 'WebSite', name: 'x' },
          { '@type': ['Article'], datePublished: '2024-05-02' },
        ],
      }),
      '2024-05-02',
    ],
    ['<meta property="article:published_time" content="2024-05-03T10:00:00Z">', '2024-05-03T10:00:00Z'],
    ['<span itemprop="datePublished" content="2024-05-04">May</span>', '2024-05-04'],
    ['<time datetime="2024-05-05">May 5</time>', '2024-05-05'],
    ['<script type="application/ld+json">{broken</script><p>x', undefined],
  ])('%s', (html, time) => expect(read(html).publishedTime).toBe(time));
});

test('returns author, language and site name', () => {
  const html = `<html lang="de-AT">${jsonLd({ '@type': 'Article', author: [{ name: 'Ada' }, { name: 'Ben' }] })}<meta property="og:site_name" content="Clay House">`;
  expect(read(html)).toMatchObject({ lang: 'de-AT', author: 'Ada, Ben', siteName: 'Clay House' });
});

test('reads the label of a Twitter card in the language of the page', () => {
  const card = (label: string) =>
    read(`<meta name="twitter:label1" content="${label}"><meta name="twitter:data1" content="Ada Reyes">`).author;
  expect(['Written by', 'Verfasst von', 'Est. reading time'].map(card)).toEqual(['Ada Reyes', 'Ada Reyes', undefined]);
});

test('metadata: contains every named meta, with repeated values joined by commas', () => {
  const html =
    '<html lang=en><meta name=a content=1><meta property=a content=2><meta name=b><meta charset=utf-8><meta name=__proto__ content=x>';
  const { metadata } = read(html);
  expect(Object.entries(metadata)).toEqual([
    ['lang', 'en'],
    ['a', '1,2'],
    ['__proto__', 'x'],
  ]);
});

test('JSON-LD: returns the values of the main object unchanged', () => {
  const html = jsonLd({
    '@graph': [
      { '@type': 'WebPage', name: 'Frame' },
      {
        '@type': ['NewsArticle'],
        headline: 'Kiln',
        datePublished: '2024-05-01',
        dateModified: '2024-05-02',
        author: [{ '@type': 'Person', name: 'Ada' }],
        keywords: ['clay', 'fire'],
        wordCount: 12,
        image: { '@type': 'ImageObject', url: 'https://x.example/i.png' },
      },
      { '@type': 'Product', name: 'Not the page' },
    ],
  });
  expect(read(html).metadata).toEqual({
    author: 'Ada',
    'jsonld:type': 'NewsArticle',
    'jsonld:headline': 'Kiln',
    'jsonld:datePublished': '2024-05-01',
    'jsonld:dateModified': '2024-05-02',
    'jsonld:author': 'Ada',
    'jsonld:keywords': 'clay,fire',
    'jsonld:wordCount': '12',
  });
  expect(read(jsonLd({ '@type': 'WebPage', name: 'Frame' })).metadata['jsonld:name']).toBe('Frame');
});

test('JSON-LD: resolves a reference to an author', () => {
  const html = `${jsonLd({
    '@graph': [
      { '@type': 'BlogPosting', headline: 'Kiln', author: { '@id': '#a' } },
      { '@type': 'Person', '@id': '#a', name: 'Dora' },
    ],
  })}<meta name="twitter:creator" content="@x">`;
  expect(read(html).metadata).toMatchObject({ author: 'Dora', 'jsonld:author': 'Dora' });
});

test('external: contains head links by rel and URL', () => {
  const html =
    '<link rel="icon shortcut" href="/i.png" sizes="16x16"><link rel=stylesheet href=a.css><link rel=canonical href="https://clay.example/k"><link rel=next><body><link rel=prev href=/p>';
  expect(read(html).external).toEqual({
    icon: { 'https://www.clay.example/i.png': { sizes: '16x16' } },
    canonical: { 'https://clay.example/k': {} },
  });
});

/**
 * The expected metadata of a page in test/fixtures/metadata: a folder with `source.html` and `expected.json`, where
 * null means absent.
 */
interface Expected {
  why: string;
  url: string;
  [fact: string]: string | null;
}

const PAGES = path.resolve(import.meta.dirname, '../../../../test/fixtures/metadata');

describe.each(readdirSync(PAGES))('page %s', (name) => {
  const html = readFileSync(path.join(PAGES, name, 'source.html'), 'utf8');
  const { why, url, ...facts }: Expected = JSON.parse(readFileSync(path.join(PAGES, name, 'expected.json'), 'utf8'));
  const document = parseDocument(html);
  const metadata = extractMetadata(document, documentBaseUrl(document, url), url);
  test.each(Object.entries(facts))(`%s: ${why}`, (fact, value) => {
    expect({ [fact]: metadata[fact as keyof typeof metadata] ?? null }).toEqual({ [fact]: value });
  });
});

describe('hostile pages', () => {
  test('reads 100,000 metas with the same name', () => {
    const { metadata } = read('<meta name=a content=b>'.repeat(100_000));
    expect(metadata.a).toHaveLength(199_999);
  });

  test('reads 100,000 metas with different names', () => {
    const metas = Array.from({ length: 100_000 }, (_, at) => `<meta name=n${at} content=${at}>`).join('');
    expect(Object.keys(read(metas).metadata)).toHaveLength(100_000);
  });

  test('reads 100,000 properties in deeply nested items', () => {
    const html = '<div itemscope itemprop=author><b itemprop=datePublished>x</b>'.repeat(100_000);
    const { title, author, publishedTime } = read(`<title>T</title>${html}`);
    expect({ title, author, publishedTime }).toEqual({ title: 'T', author: undefined, publishedTime: undefined });
  });

  test('reads a page with very deeply nested JSON-LD', () => {
    const maze = (open: string, close: string, depth: number) =>
      `<script type="application/ld+json">${open.repeat(depth)}${close.repeat(depth)}</script>`;
    expect(read(`${maze('[', ']', 200_000)}<title>T</title>`).title).toBe('T');
    expect(read(`${maze('{"mainEntity":', '}', 50_000)}<title>T</title>`).title).toBe('T');
    expect(read(`${maze('{"author":[', ']}', 50_000)}<title>T</title>`).title).toBe('T');
  });

  test('ignores JSON-LD of 5 MB, but reads the script before it', () => {
    const small = jsonLd({ '@type': 'Article', headline: 'Small', author: { name: 'Ada Reyes' } });
    const large = jsonLd({ '@type': 'Article', headline: 'Large', articleBody: 'x'.repeat(5_000_000) });
    expect(read(small + large)).toMatchObject({ title: 'Small', author: 'Ada Reyes' });
    expect(read(`${large}<title>T</title>`).title).toBe('T');
  });

  test('carries no whole articles', () => {
    const words = 'The kiln was fired for two days and two nights. '.repeat(500);
    const facts = { '@type': 'Article', headline: 'Kilns', wordCount: 4500, articleBody: words, text: words };
    const { metadata } = read(`${jsonLd(facts)}<meta name="body" content="${words}"><meta name="a" content="b">`);
    expect(metadata).toMatchObject({ 'jsonld:wordCount': '4500', a: 'b' });
    expect(Object.keys(metadata).filter((name) => /articleBody|text/.test(name))).toEqual([]);
    expect(metadata.body).toBe(`${words.slice(0, 3_000)}…`);
  });

  test('reads very long titles, names and headings', () => {
    const long = 'a - :: | » '.repeat(500_000);
    const html = `<title>${long}</title><meta property=og:title content="${long}"><meta name=author content="${'By A, '.repeat(500_000)}"><h1>${'<b>x'.repeat(100_000)}`;
    const { title, author } = read(html);
    expect(title.length).toBeLessThanOrEqual(1000);
    expect(author).toBeUndefined();
  });

  test('reads a heading nested in 100,000 elements with as many elements after it', () => {
    const html = `<title>Kiln</title>${'<div class="byline date">'.repeat(100_000)}<h1>Kiln</h1>${'<p class=byline>By <i>'.repeat(100_000)}`;
    expect(read(html).title).toBe('Kiln');
  });
});

test('the guide lists every source in order', () => {
  const guide = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/guide/metadata.md'), 'utf8');
  for (const [fact, sources] of Object.entries(FACT_SOURCES)) {
    const row = guide.split('\n').find((line) => line.startsWith(`| ${fact} | \``));
    expect([...(row ?? '').matchAll(/`([^`]+)`/g)].map(([, source]) => source)).toEqual([...sources]);
  }
});
