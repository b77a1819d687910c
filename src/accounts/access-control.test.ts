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

it('limits callers whom the operator admits in a private network less than others', async () => {
  const { accounts, usage } = await openAccessControl();
  const strict = { ...OPEN, keylessRpm: 0, accounts, usage, counters: createMemoryCounters() };
  const { admit } = createAccessControl(strict);
  const caller = { authorization: [], clientIp: '10.0.0.7' };
  await expect(admit({ ...ACCESS, keyless: 'limited' }, caller)).rejects.toMatchObject({
    name: 'AuthenticationRequiredError',
  });
  const remaining: (number | undefined)[] = [];
  const trusted: AccessRule = { ...ACCESS, keyless: 'private' };
  await admit(trusted, caller, ({ requests }) => remaining.push(requests?.remaining));
  expect(remaining).toEqual([599]);
  for (let count = 1; count < 600; count++) await admit(trusted, caller);
  await expect(admit(trusted, caller)).rejects.toMatchObject({ name: 'RateLimitTriggeredError' });
});

it('tells callers without a key how one is made', async () => {
  const { accessControl } = await openAccessControl();
  const refused = accessControl.admit(ACCESS, { authorization: [], clientIp: '192.0.2.1' });
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('lectern keys mint') });
});
