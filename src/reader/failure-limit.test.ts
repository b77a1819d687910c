import { expect, it } from 'vitest';
import { createFailureLimit } from './failure-limit.ts';

const HOUR_MS = 3_600_000;

it('refuses a URL after ten failures in an hour, until the hour is over', () => {
  let now = 0;
  const failures = createFailureLimit(() => now);
  for (let n = 0; n < 9; n++) failures.add('a', {});
  failures.check('a');
  now = HOUR_MS / 2;
  failures.add('a', {});
  expect(() => failures.check('a')).toThrow(/10 times/);
  failures.check('b');
  now = HOUR_MS;
  failures.check('a');
});

it('starts again when failures are further apart', () => {
  let now = 0;
  const failures = createFailureLimit(() => now);
  for (let n = 0; n < 9; n++) failures.add('a', {});
  now = HOUR_MS + 1;
  failures.add('a', {});
  failures.check('a');
});

it('counts a failure shared by several reads once', () => {
  const failures = createFailureLimit(() => 0);
  const shared = {};
  for (let n = 0; n < 20; n++) failures.add('a', shared);
  failures.check('a');
});
