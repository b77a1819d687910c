import { describe, expect, test } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { extractMetadata } from './metadata.ts';

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

  test('is one line without separators of ours', () => expect(read('<title>a\u001db</title>').title).toBe('a b'));
});

test('description: the first meta whose name or property ends in description', () => {
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

test('author, language and site', () => {
  const html = `<html lang="de-AT">${jsonLd({ '@type': 'Article', author: [{ name: 'Ada' }, { name: 'Ben' }] })}<meta property="og:site_name" content="Clay House">`;
  expect(read(html)).toMatchObject({ lang: 'de-AT', author: 'Ada, Ben', siteName: 'Clay House' });
});

test('metas: every named one with content, repeats joined with a comma', () => {
  const html =
    '<html lang=en><meta name=a content=1><meta property=a content=2><meta name=b><meta charset=utf-8><meta name=__proto__ content=x>';
  const { metadata } = read(html);
  expect(Object.entries(metadata)).toEqual([
    ['lang', 'en'],
    ['a', '1,2'],
    ['__proto__', 'x'],
  ]);
});

test('linked data: the object that is the page, in its own words', () => {
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

test('linked data: an author who is told of elsewhere', () => {
  const html = `${jsonLd({
    '@graph': [
      { '@type': 'BlogPosting', headline: 'Kiln', author: { '@id': '#a' } },
      { '@type': 'Person', '@id': '#a', name: 'Dora' },
    ],
  })}<meta name="twitter:creator" content="@x">`;
  expect(read(html).metadata).toMatchObject({ author: 'Dora', 'jsonld:author': 'Dora' });
});

test('external: head links by rel and address', () => {
  const html =
    '<link rel="icon shortcut" href="/i.png" sizes="16x16"><link rel=stylesheet href=a.css><link rel=canonical href="https://clay.example/k"><link rel=next><body><link rel=prev href=/p>';
  expect(read(html).external).toEqual({
    icon: { 'https://www.clay.example/i.png': { sizes: '16x16' } },
    canonical: { 'https://clay.example/k': {} },
  });
});

test('100,000 metas of one name', () => {
  const { metadata } = read('<meta name=a content=b>'.repeat(100_000));
  expect(metadata.a).toHaveLength(199_999);
});

test('JSON-LD that is a maze', () => {
  expect(
    read(`<script type="application/ld+json">${'['.repeat(5000)}${']'.repeat(5000)}</script><title>T</title>`).title,
  ).toBe('T');
});
