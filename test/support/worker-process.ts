/** Starts `lectern worker` as a separate process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { programFile } from './program.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

export interface WorkerProcess {
  readonly child: ChildProcess;
  /** What it printed so far. */
  printed(): string;
  /** URL of its metrics. */
  readonly url: string;
  /** Sends a signal, waits, and returns the exit code. Removes its data. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** Waits until the worker says that it is working. It has a data folder of its own. */
export async function startWorker(environment: Record<string, string>, ...args: string[]): Promise<WorkerProcess> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-worker-'));
  const child = spawn(process.execPath, [await programFile(), 'worker', ...args], {
    cwd: ROOT,
    env: { ...process.env, LECTERN_DATA_DIR: dataDir, LECTERN_METRICS_PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk;
    });
  }
  const isReady = () => /^lectern: (?:processing|answering)/m.test(printed);
  while (!isReady() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    child,
    printed: () => printed,
    url: /live and ready (\S+)/.exec(printed)?.[1] ?? '',
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
      return child.exitCode;
    },
  };
}
