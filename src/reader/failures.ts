/**
 * Addresses that keep failing: after ten failures within an hour an address is refused until the hour is over, so that
 * a client in a loop does not cost a browser page each time (contract, section 14).
 */
import { createHash } from 'node:crypto';
import { problem } from '#errors.ts';

const LIMIT = 10;
const WINDOW_MS = 60 * 60 * 1000;
const MAX_ADDRESSES = 10_000;

export interface Failures {
  /** Throws OperationNotAllowedError while an address is shut. */
  check(url: string): void;
  /** One failure that several share counts once. */
  add(url: string, failure: object): void;
}

/** Addresses may be long; what is kept of them is not. */
const keyOf = (url: string) => createHash('sha256').update(url).digest('base64');

export function createFailures(clock: () => number = Date.now): Failures {
  const counted = new WeakSet<object>();
  const byKey = new Map<string, { count: number; since: number }>();
  return {
    check(url) {
      const key = keyOf(url);
      const known = byKey.get(key);
      if (!known || known.count < LIMIT) return;
      const leftMs = known.since + WINDOW_MS - clock();
      if (leftMs <= 0) byKey.delete(key);
      else {
        const seconds = Math.ceil(leftMs / 1000);
        throw problem('OperationNotAllowedError', {
          message: `This address failed ${LIMIT} times within an hour, try again in ${seconds} s`,
          retryAfter: seconds,
        });
      }
    },
    add(url, failure) {
      if (counted.has(failure)) return;
      counted.add(failure);
      const key = keyOf(url);
      const known = byKey.get(key);
      const fresh = known && clock() - known.since < WINDOW_MS;
      byKey.delete(key);
      byKey.set(key, fresh ? { count: known.count + 1, since: known.since } : { count: 1, since: clock() });
      if (byKey.size > MAX_ADDRESSES) byKey.delete(byKey.keys().next().value!);
    },
  };
}
