import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '#errors.ts';
import { countryName, parseCountry } from './countries.ts';
import { baseLanguage, languageTag, parseLanguage } from './languages.ts';
import { gatherSearch, requireText, SEARCH_OPTIONS } from './options.ts';

const gather = (query: Record<string, unknown>, headers: Record<string, string> = {}) =>
  gatherSearch({ headers, query });

describe('options', () => {
  it('default to ten web results whose pages are read', () => {
    expect(gather({})).toEqual({ given: {}, count: 10, reading: {}, noContent: false });
    expect(gather({ num: '3', count: '4' }).count).toBe(4);
  });

  it.each([
    ['no-content', true, undefined],
    ['NO-CONTENT, html', true, 'html'],
    ['html', false, 'html'],
    ['content', false, 'content'],
    ['', false, undefined],
  ])('respondWith %j reads no page: %s', (value, noContent, respondWith) => {
    for (const gathered of [gather({ respondWith: value }), gather({}, { 'x-respond-with': value })]) {
      expect(gathered.noContent).toBe(noContent);
      expect(gathered.reading.respondWith?.replace(/[,\s]/g, '') || undefined).toBe(respondWith);
    }
  });

  it('separate the reading engine from the search engine', () => {
    const { given, reading } = gather({ engine: 'Google' }, { 'x-engine': 'direct' });
    expect([given.engine, reading.engine]).toEqual(['google', 'direct']);
  });

  it('leave out reader options without a meaning for many pages', () => {
    const { reading } = gather({
      url: 'x',
      html: '<p>',
      file: 'eA==',
      pdf: 'eA==',
      tokenBudget: 5,
      base: 'final',
      assertStatusCode: 200,
      assertNotBlocked: true,
      page: 2,
    });
    expect(reading).toEqual({});
  });

  it.each([
    [true, 4_000],
    ['true', 4_000],
    ['1', 4_000],
    [1, 4_000],
    ['500', 500],
    [false, undefined],
    ['0', undefined],
    [null, undefined],
  ])('passages %j are %s tokens', (value, tokens) => expect(gather({ passages: value }).given.passages).toBe(tokens));

  it('of any type are accepted, or refused by name', () => {
    const values = fc.dictionary(
      fc.constantFrom(...Object.keys(SEARCH_OPTIONS), 'respondWith', 'timeout'),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const headers = fc.dictionary(
      fc.constantFrom('x-site', 'x-passages', 'x-with-favicons', 'x-timeout', 'x-respond-with'),
      fc.string(),
    );
    fc.assert(
      fc.property(values, headers, (query, given) => {
        try {
          gather(query, given);
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
          expect((error as Problem).facts.path).toEqual(expect.any(String));
        }
      }),
      { seed: 11, numRuns: 500 },
    );
  });

  it('contain a query that can be sent', () => {
    expect(requireText('  half \ud800 letter ')).toBe('half \ufffd letter');
    for (const text of [undefined, '', ' \n ', 'a'.repeat(4_001)]) expect(() => requireText(text)).toThrow(Problem);
  });
});

describe('places and languages', () => {
  it.each([
    ['DE', 'de'],
    ['uk', 'gb'],
    [' us ', 'us'],
    ['zz', undefined],
    ['deu', undefined],
    ['__proto__', undefined],
  ])('country %j is %s', (text, code) => expect(parseCountry(text)).toBe(code));
  it('have names', () => expect([countryName('de'), countryName('gb')]).toEqual(['germany', 'united kingdom']));
  it.each([
    ['en', 'en', 'en'],
    ['ZH-TW', 'zh', 'zh-TW'],
    ['iw', 'he', 'he'],
    ['es-419', 'es', 'es-419'],
    ['no', 'nb', 'nb'],
  ])('language %s is %s', (text, base, tag) => {
    const code = parseLanguage(text)!;
    expect([baseLanguage(code), languageTag(code)]).toEqual([base, tag]);
  });
  it('of no search are unknown', () =>
    expect([parseLanguage('klingon'), parseLanguage('constructor'), parseLanguage('')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]));
});
