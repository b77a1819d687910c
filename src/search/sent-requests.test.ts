import { expect, it } from 'vitest';
import { countRequests, readSent, type Sent, waitFor } from './sent-requests.ts';

const DAY_MS = 86_400_000;
const START_MS = 1_800_000_000_000;
const daily = [{ requests: 3_000, seconds: 86_400 }];

it('keeps a limit of thousands a day in little space, and never permits more', () => {
  let value: string | undefined;
  let nowMs = START_MS;
  let allowed = 0;
  for (let at = 0; at < 4_000; at++) {
    const sent = readSent(value, nowMs, DAY_MS);
    if (waitFor(sent, daily, 1, nowMs) === 0) {
      allowed += 1;
      value = JSON.stringify(countRequests(sent, 1, nowMs));
    }
    nowMs += 5_000;
  }
  expect(allowed).toBe(3_000);
  expect(value!.length).toBeLessThan(6_000);
  expect(waitFor(readSent(value, nowMs, DAY_MS), daily, 1, nowMs)).toBeGreaterThan(DAY_MS / 2);
  expect(waitFor(readSent(value, START_MS + 2 * DAY_MS, DAY_MS), daily, 1, START_MS + 2 * DAY_MS)).toBe(0);
});

it('waits until the request that blocks leaves the period, exactly for recent ones', () => {
  const sent: Sent[] = [
    [START_MS, 2],
    [START_MS + 400, 1],
  ];
  const limits = [{ requests: 3, seconds: 1 }];
  expect(waitFor(sent, limits, 1, START_MS + 500)).toBe(500);
  expect(waitFor(sent, limits, 3, START_MS + 500)).toBe(900);
  expect(waitFor(sent, limits, 2, START_MS + 1_000)).toBe(0);
  // A clock that was set back.
  expect(readSent(JSON.stringify(sent), START_MS - 1, 1_000)).toEqual([]);
});
