import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PLANS } from '#plans.ts';
import { createMemoryCounters } from '#storage/counters/memory.ts';
import { createAccessControl } from './access-control.ts';
import type { AccessRule } from './admission.ts';
import { openAccounts } from './open.ts';

const ACCESS: AccessRule = { face: 'model', endpoint: 'embeddings', authorization: 'bearer', keyless: 'refused' };
const OPEN = { auth: 'on', keylessRpm: 20, keylessFeatures: [], refusedRpm: 60, plans: PLANS } as const;

async function openAccessControl() {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-access-'));
  const { accounts, usage, close } = await openAccounts({ dataDir });
  onTestFinished(async () => {
    await close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const account = await accounts.createAccount({ name: 'paying', plan: 'free', balance: 1_000 });
  const { key } = await accounts.mintKey({ accountId: account.id, name: 'test' });
  const counters = createMemoryCounters();
  const accessControl = createAccessControl({ ...OPEN, accounts, usage, counters });
  return {
    accessControl,
    usage,
    accounts,
    account,
    credentials: { authorization: [`Bearer ${key}`], clientIp: '192.0.2.1' },
  };
}

it('releases tokens when the caller disconnects while they are being reserved', async () => {
  const { accessControl, usage, accounts, account, credentials } = await openAccessControl();
  const leaving = await accessControl.admit(ACCESS, credentials);
  const taking = leaving.reserveTokens(900);
  leaving.end(499);
  await taking;
  await usage.flush();
  expect((await accounts.account(account.id))!.balance).toBe(1_000);

  const remaining: (number | undefined)[] = [];
  const next = await accessControl.admit(ACCESS, credentials, ({ tokens }) => remaining.push(tokens?.remaining));
  await next.reserveTokens(1_000);
  expect(remaining).toEqual([1_000_000, 999_000]);
  next.recordCost({ tokens: 1_000, model: 'm' });
  next.end(200);
  await usage.flush();
  expect((await accounts.account(account.id))!.balance).toBe(0);
  expect(await usage.sums({ by: [] })).toMatchObject([{ requests: 2, failed: 1, tokens: 1_000 }]);
});

it('tells callers without a key how one is made', async () => {
  const { accessControl } = await openAccessControl();
  const refused = accessControl.admit(ACCESS, { authorization: [], clientIp: '192.0.2.1' });
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('lectern keys mint') });
});
