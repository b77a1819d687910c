import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { querySlots, surfaceText, termsOf } from './terms.ts';

const seed = 20_264;

describe('terms', () => {
  it('contain only letters and digits, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('en', 'de', 'fr', 'tr', 'ar', undefined),
        (text, language) => {
          const { main, variants } = termsOf(text, language);
          expect([...main, ...variants].filter((term) => !/^[\p{L}\p{M}\p{N}]+$/u.test(term))).toEqual([]);
          for (const { terms } of querySlots(text, ['en', 'de'], 100)) expect(terms.length).toBeGreaterThan(0);
        },
      ),
      { seed, numRuns: 150 },
    );
  });

  it('of a query are among those of a text with its words', () => {
    const word = fc.constantFrom(
      'running',
      'Häuser',
      'côtes',
      'книгами',
      '東京都',
      'évaluée',
      'İstanbul',
      'x2',
      'naïve',
      'Straße',
      'สวัสดี',
    );
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1 }),
        fc.constantFrom('en', 'de', 'fr', 'ru', 'tr'),
        (words, language) => {
          const { main } = termsOf(words.join(' '), language);
          for (const { terms, prefix } of querySlots(words.join(' '), [language], 100))
            expect(terms.some((term) => main.some((other) => (prefix ? other.startsWith(term) : other === term)))).toBe(
              true,
            );
        },
      ),
      { seed },
    );
  });

  it('of Vietnamese keep their accents, and are found without them', () => {
    const text = 'Bà ấy bán bánh ở chợ của người dân.';
    const { main, variants } = termsOf(text, 'vi');
    expect(main).toContain('bánh');
    expect(variants).toContain('banh');
    expect(querySlots('bánh ở chợ', ['vi'], 9).map(({ terms }) => terms)).toContainEqual(['bánh']);
    expect(querySlots('banh', ['vi'], 9)[0]!.terms).toContain('banh');
  });

  it('surface texts are the unstemmed words', () => {
    expect(surfaceText('Running, Côte-d’Or: 東京都!')).toBe(' running cote d or 東京都 ');
  });
});
