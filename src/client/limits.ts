/** Timeout and cancellation of a call. */
import { LecternError } from './errors.ts';

export interface CallLimits {
  readonly signal: AbortSignal;
  /** Returns the error to throw if the call timed out or was cancelled, else `undefined`. */
  abortReason(): unknown;
  check(): void;
  leftMs(): number;
  wait(ms: number): Promise<void>;
  release(): void;
}

/** Maximum delay of a timer; a longer one fires at once (HTML standard, section 8.7). */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Combines the caller's signal and the timeout into one signal. */
export function createCallLimits(signal: AbortSignal | undefined, timeoutMs: number | undefined): CallLimits {
  const controller = new AbortController();
  const endsAt = timeoutMs ? Date.now() + timeoutMs : Number.POSITIVE_INFINITY;
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  const isTimed = timeoutMs && timeoutMs <= MAX_TIMER_MS;
  const timer = isTimed ? setTimeout(() => controller.abort(timedOut(timeoutMs)), timeoutMs) : undefined;
  const abortReason = () => (controller.signal.aborted ? controller.signal.reason : undefined);
  return {
    signal: controller.signal,
    abortReason,
    check() {
      if (controller.signal.aborted) throw abortReason();
    },
    leftMs: () => endsAt - Date.now(),
    wait: (ms) => sleep(ms, controller.signal),
    release() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}

/** Resolves after `ms`; rejects with the reason of the signal if it is aborted. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(waiting);
      reject(signal?.reason);
    };
    const waiting = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });

const timedOut = (timeoutMs: number) =>
  new LecternError({ message: `The call took more than ${timeoutMs} ms`, code: 'TIMEOUT', name: 'TimeoutError' });
