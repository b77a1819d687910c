import { expect, it } from 'vitest';
import { ownerOf, visibleOwners } from './owners.ts';

const OPEN = ['https://a.test/page', 'https://a.test/final'];
const ASKED_BY_SECRET = ['https://a.test/share?token=x', 'https://a.test/page'];
const LED_TO_SECRET = ['https://a.test/latest', 'https://b.test/file?X-Amz-Signature=x'];

it.each([
  ['public', 'me', OPEN, 'public'],
  ['public', undefined, OPEN, 'public'],
  ['public', 'me', ASKED_BY_SECRET, 'account:me'],
  ['public', 'me', LED_TO_SECRET, 'account:me'],
  ['public', undefined, ASKED_BY_SECRET, undefined],
  ['public', undefined, LED_TO_SECRET, undefined],
  ['none', 'me', OPEN, 'account:me'],
  ['none', undefined, OPEN, undefined],
  ['all', 'me', OPEN, 'public'],
  ['all', undefined, ASKED_BY_SECRET, 'all'],
  ['all', 'me', LED_TO_SECRET, 'all'],
] as const)('with %s a page that %s reads at %j is of %s', (shared, account, urls, owner) =>
  expect(ownerOf(shared, { account, urls })).toBe(owner),
);

it.each([
  ['public', 'me', ['public', 'operator', 'account:me']],
  ['public', undefined, ['public', 'operator']],
  ['none', 'me', ['operator', 'account:me']],
  ['none', undefined, ['operator']],
  ['all', 'me', ['public', 'operator', 'all', 'account:me']],
] as const)('with %s %s finds pages of %j', (shared, account, owners) =>
  expect(visibleOwners(shared, account)).toEqual(owners),
);
