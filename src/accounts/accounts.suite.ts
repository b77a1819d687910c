/** Tests of the accounts module on each database: with real databases, outages and several concurrent processes. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '#storage/database/store.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import { type AccountsProcess, startAccountsProcess } from '../../test/support/accounts-process.ts';
import { createAccounts } from './accounts.ts';
import { newId } from './ids.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import { type AccountsModule, openAccounts } from './open.ts';
import type { Charge } from './records.ts';
import type { Tables } from './schema.ts';
import { openUsage } from './usage.ts';

/** A database for one test. */
export interface TestDatabase {
  /** SQLite in the data folder if unset. */
  readonly databaseUrl?: string | undefined;
  /** Makes the database unreachable, and returns a function that makes it reachable again. */
  away(dataDir: string): Promise<() => Promise<void>>;
}

const LONG_MS = 120_000;
const T0 = Date.UTC(2026, 0, 31, 12);
const DAY_MS = 86_400_000;

export interface TestDatabases {
  fresh(): Promise<TestDatabase>;
  /** Whether the database can become unreadable. A database file can only be locked for writers. */
  readonly canBeUnreadable: boolean;
}

export function accountsSuite(title: string, { fresh, canBeUnreadable }: TestDatabases): void {
  describe(title, { timeout: LONG_MS }, () => {
    let dataDir: string;
    let database: TestDatabase;
    let module: AccountsModule;
    const closing: (() => Promise<unknown>)[] = [];
    const options = () => ({ dataDir, databaseUrl: database.databaseUrl });

    beforeEach(async () => {
      dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-accounts-'));
      database = await fresh();
      module = await openAccounts(options());
    }, LONG_MS);
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close();
      await module.close();
      await rm(dataDir, { recursive: true, force: true });
    }, LONG_MS);

    /** Opens the same tables through a second connection. */
    async function openTables(): Promise<Store<Tables>> {
      const file = path.join(dataDir, 'accounts', 'accounts.db');
      const store = await openStore<Tables>(
        { url: database.databaseUrl, file },
        { module: 'accounts', migrations: MIGRATIONS },
      );
      closing.push(() => store.close());
      return store;
    }

    const idle: AccountsProcess[] = [];
    afterAll(() => {
      for (const { child } of idle) child.kill('SIGKILL');
    });

    /** Opens the accounts in another process, which later tests reuse. */
    async function startProcess(): Promise<AccountsProcess> {
      const started = idle.pop() ?? (await startAccountsProcess());
      closing.push(async () => {
        await started.call('close');
        idle.push(started);
      });
      await started.call('open', options());
      return started;
    }

    const paying = (balance: number | null = null) =>
      module.accounts.createAccount({ name: 'paying', plan: 'paid', balance });
    const charge = (given: Partial<Charge> & Pick<Charge, 'accountId'>): Charge => ({
      id: newId(),
      at: T0,
      keyId: 'k',
      face: 'reader',
      endpoint: 'reader',
      model: '',
      tokens: 10,
      status: 200,
      durationMs: 3,
      ...given,
    });
    const total = async () => (await module.usage.sums({ by: [] }))[0]!;
    const balanceOf = async (id: string) => (await module.accounts.account(id))!.balance;

    describe('accounts', () => {
      it('are created, changed and listed in order of creation', async () => {
        const made = [];
        for (const name of ['a', 'b', 'c']) made.push(await module.accounts.createAccount({ name, plan: 'free' }));
        expect(await module.accounts.accounts()).toEqual(made);
        expect(await module.accounts.accounts({ limit: 1, after: made[0]!.id })).toEqual([made[1]]);
        const changed = await module.accounts.changeAccount(made[1]!.id, { plan: 'premium', name: 'B', balance: 7 });
        expect(changed).toEqual({ ...made[1], plan: 'premium', name: 'B', balance: 7 });
        expect(await module.accounts.account(made[1]!.id)).toEqual(changed);
        expect(await module.accounts.changeAccount(made[1]!.id, {})).toEqual(changed);
        expect(await module.accounts.changeAccount(made[1]!.id, { balance: null })).toMatchObject({ balance: null });
      });

      it('are undefined for unknown ids, which creates none', async () => {
        expect(await module.accounts.account('nobody')).toBeUndefined();
        expect(await module.accounts.changeAccount('nobody', { name: 'x' })).toBeUndefined();
        expect(await module.accounts.changeAccount('nobody', { addBalance: 1 })).toBeUndefined();
        expect(await module.accounts.accounts()).toEqual([]);
      });

      it('have balances that take concurrent additions without loss, and stop at zero', async () => {
        const { id } = await paying(100);
        await Promise.all(Array.from({ length: 40 }, () => module.accounts.changeAccount(id, { addBalance: 5 })));
        expect(await balanceOf(id)).toBe(300);
        expect(await module.accounts.changeAccount(id, { addBalance: -1000 })).toMatchObject({ balance: 0 });
        const most = Number.MAX_SAFE_INTEGER;
        await module.accounts.changeAccount(id, { balance: most });
        expect(await module.accounts.changeAccount(id, { addBalance: most })).toMatchObject({ balance: most });
      });

      it('without a balance reject addBalance', async () => {
        const { id } = await paying(null);
        const refusal = { name: 'ParamValidationError', facts: { path: 'addBalance' } };
        await expect(module.accounts.changeAccount(id, { addBalance: 5 })).rejects.toMatchObject(refusal);
        await expect(module.accounts.changeAccount(id, { balance: 1, addBalance: 5 })).rejects.toMatchObject(refusal);
        expect(await balanceOf(id)).toBeNull();
      });

      it('have a default account, created once', async () => {
        const made = await Promise.all(Array.from({ length: 5 }, () => module.accounts.defaultAccount()));
        expect(made[0]).toMatchObject({ id: 'default', plan: 'premium', balance: null });
        expect(await module.accounts.accounts()).toEqual([made[0]]);
        expect(new Set(made.map(({ createdAt }) => createdAt)).size).toBe(1);
      });
    });

    describe('keys', () => {
      it('identify their account; unknown keys do not', async () => {
        expect(await module.accounts.hasNoKeys()).toBe(true);
        const account = await paying(5);
        const { key, record } = await module.accounts.mintKey({ accountId: account.id, name: 'mine' });
        expect(key).toMatch(/^lectern_[\w-]{43}$/);
        expect(record.shown).toBe(`${key.slice(0, 12)}…`);
        expect(await module.accounts.hasNoKeys()).toBe(false);
        expect(await module.accounts.identify(key)).toEqual({ key: record, account });
        const last = key.at(-1) === 'A' ? 'B' : 'A';
        for (const wrong of [
          '',
          'lectern_',
          `${key}x`,
          key.slice(0, -1) + last,
          key.toUpperCase(),
          `${key} `,
          'é'.repeat(60),
        ]) {
          expect(await module.accounts.identify(wrong), wrong).toBeUndefined();
        }
      });

      it('can have a text chosen by the operator', async () => {
        const { id: accountId } = await paying();
        const key = `hosted_${'x'.repeat(30)}`;
        const mine = await module.accounts.mintKey({ accountId, name: 'mine', key });
        expect(mine).toMatchObject({ key, record: { shown: 'host…' } });
        expect((await module.accounts.identify(key))?.key.id).toBe(mine.record.id);
        for (const wrong of [key, 'short', `${key} ${key}`, `${key}\n`, 'é'.repeat(40), 'x'.repeat(513)]) {
          await expect(module.accounts.mintKey({ accountId, name: 'x', key: wrong }), wrong).rejects.toMatchObject({
            name: 'ParamValidationError',
            facts: { path: 'key' },
          });
        }
        await expect(module.accounts.mintKey({ accountId: 'nobody', name: 'x' })).rejects.toMatchObject({
          name: 'ResourceNotFoundError',
        });
        expect(await module.accounts.keys()).toHaveLength(1);
      });

      it('are stored only as hashes', async () => {
        const { id: accountId } = await paying();
        const { key } = await module.accounts.mintKey({ accountId, name: 'mine' });
        const own = await module.accounts.mintKey({ accountId, name: 'own', key: `own-${'k'.repeat(40)}` });
        const { db } = await openTables();
        const kept = JSON.stringify(await db.selectFrom('api_keys').selectAll().execute());
        expect(kept).toContain('"hash"');
        for (const text of [key, own.key]) expect(kept).not.toContain(text.slice(12));
        const folder = path.join(dataDir, 'accounts');
        for (const file of await readdir(folder)) {
          expect(await readFile(path.join(folder, file), 'latin1')).not.toContain(key.slice(12));
          expect((await stat(path.join(folder, file))).mode & 0o077).toBe(0);
        }
      });

      it('are renamed, and listed by account and page by page', async () => {
        const [one, two] = [await paying(), await paying()];
        const made = [];
        for (const { id: accountId } of [one, two, one, one]) {
          made.push((await module.accounts.mintKey({ accountId, name: 'k' })).record);
        }
        expect(await module.accounts.keys()).toEqual(made);
        expect(await module.accounts.keys({ accountId: one.id, limit: 1, after: made[0]!.id })).toEqual([made[2]]);
        const renamed = { ...made[3]!, name: 'renamed' };
        expect(await module.accounts.changeKey(renamed.id, { name: 'renamed' })).toEqual(renamed);
        expect(await module.accounts.key(renamed.id)).toEqual(renamed);
        expect(await module.accounts.changeKey(renamed.id, {})).toEqual(renamed);
        expect(await module.accounts.changeKey('none', { name: 'x' })).toBeUndefined();
        expect(await module.accounts.key('none')).toBeUndefined();
        expect(await module.accounts.revokeKey('none')).toBeUndefined();
      });

      it('expire to the millisecond, also while they are cached', async () => {
        let now = T0;
        const clock = () => 0;
        const secret = async () => new Uint8Array(32);
        const accounts = createAccounts({ store: await openTables(), secret, now: () => now, clock });
        const { id: accountId } = await paying();
        const { key, record } = await accounts.mintKey({ accountId, name: 'k', expiresAt: T0 + 10 });
        expect(await accounts.identify(key)).toBeDefined();
        now = T0 + 9;
        expect(await accounts.identify(key)).toBeDefined();
        now = T0 + 10;
        expect(await accounts.identify(key)).toBeUndefined();
        await accounts.changeKey(record.id, { expiresAt: null });
        expect(await accounts.identify(key)).toMatchObject({ key: { expiresAt: null } });
      });

      it('are refused at once by the process that revokes them, and by all others within a second', async () => {
        let clock = 0;
        const secret = async () => new Uint8Array(32);
        const here = createAccounts({ store: await openTables(), secret, clock: () => clock });
        const there = createAccounts({ store: await openTables(), secret, clock: () => clock });
        const { id: accountId } = await paying();
        const { key, record } = await here.mintKey({ accountId, name: 'k' });
        expect(await there.identify(key)).toBeDefined();
        expect(await here.identify(key)).toBeDefined();
        const revoked = await here.revokeKey(record.id);
        expect(revoked?.revokedAt).toBeTypeOf('number');
        expect(await here.identify(key)).toBeUndefined();
        clock = 1_000;
        expect(await there.identify(key)).toBeUndefined();
        expect(await there.revokeKey(record.id)).toEqual(revoked);
        await expect(here.mintKey({ accountId, name: 'again', key })).rejects.toThrow(/cannot be created again/);
      });
    });

    describe('usage', () => {
      it('is summed by the given groups', async () => {
        const { id: a } = await paying();
        const { id: b } = await paying();
        const charges = [
          charge({ accountId: a }),
          charge({ accountId: a, at: T0 + DAY_MS, model: 'm', endpoint: 'embeddings', face: 'model', tokens: 5 }),
          charge({ accountId: b, keyId: 'l', status: 404, tokens: 0, durationMs: 100 }),
          charge({ accountId: b, keyId: 'l', status: 399 }),
        ];
        for (const one of charges) module.usage.charge(one);
        await module.usage.flush();
        expect(await module.usage.sums({ by: [] })).toEqual([{ requests: 4, failed: 1, tokens: 25, durationMs: 109 }]);
        expect(await module.usage.sums({ by: ['day', 'model'] })).toEqual([
          { day: '2026-01-31', model: '', requests: 3, failed: 1, tokens: 20, durationMs: 106 },
          { day: '2026-02-01', model: 'm', requests: 1, failed: 0, tokens: 5, durationMs: 3 },
        ]);
        const ofB = { requests: 2, failed: 1, tokens: 10, durationMs: 103 };
        expect(await module.usage.sums({ by: ['key', 'account'], keyId: 'l' })).toEqual([
          { key: 'l', account: b, ...ofB },
        ]);
        expect(await module.usage.sums({ by: [], accountId: b })).toEqual([ofB]);
        expect(await module.usage.sums({ by: ['face'], from: '2026-02-01', to: '2026-02-01' })).toEqual([
          { face: 'model', requests: 1, failed: 0, tokens: 5, durationMs: 3 },
        ]);
        expect(await module.usage.sums({ by: ['endpoint'], to: '2026-01-30' })).toEqual([]);
        expect(await module.usage.sums({ by: [], to: '2026-01-30' })).toEqual([
          { requests: 0, failed: 0, tokens: 0, durationMs: 0 },
        ]);
      });

      it('is soon written without a flush', async () => {
        const { id: accountId } = await paying(100);
        module.usage.charge(charge({ accountId, tokens: 30 }));
        await expect.poll(() => balanceOf(accountId), { timeout: 30_000 }).toBe(70);
      });

      it('updates the last use of a key, to the minute', async () => {
        const { id: accountId } = await paying();
        const { record } = await module.accounts.mintKey({ accountId, name: 'k' });
        const minute = T0 + 60_000;
        for (const at of [minute + 59_999, T0, minute + 1])
          module.usage.charge(charge({ accountId, keyId: record.id, at }));
        await module.usage.flush();
        expect(await module.accounts.key(record.id)).toMatchObject({ lastUsedAt: minute });
        module.usage.charge(charge({ accountId, keyId: record.id, at: T0 }));
        await module.usage.flush();
        expect(await module.accounts.key(record.id)).toMatchObject({ lastUsedAt: minute });
      });

      it('counts each charge once, even if several processes write it repeatedly in different groups', async () => {
        const other = await openAccounts(options());
        closing.push(() => other.close());
        await fc.assert(
          fc.asyncProperty(
            fc.array(fc.record({ tokens: fc.nat(50), status: fc.constantFrom(200, 402, 500) }), { maxLength: 12 }),
            fc.array(fc.tuple(fc.nat(11), fc.boolean(), fc.boolean()), { maxLength: 40 }),
            async (given, writes) => {
              const { id: accountId } = await paying(300);
              const charges = given.map((part) => charge({ accountId, ...part }));
              const seen = new Set<Charge>();
              for (const [at, here, flush] of writes) {
                const one = charges[at];
                if (!one) continue;
                seen.add(one);
                const { usage } = here ? module : other;
                usage.charge({ ...one });
                if (flush) await usage.flush();
              }
              await Promise.all([module.usage.flush(), other.usage.flush()]);
              const spent = [...seen].reduce((sum, { tokens }) => sum + tokens, 0);
              expect(await module.usage.sums({ by: [], accountId })).toEqual([
                {
                  requests: seen.size,
                  failed: [...seen].filter(({ status }) => status >= 400).length,
                  tokens: spent,
                  durationMs: 3 * seen.size,
                },
              ]);
              expect(await balanceOf(accountId)).toBe(Math.max(0, 300 - spent));
            },
          ),
          { seed: 5, numRuns: 20 },
        );
      });

      it('writes more than one group of charges, from several processes, without losing or doubling any', async () => {
        const { id: one } = await paying(1_000_000);
        const { id: two } = await paying(1_000_000);
        const charges = Array.from({ length: 1_000 }, (_, n) =>
          charge({ accountId: n % 2 ? one : two, tokens: n % 7, keyId: `k${n % 5}` }),
        );
        const spent = charges.reduce((sum, { tokens }) => sum + tokens, 0);
        const processes = await Promise.all([startProcess(), startProcess()]);
        await Promise.all(
          processes.map(({ call }, at) => call('charge', at ? charges.slice(300) : charges.toReversed().slice(300))),
        );
        expect(await total()).toMatchObject({ requests: 1_000, tokens: spent });
        expect((await balanceOf(one))! + (await balanceOf(two))!).toBe(2_000_000 - spent);
      });

      it('makes values storable that a database would reject', async () => {
        const { id: accountId } = await paying(100);
        module.usage.charge(charge({ accountId, model: `\0${'m'.repeat(5_000)}`, tokens: Number.NaN, durationMs: -3 }));
        module.usage.charge(charge({ accountId, model: '\ud800', tokens: 1.5 }));
        module.usage.charge(charge({ accountId, at: Number.NaN, status: 'ECONNRESET' as never, tokens: -5 }));
        module.usage.charge(charge({ accountId, at: Number.POSITIVE_INFINITY, status: 1e12, tokens: 0 }));
        await module.usage.flush();
        expect(await total()).toMatchObject({ requests: 4, tokens: 2 });
      });

      it('deletes single requests after the retention time, and never the sums', async () => {
        const store = await openTables();
        const usage = await openUsage({ store, folder: dataDir, keepDays: 1, now: () => T0 + DAY_MS });
        closing.push(() => usage.close());
        const { id: accountId } = await paying(100);
        for (const at of [T0 - 1, T0, T0 + 5]) usage.charge(charge({ accountId, at }));
        await usage.flush();
        await usage.prune();
        const details = await store.db.selectFrom('usage_details').select('at').orderBy('at').execute();
        expect(details.map(({ at }) => at)).toEqual([T0, T0 + 5]);
        expect(await total()).toMatchObject({ requests: 3 });
      });
    });

    describe('holds', () => {
      it('reserve the remaining balance, but not less than the requested minimum', async () => {
        const { id } = await paying(100);
        const first = await module.usage.hold(id, { wanted: 60, least: 60 });
        expect(first).toMatchObject({ accountId: id, tokens: 60 });
        expect(await module.usage.hold(id, { wanted: 60, least: 41 })).toBeUndefined();
        expect(await module.usage.hold(id, { wanted: 60, least: 40 })).toMatchObject({ tokens: 40 });
        expect(await module.usage.hold(id, { wanted: 1, least: 1 })).toBeUndefined();
        expect(await balanceOf(id)).toBe(100);
        module.usage.charge(charge({ accountId: id, tokens: 25, hold: first }));
        await module.usage.flush();
        expect(await balanceOf(id)).toBe(75);
        expect(await module.usage.hold(id, { wanted: 90, least: 1 })).toMatchObject({ tokens: 35 });
      });

      it('need no balance on an account without one, but do need an account', async () => {
        const { id } = await paying(null);
        expect(await module.usage.hold(id, { wanted: 60, least: 60 })).toMatchObject({ tokens: 60 });
        expect(await module.usage.hold('nobody', { wanted: 1, least: 1 })).toBeUndefined();
      });

      it('are granted in order to concurrent requests, separately for each account', async () => {
        const [{ id: poor }, { id: rich }, { id: free }] = [await paying(30), await paying(10_000), await paying()];
        const ask = (id: string, wanted: number, least = wanted) => module.usage.hold(id, { wanted, least });
        const asked = Array.from({ length: 400 }, () => [
          ask(poor, 4, 1),
          ask(rich, 5),
          ask(free, 6),
          ask('nobody', 1),
        ]);
        const holds = await Promise.all(asked.flat());
        const tokens = (id: string) => holds.filter((hold) => hold?.accountId === id).map((hold) => hold!.tokens);
        expect(tokens(poor)).toEqual([4, 4, 4, 4, 4, 4, 4, 2]);
        expect(tokens(rich)).toEqual(Array(400).fill(5));
        expect(tokens(free)).toEqual(Array(400).fill(6));
        expect(new Set(holds.filter(Boolean).map((hold) => hold!.id)).size).toBe(808);
        expect(holds.filter((_, at) => at % 4 === 3)).toEqual(Array(400).fill(undefined));
        const store = await openTables();
        expect(await store.db.selectFrom('holds').selectAll().execute()).toHaveLength(408);
      });

      it('expire by themselves when their process died', async () => {
        let now = T0;
        const store = await openTables();
        const usage = await openUsage({ store, folder: dataDir, now: () => now });
        closing.push(() => usage.close());
        const { id } = await paying(10);
        expect(await usage.hold(id, { wanted: 10, least: 10 })).toBeDefined();
        now = T0 + 599_999;
        expect(await usage.hold(id, { wanted: 10, least: 1 })).toBeUndefined();
        now = T0 + 600_000;
        expect(await usage.hold(id, { wanted: 10, least: 10 })).toBeDefined();
        now = T0 + 2_000_000;
        await usage.prune();
        expect(await store.db.selectFrom('holds').selectAll().execute()).toEqual([]);
      });

      it('never reserve more than the balance, from however many processes', async () => {
        const { id } = await paying(1_000);
        const processes = await Promise.all([startProcess(), startProcess(), startProcess()]);
        const got = await Promise.all(processes.map(({ call }) => call('holds', id, 60, 9, 4)));
        const granted = got.flat();
        expect(granted).toHaveLength(180);
        expect(granted.reduce((sum, tokens) => sum + tokens, 0)).toBeGreaterThan(996);
        expect(granted.reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(1_000);
        expect(granted.filter((tokens) => tokens === 9)).toHaveLength(111);
      });
    });

    describe('processes', () => {
      it('that start at once on an empty data folder agree on the secret', async () => {
        const processes = await Promise.all([startProcess(), startProcess(), startProcess()]);
        const { id } = await paying();
        const keys = await Promise.all(processes.map(({ call }) => call('mint', id)));
        for (const { call } of processes) {
          expect((await Promise.all(keys.map((key) => call('identify', key)))).every(Boolean)).toBe(true);
        }
      });
    });

    describe('while the database is unreachable', () => {
      const whenUnreadable = canBeUnreadable ? it : () => {};
      whenUnreadable('keys verified before work as long as is allowed, and no others', async () => {
        const graced = await openAccounts({ ...options(), keyGraceMs: 600_000 });
        closing.push(() => graced.close());
        const { id: accountId } = await paying();
        const { key, record } = await module.accounts.mintKey({ accountId, name: 'k' });
        const unseen = await module.accounts.mintKey({ accountId, name: 'unseen' });
        expect(await graced.accounts.identify(key)).toBeDefined();
        expect(await module.accounts.identify(key)).toBeDefined();
        const back = await database.away(dataDir);
        // Once this rejects, the cached identity is more than a second old.
        await expect
          .poll(() => module.accounts.identify(key).catch((error) => error), { timeout: LONG_MS })
          .toBeInstanceOf(DatabaseUnavailableError);
        expect(await graced.accounts.identify(key)).toMatchObject({ key: { id: record.id } });
        await expect(graced.accounts.identify(unseen.key)).rejects.toBeInstanceOf(DatabaseUnavailableError);
        expect(module.healthy).toBe(false);
        await back();
        await expect
          .poll(() => module.accounts.identify(key).catch(() => undefined), { timeout: LONG_MS })
          .toBeDefined();
        expect(module.healthy).toBe(true);
        await module.accounts.revokeKey(record.id);
        await expect.poll(() => graced.accounts.identify(key), { timeout: LONG_MS }).toBeUndefined();
      });

      it('charges wait, and are written once it is back', async () => {
        const { id: accountId } = await paying(1_000);
        const before = charge({ accountId });
        module.usage.charge(before);
        await module.usage.flush();
        const back = await database.away(dataDir);
        for (let n = 0; n < 300; n++) module.usage.charge(charge({ accountId, tokens: 1 }));
        module.usage.charge(before);
        await expect(module.usage.flush()).rejects.toBeInstanceOf(DatabaseUnavailableError);
        await expect(module.usage.hold(accountId, { wanted: 1, least: 1 })).rejects.toBeInstanceOf(
          DatabaseUnavailableError,
        );
        await back();
        await expect.poll(() => balanceOf(accountId).catch(() => undefined), { timeout: LONG_MS }).toBe(690);
        expect(await total()).toMatchObject({ requests: 301, tokens: 310 });
      });

      it('charges beyond the limit in memory are saved to files', async () => {
        const { id: accountId } = await paying(10_000);
        const store = await openTables();
        const folder = path.join(dataDir, 'aside');
        const usage = await openUsage({ store, folder, maxWaiting: 300 });
        closing.push(() => usage.close());
        const back = await database.away(dataDir);
        for (let round = 0; round < 2; round++) {
          for (let n = 0; n < 400; n++) usage.charge(charge({ accountId, tokens: 1 }));
          await expect(usage.flush()).rejects.toBeInstanceOf(DatabaseUnavailableError);
        }
        await expect(usage.flush()).rejects.toBeInstanceOf(DatabaseUnavailableError);
        const saved = async () => (await readdir(folder)).filter((file) => file.startsWith('pending-usage'));
        expect(await saved()).toHaveLength(2);
        usage.charge(charge({ accountId, tokens: 1 }));
        await back();
        await expect.poll(() => balanceOf(accountId).catch(() => undefined), { timeout: LONG_MS }).toBe(10_000 - 801);
        await usage.flush();
        expect(await saved()).toEqual([]);
        expect(await total()).toMatchObject({ requests: 801 });
      });

      it('charges outlive the process in a file that only its owner may read', async () => {
        const { id: accountId } = await paying(1_000);
        const ending = await openAccounts(options());
        const held = await module.usage.hold(accountId, { wanted: 500, least: 1 });
        const back = await database.away(dataDir);
        for (let n = 0; n < 300; n++) ending.usage.charge(charge({ accountId, tokens: 2, hold: n ? undefined : held }));
        await ending.close();
        const folder = path.join(dataDir, 'accounts');
        const pending = async () => (await readdir(folder)).filter((file) => file.startsWith('pending-usage'));
        const [name] = await pending();
        const file = path.join(folder, name!);
        expect((await stat(file)).mode & 0o077).toBe(0);
        const text = await readFile(file, 'utf8');
        expect(text.trim().split('\n')).toHaveLength(300);
        await back();
        await expect.poll(() => balanceOf(accountId).catch(() => undefined), { timeout: LONG_MS }).toBe(1_000);

        for (const once of ['taken up', 'still there after a crash']) {
          await writeFile(file, text);
          const next = await openAccounts(options());
          await next.usage.flush();
          await next.close();
          expect(await balanceOf(accountId), once).toBe(400);
          expect(await total()).toMatchObject({ requests: 300 });
          expect(await pending()).toEqual([]);
        }
        expect(await module.usage.hold(accountId, { wanted: 400, least: 400 })).toBeDefined();
      });
    });
  });
}
