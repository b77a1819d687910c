/** Converts failures of a store to problems for the caller. */

import { DeadlineExceededError } from '#concurrency/deadline.ts';
import { diskFull, isDiskFull, problem } from '#errors.ts';
import { BlobsUnavailableError } from '#storage/blobs/blobs.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';

const RETRY_AFTER_S = 2;
const UNAVAILABLE = [DatabaseUnavailableError, BlobsUnavailableError, DeadlineExceededError];

/**
 * Returns the result of `work`. Rejects with ServiceAwayError if the database or the store of blobs is unreachable, and with a separate
 * problem if the disk is full.
 */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (isDiskFull(error)) throw diskFull(error);
    throw UNAVAILABLE.some((kind) => error instanceof kind)
      ? problem('ServiceAwayError', { retryAfter: RETRY_AFTER_S }, error)
      : error;
  });
}

/**
 * Reads the first part of a stored file, so that an unreachable store is reported before the response begins. Rejects
 * like `orUnavailable`.
 */
export async function startReading(content: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const parts = content[Symbol.asyncIterator]();
  const first = await orUnavailable(parts.next());
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => parts };
  })();
}
