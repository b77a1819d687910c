// Full run only: starts worker threads.
import v8 from 'node:v8';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, it } from 'vitest';
import { threadMemory } from './thread-memory.ts';

/** Keeps about 400 MB of objects, then ends. */
const HOG = 'const kept = []; while (kept.length < 50000) kept.push(new Array(1000).fill(0.5 + kept.length));';

afterEach(() => v8.setFlagsFromString('--max-old-space-size=0'));

it.each(['--max-old-space-size=2000', '--max-heap-size=2000'])('limits a thread in a process with %s', async (flag) => {
  v8.setFlagsFromString(flag);
  const worker = new Worker(HOG, { eval: true, resourceLimits: threadMemory(64) });
  const end = await new Promise((resolve) => {
    worker.once('error', resolve);
    worker.once('exit', resolve);
  });
  expect(end).toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
});
