import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { createProcessPool } from './processes.ts';
import { describeWorkers, type Task } from './task-queue.suite.ts';
import { TaskCrashedError } from './task-queue.ts';

const { workers } = describeWorkers((setup) => createProcessPool<Task, unknown>(setup), 256);

it.runIf(process.platform === 'linux')('ends a task that uses too much memory outside the heap', async () => {
  const limits = { timeoutMs: 60_000 };
  await expect(workers().run({ do: 'swell' }, limits)).rejects.toBeInstanceOf(TaskCrashedError);
  expect(await workers().run({ do: 'echo', value: 1 }, limits)).toBe(1);
});

it.runIf(process.platform === 'linux')(
  'gives a task its memory limit, and the next one a new process if too much is still in use',
  async () => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-memory-'));
    const file = path.join(dir, 'worker.mjs');
    // Allocates memory, never frees it, and returns its process id.
    writeFileSync(
      file,
      `const kept = [];
     export default async (megabytes) => {
       for (let at = 0; at < megabytes; at += 10) {
         kept.push(Buffer.alloc(10_000_000, 1));
         await new Promise((resolve) => setTimeout(resolve, 5));
       }
       return process.pid;
     };`,
    );
    const made = createProcessPool<number, number>({ worker: pathToFileURL(file), count: 1, memoryMb: 1_024 });
    const [small, large] = [256, 1_024].map((memoryMb) => ({ timeoutMs: 60_000, memoryMb }));
    await expect(made.run(500, small!)).rejects.toBeInstanceOf(TaskCrashedError);
    const first = await made.run(10, small!);
    expect(await made.run(10, small!)).toBe(first);
    const other = await made.run(500, large!);
    expect(other).not.toBe(first);
    expect(await made.run(10, large!)).toBe(other);
    // There must never be more processes than the limit.
    await expect.poll(() => made.pids()).toEqual([other]);
    // The memory that the process uses counts against the next task.
    expect(await made.run(200, large!)).toBe(other);
    expect(await made.run(10, large!)).not.toBe(other);
    await made.close();
    rmSync(dir, { recursive: true });
  },
);

it('carries bytes both ways', async () => {
  const value = { bytes: new Uint8Array([1, 2, 3]), map: new Map([['a', 1]]) };
  expect(await workers().run({ do: 'echo', value }, { timeoutMs: 60_000 })).toEqual(value);
});

it('rejects a task that is aborted while its process starts, and uses the process for the next', async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-starting-'));
  const file = path.join(dir, 'worker.mjs');
  // Starts up only once the file `gate` exists.
  const gate = path.join(dir, 'gate');
  writeFileSync(
    file,
    `import { existsSync } from 'node:fs';
     while (!existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 20));
     export default () => process.pid;`,
  );
  const made = createProcessPool<string, number>({ worker: pathToFileURL(file), count: 1, memoryMb: 256 });
  const leaving = new AbortController();
  const left = made.run('task', { timeoutMs: 60_000, signal: leaving.signal });
  await expect.poll(() => made.pids().length).toBe(1);
  const [pid] = made.pids();
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  expect(made.load()).toEqual({ busy: 0, waiting: 0 });
  writeFileSync(gate, '');
  expect(await made.run('task', { timeoutMs: 60_000 })).toBe(pid);
  await made.close();
  rmSync(dir, { recursive: true });
});

it('fails a task whose module does not load', async () => {
  const none = createProcessPool<Task, unknown>({ worker: new URL('file:///nowhere.mjs'), count: 1, memoryMb: 256 });
  await expect(none.run({ do: 'echo' }, { timeoutMs: 60_000 })).rejects.toBeInstanceOf(TaskCrashedError);
  await none.close();
});

it.runIf(process.platform === 'linux')('leaves no process behind when its parent is killed', async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-orphans-'));
  writeFileSync(path.join(dir, 'worker.mjs'), 'export default function work() { for (;;); }');
  const processes = new URL('./processes.ts', import.meta.url).href;
  const script = `
    const { createProcessPool } = await import(${JSON.stringify(processes)});
    const made = createProcessPool({ worker: new URL(${JSON.stringify(pathToFileURL(path.join(dir, 'worker.mjs')).href)}), count: 1, memoryMb: 256 });
    made.run({}, { timeoutMs: 60000 }).catch(() => {});
    const started = setInterval(() => {
      if (made.pids().length === 0) return;
      clearInterval(started);
      console.log(made.pids().join());
    }, 20);
    setInterval(() => {}, 1000);
  `;
  writeFileSync(path.join(dir, 'parent.mjs'), script);
  const parent = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', path.join(dir, 'parent.mjs')], {
    cwd: path.resolve(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(String(line).trim());
  const alive = () => {
    try {
      return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).trim()[0] !== 'Z';
    } catch {
      return false;
    }
  };
  expect(alive()).toBe(true);
  parent.kill('SIGKILL');
  await expect.poll(alive, { timeout: 20_000 }).toBe(false);
  rmSync(dir, { recursive: true });
});
