import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWordReader } from './word-reader.ts';

const MASKS = new Map([
  ['nav', 1],
  ['bar', 2],
  ['größe', 4],
  ['©', 8],
  ['a', 16],
]);
const read = (camelCase: boolean, maxCharacters = 400) =>
  createWordReader((word) => MASKS.get(word) ?? 0, { camelCase, maxCharacters });

describe('createWordReader', () => {
  it('combines the masks of all words, in any case', () => {
    expect(read(false)('NAV, 7bar!')).toBe(3);
    expect(read(false)('navbar')).toBe(0);
    expect(read(false)('')).toBe(0);
  });

  it('splits words at capitals if camelCase is set', () => {
    expect(read(true)('navBar')).toBe(3);
    expect(read(false)('navBar')).toBe(0);
    expect(read(true)('naV')).toBe(0);
  });

  it('reads letters of all scripts', () => {
    expect(read(true)('Größe-navBar ©')).toBe(15);
  });

  it('reads at most maxCharacters', () => {
    expect(read(false, 5)('nav bar')).toBe(1);
    expect(read(false, 7)('nav bar')).toBe(3);
  });

  it('returns the same mask as splitting the text into words, however full the cache is', () => {
    const reader = read(true);
    const every = createWordReader((word) => (word.length > 2 ? 1 << (word.length % 30) : 0), {
      camelCase: false,
      maxCharacters: 400,
    });
    const word = fc.oneof(
      fc.constantFrom(...MASKS.keys(), 'Nav', 'barNav', 'É', '\u00a0', 'nav\u2019bar', '«Nav»', 'a·B', '\u2060'),
      fc.string({ maxLength: 60 }),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), (list) => {
        const text = list.join(' ').slice(0, 400);
        const words = (spaced: string) => spaced.toLowerCase().split(/[^\p{L}©]+/u);
        const spaced = text.replace(/([a-z])(?=[A-Z])/g, '$1-');
        expect(reader(text)).toBe(words(spaced).reduce((mask, one) => mask | (MASKS.get(one) ?? 0), 0));
        expect(every(text)).toBe(
          words(text).reduce((mask, one) => mask | (one.length > 2 ? 1 << (one.length % 30) : 0), 0),
        );
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
