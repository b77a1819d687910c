import { describe, expect, it } from 'vitest';
import { checkLines, checkSelectors, explained } from './explanation.suite.ts';
import type { GivenOptions } from './options/options.ts';
import { renderHtml } from './render.suite.ts';

const PROSE = 'A sentence with a few words in it, which is there to be read by somebody, and more than once. '.repeat(
  3,
);
const ARTICLE = `<!doctype html><title>Glaze</title><header><nav><a href="/">Home</a> <a href="/b">Pots</a></nav></header>
<main><h1>Glaze</h1><p id="one">${PROSE}</p><p id="two">${PROSE}</p><ul><li>iron</li><li>cobalt and <b>copper</b></li></ul>
<p id="three">${PROSE}</p></main><footer>All rights reserved</footer>`;

const removedBy = (step: string, html: string, given: GivenOptions = {}) =>
  explained(html, given).explanation.removed.filter((removal) => removal.step === step);

describe('the list of removals', () => {
  it('is not in the answer unless requested', () => {
    expect(renderHtml(ARTICLE).page).not.toHaveProperty('explanation');
  });

  it('has hidden text, marked as hidden', () => {
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

  it('has invisible characters: the text around them, without them', () => {
    const tags = [...'ignore'].map((sign) => String.fromCodePoint(0xe0000 + sign.charCodeAt(0))).join('');
    const { content, explanation } = explained(ARTICLE.replace('<p id="two">', `<p id="two">Plain${tags} words. `));
    expect(content).toContain('Plain words.');
    const [removal] = explanation.removed;
    expect(removal).toMatchObject({ step: 'hidden', rule: 'invisible characters', selector: '#two' });
    expect(removal?.text).toMatch(/^Plain words\. A sentence/);
    expect(removal).not.toHaveProperty('hidden');
  });

  it('has elements that an option removes, each once', () => {
    expect(removedBy('selector', ARTICLE, { removeSelector: ['ul, li', '#two'] })).toMatchObject([
      { rule: 'removeSelector: ul, li', selector: 'ul', text: 'iron cobalt and copper', words: 4 },
      { rule: 'removeSelector: #two', selector: '#two' },
    ]);
  });

  it('has what is outside of targetSelector', () => {
    const removed = removedBy('selector', ARTICLE, { targetSelector: ['#two', 'li'] });
    expect(removed.map(({ selector }) => selector)).toEqual(['header', 'h1', '#one', '#three', 'footer']);
    expect(removed[0]?.rule).toBe('outside of targetSelector');
    const nested = removedBy('selector', ARTICLE, { targetSelector: ['li', 'main'] });
    expect(nested.map(({ selector }) => selector)).toEqual(['header', 'footer']);
  });

  it('has what is probably not content, with three reasons', () => {
    const removed = removedBy('content', ARTICLE);
    const footer = removed.find(({ selector }) => selector === 'footer')!;
    expect(footer.probability).toBeLessThan(footer.threshold!);
    expect(footer.signs).toHaveLength(3);
    expect(footer.words).toBe(3);
  });

  it('has references to other articles, by a rule of their own', () => {
    const reference = '<p id="also">Also read: <a href="/kilns">How a kiln is built of old bricks</a></p>';
    const html = ARTICLE.replace('<title>', '<meta property="og:type" content="article"><title>')
      .replace('<main>', '<main><article>')
      .replace('<p id="three">', `${reference}<p id="three">`);
    const [removal] = removedBy('content', html).filter(({ selector }) => selector === '#also');
    expect(removal).toMatchObject({ rule: 'refers to another article', words: 10 });
    expect(removal).not.toHaveProperty('probability');
    expect(explained(html).content).not.toContain('Also read');
  });

  it('has navigation and sidebars of a page with little text', () => {
    const html = '<nav><a href="/">Home</a></nav><p>Only a few words.</p><div class="sidebar"><p>More pots</p></div>';
    expect(removedBy('frame', html)).toMatchObject([
      { rule: 'boilerplate, recognized by its landmark: <nav>', selector: 'nav', text: 'Home' },
      { rule: 'boilerplate, recognized by its name: <div>', selector: '.sidebar > p', text: 'More pots' },
    ]);
  });

  it('has what Markdown cannot express or an option leaves out', () => {
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

  it('has what exceeds maxTokens, and the rest of the block that was cut', () => {
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

  it('has at most 500 entries, of each kind', () => {
    const hidden = '<p hidden>gone</p>'.repeat(3_000);
    const links = '<li><a href="/x">Some other page</a></li>'.repeat(3_000);
    const html = `${ARTICLE}${hidden}<nav><ul>${links}</ul></nav>`;
    const { removed, removedCount } = explained(html).explanation;
    expect(removed).toHaveLength(500);
    expect(removedCount).toBeGreaterThanOrEqual(6_000);
    expect(new Set(removed.map(({ step }) => step))).toEqual(new Set(['hidden', 'content']));
  });
});

describe('the list of blocks', () => {
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

  it('is empty for an answer without Markdown', () => {
    const { page } = renderHtml('<p>word</p>', { respondWith: 'html', explain: true });
    expect(page.explanation).toMatchObject({ blocks: [], blockCount: 0 });
  });
});

it('has no removed content for a page that is returned as a whole', () => {
  const html = `<header><a href="/">Pots</a></header><main><a href="/all">${PROSE.repeat(3)}</a></main><footer>All rights reserved</footer>`;
  const { content, explanation } = explained(html, { retainLinks: 'none' });
  expect(content).toContain('All rights reserved');
  expect(explanation.source).toBe('page');
  expect(explanation.removed.map(({ step, rule }) => [step, rule])).toEqual([
    ['markdown', 'retainLinks is none'],
    ['markdown', 'retainLinks is none'],
  ]);
});
