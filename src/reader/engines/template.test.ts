import { describe, expect, it } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { MAX_ELEMENT_KINDS, templateOf } from './template.ts';

const page = (body: string, head = '') => `<!doctype html><title>A page</title>${head}<body>${body}`;
const look = (html: string) => templateOf(parseDocument(html))!;
const code = (html: string) => look(html).code;
/** Whether all kinds of elements of one page occur in the other. */
const isWithin = (body: string, other: string) => {
  const known = new Set(look(page(other)).kinds);
  return [...look(page(body)).kinds].every((kind) => known.has(kind));
};

describe('the code of a page', () => {
  const base = '<script src="/a.js"></script><style>.x { display: none }</style><link rel="stylesheet" href="/a.css">';
  const baseCode = code(page('', base));

  it.each([
    ['one more script', '<script src="/b.js"></script>'],
    ['another inline script', '<script>start(3)</script>'],
    ['other data', '<script type="application/json">[3]</script>'],
    ['another template', '<script type="text/x-template"><p>x</p></script>'],
    ['one more style sheet', '<link rel="stylesheet" href="/b.css">'],
    ['an event handler', '<img src="/a.png" onload="this.parentNode.innerHTML = 1">'],
  ])('differs with %s', (_, more) => expect(code(page(more, base))).not.toBe(baseCode));

  it.each([
    ['structured data', '<script type="application/ld+json">{"name":"x"}</script>'],
    ['an analytics script', '<script src="https://www.googletagmanager.com/gtag/js?id=1"></script>'],
    ['noscript content', '<noscript><link rel="stylesheet" href="/c.css"></noscript>'],
    ['text', '<p>More words.</p>'],
  ])('is unchanged by %s', (_, more) => expect(code(page(more, base))).toBe(baseCode));
});

describe('the kinds of elements of a page', () => {
  const original =
    '<body class="single postid-12"><main class="post tag-boats"><h1 id="boats">Boats</h1><p>Text.</p><ul class="list"><li>One</ul><a name="x" id="top"></a></main>';

  it.each([
    [
      'other text and more of it',
      '<main class="post"><p>Other.</p><p>Words.</p><ul class="list"><li>A<li>B</ul></main>',
    ],
    [
      'other anchors and names of the entry',
      '<main class="post tag-nets"><h1 id="nets">Nets</h1><p id="p3">x</p></main>',
    ],
  ])('are unchanged by %s', (_, body) => expect(isWithin(body, original)).toBe(true));

  it.each([
    ['a container without content', '<div id="app"></div>'],
    ['a known container that is empty', '<main class="post"></main>'],
    ['an empty list', '<main class="post"><ul class="list"></ul></main>'],
    ['an element with an id', '<main class="post"><ul id="related"><li>One</ul></main>'],
    ['an element with data', '<main class="post"><p data-price="3">Text</p></main>'],
    ['an element with a framework directive', '<main class="post"><p v-text="price">Text</p></main>'],
    ['a custom element', '<price-table>x</price-table>'],
    ['another class', '<p class="late">Text.</p>'],
    ['a table', '<table><tr><td>x</table>'],
  ])('differ by %s', (_, body) => expect(isWithin(body, original)).toBe(false));

  it('are not recorded for a page with too many', () => {
    const many = Array.from(
      { length: MAX_ELEMENT_KINDS + 1 },
      (_, n) => `<i class="${'x'.repeat(n % 40)}-${n.toString(36).replace(/\d/g, 'Q')}y${'z'.repeat(n / 40)}">a</i>`,
    ).join('');
    expect(templateOf(parseDocument(page(many)))).toBeUndefined();
  });

  it('are found in hostile pages', () => {
    for (const html of ['<div>'.repeat(100_000), `<p class="${'a '.repeat(200_000)}">`, '<i></i>'.repeat(100_000)])
      expect(look(html).kinds.length).toBeLessThan(100);
  });
});
