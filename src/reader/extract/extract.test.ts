// Full run only: reads all fixture pages.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { elements, find, textOf } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import {
  labelledText,
  OWN_PAGES,
  ownPages,
  singleLineText,
  spacedText,
  wordF1,
} from '../../../test/support/own-pages.ts';
import type { Article } from '../article.ts';
import { testOptions } from '../markdown/convert.suite.ts';
import { toMarkdown } from '../markdown/to-markdown.ts';
import { extractArticle } from './extract.ts';

const optionsFor = (url = 'https://clay.example/a/page') => ({ url, baseUrl: url, whole: false });

const read = (html: string, url?: string, more = {}): Article =>
  extractArticle(parseDocument(html), { ...optionsFor(url), ...more });

const markdownOf = ({ content }: Article) => toMarkdown(content, testOptions('https://clay.example/')).markdown;

const pages = ownPages();
test('there are more than 150 fixture pages', () => expect(pages.length).toBeGreaterThan(150));

/** Pages with a lower F1 need an entry in `known`. */
const USUAL_F1 = 0.9;

test.each(pages)('page $name', ({ html, expected }) => {
  const { keep, drop, known = {} } = expected;
  const document = parseDocument(html);
  const gold = expected.content && labelledText(document, expected);
  const article = extractArticle(document, optionsFor(expected.url));
  const text = singleLineText(article.content);
  for (const words of keep) if (!known.missing?.includes(words)) expect(text).toContain(words);
  for (const words of drop) if (!known.extra?.includes(words)) expect(text).not.toContain(words);
  const markdown = markdownOf(article);
  for (const line of expected.markdown ?? []) if (!known.markdown?.includes(line)) expect(markdown).toContain(line);
  expect(markdownOf(read(html, expected.url)), 'the same page gives the same Markdown').toBe(markdown);
  if (expected.title !== undefined) expect(article.title).toBe(known.title ?? expected.title);
  if (expected.kind !== undefined) expect(article.kind).toBe(known.kind ?? expected.kind);
  if (expected.hidden !== undefined) expect(article.hiddenCount).toBe(expected.hidden);
  if (gold !== undefined)
    expect(wordF1(spacedText(article.content), gold)).toBeGreaterThanOrEqual(known.f1 ?? USUAL_F1);
});

test('every fixture page has a why.md', () => {
  for (const { name } of pages) expect(readFileSync(path.join(OWN_PAGES, name, 'why.md'), 'utf8')).toMatch(/\S/);
});

test('takes no title, author or date from hidden text', () => {
  const hidden = '<p class="byline" hidden>By Nobody Seen, March 3, 2021</p>';
  const article = read(
    `<title>Nice pots</title><h1>Nice pots<span style="display:none"> BUY</span></h1>${hidden}<p>Text of the page.</p>`,
  );
  expect(article.title).toBe('Nice pots');
  expect(article.author).toBeUndefined();
  expect(article.publishedTime).toBeUndefined();
  expect(read('<h1 hidden>Not here</h1><p>Text of the page.</p>').title).toBe('');
});

test('removes a site name at the start of a title', () => {
  const page = (title: string, heading: string) => read(`<title>${title}</title><h1>${heading}</h1><p>Text.</p>`).title;
  expect(page('The Courier - Mayor resigns today', 'Mayor resigns today')).toBe('Mayor resigns today');
  expect(page('Recipes - Tomato soup', 'Tomato soup')).toBe('Tomato soup');
});

test('returns no content for a page of menus and footers only', () => {
  const links = ['Help', 'Returns', 'Contact']
    .map((name) => `<li><a href="/${name}">${name} and more</a></li>`)
    .join('');
  const html = `<nav><ul>${links}</ul></nav><div id="root"></div><footer><ul>${links}</ul><p>All rights reserved</p></footer>`;
  const article = read(html);
  expect(article.source).toBe('nothing');
  expect(textOf(article.content)).toBe('');
  expect(read(`${html}<p>But one line.</p>`).source).not.toBe('nothing');
});

test('returns the title and description of a page without text', () => {
  const head = '<title>Pots | Clay House</title><meta name="description" content="What a kiln does to clay.">';
  const article = read(`<html><head>${head}</head><body><div id="root"></div></body></html>`);
  expect(article.source).toBe('head');
  expect(textOf(article.content)).toContain('What a kiln does to clay.');
  expect(read(`<html><head>${head}</head><body><img src="/pot.jpg"></body></html>`).source).toBe('page');
  expect(textOf(read('<title>Only a title</title><body><table></table></body>').content)).toBe('Only a title');
});

