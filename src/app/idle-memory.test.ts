// Full run only: it waits.
// Own process: it measures the memory of its process, which must be idle.
import { afterEach, expect, it } from 'vitest';
import { collectWhenIdle } from './idle-memory.ts';

const MEGABYTE = 2 ** 20;
/** Objects that are small enough for the heap, about 150 MB of them. */
const allocate = () => Array.from({ length: 20_000 }, (_, at) => new Array<number>(1_000).fill(at + 0.5));
const heapBytes = () => process.memoryUsage().heapTotal;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let stop = () => {};
afterEach(() => stop());

it('returns the memory of earlier work while the process is idle, and again after further work', async () => {
  for (let round = 0; round < 2; round++) {
    let kept: unknown[] | undefined = allocate();
    const before = heapBytes();
    expect(kept.length).toBeGreaterThan(0);
    kept = undefined;
    stop();
    stop = collectWhenIdle({ intervalMs: 200 });
    await expect.poll(heapBytes, { timeout: 25_000, interval: 1_000 }).toBeLessThan(before - 100 * MEGABYTE);
  }
});

it('does nothing after it was ended', async () => {
  collectWhenIdle({ intervalMs: 20 })();
  allocate();
  const before = heapBytes();
  await sleep(500);
  expect(heapBytes()).toBeGreaterThan(before - 50 * MEGABYTE);
});
