import fc from 'fast-check';
import { expect, test } from 'vitest';
import { elements, find } from './node.ts';
import { parseDocument } from './parse.ts';
import { compileSelectors, selectAll } from './select.ts';
import { recordUniqueSelectors } from './unique-selectors.ts';

const selectorsOf = (html: string, name: string): (string | null)[] => {
  const document = parseDocument(html);
  const places = recordUniqueSelectors(document);
  return [...elements(document, name)].map((element) => places.selectorOf(element));
};

test.each([
  ['an id', '<div><p id="a">1</p><p>2</p></div>', ['#a', 'div > p:nth-of-type(2)']],
  ['an id that is not an identifier', '<p id="1 a">1</p><p id=":r1:">2</p>', ['[id="1 a"]', '[id=":r1:"]']],
  ['an id that occurs twice', '<p id="a">1</p><p id="A">2</p>', ['body > p:nth-of-type(1)', 'body > p:nth-of-type(2)']],
  ['an id with a quote', "<p id='a\"b'>1</p>", ['p']],
  ['a unique class', '<div><p class="lead big">1</p><p class="big">2</p></div>', ['.lead', 'div > p:nth-of-type(2)']],
  ['a unique name', '<main><p>1</p></main>', ['p']],
  [
    'the nearest ancestor with a selector',
    '<main><div><p>1</p></div><div><p>2</p></div></main>',
    ['main > div:nth-of-type(1) > p', 'main > div:nth-of-type(2) > p'],
  ],
])('selects a paragraph by %s', (_, html, expected) => {
  expect(selectorsOf(html, 'p')).toEqual(expected);
});

test('selects elements of SVG and MathML by their names', () => {
  const html = '<svg><path/><path/><clipPath/></svg><math><mi>a</mi><mi>b</mi></math>';
  expect(selectorsOf(html, 'path')).toEqual(['svg > path:nth-of-type(1)', 'svg > path:nth-of-type(2)']);
  expect(selectorsOf(html, 'clipPath')).toEqual(['svg > :nth-child(3)']);
  expect(selectorsOf(html, 'mi')).toEqual(['math > mi:nth-of-type(1)', 'math > mi:nth-of-type(2)']);
});

test('selects elements with unusual names by position', () => {
  expect(selectorsOf('<div><o:p>1</o:p><o:p>2</o:p></div>', 'o:p')).toEqual([
    'div > :nth-child(1)',
    'div > :nth-child(2)',
  ]);
});

test('returns selectors of removed elements, but not of elements added later', () => {
  const document = parseDocument('<main><p>1</p><p>2</p></main>');
  const places = recordUniqueSelectors(document);
  const other = find(parseDocument('<p>3</p>'), 'p')!;
  const [first, second] = [...elements(document, 'p')];
  first!.parent!.first = second!;
  expect(places.selectorOf(first!)).toBe('main > p:nth-of-type(1)');
  expect(places.selectorOf(second!)).toBe('main > p:nth-of-type(2)');
  expect(places.selectorOf(other)).toBeNull();
});

test.each([
  ['a unique name', '<main><div><div><ul><li>1</ul></div></div></main><ul></ul>', 'li', 'li'],
  [
    'the unique name of an ancestor',
    '<main><div><div><ul><li>1<li>2</ul></div></div></main><ul></ul>',
    'li',
    'main ul > li:nth-of-type(1)',
  ],
  ['a class', '<main><div><p class="x">1</p></div><p></p></main><p class="x">2</p>', 'p', 'main .x'],
  ['an id that occurs twice', '<main><div><p id="x">1</p></div><p></p></main><p id="x">2</p>', 'p', 'main #x'],
])('shortens the selector by %s', (_, html, name, expected) => {
  expect(selectorsOf(html, name)[0]).toBe(expected);
});

test('returns null for an element that is too deep, but selectors of elements above and beside it', () => {
  const deep = parseDocument(`${'<div><div></div>'.repeat(300)}<p>1</p>`);
  const places = recordUniqueSelectors(deep);
  const all = [...elements(deep, 'div')];
  expect(places.selectorOf(all.at(-1)!)).toBeNull();
  expect(places.selectorOf(all[2]!)).toBe('body > div > div:nth-of-type(2)');
  expect(places.selectorOf(find(deep, 'p')!)).toBe('p');
  const told = all.map((element) => places.selectorOf(element)).filter((selector) => selector !== null);
  expect(told.length).toBeGreaterThan(50);
  for (const selector of told) expect(selectAll(deep, compileSelectors(selector))).toHaveLength(1);
});

test('returns selectors of 100,000 elements in linear time', () => {
  const html = `${'<div class="a b c"><i></i>'.repeat(400)}${'<p class="a">text</p>'.repeat(100_000)}`;
  const document = parseDocument(html);
  const places = recordUniqueSelectors(document);
  let count = 0;
  for (const element of elements(document, 'p')) if (places.selectorOf(element) === null) count++;
  expect(count).toBe(100_000);
});

test('returns selectors that match exactly their elements in random documents', () => {
  const name = fc.constantFrom(
    'p',
    'div',
    'span',
    'svg',
    'a',
    'b',
    'table',
    'td',
    'o:p',
    'ul',
    'li',
    'math',
    'mi',
    'foreignObject',
  );
  const attributes = fc.constantFrom(
    '',
    ' id=a',
    ' id=A',
    ' class="x y"',
    ' class=y',
    ' class=X',
    ' id="1"',
    ' id="b c"',
  );
  const tag = fc.tuple(name, attributes, fc.boolean());
  fc.assert(
    fc.property(fc.array(tag, { maxLength: 40 }), fc.boolean(), (tags, strict) => {
      const body = tags.map(([tagName, more, close]) => `<${tagName}${more}>t${close ? `</${tagName}>` : ''}`).join('');
      const document = parseDocument(`${strict ? '<!doctype html>' : ''}${body}`);
      const places = recordUniqueSelectors(document);
      for (const element of elements(document)) {
        expect(selectAll(document, compileSelectors(places.selectorOf(element)!))).toEqual([element]);
      }
    }),
    { seed: 4, numRuns: 1_000 },
  );
});

test('holds for elements that are renamed later', () => {
  const document = parseDocument('<div class="table"><div>1</div><div>2</div></div>');
  const places = recordUniqueSelectors(document);
  const [table, first, second] = [...elements(document, 'div')];
  for (const element of [table, first, second]) element!.name = 'tr';
  expect([table, first, second].map((element) => places.selectorOf(element!))).toEqual([
    '.table',
    '.table > div:nth-of-type(1)',
    '.table > div:nth-of-type(2)',
  ]);
});
