/** Several server processes over one PostgreSQL and one Redis: one truth, and what happens when either goes away. */
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
const databaseUrl = await postgresUrl();
const limitsUrl = await redisUrl();
const none = !databaseUrl || !limitsUrl;

const read = (server: ServerProcess, key: string) =>
  fetch(server.urlOf('reader'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ html: '<title>Tea</title><p>Green tea is drunk hot, and sometimes cold.</p>' }),
  });

const folders: string[] = [];
async function start(environment: Record<string, string>): Promise<ServerProcess> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-shared-'));
  folders.push(dataDir);
  return startProcess({ LECTERN_DATA_DIR: dataDir, LECTERN_BROWSER: 'none', LECTERN_PLANS: PLANS, ...environment });
}

async function keyOf(room: AccountsModule, plan: 'free' | 'paid', balance: number | null = null) {
  const account = await room.accounts.createAccount({ name: plan, plan, balance });
  return { ...(await room.accounts.mintKey({ accountId: account.id, name: 'test' })), account };
}

afterAll(() => Promise.all(folders.map((dir) => rm(dir, { recursive: true, force: true }))));

describe.skipIf(none)('two servers, one PostgreSQL and one Redis', () => {
  const servers: ServerProcess[] = [];
  let room: AccountsModule;
  beforeAll(async () => {
    const environment = { LECTERN_DATABASE_URL: databaseUrl!, LECTERN_REDIS_URL: limitsUrl! };
    servers.push(...(await Promise.all([start(environment), start(environment)])));
    const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-shared-'));
    folders.push(dataDir);
    room = await openAccounts({ dataDir, databaseUrl });
  }, LONG_MS);
  afterAll(async () => {
    await room?.close();
    await Promise.all(servers.map((server) => server.stop()));
  });

  it('enforce one limit between them, and sum one usage', { timeout: LONG_MS }, async () => {
    const { key, account } = await keyOf(room, 'free');
    const answers = await Promise.all(Array.from({ length: 80 }, (_, n) => read(servers[n % 2]!, key)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
    expect(statuses.filter((status) => status === 429)).toHaveLength(80 - LIMIT);
    const [sum] = await untilSum(room, account.id, LIMIT);
    expect(sum).toMatchObject({ requests: LIMIT, failed: 0 });
  });

  it('debit one balance exactly once a request', { timeout: LONG_MS }, async () => {
    const { key, account } = await keyOf(room, 'paid', 1_000_000);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => read(servers[n % 2]!, key)));
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here
    const bodies: any[] = await Promise.all(answers.map((answer) => answer.json()));
    const tokens = bodies.reduce((sum, body) => sum + body.data.usage.tokens, 0);
    await untilSum(room, account.id, 40);
    expect((await room.accounts.account(account.id))!.balance).toBe(1_000_000 - tokens);
  });

  it('notice within a second what one of them revoked', { timeout: LONG_MS }, async () => {
    const { key, record } = await keyOf(room, 'paid');
    for (const server of servers) expect((await read(server, key)).status).toBe(200);
    await room.accounts.revokeKey(record.id);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    for (const server of servers) expect((await read(server, key)).status).toBe(401);
  });
});

async function untilSum(room: AccountsModule, accountId: string, requests: number) {
  for (;;) {
    const sums = await room.usage.sums({ by: ['account'], accountId });
    if ((sums[0]?.requests ?? 0) >= requests) return sums;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe.skipIf(none)('when a store goes away', () => {
  let postgres: Service;
  let redis: Service;
  beforeAll(async () => {
    [postgres, redis] = (await Promise.all([startPostgres(), startRedis()])) as [Service, Service];
  }, LONG_MS);
  afterAll(() => Promise.all([postgres?.close(), redis?.close()]));

  async function keyedServer(environment: Record<string, string>) {
    const server = await start(environment);
    const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-shared-'));
    folders.push(dataDir);
    const room = await openAccounts({ dataDir, databaseUrl: environment.LECTERN_DATABASE_URL });
    const { key, account } = await keyOf(room, 'free');
    await room.close();
    return { server, key, account };
  }

  it('Redis: 503 with Retry-After, then all is well by itself', { timeout: LONG_MS }, async () => {
    const { server, key } = await keyedServer({ LECTERN_DATABASE_URL: postgres.url, LECTERN_REDIS_URL: redis.url });
    try {
      expect((await read(server, key)).status).toBe(200);
      await redis.kill();
      await isAway(server, key);
      await redis.start();
      await untilStatus(server, key, 200);
    } finally {
      await server.stop();
    }
  });

  it('PostgreSQL: 503, grace for keys just verified where it is allowed, then all is well', {
    timeout: LONG_MS,
  }, async () => {
    const shared = { LECTERN_DATABASE_URL: postgres.url, LECTERN_REDIS_URL: redis.url };
    const strict = await keyedServer(shared);
    const lenient = await start({ ...shared, LECTERN_KEY_GRACE_S: '60' });
    try {
      for (const server of [strict.server, lenient]) expect((await read(server, strict.key)).status).toBe(200);
      await postgres.kill();
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      await isAway(strict.server, strict.key);
      expect((await read(lenient, strict.key)).status).toBe(200);
      expect((await read(lenient, `lectern_${'x'.repeat(43)}`)).status).toBe(503);
      await postgres.start();
      await untilStatus(strict.server, strict.key, 200);
      // What was charged meanwhile was kept.
      const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-shared-'));
      folders.push(dataDir);
      const room = await openAccounts({ dataDir, databaseUrl: postgres.url });
      await untilSum(room, strict.account.id, 4);
      await room.close();
    } finally {
      await Promise.all([strict.server.stop(), lenient.stop()]);
    }
  });

  async function isAway(server: ServerProcess, key: string) {
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
});

async function untilStatus(server: ServerProcess, key: string, status: number): Promise<void> {
  while ((await read(server, key)).status !== status) await new Promise((resolve) => setTimeout(resolve, 200));
}
