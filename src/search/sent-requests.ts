/** The requests that were sent to an operator, as counted by its limits. */
import type { RateLimit } from './provider.ts';

/** Number of requests at a time, in ms since 1970. */
export type Sent = readonly [at: number, count: number];

/**
 * Requests older than this are merged with the others of their minute, under the latest time, so that a limit of
 * thousands a day needs little space. A merged request counts up to a minute too long.
 */
const EXACT_MS = 120_000;
const MINUTE_MS = 60_000;

/** The requests that still count, oldest first. */
export function readSent(value: string | undefined, nowMs: number, longestMs: number): Sent[] {
  const sent = value === undefined ? [] : (JSON.parse(value) as Sent[]);
  // A clock that was set back must not block an operator for longer than its limits.
  const counting = sent.filter(([at]) => at > nowMs - longestMs && at <= nowMs);
  const merged: Sent[] = [];
  for (const [at, count] of counting) {
    const last = merged.at(-1);
    const isMerged = last && at <= nowMs - EXACT_MS && minuteOf(last[0]) === minuteOf(at);
    if (isMerged) merged[merged.length - 1] = [at, last[1] + count];
    else merged.push([at, count]);
  }
  return merged;
}

const minuteOf = (ms: number) => Math.floor(ms / MINUTE_MS);

/** Time until `count` more requests are within all limits, in ms. */
export function waitFor(sent: readonly Sent[], limits: readonly RateLimit[], count: number, nowMs: number): number {
  let waitMs = 0;
  for (const { requests, seconds } of limits) {
    const fromMs = nowMs - seconds * 1_000;
    let left = Math.max(0, requests - count);
    for (const [at, number] of sent.toReversed()) {
      if (at <= fromMs) break;
      left -= number;
      if (left >= 0) continue;
      // The request that must leave the period before these can be sent.
      waitMs = Math.max(waitMs, at - fromMs);
      break;
    }
  }
  return waitMs;
}

export const countRequests = (sent: readonly Sent[], count: number, nowMs: number): Sent[] => [...sent, [nowMs, count]];
