import { expect, it } from 'vitest';
import { createPoliteness } from './politeness.ts';
import type { SharedPoliteness } from './shared-politeness.ts';

function manners(pagesAtOnce = 10, shared?: SharedPoliteness) {
  const clock = { now: 1_000 };
  return { clock, ...createPoliteness(pagesAtOnce, () => clock.now, shared) };
}
const ONE = { atOnce: 1 };
const NOW = { mostMs: 0, signal: new AbortController().signal };
const PATIENT = { mostMs: 60_000, signal: new AbortController().signal };

it('lets one page of a host be read at a time', async () => {
  const { enter, leave, readyAt } = manners();
  expect(readyAt('a', ONE)).toBe(0);
  expect(await enter('a', ONE, NOW)).toBeUndefined();
  expect(readyAt('a', ONE)).toBe(Number.POSITIVE_INFINITY);
  expect(readyAt('a', { atOnce: 2 })).toBe(0);
  expect(await enter('a', ONE, NOW)).toBe(1_000);
  expect(await enter('b', ONE, NOW)).toBeUndefined();
  leave('a', 0);
  expect(await enter('a', ONE, NOW)).toBeUndefined();
});

it('lets so many pages be read in all', () => {
  const { begin, end, hasPlace } = manners(2);
  begin();
  expect(hasPlace()).toBe(true);
  begin();
  expect(hasPlace()).toBe(false);
  end();
  expect(hasPlace()).toBe(true);
});

it('leaves a host alone for a while after each page, and longer when it is busy', async () => {
  const { clock, enter, heard, leave, readyAt } = manners();
  const after = async (busy?: { waitMs: number | undefined }) => {
    await enter('a', ONE, NOW);
    heard('a', { busy, reached: true });
    leave('a', 100);
    const pauseMs = readyAt('a', ONE) - clock.now;
    clock.now = readyAt('a', ONE);
    return pauseMs;
  };
  expect(await after()).toBe(100);
  expect(await after({ waitMs: undefined })).toBe(5_000);
  heard('a', {});
  expect(await after({ waitMs: undefined })).toBe(10_000);
  expect(await after({ waitMs: 30_000 })).toBe(30_000);
  expect(await after({ waitMs: 3_600_000 })).toBe(600_000);
});

it('serves those who wait in the order of their coming, and before those who only look', async () => {
  const { enter, leave, readyAt } = manners();
  await enter('a', ONE, NOW);
  const served: string[] = [];
  const waiting = ['first', 'second'].map(async (name) => {
    expect(await enter('a', { atOnce: 2 }, PATIENT)).toBeUndefined();
    served.push(name);
  });
  leave('a', 0);
  await Promise.all(waiting);
  expect(served).toEqual(['first', 'second']);
  const third = enter('a', { atOnce: 2 }, PATIENT);
  expect(readyAt('a', { atOnce: 9 })).toBe(Number.POSITIVE_INFINITY);
  leave('a', 0);
  await third;
});

it('tells who waits too long when to come again, and lets go of who gives up', async () => {
  const { enter, leave, rest, readyAt } = manners();
  await enter('a', ONE, NOW);
  leave('a', 90_000);
  expect(await enter('a', ONE, PATIENT)).toBe(91_000);
  rest('a', 100_000);
  expect(await enter('a', ONE, PATIENT)).toBe(101_000);
  const leaving = new AbortController();
  const given = enter('b', { atOnce: 0 }, { mostMs: 60_000, signal: leaving.signal });
  leaving.abort(new Error('gone'));
  await expect(given).rejects.toThrow('gone');
  expect(readyAt('b', ONE)).toBe(0);
});

it('takes no turn that another process has', async () => {
  const told: unknown[] = [];
  const answers: (number | undefined)[] = [700, undefined];
  const { clock, enter, leave } = manners(10, {
    take: async () => answers.shift(),
    give: (host, pauseMs) => told.push([host, pauseMs]),
    rest: (host, pauseMs) => told.push([host, pauseMs, 'alone']),
    close: async () => {},
  });
  expect(await enter('a', ONE, NOW)).toBe(1_700);
  clock.now = 1_700;
  expect(await enter('a', ONE, NOW)).toBeUndefined();
  leave('a', 300);
  expect(told).toEqual([['a', 300]]);
});

it('counts how often in a row a host was not reached, and tells of every end', async () => {
  const { enter, heard, leave, onChange } = manners();
  let changes = 0;
  const stop = onChange(() => changes++);
  const read = async (reached: boolean | undefined) => {
    await enter('a', ONE, NOW);
    const { unreached } = heard('a', { reached });
    const before = changes;
    leave('a', 0);
    expect(changes).toBe(before + 1);
    return unreached;
  };
  const counts = [];
  for (const reached of [false, false, undefined, true, false]) counts.push(await read(reached));
  expect(counts).toEqual([1, 2, 2, 0, 1]);
  stop();
  await enter('a', ONE, NOW);
  const before = changes;
  leave('a', 0);
  expect(changes).toBe(before);
});

it('forgets that a host was not reached', () => {
  const { clock, heard } = manners();
  const lost = () => heard('a', { reached: false }).unreached;
  expect([lost(), lost()]).toEqual([1, 2]);
  clock.now += 600_001;
  expect(lost()).toBe(1);
});
