/** Timeout and cancellation of a fetch, and the error to throw if either ends it. */
import { Problem, problem } from '#errors.ts';
import { AbortedError } from './body-limits.ts';
import { networkProblem } from './failures.ts';
import { limitTime } from './time-limit.ts';

export interface Lifetime {
  /** Aborted by the caller or by the timeout. */
  readonly signal: AbortSignal;
  end(): void;
  /** The error to throw for a failure before the response. */
  requestError(error: unknown): unknown;
  /** The error to throw for a failure in the body: an AbortedError, a problem, or the caller's reason. */
  bodyError(error: unknown): unknown;
}

export function createLifetime(outer: AbortSignal | undefined, timeoutMs: number): Lifetime {
  outer?.throwIfAborted();
  const timeUp = new AbortedError('time');
  const limit = limitTime(outer, timeoutMs, timeUp);
  return {
    signal: limit.signal,
    end: limit.end,
    requestError(error) {
      if (outer?.aborted) return outer.reason;
      return limit.isUp() ? noResponseInTime(error) : networkProblem(error);
    },
    bodyError(error) {
      if (outer?.aborted) return outer.reason;
      if (error instanceof AbortedError) return error;
      if (limit.isUp()) return timeUp;
      return error instanceof Problem ? error : new AbortedError('broken', error);
    },
  };
}

export const noResponseInTime = (cause: unknown) =>
  problem('AssertionFailureError', { message: 'The target did not respond in time' }, cause);
