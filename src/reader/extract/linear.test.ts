/**
 * Checks that the work from HTML to Markdown is linear in the size of the page. Compares the processor time of a page
 * with that of a page four times as long, with some tolerance; a failed measurement is repeated. Quadratic work would
 * take sixteen times as long.
 */
// Full run only: generates large documents.
import { describe, expect, test } from 'vitest';
import { textOf } from '#html/node.ts';
import { MAX_DEPTH, parsePage } from '#html/parse.ts';
import { testOptions } from '../markdown/convert.suite.ts';
import { toMarkdown } from '../markdown/to-markdown.ts';
import { extractArticle } from './extract.ts';
import { removeInvisibleParts } from './visibility/invisible-parts.ts';

const URL = 'http://localhost/';
const MAX_GROWTH = 8;
/** Below this, the measurement is dominated by the clock and the garbage collector. */
const MIN_MS = 4;
const MAX_RUNS = 4;

function read(html: string): string {
  const { document } = parsePage(html);
  const invisibleParts = removeInvisibleParts(document, { allowsLastResort: true });
  const { content } = extractArticle(document, { url: URL, baseUrl: URL, whole: false, invisibleParts });
  return toMarkdown(content, testOptions(URL)).markdown;
}

const numbered = (count: number, piece: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => piece(at)).join('');

/** Names without digits, because names that differ only in digits would have the same signature. */
const letters = (at: number) => at.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!);

/** The pages, each created from a number of pieces. */
const PAGES: Record<string, [pieces: number, (count: number) => string]> = {
  'nested divisions': [3000, (count) => '<div>some words '.repeat(count)],
  'nested divisions, closed': [3000, (count) => `${'<div>'.repeat(count)}text${'</div>'.repeat(count)}`],
  'nested divisions with names': [
    1500,
    (count) => numbered(count, (at) => `<div class="nav-${letters(at)}z" id=x${at}>text `),
  ],
  'unclosed paragraphs': [4000, (count) => '<p>some words'.repeat(count)],
  'unclosed formatting': [500, (count) => '<p><b><i>some words <a href=x>more'.repeat(count)],
  'the same paragraphs twice': [
    1500,
    (count) => {
      const paragraphs = numbered(count, (at) => `<p>some words about the pot ${letters(at)}`);
      return `<div class=wide>${paragraphs}</div><div class=narrow>${paragraphs}</div>`;
    },
  ],
  siblings: [4000, (count) => '<div>text here</div>'.repeat(count)],
  'a table': [2000, (count) => `<table>${'<tr><td>one cell<td>another'.repeat(count)}</table>`],
  'nested tables': [1500, (count) => '<table><tr><td>some text here '.repeat(count)],
  'a long class': [40_000, (count) => `<p class="${'word '.repeat(count)}">text here</p>`],
  'a long style': [40_000, (count) => `<p style="${'color:red;'.repeat(count)}">text here</p>`],
  'many attributes': [20_000, (count) => `<p ${numbered(count, (at) => `a${at}=1 `)}>text here</p>`],
  'one long text': [60_000, (count) => `<p>${'some words, '.repeat(count)}`],
  'one long word': [400_000, (count) => `<p>${'x'.repeat(count)}`],
  'blank text': [400_000, (count) => `<p>a${' \n'.repeat(count)}b`],
  'many signatures': [2500, (count) => numbered(count, (at) => `<div class="${letters(at)}zq">text here</div>`)],
  'nested lists': [3000, (count) => '<ul><li>an item'.repeat(count)],
  headings: [2500, (count) => `<title>Heading</title>${numbered(count, (at) => `<h1>Heading ${at}</h1>`)}`],
  'the same text': [3000, (count) => '<p>The same text in each of these, always.</p>'.repeat(count)],
  links: [3000, (count) => '<li><a href="/x">A link</a></li>'.repeat(count)],
  'streamed parts': [
    1500,
    (count) => numbered(count, (at) => `<template id="B:${at}"></template><div hidden id="S:${at}">part ${at}</div>`),
  ],
  'comment headings': [2500, (count) => '<h2>3 comments</h2><p>text here</p>'.repeat(count)],
  'nested comments': [2000, (count) => '<div class="comments">some words '.repeat(count)],
  'nested noscript': [2000, (count) => '<noscript>some words '.repeat(count)],
  'nested hidden parts': [3000, (count) => '<div hidden>some words '.repeat(count)],
  'hidden parts': [3000, (count) => '<p hidden>some words of a page that waits for its scripts</p>'.repeat(count)],
  'noscript pictures': [
    2000,
    (count) => '<img src=blank.gif> <!----> <noscript><img src=a.png></noscript>'.repeat(count),
  ],
  'nested wrappers with pictures': [1500, (count) => '<span><img><noscript><img src=a.png></noscript>'.repeat(count)],
  'a long srcset': [20_000, (count) => `<p>text</p><img srcset="${'a.png 1w, '.repeat(count)}">`],
  'lines of code': [
    2000,
    (count) => `<table>${'<tr><td class="blob-num">1</td><td class="blob-code">code</td></tr>'.repeat(count)}</table>`,
  ],
  'nested buttons': [2000, (count) => '<div class="copy">Copy '.repeat(count)],
  permalinks: [3000, (count) => '<h2>text<a href="#x"><i></i></a></h2>'.repeat(count)],
  'state of scripts': [
    3000,
    (count) =>
      `<script type="application/json">["${'A sentence that is there to be read, and to be counted. \\" '.repeat(count)}"]</script>`,
  ],
  'many strings in scripts': [
    1500,
    (count) =>
      `<script type="application/json">[${numbered(count, (at) => `"${at} is the number of this sentence that is long enough to be read as prose by a program.",`)}]</script>`,
  ],
  'faded parts': [2000, (count) => '<div style="opacity:0">some words <div>'.repeat(count)],
  'many styles': [2000, (count) => numbered(count, (at) => `<p style="color:#${at};margin:${at}px">text here</p>`)],
  'opened brackets': [60_000, (count) => '< '.repeat(count)],
  references: [60_000, (count) => '&amp;'.repeat(count)],
};

function spentMs(html: string): number {
  const before = process.cpuUsage();
  read(html);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('time is linear in the page', () => {
  test.for(Object.entries(PAGES))('%s', { timeout: 120_000, retry: 2 }, ([, [pieces, make]]) => {
    const [short, long] = [make(pieces), make(4 * pieces)];
    // Compiles the code that both measurements need; otherwise the first one would include the compilation.
    read(short);
    const best = { short: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };
    for (let run = 0; run < MAX_RUNS; run++) {
      best.short = Math.min(best.short, spentMs(short));
      best.long = Math.min(best.long, spentMs(long));
      if (best.long < MAX_GROWTH * Math.max(MIN_MS, best.short)) break;
    }
    expect(best.long).toBeGreaterThan(0);
    expect(best.long).toBeLessThan(MAX_GROWTH * Math.max(MIN_MS, best.short));
  });
});

test('content that is nested too deep is flattened, not lost', () => {
  const source = '<div>word '.repeat(45_000);
  const { document, depth, elements, complete } = parsePage(source);
  expect(complete).toBe(true);
  expect(depth).toBeLessThanOrEqual(MAX_DEPTH + 1);
  expect(elements).toBeGreaterThan(45_000);
  const { content } = extractArticle(document, { url: URL, baseUrl: URL, whole: true });
  expect(textOf(content).match(/word/g)).toHaveLength(45_000);
});
