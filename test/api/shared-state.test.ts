/**
 * Two servers over one PostgreSQL and one Redis: what one of them keeps, the other uses. Also what happens while the
 * stores are away.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAbuseRefusals, createSiteRecords } from '#reader/index.ts';
import { type Service as Provider, searxngAnswer, startService } from '#search/service.suite.ts';
import { withLocalCopy } from '#storage/shared/local-copy.ts';
import { openSharedState, type SharedState } from '#storage/shared/open.ts';
import { SharedUnavailableError } from '#storage/shared/values.ts';
import { type Site, sendHtml, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { postgresUrl, redisUrl, type Service, startPostgres, startRedis } from '../support/services.ts';

const LONG_MS = 180_000;
const [databaseUrl, sharedRedisUrl] = await Promise.all([postgresUrl(), redisUrl()]);
const none = !databaseUrl || !sharedRedisUrl;
const PAGE = `<title>Tea</title><main><h1>Tea</h1><p>${'Green tea is drunk hot, and sometimes cold. '.repeat(20)}</p></main>`;
const MCP_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const START = {
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

// Before servers of this process move its temporary folder, which PostgreSQL could not read.
describe.skipIf(none)('the state of two servers', { timeout: LONG_MS }, () => {
  let dir: string;
  let postgres: Service;
  let redis: Service;
  const logged: string[] = [];
  const log = { warn: (...said: unknown[]) => void logged.push(String(said.at(-1))), info() {} };
  let states: SharedState[];
  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-state-'));
    [postgres, redis] = (await Promise.all([startPostgres(), startRedis()])) as [Service, Service];
    const open = () => openSharedState({ dataDir: dir, databaseUrl: postgres.url, redisUrl: redis.url, log });
    states = [await open(), await open()];
  }, LONG_MS);
  afterAll(async () => {
    await Promise.all(states?.map((state) => state.close()) ?? []);
    await Promise.all([postgres?.close(), redis?.close()]);
    await rm(dir, { recursive: true, force: true });
  }, LONG_MS);

  it('has refusals of pages, and what sites taught', async () => {
    const [here, there] = states.map(({ brief }) => createAbuseRefusals({ refusalMs: 3_600_000, store: brief }));
    for (let at = 0; at < 5; at++) await (at % 2 ? here! : there!).add(`https://bad.test/${at}`, 'it was heavy');
    for (const server of [here!, there!])
      await expect(server.check('https://bad.test/new', false)).rejects.toThrow('This host cannot be read');
    const [one, other] = states.map(({ durable }) => createSiteRecords({ store: durable }));
    const template = { code: 'aa', kinds: Uint32Array.of(1, 2), words: 100 };
    for (const records of [one!, other!]) await records.recordComparison('https://a.test/blog/x', template, true);
    for (const records of [one!, other!]) {
      expect(await records.lookUp('https://a.test/blog/y', template, false)).toMatchObject({ scripts: 'add nothing' });
    }
  });

  it('fails at once while a store is away, says so once, and comes back', async () => {
    for (const [service, kind] of [
      [redis, 'brief'],
      [postgres, 'durable'],
    ] as const) {
      const store = states[0]![kind];
      const values = store.space({ name: 'outage', maxValues: 10 });
      const counting = withLocalCopy(store).space({ name: 'counting', maxValues: 10 });
      const count = () =>
        counting.update('n', (value) => ({ value: `${Number(value ?? 0) + 1}`, keepMs: 60_000, result: value }));
      await values.set('tea', 'x', 3_600_000);
      await count();
      logged.length = 0;
      await service.kill();
      await vi.waitFor(() => expect(values.get(['tea'])).rejects.toBeInstanceOf(SharedUnavailableError));
      const all = await Promise.all(Array.from({ length: 100 }, () => values.get(['tea']).catch((error) => error)));
      for (const failure of all) expect(failure).toBeInstanceOf(SharedUnavailableError);
      expect(logged.filter((line) => line.includes('is away'))).toHaveLength(1);
      expect(store.healthy).toBe(false);
      // This server goes on counting alone.
      expect([await count(), await counting.get(['n'])]).toEqual(['1', ['2']]);
      await service.start();
      await vi.waitFor(async () => expect(await values.get(['none'])).toEqual([undefined]), { timeout: 60_000 });
      expect(store.healthy).toBe(true);
      // PostgreSQL keeps values over its restart; this Redis does not.
      expect(await values.get(['tea'])).toEqual([kind === 'durable' ? 'x' : undefined]);
    }
  });
});

// PostgreSQL starts before the server, for the same reason.
it.skipIf(none)('a flow says that its collection is away', { timeout: LONG_MS }, async () => {
  const postgres = (await startPostgres())!;
  const server = await startServer({ databaseUrl: postgres.url, browser: 'none', auth: 'off' });
  const post = async (endpoint: string, data: object[]) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ data });
    return (await fetch(`${server.urls.flow}${endpoint}`, { method: 'POST', headers, body })).json();
  };
  const away = { header: { status: { code: 1, exception: { name: 'ServiceAwayError' } } } };
  try {
    expect(await post('/index', [{ id: 'tea', text: 'Tea is hot.' }])).toMatchObject({ header: { status: null } });
    await postgres.kill();
    expect(await post('/search', [{ text: 'tea' }])).toMatchObject(away);
    expect(await post('/index', [{ id: 'more', text: 'Tea is green.' }])).toMatchObject(away);
  } finally {
    await server.app.close();
    await postgres.close();
  }
});

describe.skipIf(none)('two servers', { timeout: LONG_MS }, () => {
  let site: Site;
  let provider: Provider;
  let first: TestServer;
  let second: TestServer;
  const hanging = new Set<unknown>();
  beforeAll(async () => {
    site = await startSite({
      '/tea': ({ response }) => void sendHtml(response, PAGE),
      '/never': ({ response }) => {
        hanging.add(response);
        response.on('close', () => hanging.delete(response));
      },
    });
    provider = await startService((asked) =>
      searxngAnswer([{ title: 'Tea', url: 'https://a.test/', text: 'x' }], asked),
    );
    const start = () =>
      startServer({
        ...{ databaseUrl, redisUrl: sharedRedisUrl, allowNetworks: site.allow.join(','), browser: 'none', auth: 'off' },
        ...{ modelsWarm: [], searchEmbedder: 'none', searchReranker: 'none' },
        searchProviders: [{ name: 'paid', kind: 'searxng', url: provider.url, budgetPerDay: 2 }],
      });
    [first, second] = await Promise.all([start(), start()]);
  }, LONG_MS);
  afterAll(async () => {
    await Promise.all([first?.close(), second?.close()]);
    await Promise.all([site?.close(), provider?.close()]);
  }, LONG_MS);

  const search = async (server: TestServer, q: string) => {
    const asked = `${server.urls.search}/?${new URLSearchParams({ q, respondWith: 'no-content' })}`;
    return (await fetch(asked, { headers: { accept: 'application/json' } })).status;
  };
  const post = (server: TestServer, url: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${server.urls.compat}${url}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const rpc = (server: TestServer, message: object, session?: string) =>
    fetch(`${server.reader}/mcp`, {
      method: 'POST',
      headers: { ...MCP_HEADERS, ...(session && { 'mcp-session-id': session }) },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });

  it('share lists of results, and the daily budget of a provider', async () => {
    expect([await search(first, 'green tea'), await search(second, 'green tea')]).toEqual([200, 200]);
    expect(provider.requests).toHaveLength(1);
    expect(await search(second, 'black tea')).toBe(200);
    // The budget of two is used up, although each server has sent only one request.
    expect(await search(first, 'white tea')).not.toBe(200);
    expect(provider.requests).toHaveLength(2);
  });

  it('continue an MCP session of the other, and cancel its calls', async () => {
    const opened = await rpc(first, { id: 1, ...START });
    const session = opened.headers.get('mcp-session-id')!;
    expect((await rpc(second, { method: 'notifications/initialized' }, session)).status).toBe(202);
    const listed = await rpc(second, { id: 2, method: 'tools/list' }, session);
    expect([listed.status, await listed.text()]).toEqual([200, expect.stringContaining('read_url')]);
    const read = { name: 'read_url', arguments: { url: `${site.origin}/never`, engine: 'direct', timeout: 170 } };
    const call = rpc(first, { id: 3, method: 'tools/call', params: read }, session)
      .then((answer) => answer.text())
      .catch(() => {});
    await vi.waitFor(() => expect(hanging.size).toBe(1), { timeout: 30_000 });
    const cancel = { method: 'notifications/cancelled', params: { requestId: 3 } };
    expect((await rpc(second, cancel, session)).status).toBe(202);
    await vi.waitFor(() => expect(hanging.size).toBe(0), { timeout: 30_000 });
    await call;
  });

  it('answer for the docling tasks of each other', async () => {
    const source = { kind: 'http', url: `${site.origin}/tea` };
    const started = await post(first, '/v1/convert/source/async', { sources: [source] });
    const { task_id: id } = (await started.json()) as { task_id: string };
    const get = (url: string) => fetch(`${second.urls.compat}${url}`);
    const state = await (await get(`/v1/status/poll/${id}?wait=60`)).json();
    expect(state).toMatchObject({ task_id: id, task_status: 'success' });
    expect(await (await get(`/v1/result/${id}`)).text()).toContain('Green tea');
  });

  it('serve the files that clients uploaded to the other', async () => {
    const bytes = Buffer.from('a file for text recognition');
    const body = new FormData();
    body.append('file', new File([bytes], 'tea.pdf', { type: 'application/pdf' }));
    body.append('purpose', 'ocr');
    const uploaded = await fetch(`${first.urls.compat}/for/mistral/v1/files`, { method: 'POST', body });
    const { id } = (await uploaded.json()) as { id: string };
    const described = await fetch(`${second.urls.compat}/v1/files/${id}`);
    expect(await described.json()).toMatchObject({ id, bytes: bytes.length, filename: 'tea.pdf' });
    const signed = (await (await fetch(`${first.urls.compat}/v1/files/${id}/url`)).json()) as { url: string };
    const content = await fetch(signed.url.replace(first.urls.compat!, second.urls.compat!));
    expect(Buffer.from(await content.arrayBuffer())).toEqual(bytes);
    const gone = await fetch(`${second.urls.compat}/v1/files/${id}`, { method: 'DELETE' });
    expect(await gone.json()).toMatchObject({ id, deleted: true });
    expect((await fetch(`${first.urls.compat}/v1/files/${id}`)).status).toBe(404);
  });

  it('find the documents that a flow indexed on the other', async () => {
    const flow = async (server: TestServer, endpoint: string, data: object[]) => {
      const answer = await fetch(`${server.urls.flow}${endpoint}`, {
        method: endpoint === '/delete' ? 'DELETE' : 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ data }),
      });
      expect(answer.status).toBe(200);
      return (await answer.json()) as { data: { matches?: { parent_id?: string }[] }[] };
    };
    const found = async (server: TestServer) =>
      (await flow(server, '/search', [{ text: 'steeped leaves' }])).data[0]!.matches?.map((match) => match.parent_id) ??
      [];
    await flow(first, '/index', [{ id: 'leaves', text: 'Oolong is made of steeped leaves.' }]);
    expect(await found(second)).toEqual(['leaves']);
    await flow(second, '/delete', [{ id: 'leaves' }]);
    expect(await found(first)).toEqual([]);
  });

  it('say that a task has failed whose server is gone', async () => {
    const third = await startServer({
      databaseUrl,
      redisUrl: sharedRedisUrl,
      browser: 'none',
      auth: 'off',
      drainMs: 0,
    });
    const source = { kind: 'http', url: `${site.origin}/never` };
    const allowed = { ...third, urls: third.urls };
    const started = await post(allowed, '/v1/convert/source/async', { sources: [source] });
    const { task_id: id } = (await started.json()) as { task_id: string };
    await third.close();
    const state = await fetch(`${second.urls.compat}/v1/status/poll/${id}?wait=1`);
    expect(await state.json()).toMatchObject({ task_id: id, task_status: 'failure' });
  });

  it('start one job for a request that reaches both of them', async () => {
    const body = { url: `${site.origin}/tea`, limit: 1 };
    const starting = Array.from({ length: 8 }, (_, at) =>
      post(at % 2 ? first : second, '/v2/crawl', body, { 'x-idempotency-key': 'once' }),
    );
    const answers = await Promise.all((await Promise.all(starting)).map((answer) => answer.json()));
    expect(new Set(answers.map((answer) => (answer as { id: string }).id)).size).toBe(1);
  });
});
