/**
 * Refuses URLs that fail repeatedly: after ten failures within an hour, a URL is refused until the hour is over, so
 * that a client in a retry loop does not use a browser page each time (docs/reference/wire/reader.md, Repeated
 * failures).
 */
import { createHash } from 'node:crypto';
import { problem } from '#errors.ts';

const MAX_FAILURES = 10;
const WINDOW_MS = 60 * 60 * 1000;
const MAX_URLS = 10_000;

export interface FailureLimit {
  /** Throws OperationNotAllowedError while a URL is refused. */
  check(url: string): void;
  /** Counts a failure. A failure shared by several reads counts once. */
  add(url: string, failure: object): void;
}

/** Hashed, since URLs may be long. */
const keyOf = (url: string) => createHash('sha256').update(url).digest('base64');

export function createFailureLimit(clock: () => number = Date.now): FailureLimit {
  const counted = new WeakSet<object>();
  const byKey = new Map<string, { count: number; since: number }>();
  return {
    check(url) {
      const key = keyOf(url);
      const entry = byKey.get(key);
      if (!entry || entry.count < MAX_FAILURES) return;
      const leftMs = entry.since + WINDOW_MS - clock();
      if (leftMs <= 0) byKey.delete(key);
      else {
        const seconds = Math.ceil(leftMs / 1000);
        throw problem('OperationNotAllowedError', {
          message: `This URL failed ${MAX_FAILURES} times within an hour; try again in ${seconds} s`,
          retryAfter: seconds,
        });
      }
    },
    add(url, failure) {
      if (counted.has(failure)) return;
      counted.add(failure);
      const key = keyOf(url);
      const entry = byKey.get(key);
      const fresh = entry && clock() - entry.since < WINDOW_MS;
      byKey.delete(key);
      byKey.set(key, fresh ? { count: entry.count + 1, since: entry.since } : { count: 1, since: clock() });
      if (byKey.size > MAX_URLS) byKey.delete(byKey.keys().next().value!);
    },
  };
}
