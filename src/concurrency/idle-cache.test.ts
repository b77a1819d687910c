import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createIdleCache } from './idle-cache.ts';

const SOON = { timeout: 20_000 };

function createCounting(idleMs: number) {
  const discarded: number[] = [];
  const cache = createIdleCache<number>({ idleMs, discard: async (value) => discarded.push(value) });
  let made = 0;
  const make = async () => ++made;
  return { cache, discarded, use: (key: string) => cache.use(key, make, async (value) => value) };
}

it('makes a value once for users at the same time and soon after each other', async () => {
  const { cache, discarded, use } = createCounting(60_000);
  expect(await Promise.all([use('a'), use('a'), use('b')])).toEqual([1, 1, 2]);
  expect(await use('a')).toBe(1);
  expect(discarded).toEqual([]);
  await cache.close();
  expect(discarded.toSorted()).toEqual([1, 2]);
});

it('discards a value that is no longer used, and makes a new one afterwards', async () => {
  const { discarded, use } = createCounting(1);
  expect(await use('a')).toBe(1);
  await expect.poll(() => discarded, SOON).toEqual([1]);
  expect(await use('a')).toBe(2);
});

it('keeps a dropped value for its users, who discard it', async () => {
  const { cache, discarded, use } = createCounting(60_000);
  const first = cache.use(
    'a',
    async () => 7,
    () => sleep(20, 'done'),
  );
  cache.drop('a');
  expect(await use('a')).toBe(1);
  expect(await first).toBe('done');
  expect(discarded).toEqual([7]);
});

it('makes a value again after a failure', async () => {
  const { cache, use } = createCounting(60_000);
  const failing = async () => Promise.reject(new Error('not now'));
  await expect(cache.use('a', failing, async () => 'used')).rejects.toThrow('not now');
  expect(await use('a')).toBe(1);
});
