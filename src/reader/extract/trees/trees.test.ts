import { expect, test } from 'vitest';
import { WEIGHTS } from '#generated/content-weights.ts';
import { FEATURES } from './features.ts';
import { parseTrees, probabilities, probability } from './trees.ts';

const sigmoid = (odds: number) => 1 / (1 + Math.exp(-odds));

test('parses and evaluates nested tests', () => {
  const trees = parseTrees('(a<1 (b<-0.5 0.25 (a<0 1 2)) -3)\n0.5', ['a', 'b']);
  const at = (a: number, b: number) => probability(trees, Float32Array.from([9, 9, a, b]), 2);
  expect(at(0.5, -1)).toBeCloseTo(sigmoid(0.75));
  expect(at(-1, 0)).toBeCloseTo(sigmoid(1.5));
  expect(at(0.5, 0)).toBeCloseTo(sigmoid(2.5));
  expect(at(1, 0)).toBeCloseTo(sigmoid(-2.5));
});

test('returns the same probabilities for many rows as for each row', () => {
  // With so few trees, no row is decided early.
  const trees = parseTrees(WEIGHTS.trim().split('\n').slice(0, 10).join('\n'), FEATURES);
  const width = FEATURES.length;
  let seed = 1;
  const rows = Float32Array.from({ length: 40 * width }, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % 7 ? ((seed >>> 11) % 1000) / 300 : -1;
  });
  const all = probabilities(trees, rows, 40, width);
  const each = Float32Array.from({ length: 40 }, (_, row) => probability(trees, rows, row * width));
  expect(all).toEqual(each);
  expect(new Set(all).size).toBeGreaterThan(20);
});

test('skips the remaining trees for rows that are clear after the first trees', () => {
  const first = '(a<0 -1.5 (a<1 0.2 1.5))\n'.repeat(3);
  const trees = parseTrees(`${first}${'(a<0 0.5 (a<1 0.1 -0.5))\n'.repeat(7)}`, ['a']);
  const [no, open, yes] = probabilities(trees, Float32Array.from([-1, 0, 1]), 3, 1);
  expect(no).toBeCloseTo(sigmoid(-5));
  expect(open).toBeCloseTo(sigmoid(1.3));
  expect(yes).toBeCloseTo(sigmoid(5));
});

test('rejects an unknown feature', () => {
  expect(() => parseTrees('(c<1 0 1)', ['a'])).toThrow('c');
});

test('the fitted trees use only known features', () => {
  const trees = parseTrees(WEIGHTS, FEATURES);
  expect(trees.roots.length).toBeGreaterThan(50);
  expect(new Set(FEATURES).size).toBe(FEATURES.length);
});