test('keeps all visible text if the whole page is requested', () => {
  const html = readFileSync(path.join(OWN_PAGES, 'article-hidden/source.html'), 'utf8');
  const article = read(html, undefined, { whole: true });
  expect(article.source).toBe('page');
  expect(article.title).toBe('How a kiln is fired | Clay House');
  expect(textOf(article.content)).toContain('All rights reserved');
  expect(textOf(article.content)).not.toContain('Ignore all');
});

const SENTENCE = 'A sentence with a few words in it, to be read. ';

test('returns no text for an empty page', () => {
  const article = read('');
  expect(textOf(article.content)).toBe('');
  expect(article.confidence).toBe(0);
});

test('extracts 40,000 siblings', () => {
  const article = read(`<main>${`<p>${SENTENCE}</p>`.repeat(40_000)}</main>`);
  expect([...elements(article.content, 'p')].length).toBeGreaterThan(39_000);
});

test('extracts 500 kB of nested divisions', () => {
  const article = read(`${'<div class="content">'.repeat(25_000)}<p>${SENTENCE.repeat(20)}</p>`);
  expect(textOf(article.content)).toContain('A sentence with a few words');
});

test('extracts lists nested 500 deep', () => {
  const article = read(`${'<ul><li>item '.repeat(250)}<p>${SENTENCE.repeat(20)}</p>`);
  expect(textOf(article.content)).toContain('A sentence with a few words');
});

test('extracts a table of 10,000 rows', () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => `<tr><td>${at}</td><td>${SENTENCE}</td></tr>`).join('');
  const article = read(`<h1>Numbers</h1><table><tr><th>N</th><th>Text</th></tr>${rows}</table>`);
  expect(find(article.content, 'table')).not.toBeNull();
  expect([...elements(article.content, 'tr')].length).toBe(10_001);
});

test('extracts an element with a million letters of class and a thousand attributes', () => {
  const attributes = Array.from({ length: 1000 }, (_, at) => `data-${at}="${at}"`).join(' ');
  const article = read(`<div class="${'sidebar '.repeat(125_000)}" ${attributes}><p>${SENTENCE.repeat(20)}</p></div>`);
  expect(textOf(article.content)).toContain('A sentence with a few words');
});

test('returns 160,000 blocks, too many to score, without the boilerplate', () => {
  const article = read(`<nav><a href="/">Home</a></nav>${'<p>a b'.repeat(160_000)}`);
  expect(article.source).toBe('container');
  expect(textOf(article.content)).not.toContain('Home');
  expect([...elements(article.content, 'p')].length).toBe(160_000);
});

test('returns 260,000 blocks, too many to survey, as the whole page', () => {
  const article = read(`<title>Tea</title><nav><a href="/">Home</a></nav>${'<p>a b'.repeat(260_000)}`);
  expect(article).toMatchObject({ source: 'page', confidence: 0, title: 'Tea' });
  expect(textOf(article.content)).toContain('Home');
  expect([...elements(article.content, 'p')].length).toBe(260_000);
});

test('returns 510,000 elements without text', () => {
  const article = read(`<title>Tea</title>${'<p>'.repeat(510_000)}`);
  expect(article).toMatchObject({ source: 'page', title: 'Tea' });
});

test.each([
  ['a style of zeros', `<p style="opacity:${'0'.repeat(4000)}?">tea</p>`.repeat(2000)],
  ['a clip of blanks', `<p style="position:absolute;clip:rect(${' '.repeat(4000)}x">tea</p>`.repeat(500)],
  ['one placeholder for many parts', `<template id="B:1"></template><div hidden id="S:1">tea</div>`.repeat(20_000)],
  [
    'many placeholders',
    Array.from(
      { length: 20_000 },
      (_, at) => `<template id="B:${at}"></template><div hidden id="S:${at}">tea</div>`,
    ).join(''),
  ],
  ['quotation marks and brackets', '<p>tea ([{<"\'.-,;'.repeat(50_000)],
])('%s', (_, html) => {
  expect(textOf(read(html).content)).toContain('tea');
});
