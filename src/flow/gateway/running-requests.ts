/** Counts the running requests of a gateway, so that it can refuse new ones and wait for the others. */
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';

export interface RunningRequests {
  isDraining(): boolean;
  /** Starts a request; the returned function ends it. Throws ServiceNodeResourceDrainError while draining. */
  begin(): () => void;
  /** Refuses new requests. Resolves when all running ones have ended, after `graceMs` at the latest. */
  drain(graceMs: number): Promise<void>;
}

export const DRAINING = 'The gateway is shutting down';
/** Delay after which clients should retry, in seconds. By then, another instance may be available. */
const RETRY_AFTER = 1;

export function createRunningRequests(): RunningRequests {
  let count = 0;
  let isDraining = false;
  let idle: (() => void) | undefined;

  return {
    isDraining: () => isDraining,
    begin() {
      if (isDraining) throw problem('ServiceNodeResourceDrainError', { message: DRAINING, retryAfter: RETRY_AFTER });
      count++;
      return () => {
        if (--count === 0) idle?.();
      };
    },
    async drain(graceMs) {
      isDraining = true;
      if (count === 0) return;
      const ended = new Promise<void>((resolve) => {
        idle = resolve;
      });
      await within(graceMs, ended).catch((error: unknown) => {
        if (!(error instanceof DeadlineExceededError)) throw error;
      });
    },
  };
}
