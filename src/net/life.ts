/** The time that a fetch has, from its call to its last byte, and whose fault it is when that ends early. */
import { problem } from '#errors.ts';
import { failureOf } from './failures.ts';
import { Cut } from './pace.ts';

export interface Life {
  /** Aborted when the caller has gone or time is up. */
  readonly signal: AbortSignal;
  end(): void;
  /** The failure to throw for an error before the answer. */
  blame(error: unknown): unknown;
  /** The failure to throw for an error in the body: a Cut, a problem, or the caller's reason. */
  cut(error: unknown): unknown;
}

export function createLife(outer: AbortSignal | undefined, timeoutMs: number): Life {
  outer?.throwIfAborted();
  const controller = new AbortController();
  const timeUp = new Cut('time');
  const leave = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', leave, { once: true });
  const timer = setTimeout(() => controller.abort(timeUp), timeoutMs);
  // While there is something to wait for a socket keeps the process up; an answer that nobody reads must not.
  timer.unref();
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', leave);
    },
    blame(error) {
      if (outer?.aborted) return outer.reason;
      if (controller.signal.reason === timeUp) {
        return noAnswerInTime(error);
      }
      return failureOf(error);
    },
    cut(error) {
      if (outer?.aborted) return outer.reason;
      if (error instanceof Cut) return error;
      if (controller.signal.reason === timeUp) return timeUp;
      const failure = failureOf(error);
      return failure.name === 'AssertionFailureError' ? new Cut('broken', error) : failure;
    },
  };
}

export const noAnswerInTime = (cause: unknown) =>
  problem('AssertionFailureError', { message: 'The target did not answer in time' }, cause);
