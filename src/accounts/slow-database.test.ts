/** Charges whose COMMIT is carried out by PostgreSQL, while its answer comes too late. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import { postgresUrl, startPausableProxy } from '../../test/support/services.ts';
import { openAccounts } from './open.ts';
import type { Charge } from './records.ts';

const url = await postgresUrl();
const LONG_MS = 120_000;
/** Longer than any time-out. */
const LATE_MS = 60_000;
const BALANCE = 1_000;

it.skipIf(!url)('are written once, and debited once', { timeout: LONG_MS }, async () => {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-slow-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const proxy = await startPausableProxy(url!);
  onTestFinished(() => proxy.close());
  const direct = await openAccounts({ dataDir: path.join(dataDir, 'direct'), databaseUrl: url });
  onTestFinished(() => direct.close());
  const slow = await openAccounts({ dataDir: path.join(dataDir, 'slow'), databaseUrl: proxy.url });
  onTestFinished(() => slow.close());
  const { id: accountId } = await direct.accounts.createAccount({ name: 'caller', plan: 'paid', balance: BALANCE });
  const { record } = await direct.accounts.mintKey({ accountId, name: 'caller' });
  const chargeOf = (id: string): Charge => ({
    ...{ id, accountId, keyId: record.id, at: Date.now(), face: 'reader', endpoint: 'reader', model: '' },
    ...{ tokens: 10, status: 200, durationMs: 5 },
  });
  const sum = async () => (await direct.usage.sums({ by: [], accountId }))[0];
  const balance = async () => (await direct.accounts.account(accountId))!.balance;

  // The answers to this and all that follows are late; the statements themselves reach the server at once.
  proxy.watch((bytes) => {
    if (bytes.includes('commit')) proxy.delay({ toClient: LATE_MS });
  });
  for (let at = 0; at < 5; at++) slow.usage.charge(chargeOf(`late-${at}`));
  await expect(slow.usage.flush()).rejects.toBeInstanceOf(DatabaseUnavailableError);
  expect(slow.healthy).toBe(false);
  expect(await sum()).toMatchObject({ requests: 5, tokens: 50 });

  slow.usage.charge(chargeOf('later'));
  proxy.watch(undefined);
  proxy.delay({});
  await expect.poll(() => slow.usage.flush().then(() => 'written', String), { timeout: 60_000 }).toBe('written');
  expect(await sum()).toMatchObject({ requests: 6, tokens: 60 });
  expect(await balance()).toBe(BALANCE - 60);
  expect(slow.healthy).toBe(true);
});
