/**
 * Worker threads for work that would hold up everybody else. A task that takes too long, or more memory than it may, is
 * ended with its thread; the next task gets a new one.
 *
 * The memory limit ends a heap that grows by small steps. A single allocation larger than what V8 keeps in reserve at the
 * limit can still end the process, so what a task is given must be bounded well below it.
 */
import os from 'node:os';
import { Piscina } from 'piscina';
import { createTaskQueue, type Load, TaskCrashedError, type TaskLimits, TaskTimeoutError } from './task-queue.ts';

export interface Threads<Task, Result> {
  /**
   * Throws TaskTimeUp, TaskCrashed (out of memory, or the thread died), TooManyTasks (no thread came free in time), the
   * signal's reason, or what the task threw. The time limit runs from when a thread takes the task.
   */
  run(task: Task, limits: TaskLimits): Promise<Result>;
  load(): Load;
  close(): Promise<void>;
}

export interface ThreadsOptions {
  /** The module whose default export does a task, as a file URL. */
  readonly worker: URL;
  readonly count?: number | undefined;
  readonly memoryMb: number;
  /** Tasks that may wait, and how long. Default 1,000 and a minute. */
  readonly maxWaiting?: number;
  readonly maxWaitMs?: number;
}

/** One thread less than there are processors, so that the main one has its own; at least two, so that one page cannot hold up all. */
export const defaultThreads = (): number => Math.max(2, os.availableParallelism() - 1);

export function createThreads<Task, Result>({
  worker,
  count = defaultThreads(),
  memoryMb,
  maxWaiting = 1_000,
  maxWaitMs = 60_000,
}: ThreadsOptions): Threads<Task, Result> {
  // From sources (tests, development) a thread needs the same loader that the main one has.
  const fromSource = worker.pathname.endsWith('.ts');
  const pool = new Piscina({
    filename: worker.href,
    minThreads: 1,
    maxThreads: count,
    idleTimeout: 60_000,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    execArgv: fromSource ? ['--conditions=source', '--import', 'tsx'] : [],
  });
  // A thread that dies is reported to the task that it had; without a listener it would end the process.
  pool.on('error', () => {});

  const turns = createTaskQueue({ count, maxWaiting, maxWaitMs });

  return {
    async run(task, { timeoutMs, signal, weight = 0 }) {
      await turns.take(weight, signal);
      const stop = new AbortController();
      const onAbort = () => stop.abort(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        stop.abort();
      }, timeoutMs);
      try {
        return (await pool.run(task, { signal: stop.signal })) as Result;
      } catch (error) {
        if (late) throw new TaskTimeoutError(`not done within ${timeoutMs} ms`);
        signal?.throwIfAborted();
        if (isCrash(error)) throw new TaskCrashedError((error as Error).message);
        throw error;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        turns.giveBack();
      }
    },
    load: turns.load,
    close: () => pool.destroy(),
  };
}

const isCrash = (error: unknown) =>
  error instanceof Error &&
  ('code' in error ? ['ERR_WORKER_OUT_OF_MEMORY', 'ERR_WORKER_INIT_FAILED'].includes(String(error.code)) : false);
