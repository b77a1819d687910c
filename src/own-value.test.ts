import { expect, it } from 'vitest';
import { readPairs } from '#cli/pairs.ts';
import { INHERITED_NAMES } from './own-value.suite.ts';
import { ownValue, setOwnValue } from './own-value.ts';

it.each(INHERITED_NAMES)('%s is a key only when it was set', (name) => {
  const table: Record<string, number> = {};
  expect(ownValue(table, name)).toBeUndefined();
  setOwnValue(table, name, 1);
  expect(ownValue(table, name)).toBe(1);
  expect(Object.keys(table)).toEqual([name]);
  expect(Object.getPrototypeOf(table)).toBe(Object.prototype);
});

it('pairs of a command line keep every key', () => {
  const read = readPairs(['__proto__: {a: 1}', 'constructor: 2']);
  expect(JSON.stringify(read)).toBe('{"__proto__":{"a":1},"constructor":2}');
});
