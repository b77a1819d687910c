/** The queue and the errors shared by thread pools and process pools. */

/** The task exceeded its timeout and was stopped. A retry is likely to fail again. */
export class TaskTimeoutError extends Error {}
/** The task ran out of memory, or its thread or process died. A retry is likely to fail again. */
export class TaskCrashedError extends Error {}
/** The task was not started, because too many tasks were waiting or none ended in time. Retry later. */
export class QueueFullError extends Error {}

export interface TaskLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Expected cost in any unit. The waiting task with the lowest cost runs first. Default: 0. */
  readonly weight?: number;
  /** Memory limit of the task, for process pools. It is at most the limit of the pool, which is also the default. */
  readonly memoryMb?: number | undefined;
}

export interface TaskQueue {
  /**
   * Waits for a free slot. Throws QueueFullError (too many tasks are waiting, or no slot became free in time) or the
   * signal's reason.
   */
  acquire(weight: number, signal: AbortSignal | undefined): Promise<void>;
  release(): void;
  load(): Load;
}

/** Number of running tasks, and number of waiting tasks. */
export interface Load {
  readonly busy: number;
  readonly waiting: number;
}

interface Waiter {
  readonly weight: number;
  readonly go: () => void;
}

/**
 * A queue with `count` slots. The waiting task with the lowest cost runs next; among tasks with equal costs, the
 * oldest.
 */
export function createTaskQueue({
  count,
  maxWaiting,
  maxWaitMs,
}: {
  count: number;
  maxWaiting: number;
  maxWaitMs: number;
}): TaskQueue {
  let free = count;
  const waiting: Waiter[] = [];
  return {
    async acquire(weight: number, signal: AbortSignal | undefined): Promise<void> {
      signal?.throwIfAborted();
      if (free > 0) {
        free--;
        return;
      }
      if (waiting.length >= maxWaiting) throw new QueueFullError('too many tasks are waiting');
      await new Promise<void>((resolve, reject) => {
        const leave = (reason: unknown) => {
          waiting.splice(waiting.indexOf(waiter), 1);
          settle();
          reject(reason);
        };
        const stop = () => leave(signal?.reason);
        const timer = setTimeout(
          () => leave(new QueueFullError(`no slot became free within ${maxWaitMs} ms`)),
          maxWaitMs,
        );
        const settle = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', stop);
        };
        const waiter: Waiter = {
          weight,
          go: () => {
            settle();
            resolve();
          },
        };
        signal?.addEventListener('abort', stop, { once: true });
        const at = waiting.findIndex((other) => other.weight > weight);
        waiting.splice(at < 0 ? waiting.length : at, 0, waiter);
      });
    },
    release(): void {
      const next = waiting.shift();
      if (next) next.go();
      else free++;
    },
    load: () => ({ busy: count - free, waiting: waiting.length }),
  };
}
