import { describe, expect, it } from 'vitest';
import { createWordPatterns } from './word-patterns.ts';

const read = createWordPatterns([
  'crumb nav* !navy !naval*',
  'head *foot *bar*',
  `foot
    nav`,
]);

describe('createWordPatterns', () => {
  it('matches whole words', () => {
    expect(read('crumb')).toBe(1);
    expect(read('crumbs')).toBe(0);
    expect(read('nav')).toBe(1 | 4);
  });

  it('matches prefixes, suffixes and parts of words', () => {
    expect(read('navigation')).toBe(1);
    expect(read('subnav')).toBe(0);
    expect(read('subfoot')).toBe(2);
    expect(read('foot')).toBe(2 | 4);
    expect(read('footer')).toBe(0);
    for (const word of ['bar', 'barred', 'sidebar', 'sidebars']) expect(read(word)).toBe(2);
  });

  it('excludes words after an exclamation mark, in their own list only', () => {
    expect(read('navy')).toBe(0);
    expect(read('navys')).toBe(1);
    expect(read('navalbar')).toBe(2);
  });

  it('returns 0 for words shorter than a pattern', () => {
    expect(read('')).toBe(0);
    expect(read('na')).toBe(0);
  });
});
