/** Failures of a run. They determine what happens to its job. */
import type { Problem } from '#errors.ts';

/** A failure that was not caused by the line. The job is retried later. */
export class RetryLaterError extends Error {
  override readonly name = 'RetryLaterError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message, { cause: problem });
    this.problem = problem;
  }
}

/** A failure that means that the job can never succeed. */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError';
}
