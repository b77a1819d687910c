/** Two servers whose PostgreSQL database answers late: within the time-outs, and after them. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountsModule, openAccounts } from '#accounts/index.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';
import { postgresUrl, startPausableProxy } from '../support/services.ts';

const LONG_MS = 180_000;
/** Other tests may keep the machine busy. */
const SOON = { timeout: 60_000, interval: 100 };
const SLOW_MS = 300;
/** Longer than the time-out of a statement and of a connection, which is three seconds. */
const LATE_MS = 6_000;
/** Far less than the requests would take if they waited for the answers of the database. */
const BOUND_MS = 20_000;
const PLANS = JSON.stringify({
  paid: { concurrency: 'none', reader: { requestsPerMinute: 10_000 }, embeddings: { requestsPerMinute: 'none' } },
});
const url = await postgresUrl();

const folders: string[] = [];
function makeFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-slow-database-'));
  folders.push(folder);
  return folder;
}
const site = http.createServer((request, response) => {
  response.setHeader('content-type', 'text/html').end(`<title>Page</title><p>The words of ${request.url}.</p>`);
});

describe.skipIf(!url)('a slow database', { timeout: LONG_MS }, () => {
  let proxy: Awaited<ReturnType<typeof startPausableProxy>>;
  let accounts: AccountsModule;
  let origin: string;
  /** Counts limits in the database. */
  let strict: ServerProcess;
  /** Counts limits in memory, and accepts known keys while the database is away. */
  let lenient: ServerProcess;
  beforeAll(async () => {
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    proxy = await startPausableProxy(url!);
    const start = (environment: Record<string, string>) =>
      startProcess({
        LECTERN_DATA_DIR: makeFolder(),
        LECTERN_DATABASE_URL: proxy.url,
        LECTERN_ALLOW_NETWORKS: '127.0.0.0/8',
        LECTERN_BROWSER: 'none',
        LECTERN_PLANS: PLANS,
        LECTERN_LOG_LEVEL: 'info',
        ...environment,
      });
    [strict, lenient] = await Promise.all([
      start({}),
      start({ LECTERN_LIMIT_STORE: 'memory', LECTERN_KEY_GRACE_S: '600' }),
    ]);
    accounts = await openAccounts({ dataDir: makeFolder(), databaseUrl: url });
  }, LONG_MS);
  afterAll(async () => {
    proxy?.delay({});
    await accounts?.close();
    await Promise.all([strict?.stop(), lenient?.stop()]);
    await proxy?.close();
    site.closeAllConnections();
    site.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }, LONG_MS);

  async function createKey(balance: number | null) {
    const { id } = await accounts.accounts.createAccount({ name: 'caller', plan: 'paid', balance });
    const { key } = await accounts.accounts.mintKey({ accountId: id, name: 'caller' });
    return { id, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } };
  }
  type Key = Awaited<ReturnType<typeof createKey>>;

  async function ask(target: string, { headers }: Key, body?: unknown) {
    const startedAt = performance.now();
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(target, { ...init, headers: { ...headers, accept: 'application/json' } });
    // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
    const json = (await answer.json()) as any;
    const { status } = answer;
    return { status, retryAfter: Number(answer.headers.get('retry-after')), json, ms: performance.now() - startedAt };
  }
  const readText = (of: ServerProcess, key: Key) => ask(of.urlOf('reader'), key, { html: '<p>Green tea is hot.' });
  const readPage = (of: ServerProcess, key: Key, page: string) => ask(`${of.urlOf('reader')}/${origin}/${page}`, key);
  const submit = (of: ServerProcess, key: Key) =>
    ask(`${of.urlOf('model host')}/v1/batch/embeddings`, key, { model: 'lectern-static-v2', input: [{ text: 'tea' }] });
  const stores = async (of: ServerProcess) =>
    ((await (await fetch(`${of.urlOf('reader')}/health`)).json()) as { stores: Record<string, string> }).stores;
  const sumOf = async ({ id }: Key) =>
    (await accounts.usage.sums({ by: ['endpoint'], accountId: id })).find(({ endpoint }) => endpoint === 'reader');
  const balanceOf = async ({ id }: Key) => (await accounts.accounts.account(id))!.balance;

  it('that answers within the time-outs delays requests, and nothing else', async () => {
    const key = await createKey(1_000_000);
    proxy.delay({ toClient: SLOW_MS });
    let tokens = 0;
    const count = (answers: Awaited<ReturnType<typeof ask>>[]) => {
      for (const { status, json } of answers) {
        expect([status, json.data?.content]).toEqual([200, expect.any(String)]);
        tokens += json.data.usage.tokens;
      }
    };
    const readAll = (of: ServerProcess) =>
      Array.from({ length: 10 }, (_, at) => (at ? readText(of, key) : readPage(of, key, 'one')));
    count(await Promise.all([strict, lenient].flatMap(readAll)));
    const { status, json } = await submit(strict, key);
    expect(status).toBe(200);
    const job = () => ask(`${strict.urlOf('model host')}/v1/batch/${json.batch_id}`, key);
    await expect.poll(async () => (await job()).json.status, SOON).toBe('completed');
    await expect.poll(() => sumOf(key), SOON).toMatchObject({ requests: 20, failed: 0, tokens });
    expect(await stores(strict)).toMatchObject({ accounts: 'ok', limits: 'ok', batches: 'ok' });
    proxy.delay({ toServer: SLOW_MS / 2, toClient: SLOW_MS / 2 });
    count(await Promise.all([readText(strict, key), readPage(lenient, key, 'two')]));
    proxy.delay({});
    await expect.poll(() => sumOf(key), SOON).toMatchObject({ requests: 22, tokens });
  });

  it('that answers after them counts as away, and no charge is lost or repeated', async () => {
    const known = await createKey(null);
    const paying = await createKey(1_000_000);
    const answered = { known: 0, paying: 0 };
    const tokens = { known: 0, paying: 0 };
    const count = (name: 'known' | 'paying', { status, json }: Awaited<ReturnType<typeof ask>>) => {
      if (status !== 200) return expect([status, json.name]).toEqual([503, 'ServiceAwayError']);
      answered[name] += 1;
      tokens[name] += json.data.usage.tokens;
    };
    // The delay starts while charges are being written.
    for (const of of [strict, lenient]) for (let at = 0; at < 10; at++) count('known', await readText(of, known));
    count('paying', await readText(strict, paying));
    expect(answered).toEqual({ known: 20, paying: 1 });
    proxy.delay({ toClient: LATE_MS });

    // Known keys are accepted, and pages are read without the cache.
    const pages = await Promise.all([0, 1, 2].map((at) => readPage(lenient, known, `late-${at}`)));
    for (const page of pages) {
      expect([page.status, page.json.data.content]).toEqual([200, expect.stringContaining('late-')]);
      expect(page.ms).toBeLessThan(BOUND_MS);
      count('known', page);
    }
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    const refused = await Promise.all([
      ...[readText(strict, known), readText(strict, paying), readPage(strict, paying, 'late')],
      submit(strict, known),
    ]);
    for (const { status, retryAfter, ms } of refused) {
      expect(status).toBe(503);
      expect(retryAfter).toBeGreaterThan(0);
      expect(ms).toBeLessThan(BOUND_MS);
    }
    expect(await stores(strict)).toMatchObject({ accounts: 'away' });
    await expect.poll(() => stores(lenient), SOON).toMatchObject({ accounts: 'away', limits: 'ok', cache: 'away' });
    for (let at = 0; at < 10; at++) count('known', await readText(lenient, known));

    proxy.delay({});
    await expect.poll(async () => (await readPage(strict, paying, 'again')).status, SOON).toBe(200);
    await expect.poll(() => sumOf(known), SOON).toMatchObject({ requests: answered.known, tokens: tokens.known });
    // The state of the cache changes with its next use.
    const other = await createKey(null);
    const storesAfterRead = () => readPage(lenient, other, 'again').then(() => stores(lenient));
    await expect.poll(storesAfterRead, SOON).toMatchObject({ accounts: 'ok', cache: 'ok' });
    await expect.poll(() => sumOf(paying), SOON).toMatchObject({ tokens: expect.any(Number) });
    const spent = async () => [1_000_000 - (await balanceOf(paying))!, (await sumOf(paying))!.tokens];
    await expect.poll(async () => new Set(await spent()).size, SOON).toBe(1);
    const messages = lenient.lines.filter((line) => line.includes('usage could not be written to the database'));
    expect(messages).toHaveLength(1);
  });
});
