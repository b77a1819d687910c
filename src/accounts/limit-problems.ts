/** The problems that access control answers with. */
import { problem } from '#errors.ts';
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

/** A request that alone exceeds the limit of a minute. No retry can succeed, so the message says what to do instead. */
export const requestTooLarge = (tokens: number, limit: number) =>
  problem('RateLimitTriggeredError', {
    message: `Token rate limit exceeded: ${tokens}/${limit} tokens per minute. This request alone exceeds the limit: send it in parts`,
    limitedBy: 'tokens',
    retryAfter: seconds(WINDOW_MS),
  });

const RETRY_AFTER_S = 2;

/** ServiceAwayError if the store of accounts or limits is unreachable, else the error itself. */
export const asUnavailable = (error: unknown): unknown =>
  error instanceof CountersUnavailableError || error instanceof DatabaseUnavailableError
    ? problem('ServiceAwayError', { retryAfter: RETRY_AFTER_S }, error)
    : error;
