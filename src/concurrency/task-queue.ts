/** What threads and processes that do tasks have in common: how a task can end, and whose turn it is. */

export class TaskTimeoutError extends Error {}
export class TaskCrashedError extends Error {}
export class QueueFullError extends Error {}

export interface TaskLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** How heavy the task is, in any one unit: of those that wait, the lightest goes first. Default 0. */
  readonly weight?: number;
  /** What its process may take, where tasks have processes; default what the processes are made with, which is the most. */
  readonly memoryMb?: number | undefined;
}

export interface TaskQueue {
  /** Throws TooManyTasks (no turn came free in time, or too many wait) or the signal's reason. */
  take(weight: number, signal: AbortSignal | undefined): Promise<void>;
  giveBack(): void;
  load(): Load;
}

/** How many tasks are in work, and how many wait. */
export interface Load {
  readonly busy: number;
  readonly waiting: number;
}

interface Waiter {
  readonly weight: number;
  readonly go: () => void;
}

/** So many turns at once; the lightest of those that wait is next, the eldest among equals. */
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
    async take(weight: number, signal: AbortSignal | undefined): Promise<void> {
      signal?.throwIfAborted();
      if (free > 0) {
        free--;
        return;
      }
      if (waiting.length >= maxWaiting) throw new QueueFullError('too many tasks wait');
      await new Promise<void>((resolve, reject) => {
        const leave = (reason: unknown) => {
          waiting.splice(waiting.indexOf(waiter), 1);
          settle();
          reject(reason);
        };
        const stop = () => leave(signal?.reason);
        const timer = setTimeout(() => leave(new QueueFullError(`no thread within ${maxWaitMs} ms`)), maxWaitMs);
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
    giveBack(): void {
      const next = waiting.shift();
      if (next) next.go();
      else free++;
    },
    load: () => ({ busy: count - free, waiting: waiting.length }),
  };
}
