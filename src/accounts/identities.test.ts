import { expect, it } from 'vitest';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import { createIdentities } from './identities.ts';
import type { Identity } from './records.ts';

const identityOf = (id: string, expiresAt: number | null = null): Identity => ({
  key: {
    id,
    accountId: 'a',
    name: id,
    shown: '…',
    createdAt: 0,
    expiresAt,
    revokedAt: null,
    lastUsedAt: null,
  },
  account: { id: 'a', name: 'a', plan: 'free', balance: null, createdAt: 0 },
});

/** A fake table that counts queries, returns results on demand, and can be made unreachable. */
function table(given: { graceMs?: number; maxCached?: number } = {}) {
  const rows = new Map<string, Identity>();
  const state = { asked: 0, away: false, wall: 0, clock: 0, waiting: [] as (() => void)[], waits: false };
  const identities = createIdentities({
    freshMs: 1_000,
    graceMs: 0,
    maxCached: 100,
    ...given,
    now: () => state.wall,
    clock: () => state.clock,
    async find(hash) {
      state.asked += 1;
      const row = rows.get(hash);
      if (state.waits) await new Promise<void>((resolve) => state.waiting.push(resolve));
      if (state.away) throw new DatabaseUnavailableError(new Error('gone'));
      return row;
    },
  });
  return { rows, state, identities };
}

it('shares one query among concurrent calls, and queries once a second', async () => {
  const { rows, state, identities } = table();
  rows.set('h', identityOf('k'));
  const found = await Promise.all(Array.from({ length: 50 }, () => identities.of('h')));
  expect(new Set(found)).toEqual(new Set([rows.get('h')]));
  expect(state.asked).toBe(1);
  state.clock = 999;
  await identities.of('h');
  expect(state.asked).toBe(1);
  state.clock = 1_000;
  await identities.of('h');
  expect(state.asked).toBe(2);
});

it('does not share a query that started long ago', async () => {
  const { rows, state, identities } = table();
  rows.set('h', identityOf('k'));
  state.waits = true;
  const slow = identities.of('h');
  rows.delete('h');
  state.clock = 1_000;
  const later = identities.of('h');
  for (const go of state.waiting) go();
  expect(await slow).toBeDefined();
  expect(await later).toBeUndefined();
  expect(state.asked).toBe(2);
});

it('does not cache an answer read before a change in this process', async () => {
  const { rows, state, identities } = table();
  rows.set('h', identityOf('k'));
  state.waits = true;
  const before = identities.of('h');
  rows.delete('h');
  identities.clear();
  state.waits = false;
  for (const go of state.waiting) go();
  await before;
  expect(await identities.of('h')).toBeUndefined();
});

it('limits the size of the cache, and does not cache unknown keys', async () => {
  const { rows, state, identities } = table({ maxCached: 3 });
  for (const name of ['a', 'b', 'c', 'd']) {
    rows.set(name, identityOf(name));
    await identities.of(name);
  }
  expect(state.asked).toBe(4);
  for (const name of ['b', 'c', 'd']) await identities.of(name);
  expect(state.asked).toBe(4);
  await identities.of('a');
  expect(state.asked).toBe(5);
  for (const _ of [1, 2]) expect(await identities.of('nobody')).toBeUndefined();
  expect(state.asked).toBe(7);
});

it('answers from the cache while the database is unreachable, within the grace time and until the key expires', async () => {
  const { rows, state, identities } = table({ graceMs: 60_000 });
  rows.set('h', identityOf('k'));
  rows.set('ending', identityOf('l', 5));
  for (const name of ['h', 'ending']) expect(await identities.of(name)).toBeDefined();
  state.away = true;
  state.clock = 59_999;
  state.wall = 5;
  expect(await identities.of('h')).toBeDefined();
  expect(await identities.of('ending')).toBeUndefined();
  await expect(identities.of('never seen')).rejects.toBeInstanceOf(DatabaseUnavailableError);
  // Calls do not wait once the database is known to be unreachable.
  state.waits = true;
  expect(await identities.of('h')).toBeDefined();
  state.waits = false;
  for (const go of state.waiting) go();
  state.clock = 60_000;
  await expect(identities.of('h')).rejects.toBeInstanceOf(DatabaseUnavailableError);
});

it('does not answer from the cache by default', async () => {
  const { rows, state, identities } = table();
  rows.set('h', identityOf('k'));
  await identities.of('h');
  state.away = true;
  state.clock = 1_000;
  await expect(identities.of('h')).rejects.toBeInstanceOf(DatabaseUnavailableError);
  state.away = false;
  expect(await identities.of('h')).toBeDefined();
});
