import { expect, it } from 'vitest';
import { limiterKeyOf } from './limiter-key.ts';

it.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['::1', '::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['203.0.113.9:4711', '203.0.113.9'],
  ['[2001:db8:1:2::3]:4711', '2001:db8:1:2::/64'],
  ['[fe80::1%eth0]', 'fe80::/64'],
  ['203.0.113.9:x', 'unknown'],
  ['', 'unknown'],
  ['proxy.internal', 'unknown'],
])('%s is counted as %s', (address, counted) => expect(limiterKeyOf(address)).toBe(counted));
