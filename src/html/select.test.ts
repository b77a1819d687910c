// Full run only: generates large documents.
import { selectAll as oracle } from 'css-select';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  attribute,
  type Child,
  children,
  type Document,
  detach,
  Element,
  elements,
  find,
  hasAttribute,
  isElement,
  textOf,
} from './node.ts';
import { parseDocument } from './parse.ts';
import { compileSelectors, matches, SelectorError, selectAll } from './select.ts';

const PAGE = `<!doctype html>
<html lang="en"><head><title>T</title><meta name="a"></head>
<body class="home page" id="top">
  <nav class="menu"><ul id="list"><li class="one first"><a href="/1">1</a></li><li>2</li><!-- c --><li class="last">3 <b>b</b></li></ul></nav>
  <main id="main" data-x="one two" data-y="en-GB">
    <h1>H</h1><p>p1</p><p class="lead">p2 <em>e</em></p><div></div><div> </div><div><!-- only a comment --></div>
    <h2>H2</h2><p>p3</p><section><h2>in</h2><p class="lead">p4</p><p>p5</p><div><p>p6 <a>no href</a> <a href="">empty</a></p></div></section>
    <table><tr><td>1<td>2<td>3<tr><td colspan=2>4<td>5</table>
    <form><input type="CheckBox" checked><input type=radio><input type=text required disabled><select><option selected>o<option>p</select><button disabled>b</button></form>
    <svg viewBox="0 0 1 1"><g id="g"><path d="M0"/><foreignObject><p>foreign</p></foreignObject></g></svg>
    <template><p class="lead">never</p></template>
  </main>
  <footer><div><div><div><p>deep</p></div></div></div><p>end</p></footer>
</body></html>`;

const page = parseDocument(PAGE);

/** The result of `css-select`, an independent implementation, for our tree. */
function expected(css: string, document: Document): Element[] {
  const siblings = (node: Child): Child[] => (node.parent ? [...children(node.parent)] : [node]);
  const found = oracle<Child | Document, Element>(css, document, {
    cacheResults: false,
    adapter: {
      isTag: (node): node is Element => node.type === 1,
      getChildren: (node) => (node.type === 1 || node.type === 9 ? [...children(node)] : []),
      getParent: (element) => element.parent as Element | null,
      getSiblings: (node) => (node.type === 9 ? [node] : siblings(node)),
      getText: (node) => textOf(node),
      getName: (element) => element.name,
      getAttributeValue: (element, name) => attribute(element, name) ?? undefined,
      hasAttrib: (element, name) => hasAttribute(element, name),
      removeSubsets: (nodes) => nodes,
      equals: (a, b) => a === b,
    },
  });
  const set = new Set(found);
  return [...elements(document)].filter((element) => set.has(element));
}

const describeElement = (element: Element): string => `${element.name}#${[...elements(page)].indexOf(element)}`;

function expectAsOracle(css: string): Element[] {
  const ours = selectAll(page, compileSelectors(css));
  expect(ours.map(describeElement), css).toEqual(expected(css, page).map(describeElement));
  return ours;
}

const compounds = [
  '*',
  'p',
  'div',
  'li',
  'a',
  'td',
  'b',
  'h2',
  'section',
  '.lead',
  '.one.first',
  '#main',
  '#list',
  '[href]',
  '[href=""]',
  '[class~=lead]',
  '[data-x~=two]',
  '[data-y|=en]',
  '[class^=ho]',
  '[class$=ge]',
  '[id*=i]',
  '[type=checkbox]',
  '[DATA-X]',
  'P',
  '[data-x="ONE TWO" i]',
  ':first-child',
  ':last-child',
  ':only-child',
  ':first-of-type',
  ':last-of-type',
  ':only-of-type',
  ':nth-child(2)',
  ':nth-child(odd)',
  ':nth-child(2n+1)',
  ':nth-child(-n+3)',
  ':nth-child(n+2)',
  ':nth-last-child(1)',
  ':nth-last-child(2n)',
  ':nth-of-type(2)',
  ':nth-last-of-type(2)',
  ':nth-last-of-type(odd)',
  ':root',
  ':not(p)',
  ':not(.lead, li)',
  ':not(section p)',
  ':is(p, li)',
  ':is(nav li, main > p)',
  ':where(.lead)',
  ':has(b)',
  ':has(> p)',
  ':has(+ p)',
  ':has(~ div)',
  ':has(> a, > b)',
  ':has(> div a)',
  ':not(:has(p))',
  ':is(:has(em), td)',
  ':nth-child(2 of p)',
  ':nth-child(even of .lead, div)',
] as const;

