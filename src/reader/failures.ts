/**
 * Addresses that keep failing: after ten failures within an hour an address is refused until the hour is over, so that
 * a client in a loop does not cost a browser page each time (contract, section 14).
 */
import { problem } from '#errors.ts';

const LIMIT = 10;
const WINDOW_MS = 60 * 60 * 1000;
const MAX_ADDRESSES = 10_000;

export interface Failures {
  /** Throws OperationNotAllowedError while an address is shut. */
  check(url: string): void;
  add(url: string): void;
}

export function createFailures(clock: () => number = Date.now): Failures {
  const byUrl = new Map<string, { count: number; since: number }>();
  return {
    check(url) {
      const known = byUrl.get(url);
      if (!known || known.count < LIMIT) return;
      const leftMs = known.since + WINDOW_MS - clock();
      if (leftMs <= 0) byUrl.delete(url);
      else {
        const seconds = Math.ceil(leftMs / 1000);
        throw problem('OperationNotAllowedError', {
          message: `This address failed ${LIMIT} times within an hour, try again in ${seconds} s`,
          retryAfter: seconds,
        });
      }
    },
    add(url) {
      const known = byUrl.get(url);
      const fresh = known && clock() - known.since < WINDOW_MS;
      byUrl.delete(url);
      byUrl.set(url, fresh ? { count: known.count + 1, since: known.since } : { count: 1, since: clock() });
      if (byUrl.size > MAX_ADDRESSES) byUrl.delete(byUrl.keys().next().value!);
    },
  };
}
