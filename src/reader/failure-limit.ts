/**
 * Refuses URLs that fail repeatedly: after ten failures within an hour, a URL is refused until the hour is over, so
 * that a client in a retry loop does not use a browser page each time (docs/reference/wire/reader.md, Repeated
 * failures). Failures at all servers count.
 */
import { createHash } from 'node:crypto';
import { problem } from '#errors.ts';
import { withLocalCopy } from '#storage/shared/local-copy.ts';
import type { SharedStore } from '#storage/shared/values.ts';

const MAX_FAILURES = 10;
const WINDOW_MS = 60 * 60 * 1000;
const MAX_URLS = 10_000;

export interface FailureLimit {
  /** Throws OperationNotAllowedError while a URL is refused. */
  check(url: string): Promise<void>;
  /** Counts a failure. A failure shared by several reads counts once. */
  add(url: string, failure: object): Promise<void>;
}

interface Failures {
  readonly count: number;
  /** The first of them, in ms since 1970. */
  readonly since: number;
}

/** Hashed, since URLs may be long, and are not stored. */
const nameOf = (url: string) => createHash('sha256').update(url).digest('base64url');

export function createFailureLimit(store: SharedStore, clock: () => number = Date.now): FailureLimit {
  const counted = new WeakSet<object>();
  const failures = withLocalCopy(store, { clock }).space({ name: 'failures', maxValues: MAX_URLS });
  return {
    async check(url) {
      const [value] = await failures.get([nameOf(url)]);
      if (value === undefined) return;
      const { count, since } = JSON.parse(value) as Failures;
      const leftMs = since + WINDOW_MS - clock();
      if (count < MAX_FAILURES || leftMs <= 0) return;
      const seconds = Math.ceil(leftMs / 1000);
      throw problem('OperationNotAllowedError', {
        message: `This URL failed ${MAX_FAILURES} times within an hour; try again in ${seconds} s`,
        retryAfter: seconds,
      });
    },
    async add(url, failure) {
      if (counted.has(failure)) return;
      counted.add(failure);
      await failures.update(nameOf(url), (value, nowMs) => {
        const before = value === undefined ? undefined : (JSON.parse(value) as Failures);
        const now: Failures = before ? { ...before, count: before.count + 1 } : { count: 1, since: nowMs };
        return { value: JSON.stringify(now), keepMs: now.since + WINDOW_MS - nowMs, result: undefined };
      });
    },
  };
}
