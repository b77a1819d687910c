// Full run only: generates large style sheets.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attribute, type Document, elements, find } from '../node.ts';
import { parseDocument } from '../parse.ts';
import { compileSelectors, selectAll } from '../select.ts';
import { applyStyleSheets } from './cascade.ts';

const apply = (document: Document, ...sheets: string[]) =>
  applyStyleSheets(document, sheets, { viewport: { width: 1280, height: 1280 }, isTracked: () => true });

/** The declarations for the element `x` of a page: normal, then important. */
function declared(html: string, ...sheets: string[]): string {
  const document = parseDocument(`<!doctype html>${html}`);
  const { normal, important } = apply(document, ...sheets).of(find(document, 'x')!) ?? {};
  return [...(normal ?? [])]
    .map(([name, value]) => `${name}:${value}`)
    .concat([...(important ?? [])].map(([name, value]) => `${name}:${value}!`))
    .join(';');
}

const X = '<div class="a"><x id="i" class="b c"></x></div>';

describe('the cascade', () => {
  it.each<[css: string, expected: string]>([
    ['x{p:1}x{p:2}', 'p:2'],
    ['.b{p:1}x{p:2}', 'p:1'],
    ['#i{p:1}.b.c.b{p:2}', 'p:1'],
    ['.a x{p:1}x{p:2}', 'p:1'],
    [':where(#i){p:1}x{p:2}', 'p:2'],
    [':is(#i, y){p:1}.b.c{p:2}', 'p:1'],
    ['x:not(#j){p:1}.b.c{p:2}', 'p:1'],
    ['x[id]{p:1}x{p:2}', 'p:1'],
    ['x{p:1!important}#i{p:2}', 'p:2;p:1!'],
    ['#i{p:1!important}x{p:2!important}', 'p:1!'],
    ['@layer l{#i{p:1}}x{p:2}', 'p:2'],
    ['@layer l,m;@layer m{x{p:1}}@layer l{#i{p:2}}', 'p:1'],
    ['@layer l,m;@layer m{x{p:1!important}}@layer l{x{p:2!important}}', 'p:2!'],
    ['@layer l{x{p:1!important}}x{p:2!important}', 'p:1!'],
    ['x{p:1;q:1}.b{q:2}', 'p:1;q:2'],
    ['x::before{p:1}x:hover{p:2}', ''],
    ['x:nope{p:1}', ''],
    ['div:has(x) > x{display:1}', 'display:1'],
    ['.B{p:1}', ''],
  ])('%s', (css, expected) => expect(declared(X, css)).toBe(expected));

  it('applies sheets in their order', () => expect(declared(X, 'x{p:1}', 'x{p:2}')).toBe('p:2'));

  it('matches class names in any case in quirks mode', () => {
    const document = parseDocument('<x class="Box">');
    expect(apply(document, '.bOX{p:1}').of(find(document, 'x')!)?.normal.get('p')).toBe('1');
  });

  it('ignores rules that apply only until scripts run', () =>
    expect(declared('<div class="no-js"><x></x></div>', '.no-js x{p:1}')).toBe(''));
});

it('matches the same elements as the linear engine', () => {
  const name = fc.constantFrom(
    'a',
    'b',
    'i',
    '.k',
    '.l',
    '#m',
    '[t]',
    '*',
    ':first-child',
    ':last-child',
    ':nth-child(2n)',
    ':not(.k)',
    ':is(.l, b)',
    'b:only-child',
    'i.k',
    ':empty',
    ':nth-last-of-type(2)',
  );
  const combinator = fc.constantFrom(' ', ' > ', ' + ', ' ~ ');
  const selector = fc
    .array(fc.tuple(combinator, name), { minLength: 1, maxLength: 4 })
    .map((steps) => steps.map(([joined, step], at) => (at === 0 ? '' : joined) + step).join(''));
  const tag = fc.constantFrom('a', 'b', 'i');
  const attributes = fc.constantFrom('', ' class=k', ' class="l k"', ' id=m', ' t');
  const tree = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      tag.map((name) => `<${name}></${name}>`),
      fc
        .tuple(tag, attributes, fc.array(tie('node'), { maxLength: 4 }))
        .map(([name, more, inner]) => `<${name}${more}>${inner.join('')}</${name}>`),
    ),
  })).node;
  fc.assert(
    fc.property(tree, fc.array(selector, { minLength: 1, maxLength: 5 }), (html, selectors) => {
      const document = parseDocument(`<!doctype html><p>${html}`);
      const cascade = apply(document, selectors.map((one, at) => `${one}{p${at}:1}`).join(''));
      for (const [at, one] of selectors.entries()) {
        const found = new Set(selectAll(document, compileSelectors(one)));
        for (const element of elements(document)) {
          expect(cascade.of(element)?.normal.has(`p${at}`) ?? false).toBe(found.has(element));
        }
      }
    }),
    { seed: 7, numRuns: 300 },
  );
});

describe('bounds', () => {
  it('leaves selectors that take too many steps to the linear engine', () => {
    const document = parseDocument(`<!doctype html>${'<div>'.repeat(400)}<x class=h></x>`);
    const slow = `${'div '.repeat(12)}p > x.h`;
    const cascade = apply(document, `${slow}{p:1}${'div '.repeat(25)}.h{p:2}`);
    expect(cascade.of(find(document, 'x')!)?.normal.get('p')).toBe('2');
    expect(cascade.complete).toBe(true);
  });

  it('reports an incomplete cascade if there are too many rules to apply', () => {
    const document = parseDocument(`<!doctype html>${'<i></i>'.repeat(50_000)}`);
    const cascade = apply(document, Array.from({ length: 400 }, (_, at) => `i:not(#n${at}){p:1}`).join(''));
    expect(cascade.complete).toBe(false);
    expect([...elements(document, 'i')].some((element) => attribute(element, 'id') !== null)).toBe(false);
  }, 30_000);
});
