import { expect, it } from 'vitest';
import { createPoliteness } from './politeness.ts';
import type { SharedPoliteness } from './shared-politeness.ts';

function openPoliteness(pagesAtOnce = 10, shared?: SharedPoliteness) {
  const clock = { now: 1_000 };
  return { clock, ...createPoliteness(pagesAtOnce, () => clock.now, shared) };
}
const ONE = { maxAtOnce: 1 };
const NOW = { maxWaitMs: 0, signal: new AbortController().signal };
const PATIENT = { maxWaitMs: 60_000, signal: new AbortController().signal };

it('lets one page of a host be read at a time', async () => {
  const { acquire, release, readyAt } = openPoliteness();
  expect(readyAt('a', ONE)).toBe(0);
  expect(await acquire('a', ONE, NOW)).toBeUndefined();
  expect(readyAt('a', ONE)).toBe(Number.POSITIVE_INFINITY);
  expect(readyAt('a', { maxAtOnce: 2 })).toBe(0);
  expect(await acquire('a', ONE, NOW)).toBe(1_000);
  expect(await acquire('b', ONE, NOW)).toBeUndefined();
  release('a', 0);
  expect(await acquire('a', ONE, NOW)).toBeUndefined();
});

it('limits how many pages are read in all', () => {
  const { takePage, releasePage, hasFreePage } = openPoliteness(2);
  takePage();
  expect(hasFreePage()).toBe(true);
  takePage();
  expect(hasFreePage()).toBe(false);
  releasePage();
  expect(hasFreePage()).toBe(true);
});

it('lets a host rest after each page, and longer when it is busy', async () => {
  const { clock, acquire, report, release, readyAt } = openPoliteness();
  const after = async (busy?: { waitMs: number | undefined }) => {
    await acquire('a', ONE, NOW);
    report('a', { busy, isReached: true });
    release('a', 100);
    const pauseMs = readyAt('a', ONE) - clock.now;
    clock.now = readyAt('a', ONE);
    return pauseMs;
  };
  expect(await after()).toBe(100);
  expect(await after({ waitMs: undefined })).toBe(5_000);
  report('a', {});
  expect(await after({ waitMs: undefined })).toBe(10_000);
  expect(await after({ waitMs: 30_000 })).toBe(30_000);
  expect(await after({ waitMs: 3_600_000 })).toBe(600_000);
});

it('grants slots in the order of the calls, and before a call that does not wait', async () => {
  const { acquire, release, readyAt } = openPoliteness();
  await acquire('a', ONE, NOW);
  const served: string[] = [];
  const waiting = ['first', 'second'].map(async (name) => {
    expect(await acquire('a', { maxAtOnce: 2 }, PATIENT)).toBeUndefined();
    served.push(name);
  });
  release('a', 0);
  await Promise.all(waiting);
  expect(served).toEqual(['first', 'second']);
  const third = acquire('a', { maxAtOnce: 2 }, PATIENT);
  expect(readyAt('a', { maxAtOnce: 9 })).toBe(Number.POSITIVE_INFINITY);
  release('a', 0);
  await third;
});

it('returns when to try again after the longest wait, and rejects when aborted', async () => {
  const { acquire, release, pause, readyAt } = openPoliteness();
  await acquire('a', ONE, NOW);
  release('a', 90_000);
  expect(await acquire('a', ONE, PATIENT)).toBe(91_000);
  pause('a', 100_000);
  expect(await acquire('a', ONE, PATIENT)).toBe(101_000);
  const leaving = new AbortController();
  const waiting = acquire('b', { maxAtOnce: 0 }, { maxWaitMs: 60_000, signal: leaving.signal });
  leaving.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  expect(readyAt('b', ONE)).toBe(0);
});

it('acquires no slot that another process holds', async () => {
  const released: unknown[] = [];
  const answers: (number | undefined)[] = [700, undefined];
  const { clock, acquire, release } = openPoliteness(10, {
    acquire: async () => answers.shift(),
    release: (host, pauseMs) => released.push([host, pauseMs]),
    pause: (host, pauseMs) => released.push([host, pauseMs, 'alone']),
    close: async () => {},
  });
  expect(await acquire('a', ONE, NOW)).toBe(1_700);
  clock.now = 1_700;
  expect(await acquire('a', ONE, NOW)).toBeUndefined();
  release('a', 300);
  expect(released).toEqual([['a', 300]]);
});

it('counts consecutive failures to reach a host, and notifies listeners of each release', async () => {
  const { acquire, report, release, onChange } = openPoliteness();
  let changes = 0;
  const unsubscribe = onChange(() => changes++);
  const read = async (reached: boolean | undefined) => {
    await acquire('a', ONE, NOW);
    const { unreached } = report('a', { isReached: reached });
    const before = changes;
    release('a', 0);
    expect(changes).toBe(before + 1);
    return unreached;
  };
  const counts = [];
  for (const reached of [false, false, undefined, true, false]) counts.push(await read(reached));
  expect(counts).toEqual([1, 2, 2, 0, 1]);
  unsubscribe();
  await acquire('a', ONE, NOW);
  const before = changes;
  release('a', 0);
  expect(changes).toBe(before);
});

it('forgets failures to reach a host after a while', () => {
  const { clock, report } = openPoliteness();
  const countFailure = () => report('a', { isReached: false }).unreached;
  expect([countFailure(), countFailure()]).toEqual([1, 2]);
  clock.now += 600_001;
  expect(countFailure()).toBe(1);
});
