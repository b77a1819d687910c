/** Failures of a run, which decide what happens to its job. */
import type { Problem } from '#errors.ts';

/** A failure that is not the line's fault; the job is retried later. */
export class RetryLaterError extends Error {
  override readonly name = 'RetryLaterError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message, { cause: problem });
    this.problem = problem;
  }
}

/** A failure after which the job can never succeed. */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError';
}
