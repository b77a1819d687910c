import fc from 'fast-check';
import { expect, it } from 'vitest';
import { distribute, inOrder, matrixOf, piecesOf, scoreOf, vectorOf, weightsOf } from './answers.ts';

const runs = { seed: 6, numRuns: 300 };
const isWrong = (work: () => unknown) =>
  expect(work).toThrow(expect.objectContaining({ name: 'DownstreamServiceFailureError' }) as Error);

it('sorts rows into the order of the inputs', () => {
  const shuffled = fc
    .integer({ min: 1, max: 30 })
    .chain((count) => fc.shuffledSubarray([...Array(count).keys()], { minLength: count }));
  fc.assert(
    fc.property(shuffled, (indexes) => {
      const rows = indexes.map((index) => ({ index, value: `row ${index}` }));
      expect(inOrder(rows, indexes.length).map(({ value }) => value)).toEqual(
        indexes.map((_, index) => `row ${index}`),
      );
    }),
    runs,
  );
  expect(inOrder([{ value: 'a' }, { value: 'b' }] as { index?: unknown; value: string }[], 2)).toHaveLength(2);
});

it('rejects rows that do not match the inputs', () => {
  const of = (...indexes: unknown[]) => indexes.map((index) => ({ index }));
  for (const rows of [
    of(0),
    of(0, 1, 2),
    of(0, 0),
    of(1, 2),
    of(-1, 0),
    of(0.5, 1),
    of('0', '1'),
    of(0, undefined),
    of(Number.NaN, 0),
    of(null, null),
  ]) {
    isWrong(() => inOrder(rows, 2));
  }
});

it('reads the same vector from a list and from base64', () => {
  const number = fc.float({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(fc.array(number, { minLength: 1, maxLength: 40 }), (numbers) => {
      const expected = Float32Array.from(numbers);
      const bytes = Buffer.alloc(numbers.length * 4);
      for (const [index, value] of numbers.entries()) bytes.writeFloatLE(value, index * 4);
      expect(vectorOf(numbers)).toEqual(expected);
      expect(vectorOf(bytes.toString('base64'))).toEqual(expected);
    }),
    runs,
  );
});

it('rejects everything else as a vector', () => {
  const infinite = Buffer.from([0, 0, 0x80, 0x7f]).toString('base64');
  for (const value of [
    [1, null],
    [1, '2'],
    [1, 1e39],
    [[1]],
    infinite,
    'AAA=',
    '',
    'not base64!',
    null,
    {},
    3,
    undefined,
  ]) {
    isWrong(() => vectorOf(value));
  }
});

it('reads one vector for each token', () => {
  expect(matrixOf([[1, 2], [3, 4], 'AACAPwAAAEA='], 2)).toEqual({
    values: new Float32Array([1, 2, 3, 4, 1, 2]),
    rows: 3,
  });
  for (const value of [[], [[1]], [[1, 2], [3]], [1, 2], null]) isWrong(() => matrixOf(value, 2));
  expect(piecesOf({ value: 0, pieces: ['a', 'b'] }, 2)).toEqual(['a', 'b']);
  for (const pieces of [['a'], ['a', 1], 'ab', null]) expect(piecesOf({ value: 0, pieces }, 2)).toBeUndefined();
});

it('reads weights by token', () => {
  const weights = JSON.parse('{"a": 1.5, "__proto__": 2}') as Record<string, number>;
  expect(Object.entries(weightsOf(weights))).toEqual([
    ['a', 1.5],
    ['__proto__', 2],
  ]);
  isWrong(() => weightsOf({ a: '1' }));
});

it('accepts scores between 0 and 1, with a small tolerance', () => {
  expect(scoreOf({ index: 0, score: 0.25 }, false)).toBe(0.25);
  expect(scoreOf({ index: 0, score: 1.0000001 }, false)).toBe(1);
  expect(scoreOf({ index: 0, score: -0.2 }, true)).toBe(0);
  for (const score of [-0.2, 3.1, '0.5', null, Number.NaN]) isWrong(() => scoreOf({ index: 0, score }, false));
});

it('distributes a total to the last token', () => {
  const weights = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(fc.nat(100_000), weights, (total, given) => {
      const shares = distribute(total, given);
      expect(shares.reduce((a, b) => a + b, 0)).toBe(total);
      expect(shares.every((share) => Number.isInteger(share) && share >= 0)).toBe(true);
    }),
    runs,
  );
  expect(distribute(10, [1, 3, 1])).toEqual([2, 6, 2]);
});
