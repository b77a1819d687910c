import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { latestValues } from './latest-values.ts';

async function* counted(until: number, seen: number[] = [], failing = false) {
  for (let n = 1; n <= until; n++) {
    await sleep(1);
    seen.push(n);
    yield n;
  }
  if (failing) throw new Error('the source failed');
}

it('gives each value to a fast reader', async () => {
  const got: number[] = [];
  for await (const n of latestValues(counted(5))) got.push(n);
  expect(got).toEqual([1, 2, 3, 4, 5]);
});

it('is not delayed by a slow reader, who gets the latest value', async () => {
  const seen: number[] = [];
  const got: number[] = [];
  for await (const n of latestValues(counted(20, seen))) {
    got.push(n);
    if (got.length === 1) {
      await expect.poll(() => seen.length).toBe(20);
    }
  }
  expect(got).toEqual([1, 20]);
});

it('gives the values before a failure, then the failure', async () => {
  const got: number[] = [];
  const run = async () => {
    for await (const n of latestValues(counted(3, [], true))) {
      got.push(n);
      await sleep(30);
    }
  };
  await expect(run()).rejects.toThrow('the source failed');
  expect(got.at(-1)).toBe(3);
});

it('stops its source when its reader stops', async () => {
  const seen: number[] = [];
  for await (const _ of latestValues(counted(1000, seen))) break;
  await sleep(50);
  const then = seen.length;
  await sleep(50);
  expect(seen.length).toBe(then);
  expect(then).toBeLessThan(10);
});
