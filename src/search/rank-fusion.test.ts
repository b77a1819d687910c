import { expect, it } from 'vitest';
import { fuseRanks } from './rank-fusion.ts';

const same = (item: number) => item;

it('ranks an item by its ranks in all lists', () => {
  const fused = fuseRanks([{ items: [1, 2, 3] }, { items: [3, 1] }], same);
  expect(fused.map(({ key }) => key)).toEqual([1, 3, 2]);
  expect(fused[0]!.score).toBeLessThanOrEqual(1);
});

it('scores the first item of a single list 1, whatever its weight', () => {
  expect(fuseRanks([{ items: [7], weight: 0.3 }], same)).toEqual([{ key: 7, score: 1 }]);
  expect(fuseRanks<number, number>([], same)).toEqual([]);
});

it('counts a list by its weight', () => {
  const fused = fuseRanks([{ items: [1, 2], weight: 0.5 }, { items: [2, 1] }], same);
  expect(fused.map(({ key }) => key)).toEqual([2, 1]);
});

it('counts a repeated item once, and leaves the rank of an item without a key empty', () => {
  const keyOf = (item: number) => (item < 0 ? undefined : item);
  const [first, second] = fuseRanks([{ items: [1, 1, -1, 2] }], keyOf);
  expect([first?.key, second?.key]).toEqual([1, 2]);
  expect(second!.score).toBeCloseTo(61 / 64);
});
