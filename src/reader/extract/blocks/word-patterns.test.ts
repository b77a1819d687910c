import { describe, expect, it } from 'vitest';
import { createWordPatterns } from './word-patterns.ts';

const read = createWordPatterns([
  'crumb nav* !navy !naval*',
  'head *foot *bar*',
  `foot
    nav`,
]);

describe('createWordPatterns', () => {
  it('tells whole words', () => {
    expect(read('crumb')).toBe(1);
    expect(read('crumbs')).toBe(0);
    expect(read('nav')).toBe(1 | 4);
  });

  it('tells what starts with, ends with or has letters', () => {
    expect(read('navigation')).toBe(1);
    expect(read('subnav')).toBe(0);
    expect(read('subfoot')).toBe(2);
    expect(read('foot')).toBe(2 | 4);
    expect(read('footer')).toBe(0);
    for (const word of ['bar', 'barred', 'sidebar', 'sidebars']) expect(read(word)).toBe(2);
  });

  it('leaves out what an exclamation mark names, from its own list only', () => {
    expect(read('navy')).toBe(0);
    expect(read('navys')).toBe(1);
    expect(read('navalbar')).toBe(2);
  });

  it('knows nothing of words too short for a pattern', () => {
    expect(read('')).toBe(0);
    expect(read('na')).toBe(0);
  });
});
