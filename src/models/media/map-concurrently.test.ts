import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { mapConcurrently } from './map-concurrently.ts';

const signal = new AbortController().signal;
const options = { atOnce: 3, signal };

it('gives results in the order of the things, so many at once', async () => {
  let running = 0;
  let most = 0;
  const results = await mapConcurrently([5, 1, 4, 2, 3, 0], options, async (ms) => {
    most = Math.max(most, ++running);
    await pause(ms);
    running--;
    return ms * 2;
  });
  expect(results).toEqual([10, 2, 8, 4, 6, 0]);
  expect(most).toBe(3);
  expect(await mapConcurrently([], options, async () => 1)).toEqual([]);
});

it('ends the others with the first failure, and waits for their end', async () => {
  const begun: number[] = [];
  let ended = 0;
  const work = mapConcurrently([0, 1, 2, 3, 4], options, async (thing, stop) => {
    begun.push(thing);
    if (thing === 1) throw new Error('broken');
    await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
    await pause(5);
    ended++;
    stop.throwIfAborted();
  });
  await expect(work).rejects.toThrow('broken');
  expect([begun, ended]).toEqual([[0, 1, 2], 2]);
});

it('ends when it is told to', async () => {
  const leaving = new AbortController();
  const work = mapConcurrently([1, 2], { atOnce: 1, signal: leaving.signal }, async () =>
    leaving.abort(new Error('gone')),
  );
  await expect(work).rejects.toThrow('gone');
});
