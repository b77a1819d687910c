import { expect, it } from 'vitest';
import { forbidsCopies } from './no-store.ts';

it.each([
  'no-store',
  'No-Store',
  'max-age=0, private, must-revalidate',
  'public,no-store',
  'private="set-cookie"',
  ' private ',
])('%j forbids storing', (value) => expect(forbidsCopies(value)).toBe(true));

it.each([
  undefined,
  '',
  'no-cache',
  'max-age=0',
  'public, max-age=60',
  'no-store-ever',
  'x-private',
  'community="UCI"',
])('%j does not', (value) => expect(forbidsCopies(value)).toBe(false));
