import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { mapConcurrently } from './map-concurrently.ts';

const signal = new AbortController().signal;
const options = { atOnce: 3, signal };

it('returns results in order, with limited concurrency', async () => {
  let running = 0;
  let peak = 0;
  const results = await mapConcurrently([5, 1, 4, 2, 3, 0], options, async (ms) => {
    peak = Math.max(peak, ++running);
    await pause(ms);
    running--;
    return ms * 2;
  });
  expect(results).toEqual([10, 2, 8, 4, 6, 0]);
  expect(peak).toBe(3);
  expect(await mapConcurrently([], options, async () => 1)).toEqual([]);
});

it('aborts the others after the first failure, and waits for them to end', async () => {
  const started: number[] = [];
  let ended = 0;
  const work = mapConcurrently([0, 1, 2, 3, 4], options, async (item, stop) => {
    started.push(item);
    if (item === 1) throw new Error('broken');
    await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
    await pause(5);
    ended++;
    stop.throwIfAborted();
  });
  await expect(work).rejects.toThrow('broken');
  expect([started, ended]).toEqual([[0, 1, 2], 2]);
});

it('rejects when aborted', async () => {
  const controller = new AbortController();
  const work = mapConcurrently([1, 2], { atOnce: 1, signal: controller.signal }, async () =>
    controller.abort(new Error('gone')),
  );
  await expect(work).rejects.toThrow('gone');
});
