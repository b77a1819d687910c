/**
 * Two server processes share one PostgreSQL and one Redis. Tests limits, balances, keys, and outages of either store.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountsModule, openAccounts } from '#accounts/index.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';
import { postgresUrl, redisUrl, type Service, startPostgres, startRedis } from '../support/services.ts';

const LONG_MS = 180_000;
const LIMIT = 25;
const PLANS = JSON.stringify({
  free: { concurrency: 'none', reader: { requestsPerMinute: LIMIT } },
  paid: { concurrency: 'none', reader: { requestsPerMinute: 'none' } },
});
const none = !(await postgresUrl()) || !(await redisUrl());

const read = (server: ServerProcess, key: string) =>
  fetch(server.urlOf('reader'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ html: '<title>Tea</title><p>Green tea is drunk hot, and sometimes cold.</p>' }),
  });

const folders: string[] = [];
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-shared-'));
  folders.push(folder);
  return folder;
}
afterAll(() => Promise.all(folders.map((dir) => rm(dir, { recursive: true, force: true }))));

describe.skipIf(none)('two servers that share PostgreSQL and Redis', { timeout: LONG_MS }, () => {
  let postgres: Service;
  let redis: Service;
  let servers: ServerProcess[];
  /** The second server, which accepts known keys while the database is unreachable. */
  let strict: ServerProcess;
  let lenient: ServerProcess;
  let accounts: AccountsModule;
  beforeAll(async () => {
    [postgres, redis] = (await Promise.all([startPostgres(), startRedis()])) as [Service, Service];
    const start = async (environment: Record<string, string> = {}) =>
      startProcess({
        LECTERN_DATA_DIR: await makeFolder(),
        LECTERN_BROWSER: 'none',
        LECTERN_PLANS: PLANS,
        LECTERN_DATABASE_URL: postgres.url,
        LECTERN_REDIS_URL: redis.url,
        ...environment,
      });
    [strict, lenient] = await Promise.all([start(), start({ LECTERN_KEY_GRACE_S: '60' })]);
    servers = [strict, lenient];
    accounts = await openAccounts({ dataDir: await makeFolder(), databaseUrl: postgres.url });
  }, LONG_MS);
  afterAll(async () => {
    await accounts?.close();
    await Promise.all((servers ?? []).map((server) => server.stop()));
    await Promise.all([postgres?.close(), redis?.close()]);
  }, LONG_MS);

  async function createKey(plan: 'free' | 'paid', balance: number | null = null) {
    const account = await accounts.accounts.createAccount({ name: plan, plan, balance });
    return { ...(await accounts.accounts.mintKey({ accountId: account.id, name: 'test' })), account };
  }

  async function untilSum(accountId: string, requests: number) {
    for (;;) {
      const sums = await accounts.usage.sums({ by: ['account'], accountId });
      if ((sums[0]?.requests ?? 0) >= requests) return sums;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  it('enforce one limit between them, and sum one usage', async () => {
    const { key, account } = await createKey('free');
    const answers = await Promise.all(Array.from({ length: 80 }, (_, n) => read(servers[n % 2]!, key)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
    expect(statuses.filter((status) => status === 429)).toHaveLength(80 - LIMIT);
    const [sum] = await untilSum(account.id, LIMIT);
    expect(sum).toMatchObject({ requests: LIMIT, failed: 0 });
  });

  it('debit one balance exactly once a request', async () => {
    const { key, account } = await createKey('paid', 1_000_000);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => read(servers[n % 2]!, key)));
    // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
    const bodies: any[] = await Promise.all(answers.map((answer) => answer.json()));
    const tokens = bodies.reduce((sum, body) => sum + body.data.usage.tokens, 0);
    await untilSum(account.id, 40);
    expect((await accounts.accounts.account(account.id))!.balance).toBe(1_000_000 - tokens);
  });

  it('notice within a second what one of them revoked', async () => {
    const { key, record } = await createKey('paid');
    for (const server of servers) expect((await read(server, key)).status).toBe(200);
    await accounts.accounts.revokeKey(record.id);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    for (const server of servers) expect((await read(server, key)).status).toBe(401);
  });

  it('answer 503 with Retry-After while Redis is away, and recover', async () => {
    const { key } = await createKey('free');
    expect((await read(strict, key)).status).toBe(200);
    await redis.kill();
    await expectAway(strict, key);
    await redis.start();
    await untilStatus(strict, key, 200);
  });

  it('answer 503 while PostgreSQL is away, except for known keys where a grace period is set, and recover', async () => {
    const { key, account } = await createKey('free');
    // Redis was away in the test before, and a server may not have noticed its return yet.
    for (const server of servers) await untilStatus(server, key, 200);
    await postgres.kill();
    // Cached keys are verified again after a second.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await expectAway(strict, key);
    expect((await read(lenient, key)).status).toBe(200);
    expect((await read(lenient, `lectern_${'x'.repeat(43)}`)).status).toBe(503);
    await postgres.start();
    await untilStatus(strict, key, 200);
    // The charge made during the outage is not lost.
    await expect.poll(() => untilSum(account.id, 4).catch(() => undefined), { timeout: LONG_MS }).toBeDefined();
  });
});

async function expectAway(server: ServerProcess, key: string) {
  const answer = await read(server, key);
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await answer.json()).toMatchObject({ name: 'ServiceAwayError', status: 50306 });
  const model = await fetch(`${server.urlOf('model')}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  });
  expect([model.status, await model.json()]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }]);
}

async function untilStatus(server: ServerProcess, key: string, status: number): Promise<void> {
  while ((await read(server, key)).status !== status) await new Promise((resolve) => setTimeout(resolve, 200));
}