describe('selectAll', () => {
  it('finds the same elements as css-select for every kind of simple selector', () => {
    // css-select does not support "of" in :nth-child(); a test below covers it.
    for (const css of compounds.filter((one) => !one.includes(' of '))) {
      expectAsOracle(css);
      expectAsOracle(`main ${css}`);
      expectAsOracle(`${css} > *`);
    }
  });

  it('finds the same elements as css-select for random combinations', () => {
    const compound = fc.constantFrom(...compounds.filter((one) => !one.includes(' of ')));
    const combinator = fc.constantFrom(' ', ' > ', ' + ', ' ~ ');
    const chain = fc
      .array(fc.tuple(compound, combinator), { maxLength: 4 })
      .chain((front) => compound.map((last) => front.map((pair) => pair.join('')).join('') + last));
    const list = fc.array(chain, { minLength: 1, maxLength: 3 }).map((chains) => chains.join(', '));
    let matched = 0;
    fc.assert(
      fc.property(list, (css) => {
        matched += expectAsOracle(css).length;
      }),
      { seed: 31_41, numRuns: 750 },
    );
    expect(matched).toBeGreaterThan(500);
  });

  const texts = (css: string, root: Document | Element = page): string[] =>
    selectAll(root, compileSelectors(css)).map((element) => textOf(element).trim());

  it('counts only matching children in :nth-child(of)', () => {
    expect(texts('main > :nth-child(2 of p)')).toEqual(['p2 e']);
    expect(texts('li:nth-child(odd of :not(.last))')).toEqual(['1']);
    expect(texts('td:nth-child(1 of :has(+ td + td), [colspan])')).toEqual(['1', '4']);
  });

  it('matches elements under a root, and the left of a combinator in the whole tree', () => {
    const section = find(page, 'section')!;
    expect(texts('p', section)).toEqual(['p4', 'p5', 'p6 no href empty']);
    expect(texts('main p.lead', section)).toEqual(['p4']);
    expect(texts(':scope > p', section)).toEqual(['p4', 'p5']);
    expect(texts('section', section)).toEqual([]);
    expect(texts(':scope > body > footer > p')).toEqual(['end']);
  });

  it('works on a tree without a document', () => {
    const list = find(parseDocument('<ul><li>1<li>2'), 'ul')!;
    detach(list);
    expect(texts('ul > li:last-child', list)).toEqual(['2']);
    expect(texts('ul:only-child li', list)).toEqual(['1', '2']);
    expect(matches(list, compileSelectors('ul'))).toBe(true);
  });

  it('matches the argument of :has() only under the element', () => {
    expect(selectAll(page, compileSelectors('section :has(p a)')).map(({ name }) => name)).toEqual(['div']);
    expect(selectAll(page, compileSelectors('section :has(> a)')).map(({ name }) => name)).toEqual(['p']);
  });

  it('does not match :empty for an element with white space, like browsers', () => {
    expect(selectAll(page, compileSelectors('main > div')).length).toBe(3);
    expect(selectAll(page, compileSelectors('main > div:empty')).length).toBe(2);
  });

  it('matches states of a parsed page, but no states of a live page', () => {
    expect(selectAll(page, compileSelectors(':checked')).map(({ name }) => name)).toEqual(['input', 'option']);
    expect(selectAll(page, compileSelectors(':disabled')).map(({ name }) => name)).toEqual(['input', 'button']);
    expect(texts('a:link')).toEqual(['1', 'empty']);
    expect(texts('p:hover, a:visited, p::before, p:after, li')).toEqual(['1', '2', '3 b']);
  });

  it('matches SVG names in any case, and nothing inside a template', () => {
    expect(texts('foreignobject p')).toEqual(['foreign']);
    expect(texts('foreignObject p')).toEqual(['foreign']);
    expect(texts('svg [viewbox]')).toEqual([]);
    expect(texts('template p')).toEqual([]);
  });

  it('accepts escapes and comments', () => {
    const document = parseDocument('<p class="a:b 1x">x');
    expect(texts('.a\\:b', document)).toEqual(['x']);
    expect(texts('.\\31 x', document)).toEqual(['x']);
    expect(texts('/* y */ p', document)).toEqual(['x']);
  });

  it('accepts more combinators than one program has marks', () => {
    const css = Array.from({ length: 60 }, (_, i) => `nav ul li:nth-child(${i + 1})`).join(', ');
    expect(texts(`${css}, main > h1`)).toEqual(['1', '2', '3 b', 'H']);
  });
});

describe('matches', () => {
  it('tests one element', () => {
    const lead = selectAll(page, compileSelectors('section .lead'))[0]!;
    expect(matches(lead, compileSelectors('main p:has(+ p)'))).toBe(true);
    expect(matches(lead, compileSelectors('nav p, p:first-child'))).toBe(false);
  });
});

