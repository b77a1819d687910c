import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonTooLargeError, parseJson, remainingMarks } from './json.ts';

const many = (piece: string, count: number) => `[${Array(count).fill(piece).join(',')}]`;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('JSON of a caller', () => {
  it('is parsed like JSON.parse', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
      { seed: 3, numRuns: 300 },
    );
  });

  it('may begin with one byte order mark', () => {
    expect(parseJson('\ufeff{"a":"\ufeff"}')).toEqual({ a: '\ufeff' });
    expect(() => parseJson('\ufeff\ufeff{}')).toThrow(SyntaxError);
  });

  it.each([
    ['a long text full of JSON punctuation', JSON.stringify({ html: '{[,:]}'.repeat(500_000) })],
    ['escaped quotes', JSON.stringify([`${'"{'.repeat(150_000)}\\`, '\\"{'.repeat(150_000)])],
    ['an array of 99,000 objects', many('{}', 99_000)],
    ['nested 200 levels deep', nested(200)],
  ])('may be %s', (_, text) => {
    expect(JSON.stringify(parseJson(text))).toBe(text);
    expect(remainingMarks(JSON.parse(text))).toBeGreaterThanOrEqual(0);
  });

  it.each([
    ['many objects', many('{}', 110_000), 'has too many values'],
    ['many numbers', many('1', 210_000), 'has too many values'],
    ['many members', `{${many('"a":1', 110_000).slice(1, -1)}}`, 'has too many values'],
    ['deep nesting', nested(1_000_000), 'is nested too deep'],
  ])('must not have %s', (_, text, message) => {
    const refusal = new JsonTooLargeError(message);
    expect(() => parseJson(text)).toThrow(refusal);
  });

  it('is limited in the same way after parsing', () => {
    const long = JSON.parse(many('{}', 110_000));
    expect(() => remainingMarks(long)).toThrow(new JsonTooLargeError('has too many values'));
    expect(() => remainingMarks(JSON.parse(nested(201)))).toThrow(new JsonTooLargeError('is nested too deep'));
    const remaining = remainingMarks([1, 2]);
    expect(() => remainingMarks(JSON.parse(many('1', remaining)), remaining - 2)).toThrow(JsonTooLargeError);
  });

  it('is a syntax error if it is invalid', () => {
    for (const text of ['{"a', '"\\', ']]]', '{"a":"\\"}']) expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
