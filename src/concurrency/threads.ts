/**
 * A pool of worker threads for CPU-heavy work. If a task exceeds its time or memory limit, its thread is terminated,
 * and the next task gets a new thread.
 *
 * The memory limit only stops a heap that grows in small steps. A single allocation beyond V8's reserve can still crash
 * the whole process, so the input of a task must be limited to a size well below the memory limit.
 */
import os from 'node:os';
import { Piscina } from 'piscina';
import { createTaskQueue, type Load, TaskCrashedError, type TaskLimits, TaskTimeoutError } from './task-queue.ts';
import { threadMemory } from './thread-memory.ts';

export interface ThreadPool<Task, Result> {
  /**
   * Runs a task. The timeout starts when a thread starts the task. Throws TaskTimeoutError, TaskCrashedError (out of
   * memory, or the thread died), QueueFullError (no thread became free in time), the signal's reason, or the task's
   * error.
   */
  run(task: Task, limits: TaskLimits): Promise<Result>;
  load(): Load;
  close(): Promise<void>;
}

export interface ThreadPoolOptions {
  /** File URL of the module whose default export runs a task. */
  readonly worker: URL;
  readonly count?: number | undefined;
  readonly memoryMb: number;
  /** Maximum number of waiting tasks. Default: 1,000. */
  readonly maxWaiting?: number;
  /** Maximum waiting time. Default: one minute. */
  readonly maxWaitMs?: number;
}

/**
 * One less than the number of processors, to leave one for the main thread. At least two, so that one slow task never
 * blocks all others.
 */
export const defaultThreads = (): number => Math.max(2, os.availableParallelism() - 1);

export function createThreadPool<Task, Result>({
  worker,
  count = defaultThreads(),
  memoryMb,
  maxWaiting = 1_000,
  maxWaitMs = 60_000,
}: ThreadPoolOptions): ThreadPool<Task, Result> {
  // When run from TypeScript sources (tests, development), a thread needs the same loader as the main thread.
  const fromSource = worker.pathname.endsWith('.ts');
  const pool = new Piscina({
    filename: worker.href,
    minThreads: 1,
    maxThreads: count,
    idleTimeout: 60_000,
    resourceLimits: threadMemory(memoryMb),
    execArgv: fromSource ? ['--conditions=source', '--import', 'tsx'] : [],
  });
  // The error is reported to the task of the dead thread. Without a listener, this event would also crash the process.
  pool.on('error', () => {});

  const queue = createTaskQueue({ count, maxWaiting, maxWaitMs });

  return {
    async run(task, { timeoutMs, signal, weight = 0 }) {
      await queue.acquire(weight, signal);
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
        if (late) throw new TaskTimeoutError(`not finished within ${timeoutMs} ms`);
        signal?.throwIfAborted();
        if (isCrash(error)) throw new TaskCrashedError((error as Error).message);
        throw error;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        queue.release();
      }
    },
    load: queue.load,
    close: () => pool.destroy(),
  };
}

const isCrash = (error: unknown) =>
  error instanceof Error &&
  ('code' in error ? ['ERR_WORKER_OUT_OF_MEMORY', 'ERR_WORKER_INIT_FAILED'].includes(String(error.code)) : false);
