import { expect, it } from 'vitest';
import { createHostTimes, MAX_HOSTS } from './host-times.ts';

it('lists the hosts that took the most time first, with percentiles', () => {
  const hosts = createHostTimes(() => 1_000);
  for (let ms = 1; ms <= 20; ms++) hosts.add('slow.example', ms * 100, ms === 20);
  hosts.add('quick.example:8080', 5.4, false);
  expect(hosts.list()).toEqual([
    {
      ...{ host: 'slow.example', fetches: 20, failed: 1, totalMs: 21_000, p50Ms: 1_000, p95Ms: 1_900 },
      lastAt: '1970-01-01T00:00:01.000Z',
    },
    {
      ...{ host: 'quick.example:8080', fetches: 1, failed: 0, totalMs: 5, p50Ms: 5, p95Ms: 5 },
      lastAt: '1970-01-01T00:00:01.000Z',
    },
  ]);
  expect(hosts.list(1)).toHaveLength(1);
});

it('computes percentiles of the latest fetches only', () => {
  const hosts = createHostTimes(() => 0);
  for (let at = 0; at < 100; at++) hosts.add('one.example', at < 36 ? 5_000 : 10, false);
  expect(hosts.list()[0]).toMatchObject({ fetches: 100, p50Ms: 10, p95Ms: 10 });
});

it('keeps a bounded number of hosts, but not those of yesterday', () => {
  let now = 0;
  const hosts = createHostTimes(() => now);
  for (let at = 0; at < 10_000; at++) hosts.add(`host-${at}.example`, 1 + (at % 7), false);
  hosts.add('slow.example', 100, false);
  for (let at = 0; at < 10_000; at++) hosts.add(`other-${at}.example`, 1, false);
  const listed = hosts.list(10_000);
  expect(listed).toHaveLength(MAX_HOSTS);
  expect(listed[0]!.host).toBe('slow.example');
  now += 2 * 86_400_000;
  expect(hosts.list()).toEqual([]);
});
