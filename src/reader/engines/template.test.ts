import { describe, expect, it } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { MAX_ELEMENT_KINDS, templateOf } from './template.ts';

const page = (body: string, head = '') => `<!doctype html><title>A page</title>${head}<body>${body}`;
const look = (html: string) => templateOf(parseDocument(html))!;
const code = (html: string) => look(html).code;
/** Whether a page has no kind of element that the other has not. */
const isWithin = (body: string, other: string) => {
  const known = new Set(look(page(other)).kinds);
  return [...look(page(body)).kinds].every((kind) => known.has(kind));
};

describe('what a page brings', () => {
  const base = '<script src="/a.js"></script><style>.x { display: none }</style><link rel="stylesheet" href="/a.css">';
  const own = code(page('', base));

  it.each([
    ['one more script', '<script src="/b.js"></script>'],
    ['code of its own', '<script>start(3)</script>'],
    ['data of its own', '<script type="application/json">[3]</script>'],
    ['a template of its own', '<script type="text/x-template"><p>x</p></script>'],
    ['one more style sheet', '<link rel="stylesheet" href="/b.css">'],
    ['code at an element', '<img src="/a.png" onload="this.parentNode.innerHTML = 1">'],
  ])('is another with %s', (_, more) => expect(code(page(more, base))).not.toBe(own));

  it.each([
    ['what it tells search engines', '<script type="application/ld+json">{"name":"x"}</script>'],
    ['a counter', '<script src="https://www.googletagmanager.com/gtag/js?id=1"></script>'],
    ['what is for those without scripts', '<noscript><link rel="stylesheet" href="/c.css"></noscript>'],
    ['text', '<p>More words.</p>'],
  ])('is the same with %s', (_, more) => expect(code(page(more, base))).toBe(own));
});

describe('the kinds of elements of a page', () => {
  const taught =
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
  ])('are the same with %s', (_, body) => expect(isWithin(body, taught)).toBe(true));

  it.each([
    ['a container without content', '<div id="app"></div>'],
    ['a known container that is empty', '<main class="post"></main>'],
    ['an empty list', '<main class="post"><ul class="list"></ul></main>'],
    ['an element with an id', '<main class="post"><ul id="related"><li>One</ul></main>'],
    ['an element with data', '<main class="post"><p data-price="3">Text</p></main>'],
    ['an element that a framework fills', '<main class="post"><p v-text="price">Text</p></main>'],
    ['an element of its own making', '<price-table>x</price-table>'],
    ['another class', '<p class="late">Text.</p>'],
    ['a table', '<table><tr><td>x</table>'],
  ])('are not with %s', (_, body) => expect(isWithin(body, taught)).toBe(false));

  it('tell nothing of a page with too many', () => {
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
