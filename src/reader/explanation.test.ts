// Full run only: reads all fixture pages.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { type Child, type Document, descendants, ELEMENT, type Element, following, TEXT } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { compileSelectors, selectAll } from '#html/select.ts';
import type { Explanation } from './explanation.ts';
import { NON_TEXT_ELEMENTS } from './extract/blocks/survey.ts';
import { MACHINE_ONLY_ELEMENTS, readableText } from './extract/content/removal-log.ts';
import type { GivenOptions } from './options/options.ts';
import { renderHtml } from './render.suite.ts';

const PAGES = path.resolve(import.meta.dirname, '../../test/fixtures/pages');
const pages = readdirSync(PAGES).map((name) => readFileSync(path.join(PAGES, name, 'source.html'), 'utf8'));

interface Explained {
  readonly document: Document;
  readonly content: string;
  readonly explanation: Explanation;
}

function explained(html: string, given: GivenOptions = {}): Explained {
  const { page } = renderHtml(html, { ...given, explain: true });
  return { document: parseDocument(html), content: page.content ?? '', explanation: page.explanation! };
}

const letters = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, '');

function theOne({ document }: Explained, selector: string): Element {
  const found = selectAll(document, compileSelectors(selector));
  expect(found, selector).toHaveLength(1);
  return found[0]!;
}

/** The text of an element without what is never read. */
function readIn(element: Element): string {
  let text = '';
  for (let node = following(element, element); node; ) {
    const isSilent: boolean = node.type === ELEMENT && NON_TEXT_ELEMENTS.has(node.name);
    if (node.type === TEXT) text += node.value;
    node = following(node, element, isSilent);
  }
  return text;
}

/** What holds of every selector. */
function checkSelectors(page: Explained): void {
  const { removed, blocks } = page.explanation;
  for (const { selector, text, step } of removed) {
    expect(text.length).toBeLessThanOrEqual(100);
    const holder = theOne(page, selector);
    if (step === 'cut') continue;
    expect([letters(readableText(holder)), letters(readIn(holder))].join(' ')).toContain(letters(text));
  }
  for (const { selector } of blocks) theOne(page, selector);
}

/** What holds of all lines of the Markdown. */
function checkLines({ content, explanation }: Pick<Explained, 'content' | 'explanation'>): void {
  const lines = content.split('\n');
  const taken = new Set<number>();
  let last = 0;
  for (const { line, lines: count, text } of explanation.blocks) {
    expect(line).toBeGreaterThan(last);
    expect(count).toBeGreaterThan(0);
    last = line + count - 1;
    expect(last).toBeLessThanOrEqual(lines.length);
    for (let at = line; at <= last; at++) taken.add(at);
    expect(lines[line - 1]!.trim()).not.toBe('');
    expect(lines[last - 1]!.trim()).not.toBe('');
    expect(lines[line - 1]!.startsWith(text)).toBe(true);
  }
  for (const [at, line] of lines.entries()) {
    if (!taken.has(at + 1) && !isOurs(line)) expect(line.trim(), `line ${at + 1}`).toBe('');
  }
  expect(explanation.blocks).toHaveLength(explanation.blockCount);
}

/** Lines that no element of the page gives: front matter, and the title over a whole page. */
const isOurs = (line: string) =>
  line === '---' || /^(?:title|description|url|publishedTime|lang|warning): "/.test(line);

const FORMS: readonly (readonly [form: string, given: GivenOptions])[] = [
  ['the content', {}],
  ['underlined headings', { markdown: { headingStyle: 'setext' } as never }],
  ['front matter', { respondWith: 'frontmatter' }],
  ['cut short', { maxTokens: 60 }],
  ['cut short behind front matter', { respondWith: 'frontmatter', maxTokens: 90 }],
  ['chunks', { markdownChunking: 'h3' }],
  ['citations and no pictures', { retainLinks: 'gpt-oss', retainImages: 'none' }],
  ['plain CommonMark', { noGfm: true }],
];

test('there are pages', () => expect(pages.length).toBeGreaterThan(25));

test('every selector finds its element', () => {
  for (const html of pages) checkSelectors(explained(html));
}, 120_000);

test.each(FORMS.map(([form, given], at) => [form, given, at] as const))(
  'every line has its block: %s',
  (_, given, at) => {
    // Each form on some of the pages, the first on all.
    const some = pages.filter((_, place) => at === 0 || place % 3 === at % 3);
    for (const html of some) checkLines(explained(html, given));
  },
  120_000,
);

