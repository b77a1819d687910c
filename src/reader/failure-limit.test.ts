import { expect, it } from 'vitest';
import { createMemoryValues } from '#storage/shared/memory.ts';
import { createFailureLimit } from './failure-limit.ts';

const HOUR_MS = 3_600_000;
const limitAt = (clock: () => number) => createFailureLimit(createMemoryValues({ clock }), clock);

it('refuses a URL after ten failures in an hour, until the hour is over', async () => {
  let now = 0;
  const failures = limitAt(() => now);
  for (let n = 0; n < 9; n++) await failures.add('a', {});
  await failures.check('a');
  now = HOUR_MS / 2;
  await failures.add('a', {});
  await expect(failures.check('a')).rejects.toThrow(/10 times/);
  await failures.check('b');
  now = HOUR_MS;
  await failures.check('a');
});

it('starts again when failures are further apart', async () => {
  let now = 0;
  const failures = limitAt(() => now);
  for (let n = 0; n < 9; n++) await failures.add('a', {});
  now = HOUR_MS + 1;
  await failures.add('a', {});
  await failures.check('a');
});

it('counts a failure shared by several reads once', async () => {
  const failures = limitAt(() => 0);
  const shared = {};
  for (let n = 0; n < 20; n++) await failures.add('a', shared);
  await failures.check('a');
});
