// Full run only: it waits.
// Own process: it measures the memory of its process, which must be idle.
import { afterEach, expect, it } from 'vitest';
import { collectWhenIdle } from './idle-memory.ts';

const MEGABYTE = 2 ** 20;
/** Objects that are small enough for the heap, about 150 MB of them. */
const allocate = () => Array.from({ length: 20_000 }, (_, at) => new Array<number>(1_000).fill(at + 0.5));
const usedMs = (from: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
};
/** Allocates for longer than the processor time after which there is garbage worth a collection. */
function work(): void {
  const from = process.cpuUsage();
  do expect(allocate()).toHaveLength(20_000);
  while (usedMs(from) < 800);
}
const heapBytes = () => process.memoryUsage().heapTotal;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let stop = () => {};
afterEach(() => stop());

/** Allocates, collects once, and returns the heap before. */
async function collectAfterWork(pauseMs: number): Promise<number> {
  work();
  const before = heapBytes();
  stop = collectWhenIdle({ intervalMs: 200, pauseMs });
  await expect.poll(heapBytes, { timeout: 25_000, interval: 1_000 }).toBeLessThan(before - 100 * MEGABYTE);
  return before;
}

it('returns the memory of earlier work while the process is idle, and again after further work', async () => {
  const before = await collectAfterWork(0);
  work();
  await expect.poll(heapBytes, { timeout: 25_000, interval: 1_000 }).toBeLessThan(before - 100 * MEGABYTE);
});

it('collects rarely while a process has little work', async () => {
  await collectAfterWork(60_000);
  expect(allocate()).toHaveLength(20_000);
  const before = heapBytes();
  await sleep(2_000);
  expect(heapBytes()).toBeGreaterThan(before - 50 * MEGABYTE);
});

it('does nothing after it was ended', async () => {
  collectWhenIdle({ intervalMs: 20 })();
  expect(allocate()).toHaveLength(20_000);
  const before = heapBytes();
  await sleep(500);
  expect(heapBytes()).toBeGreaterThan(before - 50 * MEGABYTE);
});