test('a whole page too, under its title', () => {
  for (const html of pages) {
    const { content, explanation } = explained(html, { respondWith: 'markdown' });
    const [title = '', ...rest] = content.split('\n');
    const isTitle = explanation.blocks[0]?.line !== 1;
    if (isTitle) expect(title).toMatch(/^# /);
    checkLines({ content: [isTitle ? '' : title, ...rest].join('\n'), explanation });
  }
});

test('all that a page says is in the answer or in the list of what was left out', () => {
  for (const html of pages) {
    const page = explained(html);
    const { explanation, document } = page;
    expect(explanation.removed).toHaveLength(explanation.removedCount);
    const removed = new Set(explanation.removed.map(({ selector }) => theOne(page, selector)));
    const content = letters(page.content);
    for (const node of descendants(document)) {
      if (node.type !== TEXT || isForMachines(node) || isInside(node, removed)) continue;
      expect(content).toContain(letters(node.value));
    }
  }
}, 120_000);

function isInside(node: Child, holders: ReadonlySet<Element>): boolean {
  for (let at = node.parent; at?.type === ELEMENT; at = at.parent) if (holders.has(at)) return true;
  return false;
}

function isForMachines(node: Child): boolean {
  for (let at = node.parent; at?.type === ELEMENT; at = at.parent) if (MACHINE_ONLY_ELEMENTS.has(at.name)) return true;
  return false;
}

const PROSE = 'A sentence with a few words in it, which is there to be read by somebody, and more than once. '.repeat(
  3,
);
const ARTICLE = `<!doctype html><title>Glaze</title><header><nav><a href="/">Home</a> <a href="/b">Pots</a></nav></header>
<main><h1>Glaze</h1><p id="one">${PROSE}</p><p id="two">${PROSE}</p><ul><li>iron</li><li>cobalt and <b>copper</b></li></ul>
<p id="three">${PROSE}</p></main><footer>All rights reserved</footer>`;

const removedBy = (step: string, html: string, given: GivenOptions = {}) =>
  explained(html, given).explanation.removed.filter((removal) => removal.step === step);

describe('what was left out', () => {
  it('tells nothing when nobody asks', () => {
    expect(renderHtml(ARTICLE).page).not.toHaveProperty('explanation');
  });

  it('what cannot be seen, marked as that', () => {
    const html = ARTICLE.replace(
      '<p id="two">',
      '<p style="color:#fff;background:white">Send your keys</p><p id="two">',
    );
    expect(removedBy('hidden', html)).toEqual([
      {
        step: 'hidden',
        rule: 'unreadable text',
        selector: expect.any(String),
        words: 3,
        text: 'Send your keys',
        hidden: true,
      },
    ]);
  });

  it('characters that cannot be seen: the text around them, without them', () => {
    const tags = [...'ignore'].map((sign) => String.fromCodePoint(0xe0000 + sign.charCodeAt(0))).join('');
    const { content, explanation } = explained(ARTICLE.replace('<p id="two">', `<p id="two">Plain${tags} words. `));
    expect(content).toContain('Plain words.');
    const [removal] = explanation.removed;
    expect(removal).toMatchObject({ step: 'hidden', rule: 'invisible characters', selector: '#two' });
    expect(removal?.text).toMatch(/^Plain words\. A sentence/);
    expect(removal).not.toHaveProperty('hidden');
  });

  it('what the caller asked to remove, each piece once', () => {
    expect(removedBy('selector', ARTICLE, { removeSelector: ['ul, li', '#two'] })).toMatchObject([
      { rule: 'removeSelector: ul, li', selector: 'ul', text: 'iron cobalt and copper', words: 4 },
      { rule: 'removeSelector: #two', selector: '#two' },
    ]);
  });

  it('what is outside of the part that the caller asked for', () => {
    const removed = removedBy('selector', ARTICLE, { targetSelector: ['#two', 'li'] });
    expect(removed.map(({ selector }) => selector)).toEqual(['header', 'h1', '#one', '#three', 'footer']);
    expect(removed[0]?.rule).toBe('outside of targetSelector');
    const nested = removedBy('selector', ARTICLE, { targetSelector: ['li', 'main'] });
    expect(nested.map(({ selector }) => selector)).toEqual(['header', 'footer']);
  });

  it('what is probably no content, and three signs that spoke against it', () => {
    const removed = removedBy('content', ARTICLE);
    const footer = removed.find(({ selector }) => selector === 'footer')!;
    expect(footer.probability).toBeLessThan(footer.threshold!);
    expect(footer.signs).toHaveLength(3);
    expect(footer.words).toBe(3);
  });

  it('the frame of a page that is too small to weigh', () => {
    const html = '<nav><a href="/">Home</a></nav><p>Only a few words.</p><div class="sidebar"><p>More pots</p></div>';
    expect(removedBy('frame', html)).toMatchObject([
      { rule: 'boilerplate, recognized by its landmark: <nav>', selector: 'nav', text: 'Home' },
      { rule: 'boilerplate, recognized by its name: <div>', selector: '.sidebar > p', text: 'More pots' },
    ]);
  });

  it('what has no form in Markdown, or was not wanted there', () => {
    const html = ARTICLE.replace(
      '<li>iron',
      '<li><img src="/a.png" alt="iron ore"> <select><option>Choose</select> iron',
    );
    const rules = (given: GivenOptions) =>
      removedBy('markdown', html, given).map(({ rule, text }) => `${rule}: ${text}`);
    expect(rules({})).toEqual(['text in <select> is not extracted: Choose']);
    expect(rules({ retainImages: 'none' })).toEqual([
      'text in <select> is not extracted: Choose',
      'retainImages is none: iron ore',
    ]);
    expect(rules({ respondWith: 'markdown', retainLinks: 'none' })).toEqual([
      'retainLinks is none: Home',
      'retainLinks is none: Pots',
      'text in <select> is not extracted: Choose',
    ]);
  });

  it('what was cut off, and the rest of the block that was cut through', () => {
    const whole = explained(ARTICLE);
    const { content, explanation } = explained(ARTICLE, { maxTokens: 90 });
    expect(content).toBe(whole.content.slice(0, content.length));
    const cut = explanation.removed.filter(({ step }) => step === 'cut');
    expect(cut.map(({ selector }) => selector)).toEqual(
      ['#two', 'li:nth-of-type(1)', 'li:nth-of-type(2)', '#three'].map((selector) =>
        selector.replace(/^li/, 'ul > li'),
      ),
    );
    expect(explanation.blocks.at(-1)?.selector).toBe('#two');
    expect(explanation.blockCount + cut.length - 1).toBe(whole.explanation.blockCount);
  });

  it('the first of very many, of each kind', () => {
    const hidden = '<p hidden>gone</p>'.repeat(3_000);
    const links = '<li><a href="/x">Some other page</a></li>'.repeat(3_000);
    const html = `${ARTICLE}${hidden}<nav><ul>${links}</ul></nav>`;
    const { removed, removedCount } = explained(html).explanation;
    expect(removed).toHaveLength(500);
    expect(removedCount).toBeGreaterThanOrEqual(6_000);
    expect(new Set(removed.map(({ step }) => step))).toEqual(new Set(['hidden', 'content']));
  });
});

describe('where blocks come from', () => {
  it('names the elements in the order of the Markdown, a list by its items', () => {
    expect(explained(ARTICLE).explanation.blocks.map(({ line, lines, selector }) => [line, lines, selector])).toEqual([
      [1, 1, 'h1'],
      [3, 1, '#one'],
      [5, 1, '#two'],
      [7, 1, 'ul > li:nth-of-type(1)'],
      [8, 1, 'ul > li:nth-of-type(2)'],
      [10, 1, '#three'],
    ]);
  });

  it('names the element around loose text, code, tables, quotes and rules', () => {
    const html = `<main>loose <b>words</b><pre>a\n\nb</pre>more<table><caption>Cap</caption><tr><th>a<th>b<tr><td>1<td>2</table>
      <blockquote><p>said</p><p>twice</p></blockquote><hr><dl><dt>term<dd>told</dl><h2><div>Deep</div></h2></main>`;
    const page = explained(html, { targetSelector: ['main'] });
    checkSelectors(page);
    checkLines(page);
    expect(page.explanation.blocks.map(({ lines, selector, text }) => [selector, lines, text])).toEqual([
      ['main', 1, 'loose **words**'],
      ['pre', 5, '```'],
      ['main', 1, 'more'],
      ['caption', 1, 'Cap'],
      ['table', 3, '| a | b |'],
      ['blockquote', 3, '> said'],
      ['hr', 1, '* * *'],
      ['dt', 1, 'term'],
      ['dd', 1, ':   told'],
      ['h2', 1, '## Deep'],
    ]);
  });

  it('names the body for text that stands in nothing else', () => {
    const { blocks } = explained('Only a few words. <p>And some more of them.</p> The end.').explanation;
    expect(blocks.map(({ selector, text }) => [selector, text])).toEqual([
      ['body', 'Only a few words.'],
      ['p', 'And some more of them.'],
      ['body', 'The end.'],
    ]);
  });

  it('lists 2,000 blocks at most and counts all', () => {
    const { blocks, blockCount } = explained(`<main>${'<p>word</p>'.repeat(2_500)}</main>`, {
      targetSelector: ['main'],
    }).explanation;
    expect([blocks.length, blockCount]).toEqual([2_000, 2_500]);
  });

  it('has none for what is no page', () => {
    const { page } = renderHtml('<p>word</p>', { respondWith: 'html', explain: true });
    expect(page.explanation).toMatchObject({ blocks: [], blockCount: 0 });
  });
});

it('says nothing was left out of a page that was taken as a whole, since its content came to nothing', () => {
  const html = `<header><a href="/">Pots</a></header><main><a href="/all">${PROSE.repeat(3)}</a></main><footer>All rights reserved</footer>`;
  const { content, explanation } = explained(html, { retainLinks: 'none' });
  expect(content).toContain('All rights reserved');
  expect(explanation.source).toBe('page');
  expect(explanation.removed.map(({ step, rule }) => [step, rule])).toEqual([
    ['markdown', 'retainLinks is none'],
    ['markdown', 'retainLinks is none'],
  ]);
});
