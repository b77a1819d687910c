/** A database that is away, as callers are told it. */
import { diskFull, isDiskFull, problem } from '#errors.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';

const RETRY_AFTER_S = 2;

/** The work's outcome; ServiceAwayError when the database cannot be reached, its own problem when the disk is full. */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (isDiskFull(error)) throw diskFull(error);
    throw error instanceof DatabaseUnavailableError
      ? problem('ServiceAwayError', { retryAfter: RETRY_AFTER_S }, error)
      : error;
  });
}
