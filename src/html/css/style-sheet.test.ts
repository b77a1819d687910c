import { describe, expect, it } from 'vitest';
import { parseStyleSheet } from './style-sheet.ts';

const read = (css: string, maxRules = 1000) =>
  parseStyleSheet(css, {
    viewport: { width: 1280, height: 1280 },
    isTracked: (property) => property === 'display' || property === 'color',
    mayMatch: () => true,
    maxRules,
  });

/** Formats each rule as `selector{property:value}`, in order. */
const rules = (css: string) =>
  read(css).rules.map(({ selectors, declarations }) => {
    const written = declarations.map(({ property, value, important }) => `${property}:${value}${important ? '!' : ''}`);
    return `${selectors.join()}{${written.join(';')}}`;
  });

describe('rules', () => {
  it.each<[css: string, ...rules: string[]]>([
    ['a{display:none}', 'a{display:none}'],
    ['a , .b > c { DISPLAY : None ! important ; width:1px }', 'a,.b > c{display:none!}'],
    ['a{width:1px}b{color:red}', 'b{color:red}'],
    ['a{display:none', 'a{display:none}'],
    ['a{}}b{color:red}', 'b{color:red}'],
    ['/* a{color:red} */b{color/**/:red}', 'b{color:red}'],
    ['a::before{content:"}"; color:red}', 'a::before{color:red}'],
    ['a[title="x{,}y"],b{color:red}', 'a[title="x{,}y"],b{color:red}'],
    ['a{background:url(data:x;y});color:red}', 'a{color:red}'],
    ["a{content:'\\'}';color:red}", 'a{color:red}'],
    ['a{content:"open\n;color:red}', 'a{color:red}'],
    ['.\\68{dis\\70lay:none}', '.\\68{display:none}'],
    ['<!-- a{color:red} -->', 'a{color:red}'],
    ['a{--x:{color:red};color:blue}', 'a{color:blue}'],
    ['@charset "x";@font-face{color:red}@keyframes k{from{display:none}}a{color:red}', 'a{color:red}'],
    [
      '@media print{a{color:red}}@media screen{@media (min-width:1px){b{color:red}}}c{color:red}',
      'b{color:red}',
      'c{color:red}',
    ],
    ['@supports (display:grid){a{color:red}}@supports not (display:grid){b{color:red}}', 'a{color:red}'],
    ['@unknown x{a{color:red}}b{color:red}', 'b{color:red}'],
    [
      '.a{color:red;&:hover .b{color:blue}.c &{display:none}d{color:red}}',
      '.a{color:red}',
      ':is(.a):hover .b{color:blue}',
      '.c :is(.a){display:none}',
      ':is(.a) d{color:red}',
    ],
    ['.a{@media screen{color:red}@media print{color:blue}}', '.a{color:red}'],
  ])('%s', (css, ...expected) => expect(rules(css)).toEqual(expected));

  it('lists layers in the order of their first use', () => {
    const { rules, layers } = read(
      '@layer b, a;@layer a{x{color:red}@layer c{y{color:red}}}@layer{z{color:red}}w{color:red}',
    );
    expect(layers).toEqual(['b', 'a', 'a.c', '(1)']);
    expect(rules.map(({ layer }) => layer)).toEqual(['a', 'a.c', '(1)', undefined]);
  });

  it('reports imports', () => {
    expect(read('@import "x.css";a{color:red}').imports).toBe(true);
    expect(read('a{color:red}').imports).toBe(false);
  });
});

describe('bounds', () => {
  it('reports an incomplete sheet if there are more than maxRules', () => {
    const { rules, complete } = read('a{color:red}'.repeat(20), 10);
    expect([rules.length, complete]).toEqual([10, false]);
    expect(read('a{color:red}'.repeat(10), 10).complete).toBe(true);
  });

  it.each([
    ['deep blocks', '@media screen{'.repeat(200_000)],
    ['deep rules', 'a{'.repeat(200_000)],
    ['brackets', 'a{color:'.concat('('.repeat(500_000))],
    ['quotes', `a{${'"'.repeat(500_001)}}`],
    ['comments', '/*'.repeat(500_000)],
    ['comment ends', '/**/'.repeat(300_000)],
    ['backslashes', `a{color:${'\\'.repeat(500_000)}}`],
    ['commas', `${'a,'.repeat(300_000)}b{color:red}`],
    ['closed blocks', '}'.repeat(500_000)],
  ])(
    'reads %s in time linear in their length',
    (_, css) => {
      expect(() => read(css)).not.toThrow();
    },
    10_000,
  );
});
