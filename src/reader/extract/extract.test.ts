import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { elements, find, textOf } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import type { Article } from '../article.ts';
import { MARKDOWN_STYLE_DEFAULTS } from '../markdown/style.ts';
import { toMarkdown } from '../markdown/to-markdown.ts';
import { extractArticle } from './extract.ts';

/** What a page of test/fixtures/pages must give: `source.html` beside `expected.json`. */
interface Expected {
  keep: string[];
  drop: string[];
  /** Lines that stand in the Markdown as they are. */
  markdown?: string[];
  title?: string;
  kind?: string;
  hidden?: number;
  url?: string;
}

const PAGES = path.resolve(import.meta.dirname, '../../../test/fixtures/pages');

const read = (html: string, url = 'https://clay.example/a/page', more = {}): Article =>
  extractArticle(parseDocument(html), { url, baseUrl: url, whole: false, ...more });

const markdownOf = ({ content }: Article) =>
  toMarkdown(content, {
    ...MARKDOWN_STYLE_DEFAULTS,
    pageUrl: 'https://clay.example/',
    baseUrl: 'https://clay.example/',
    gfm: 'all',
    retainLinks: 'all',
    retainImages: 'all',
    keepImgDataUrl: false,
  }).markdown;

const cases = readdirSync(PAGES);
test('there are pages', () => expect(cases.length).toBeGreaterThan(20));

test.each(cases)('page %s', (name) => {
  const html = readFileSync(path.join(PAGES, name, 'source.html'), 'utf8');
  const expected: Expected = JSON.parse(readFileSync(path.join(PAGES, name, 'expected.json'), 'utf8'));
  const article = read(html, expected.url);
  const text = textOf(article.content).replace(/\s+/g, ' ');
  for (const words of expected.keep) expect(text).toContain(words);
  for (const words of expected.drop) expect(text).not.toContain(words);
  const markdown = markdownOf(article);
  for (const line of expected.markdown ?? []) expect(markdown).toContain(line);
  if (expected.title !== undefined) expect(article.title).toBe(expected.title);
  if (expected.kind !== undefined) expect(article.kind).toBe(expected.kind);
  if (expected.hidden !== undefined) expect(article.hiddenCount).toBe(expected.hidden);
});

test('the same page gives the same Markdown', () => {
  for (const name of cases) {
    const html = readFileSync(path.join(PAGES, name, 'source.html'), 'utf8');
    expect(markdownOf(read(html))).toBe(markdownOf(read(html)));
  }
});

test('the whole page keeps all that can be seen', () => {
  const html = readFileSync(path.join(PAGES, 'article-hidden/source.html'), 'utf8');
  const article = read(html, undefined, { whole: true });
  expect(article.source).toBe('page');
  expect(article.title).toBe('How a kiln is fired | Clay House');
  expect(textOf(article.content)).toContain('All rights reserved');
  expect(textOf(article.content)).not.toContain('Ignore all');
});

const SENTENCE = 'A sentence with a few words in it, to be read. ';

test('an empty page is empty', () => {
  const article = read('');
  expect(textOf(article.content)).toBe('');
  expect(article.confidence).toBe(0);
});

test('100,000 siblings', () => {
  const article = read(`<main>${`<p>${SENTENCE}</p>`.repeat(100_000)}</main>`);
  expect([...elements(article.content, 'p')].length).toBeGreaterThan(99_000);
});

test('500 kB of nested divisions', () => {
  const article = read(`${'<div class="content">'.repeat(25_000)}<p>${SENTENCE.repeat(20)}</p>`);
  expect(textOf(article.content)).toContain('A sentence with a few words');
});

test('lists nested 500 deep', () => {
  const article = read(`${'<ul><li>item '.repeat(250)}<p>${SENTENCE.repeat(20)}</p>`);
  expect(textOf(article.content)).toContain('A sentence with a few words');
});

test('a table of 20,000 rows', () => {
  const rows = Array.from({ length: 20_000 }, (_, at) => `<tr><td>${at}</td><td>${SENTENCE}</td></tr>`).join('');
  const article = read(`<h1>Numbers</h1><table><tr><th>N</th><th>Text</th></tr>${rows}</table>`);
  expect(find(article.content, 'table')).not.toBeNull();
  expect([...elements(article.content, 'tr')].length).toBe(20_001);
});

test('a class of a million letters, an element of a thousand attributes', () => {
  const attributes = Array.from({ length: 1000 }, (_, at) => `data-${at}="${at}"`).join(' ');
  const article = read(`<div class="${'sidebar '.repeat(125_000)}" ${attributes}><p>${SENTENCE.repeat(20)}</p></div>`);
  expect(textOf(article.content)).toContain('A sentence with a few words');
});

test('200,000 blocks, more than are weighed', () => {
  const article = read(`<nav><a href="/">Home</a></nav>${'<p>a b'.repeat(200_000)}`);
  expect(article.source).toBe('container');
  expect(textOf(article.content)).not.toContain('Home');
  expect([...elements(article.content, 'p')].length).toBe(200_000);
});

test.each([
  ['a style of zeros', `<p style="opacity:${'0'.repeat(4000)}?">tea</p>`.repeat(2000)],
  ['a clip of blanks', `<p style="position:absolute;clip:rect(${' '.repeat(4000)}x">tea</p>`.repeat(500)],
  ['places without an end', `<template id="B:1"></template><div hidden id="S:1">tea</div>`.repeat(20_000)],
  [
    'many places',
    Array.from(
      { length: 20_000 },
      (_, at) => `<template id="B:${at}"></template><div hidden id="S:${at}">tea</div>`,
    ).join(''),
  ],
  ['quotation marks and brackets', '<p>tea ([{<"\'.-,;'.repeat(50_000)],
])('%s', (_, html) => {
  expect(textOf(read(html).content)).toContain('tea');
});
