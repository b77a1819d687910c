/** The time that a fetch has, from its call to its last byte, and whose fault it is when that ends early. */
import { Problem, problem } from '#errors.ts';
import { AbortedError } from './body-limits.ts';
import { networkProblem } from './failures.ts';
import { limitTime } from './time-limit.ts';

export interface Lifetime {
  /** Aborted when the caller has gone or time is up. */
  readonly signal: AbortSignal;
  end(): void;
  /** The failure to throw for an error before the answer. */
  blame(error: unknown): unknown;
  /** The failure to throw for an error in the body: a Cut, a problem, or the caller's reason. */
  cut(error: unknown): unknown;
}

export function createLifetime(outer: AbortSignal | undefined, timeoutMs: number): Lifetime {
  outer?.throwIfAborted();
  const timeUp = new AbortedError('time');
  const limit = limitTime(outer, timeoutMs, timeUp);
  return {
    signal: limit.signal,
    end: limit.end,
    blame(error) {
      if (outer?.aborted) return outer.reason;
      return limit.isUp() ? noResponseInTime(error) : networkProblem(error);
    },
    cut(error) {
      if (outer?.aborted) return outer.reason;
      if (error instanceof AbortedError) return error;
      if (limit.isUp()) return timeUp;
      return error instanceof Problem ? error : new AbortedError('broken', error);
    },
  };
}

export const noResponseInTime = (cause: unknown) =>
  problem('AssertionFailureError', { message: 'The target did not answer in time' }, cause);
