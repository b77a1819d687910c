import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findJsonError } from './json-error.ts';

it.each([
  ['', 'Expecting value', 0],
  ['  ', 'Expecting value', 2],
  ['{"a": tru}', 'Expecting value', 6],
  ['[1 2]', "Expecting ',' delimiter", 3],
  ['{"a": 1]', "Expecting ',' delimiter", 7],
  ['{"a": 1,}', 'Expecting property name enclosed in double quotes', 8],
  ['{1: 1}', 'Expecting property name enclosed in double quotes', 1],
  ['{"a"}', "Expecting ':' delimiter", 4],
  ['[01]', "Expecting ',' delimiter", 2],
  ['["\\u12"]', 'Invalid \\uXXXX escape', 3],
  ['["a', 'Unterminated string starting at', 1],
  ['[] []', 'Extra data', 3],
  ['[[[', 'Expecting value', 3],
])('%j: %s at %i', (text, msg, pos) => {
  expect(findJsonError(text)).toEqual({ msg, pos, lineno: 1, colno: pos + 1 });
});

it('counts lines and columns from 1', () => {
  expect(findJsonError('{\n "a": 1,\n "b" 2}')).toEqual({
    msg: "Expecting ':' delimiter",
    pos: 16,
    lineno: 3,
    colno: 6,
  });
});

it('finds an error position in every text that JSON.parse refuses', () => {
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', '}', ']', ',', ':', '\\', 'x', '\u0001'))
    .map(([text, at, piece]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + piece + text.slice(place + 1);
    });
  let refused = 0;
  fc.assert(
    fc.property(broken, (text) => {
      try {
        JSON.parse(text);
      } catch {
        refused++;
        const { pos } = findJsonError(text);
        expect(pos).toBeGreaterThanOrEqual(0);
        expect(pos).toBeLessThanOrEqual(text.length);
      }
    }),
    { seed: 7, numRuns: 1000 },
  );
  expect(refused).toBeGreaterThan(100);
});
