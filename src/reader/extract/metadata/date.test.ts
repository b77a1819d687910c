import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dateInUrl, daysAfter, findDate, isPlausible, parseDate } from './date.ts';

describe('parseDate', () => {
  test.each([
    ['2024-03-05', '2024-03-05'],
    ['2024-3-5', '2024-03-05'],
    ['2024-03', '2024-03'],
    ['2024', '2024'],
    ['20240305', '2024-03-05'],
    ['20240305T101500Z', '2024-03-05T10:15:00Z'],
    ['2005/03/12', '2005-03-12'],
    ['2024-03-05T10:00', '2024-03-05T10:00:00'],
    ['2024-03-05T10:00:00Z', '2024-03-05T10:00:00Z'],
    ['2024-03-05T10:00:00.000+0100', '2024-03-05T10:00:00+01:00'],
    ['2024-03-05T10:00:00.1234567-03', '2024-03-05T10:00:00.123-03:00'],
    ['2024-03-05 10:00:00 UTC', '2024-03-05T10:00:00Z'],
    ['Tue, 05 Mar 2024 10:00:00 GMT', '2024-03-05T10:00:00Z'],
    ['Tue, 5 Mar 2024 10:00:00 -0500', '2024-03-05T10:00:00-05:00'],
    ['Tue Mar 05 2024 10:00:00 GMT+0000 (Coordinated Universal Time)', '2024-03-05T10:00:00+00:00'],
    ['1709632800', '2024-03-05T10:00:00Z'],
    ['1709632800000', '2024-03-05T10:00:00Z'],
    ['March 5, 2024', '2024-03-05'],
    ['JUNE 1, 2020', '2020-06-01'],
    ['Mar 5th, 2024 10:30 AM EST', '2024-03-05T10:30:00-05:00'],
    ['March 5, 2024 at 12:05 a.m.', '2024-03-05T00:05:00'],
    ['05-Mar-2024', '2024-03-05'],
    ['5. März 2024, 14:30 Uhr', '2024-03-05T14:30:00'],
    ['5 de marzo de 2024', '2024-03-05'],
    ['1er avril 2023 à 10h30', '2023-04-01T10:30:00'],
    ['12 Kasım 2021', '2021-11-12'],
    ['5 марта 2024 г.', '2024-03-05'],
    ['2024年3月5日', '2024-03-05'],
    ['2024년 3월 5일', '2024-03-05'],
    ['05.03.2024', '2024-03-05'],
    ['29/02/2024', '2024-02-29'],
  ])('%s', (text, date) => expect(parseDate(text)).toBe(date));

  test.each([
    ['a date that does not exist', '2024-02-30'],
    ['29 February outside a leap year', '2023-02-29'],
    ['a time only', '10:30'],
    ['a duration', 'PT5M'],
    ['a word', 'yesterday'],
    ['the year 0', '0000-00-00'],
    ['a version', '1.2.2024.5.6.7.8'],
    ['a telephone number', '555 2024 03'],
    ['a sentence', 'The kiln that was built in the autumn before the war, on March 5, 2024'],
    ['a very long text', '2024-03-05'.padEnd(10_000, 'x')],
  ])('rejects %s', (_, text) => expect(parseDate(text)).toBeUndefined());

  test('reads an ambiguous date according to the language, or not at all', () => {
    expect(parseDate('3/4/2024')).toBeUndefined();
    expect(parseDate('3/4/2024', 'en')).toBeUndefined();
    expect(parseDate('3/4/2024', 'en-US')).toBe('2024-03-04');
    expect(parseDate('3/4/2024', 'en-GB')).toBe('2024-04-03');
    expect(parseDate('3/4/2024', 'pt-BR')).toBe('2024-04-03');
    expect(parseDate('13/4/2024')).toBe('2024-04-13');
    expect(parseDate('4/13/2024')).toBe('2024-04-13');
  });

  test('omits an impossible time, and adds no zone', () => {
    expect(parseDate('2024-03-05T24:99')).toBe('2024-03-05');
    expect(parseDate('March 5, 2024 13:00 pm')).toBe('2024-03-05');
    expect(parseDate('2024-03-05 10:00 CEST')).toBe('2024-03-05T10:00:00');
  });
});

test('returns ISO 8601 dates unchanged', () => {
  const moments = fc.date({ min: new Date('1990-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(moments, (moment) => {
      const iso = moment.toISOString();
      expect(parseDate(iso)).toBe(iso.replace('.000Z', 'Z'));
      expect(parseDate(moment.toUTCString())).toBe(`${iso.slice(0, 19)}Z`);
      expect(parseDate(iso.slice(0, 10))).toBe(iso.slice(0, 10));
    }),
    { seed: 20_240_305 },
  );
});

test('returns only dates that exist', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'0123456789-/.: TZ+年月日,MarchJuneDez'), maxLength: 24 }),
      (text) => {
        const date = parseDate(text);
        if (date !== undefined && date.length >= 10) expect(Number.isNaN(Date.parse(date.slice(0, 10)))).toBe(false);
      },
    ),
    { seed: 7, numRuns: 2000 },
  );
});

test('finds the first date in a line, with the text before and after it', () => {
  expect(findDate('By Ada on 5 May 2021 in Kilns, 6 May 2021')).toEqual({
    date: '2021-05-05',
    before: 'By Ada on ',
    after: ' in Kilns, 6 May 2021',
  });
  expect(findDate('no year here, May 5')).toBeNull();
});

test('accepts dates since 1990, and older ones only if they are declared and exact', () => {
  expect(isPlausible('2024-03-05', false)).toBe(true);
  expect(isPlausible('2150-01-01', true)).toBe(false);
  expect(isPlausible('1974-09-18', true)).toBe(true);
  expect(isPlausible('1974-09-18', false)).toBe(false);
  expect(isPlausible('1970-01-01T00:00:00Z', true)).toBe(false);
  expect(isPlausible('0001-01-01', true)).toBe(false);
});

test('returns the days between two dates', () => {
  expect(daysAfter('2024-03-01', '2024-02-28T23:00:00-05:00')).toBe(2);
  expect(daysAfter('2024-02-28', '2024-03-01')).toBe(-2);
});

describe('dateInUrl', () => {
  test.each([
    ['https://x.example/2024/03/05/kiln', '2024-03-05'],
    ['https://x.example/2024/03/kiln', '2024-03'],
    ['https://x.example/a/2024-03-05-kiln.html', '2024-03-05'],
    ['https://x.example/20240305/kiln', '2024-03-05'],
    ['https://x.example/2024/13/kiln', undefined],
    ['https://x.example/20240305123', undefined],
    ['https://x.example/1889/03/05/kiln', undefined],
    ['https://x.example/?d=/2024/03/05/', undefined],
    ['no address', undefined],
  ])('%s', (url, date) => expect(dateInUrl(url)).toBe(date));
});
