/**
 * Waits for lists that are requested at the same time. A slow or refusing public source never delays the answer by more
 * than GRACE_MS: the answer is ready when the configured providers have answered as they would have without public
 * sources, and GRACE_MS have passed since the first useful list.
 */
import { type FailureReason, ProviderError } from './ask-provider.ts';

/** Maximum time that an answer waits for further lists after the first useful one. */
export const GRACE_MS = 800;

/** A source whose results are missing, and why. */
export interface LeftOut {
  readonly name: string;
  readonly reason: FailureReason | (string & {});
}

export interface Task<List> {
  readonly name: string;
  /** Whether the answer waits for this task as long as it takes. */
  readonly isAwaited: boolean;
  /** Resolves with the lists, if any. */
  readonly run: () => Promise<readonly List[]>;
}

export interface Together<List> {
  readonly lists: readonly List[];
  /** Whether any task has ended without a failure. */
  readonly answered: boolean;
  readonly leftOut: readonly LeftOut[];
  /** The time from which no further list is waited for, in ms of `performance.now()`; infinite without a useful list. */
  readonly waitsUntil: number;
}

/** Rejects with any error other than ProviderError. Tasks that are not waited for any longer continue. */
export function runTogether<List>(
  tasks: readonly Task<List>[],
  isUseful: (list: List) => boolean,
): Promise<Together<List>> {
  return new Promise((resolve, reject) => {
    const pending = new Set(tasks);
    const lists: List[] = [];
    const leftOut: LeftOut[] = [];
    let answered = false;
    let waitsUntil = Number.POSITIVE_INFINITY;
    let timer: NodeJS.Timeout | undefined;
    let isDone = false;

    const end = () => {
      isDone = true;
      clearTimeout(timer);
      for (const { name } of pending) leftOut.push({ name, reason: 'too slow' });
      resolve({ lists, answered, leftOut, waitsUntil });
    };
    const check = () => {
      if (isDone) return;
      if (pending.size === 0) return end();
      if ([...pending].some(({ isAwaited }) => isAwaited) || !Number.isFinite(waitsUntil)) return;
      timer ??= setTimeout(end, Math.max(0, waitsUntil - performance.now()));
    };
    for (const task of tasks) {
      task
        .run()
        .then((found) => {
          if (isDone) return;
          answered = true;
          lists.push(...found);
          if (found.some(isUseful)) waitsUntil = Math.min(waitsUntil, performance.now() + GRACE_MS);
        })
        .catch((error: unknown) => {
          if (isDone) return;
          if (error instanceof ProviderError) return void leftOut.push({ name: task.name, reason: error.reason });
          isDone = true;
          clearTimeout(timer);
          reject(error);
        })
        .finally(() => {
          pending.delete(task);
          check();
        });
    }
    check();
  });
}

/** One line for the caller; `undefined` if nothing is missing. */
export function describeLeftOut(leftOut: readonly LeftOut[] | undefined): string | undefined {
  if (!leftOut?.length) return undefined;
  const reasons = new Map(leftOut.map(({ name, reason }) => [name, reason]));
  const named = [...reasons].map(([name, reason]) => `${name} (${reason})`).join(', ');
  return `Search sources without results in this answer: ${named}.`;
}
