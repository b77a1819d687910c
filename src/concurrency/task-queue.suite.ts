/** Tests of the behaviour shared by thread pools and process pools. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { QueueFullError, TaskCrashedError, type TaskLimits, TaskTimeoutError } from './task-queue.ts';

export type Task = { do: 'echo' | 'hang' | 'hog' | 'throw' | 'swell'; value?: unknown };

interface Workers {
  run(task: Task, limits: TaskLimits): Promise<unknown>;
  close(): Promise<void>;
}

interface Setup {
  readonly worker: URL;
  readonly count: number;
  readonly memoryMb: number;
  readonly maxWaiting?: number;
  readonly maxWaitMs?: number;
}

const WORKER = `export default function work({ do: what, value }) {
  if (what === 'echo') return value;
  if (what === 'throw') throw new TypeError('as asked');
  if (what === 'hang') for (;;);
  const buffers = [];
  if (what === 'swell') return new Promise(() => setInterval(() => buffers.push(Buffer.alloc(4e6, 1)), 5));
  let all = null;
  for (;;) all = { all };
}`;

/** Runs the suite. Returns the pool that it tests. */
export function describeWorkers(create: (setup: Setup) => Workers, memoryMb: number): { workers: () => Workers } {
  let dir: string;
  let workers: Workers;
  beforeAll(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-tasks-'));
    writeFileSync(path.join(dir, 'worker.mjs'), WORKER);
    workers = create({ worker: pathToFileURL(path.join(dir, 'worker.mjs')), count: 1, memoryMb });
  });
  afterAll(async () => {
    await workers.close();
    rmSync(dir, { recursive: true });
  });

  const LONG = { timeoutMs: 20_000 };
  const works = async () => expect(await workers.run({ do: 'echo', value: 'still here' }, LONG)).toBe('still here');

  it('runs a task', works);

  it('throws what the task throws', async () => {
    await expect(workers.run({ do: 'throw' }, LONG)).rejects.toThrow('as asked');
    await works();
  });

  it('ends a task that exceeds its time limit, and runs the next', async () => {
    await expect(workers.run({ do: 'hang' }, { timeoutMs: 300 })).rejects.toBeInstanceOf(TaskTimeoutError);
    await works();
  });

  it('ends a task that exceeds its memory limit, and runs the next', async () => {
    await expect(workers.run({ do: 'hog' }, LONG)).rejects.toBeInstanceOf(TaskCrashedError);
    await works();
  });

  it('ends an aborted task with the reason of its signal', async () => {
    const controller = new AbortController();
    const task = workers.run({ do: 'hang' }, { ...LONG, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('aborted')), 100);
    await expect(task).rejects.toThrow('aborted');
    await works();
  });

  it('starts the time limit when a task starts, and runs the lightest waiting task first', async () => {
    const order: string[] = [];
    const hang = workers.run({ do: 'hang' }, { timeoutMs: 400 }).catch(() => order.push('hang ended'));
    const heavy = workers.run({ do: 'echo' }, { timeoutMs: 300, weight: 2 }).then(() => order.push('heavy'));
    const light = workers.run({ do: 'echo' }, { timeoutMs: 300, weight: 1 }).then(() => order.push('light'));
    await Promise.all([hang, heavy, light]);
    expect(order).toEqual(['hang ended', 'light', 'heavy']);
  });

  it('refuses a task that waits too long, or when the queue is full', async () => {
    const file = pathToFileURL(path.join(dir, 'worker.mjs'));
    const few = create({ worker: file, count: 1, memoryMb, maxWaiting: 1, maxWaitMs: 100 });
    const hang = few.run({ do: 'hang' }, { timeoutMs: 500 });
    const waits = few.run({ do: 'echo' }, LONG);
    await expect(few.run({ do: 'echo' }, LONG)).rejects.toBeInstanceOf(QueueFullError);
    await expect(waits).rejects.toBeInstanceOf(QueueFullError);
    await expect(hang).rejects.toBeInstanceOf(TaskTimeoutError);
    expect(await few.run({ do: 'echo', value: 1 }, LONG)).toBe(1);
    await few.close();
  });

  it('does not start an aborted task', async () => {
    await expect(
      workers.run({ do: 'echo' }, { ...LONG, signal: AbortSignal.abort(new Error('aborted')) }),
    ).rejects.toThrow('aborted');
  });

  return { workers: () => workers };
}
