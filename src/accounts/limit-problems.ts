/** The problems that access control responds with. */
import { diskFull, isDiskFull, problem } from '#errors.ts';
import { CountersUnavailableError, WINDOW_MS } from '#storage/counters/counters.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';

const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));

export const clientIpLimit = (waitMs: number) =>
  problem('RateLimitTriggeredError', {
    message: 'IP rate limit exceeded',
    limitedBy: 'address',
    retryAfter: seconds(waitMs),
  });

export const concurrencyLimit = (current: number, limit: number, waitMs: number) =>
  problem('RateLimitTriggeredError', {
    message: `Concurrency limit exceeded: ${current}/${limit} concurrent requests`,
    limitedBy: 'concurrency',
    retryAfter: seconds(waitMs),
  });

export const requestLimit = (current: number, limit: number, waitMs: number) =>
  problem('RateLimitTriggeredError', {
    message: `Request rate limit exceeded: ${current}/${limit} requests per minute`,
    limitedBy: 'requests',
    retryAfter: seconds(waitMs),
  });

export const tokenLimit = (current: number, limit: number, waitMs = WINDOW_MS) =>
  problem('RateLimitTriggeredError', {
    message: `Token rate limit exceeded: ${current}/${limit} tokens per minute`,
    limitedBy: 'tokens',
    retryAfter: seconds(waitMs),
  });

/**
 * The request is too large for the plan. This is not reported as a rate limit, because clients would then retry in
 * vain.
 */
export const requestTooLarge = (tokens: number, limit: number, plan: string) =>
  problem('ResourceLimitExceededError', {
    message: `Resource limit exceeded for the plan: this request has ${tokens} tokens, and the plan ${plan} allows ${limit} tokens per minute. Send it in parts`,
  });

const RETRY_AFTER_S = 2;

/**
 * Returns ServiceAwayError if the account store or the rate-limit store is unreachable, a separate problem if its disk
 * is full, else the error itself.
 */
export function asUnavailable(error: unknown): unknown {
  if (isDiskFull(error)) return diskFull(error);
  return error instanceof CountersUnavailableError || error instanceof DatabaseUnavailableError
    ? problem('ServiceAwayError', { retryAfter: RETRY_AFTER_S }, error)
    : error;
}