describe('compileSelectors', () => {
  const refused = [
    '',
    '  ',
    ',',
    'a,',
    ',a',
    'a,,b',
    '>',
    'a >',
    '> a',
    'a > > b',
    'a + ~ b',
    'a || b',
    'a < b',
    '[',
    '[a',
    '[a=',
    '[a="b]',
    '(',
    ')',
    'a)',
    ':is(',
    ':is(a',
    ':is()',
    ':not()',
    ':not(a',
    ':has()',
    ':',
    '::',
    '..a',
    '#',
    '.',
    'a b)',
    '!a',
    '$x',
    '5',
    '.5',
    '{}',
    'a{b}',
    'a;b',
    '@x',
    '[a!=b]',
    ':unknown',
    ':contains(x)',
    ':eq(1)',
    ':nth-child',
    ':nth-child()',
    ':nth-child(x)',
    ':nth-child(2 of)',
    ':nth-child(1 of >)',
    ':nth-last-child(1 of a)',
    ':has(:has(a))',
    ':has(a:is(:has(b)))',
    ':constructor',
    ':toString',
    ':lang(en)',
    'svg|a',
    '[x|y]',
    ':is(> a)',
    ':host(a)',
  ];
  for (const css of refused) {
    it(`rejects ${JSON.stringify(css)}`, () => {
      expect(() => compileSelectors(css)).toThrow(SelectorError);
    });
  }

  it('rejects a selector that is too long, too deep or has too many parts', () => {
    expect(() => compileSelectors(`.${'a'.repeat(10_000)}`)).toThrow(/longer/);
    expect(() => compileSelectors(`${':is('.repeat(20)}a${')'.repeat(20)}`)).toThrow(/deep/);
    expect(() => compileSelectors(`${':is('.repeat(2000)}`)).toThrow(SelectorError);
    expect(() => compileSelectors(Array(40).fill('a').join(' '))).toThrow(/combinators/);
    expect(() => compileSelectors(`a${'.b'.repeat(2000)}`)).toThrow(/parts/);
    expect(() => compileSelectors(`:has(${Array(40).fill('a').join(',')})`)).toThrow(/parts/);
  });

  it('throws only SelectorError', () => {
    const piece = fc.constantFrom(
      'a',
      '.b',
      '#c',
      ':',
      '::',
      '(',
      ')',
      '[',
      ']',
      '=',
      '"',
      "'",
      '>',
      '+',
      '~',
      ' ',
      ',',
      '*',
      '|',
      '\\',
      ':is(',
      ':has(',
      ':nth-child(',
      ' of ',
      '2n',
      '\0',
      'é',
      '/*',
      '*/',
      '-',
    );
    const soup = fc.array(piece, { maxLength: 14 }).map((parts) => parts.join(''));
    let valid = 0;
    fc.assert(
      fc.property(soup, (css) => {
        try {
          selectAll(page, compileSelectors(css));
          valid++;
        } catch (error) {
          expect(error, css).toBeInstanceOf(SelectorError);
        }
      }),
      { seed: 27_18, numRuns: 2000 },
    );
    expect(valid).toBeGreaterThan(50);
  });
});

describe('on hostile pages, in linear time', () => {
  const many = 50_000;
  /** Quadratic work takes far longer, linear work less than a second. */
  const MAX_MS = 10_000;
  const wide = parseDocument(`<main>${'<p class=a>x</p><!-- --> <i></i>'.repeat(many / 2)}</main>`);
  const COUNTS: Record<string, number> = {
    'p ~ p': many / 2 - 1,
    'p + i': many / 2,
    ':nth-last-child(2n)': many / 2 + 1,
    'p:last-of-type': 1,
    ':nth-last-of-type(3)': 2,
    'p:nth-child(2n+1 of .a)': many / 4,
    'p:has(~ i)': many / 2,
    'p:has(+ i):not(:first-child) ~ i': many / 2 - 1,
    'main:has(i ~ p ~ i)': 1,
    'p:is(p ~ i ~ p) ~ i:not(:last-child)': many / 2 - 2,
    'i:empty': many / 2,
  };
  for (const [css, count] of Object.entries(COUNTS)) {
    it(`among 50,000 siblings: ${css}`, { timeout: MAX_MS }, () => {
      expect(selectAll(wide, compileSelectors(css))).toHaveLength(count);
    });
  }

  const top = new Element('div');
  let bottom = top;
  for (let i = 0; i < many; i++) {
    const inner = new Element('div');
    bottom.first = bottom.last = inner;
    inner.parent = bottom;
    bottom = inner;
  }
  for (const css of ['div div div div > div', 'div:has(div div)', 'div:not(div > div) div', ':is(div div, p) div']) {
    it(`50,000 deep: ${css}`, { timeout: MAX_MS }, () => {
      expect(selectAll(top, compileSelectors(css)).length).toBeGreaterThan(many - 10);
    });
  }

  it('throws instead of running for minutes', () => {
    const css = Array(900).fill('.a').join('');
    const page = parseDocument('<p class=a>'.repeat(80_000));
    expect(() => selectAll(page, compileSelectors(css))).toThrow(/expensive/);
  });

  it('matches a class in a long attribute value', () => {
    const document = parseDocument(`<p class="${'a '.repeat(1_000_000)}b">x`);
    const found = selectAll(document, compileSelectors('.b, .c, [class*="a b"], .aa'));
    expect(found.filter(isElement)).toHaveLength(1);
  });
});
