/** Converts failures of a store to problems for the caller. */
import { diskFull, isDiskFull, problem } from '#errors.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';

const RETRY_AFTER_S = 2;

/**
 * Returns the result of `work`. Rejects with ServiceAwayError if the database is unreachable, and with a separate
 * problem if the disk is full.
 */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (isDiskFull(error)) throw diskFull(error);
    throw error instanceof DatabaseUnavailableError
      ? problem('ServiceAwayError', { retryAfter: RETRY_AFTER_S }, error)
      : error;
  });
}
