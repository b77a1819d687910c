// Full run only: starts worker threads.
import v8 from 'node:v8';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, it } from 'vitest';
import { threadMemory } from './thread-memory.ts';

/** Keeps about 400 MB of objects, then ends. */
const HOG = 'const kept = []; while (kept.length < 50000) kept.push(new Array(1000).fill(0.5 + kept.length));';

/** Makes garbage, of which a part lives long enough to make V8 enlarge the young generation; sends its size in bytes. */
const CHURN = `
let kept = [];
for (let at = 0; at < 2e6; at++) {
  kept.push([at, 'x' + at]);
  if (kept.length > 60000) kept = [];
}
const size = require('node:v8').getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
require('node:worker_threads').parentPort.postMessage(size);
`;
const MEGABYTE = 2 ** 20;

afterEach(() => {
  for (const flag of ['max-old-space-size', 'max-semi-space-size']) v8.setFlagsFromString(`--${flag}=0`);
});

it.each(['--max-old-space-size=2000', '--max-heap-size=2000'])('limits a thread in a process with %s', async (flag) => {
  v8.setFlagsFromString(flag);
  const worker = new Worker(HOG, { eval: true, resourceLimits: threadMemory(64) });
  const end = await new Promise((resolve) => {
    worker.once('error', resolve);
    worker.once('exit', resolve);
  });
  expect(end).toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
});

const youngBytes = (limits?: ReturnType<typeof threadMemory>): Promise<number> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(CHURN, { eval: true, ...(limits && { resourceLimits: limits }) });
    worker.once('message', resolve);
    worker.once('error', reject);
  });

it('keeps the young generation of a thread small, also in a process with --max-semi-space-size', async () => {
  v8.setFlagsFromString('--max-semi-space-size=16');
  expect(await youngBytes()).toBeGreaterThan(24 * MEGABYTE);
  v8.setFlagsFromString('--max-semi-space-size=16');
  expect(await youngBytes(threadMemory(64))).toBeLessThanOrEqual(8 * MEGABYTE);
});
