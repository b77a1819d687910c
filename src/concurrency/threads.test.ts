import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createThreads, TaskCrashed, TaskTimeUp, type Threads } from './threads.ts';

type Task = { do: 'echo' | 'hang' | 'hog' | 'throw'; value?: unknown };

const WORKER = `export default function work({ do: what, value }) {
  if (what === 'echo') return value;
  if (what === 'throw') throw new TypeError('as asked');
  if (what === 'hang') for (;;);
  const all = [];
  for (;;) all.push(new Array(1e5).fill(0).map(() => ({})));
}`;

let dir: string;
let threads: Threads<Task, unknown>;
beforeAll(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-threads-'));
  writeFileSync(path.join(dir, 'worker.mjs'), WORKER);
  threads = createThreads({ worker: pathToFileURL(path.join(dir, 'worker.mjs')), count: 1, memoryMb: 64 });
});
afterAll(async () => {
  await threads.close();
  rmSync(dir, { recursive: true });
});

const LONG = { timeoutMs: 20_000 };
const works = async () => expect(await threads.run({ do: 'echo', value: 'still here' }, LONG)).toBe('still here');

it('does a task', works);

it('throws what the task throws', async () => {
  await expect(threads.run({ do: 'throw' }, LONG)).rejects.toThrow('as asked');
  await works();
});

it('ends a task that takes too long, and does the next', async () => {
  await expect(threads.run({ do: 'hang' }, { timeoutMs: 300 })).rejects.toBeInstanceOf(TaskTimeUp);
  await works();
});

it('ends a task that takes too much memory, and does the next', async () => {
  await expect(threads.run({ do: 'hog' }, LONG)).rejects.toBeInstanceOf(TaskCrashed);
  await works();
});

it('ends a task whose caller has gone, with the caller’s reason', async () => {
  const gone = new AbortController();
  const task = threads.run({ do: 'hang' }, { ...LONG, signal: gone.signal });
  setTimeout(() => gone.abort(new Error('gone')), 100);
  await expect(task).rejects.toThrow('gone');
  await works();
});

it('does not start what nobody waits for any more', async () => {
  await expect(threads.run({ do: 'echo' }, { ...LONG, signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow(
    'gone',
  );
});
