/**
 * Behaviour that all endpoints of the model host share: transport, keys and limits, the model list, the health probes.
 */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeEmbedder, fakeReranker, fakeRerankRow, fakeRow } from '#models/embed/embed.suite.ts';
import { startModelHost, type TestModelHost } from '../support/model-host.ts';

const rows = [
  fakeRow('dense', { hub: 'makers/dense-en', matryoshka: [8, 4], pooling: 'mean' }),
  fakeRow('first', { pooling: 'cls' }),
  fakeRow('gone', { hub: 'makers/gone' }),
  fakeRerankRow('ranker'),
];

let host: TestModelHost;
beforeAll(async () => {
  host = await startModelHost({
    rows,
    away: ['gone'],
    aliases: { 'jina-embeddings-v2-base-en': 'dense' },
    prices: { dense: { prompt: '0.00000005' } },
    maxBodyBytes: 1_000_000,
    accounts: { 'free-key': { plan: 'free', balance: null }, 'spent-key': { plan: 'free', balance: 0 } },
    opening: { embedder: (row) => fakeEmbedder(row), reranker: (row) => fakeReranker(row) },
  });
});
afterAll(() => host.close());

const ID = /^[0-9a-f]{32}$/;
const ask = (path: string, init: RequestInit = {}) => fetch(`${host.url}${path}`, init);
const key = { authorization: 'Bearer test-key' };
const body = JSON.stringify({ model: 'dense', input: 'x' });

describe('transport', () => {
  it('reads JSON whatever the declared type, with or without a trailing slash', async () => {
    for (const type of [
      'application/json',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'x',
    ]) {
      const answer = await ask('/v1/embeddings/', { method: 'POST', headers: { ...key, 'content-type': type }, body });
      expect(answer.status, type).toBe(200);
    }
    const untyped = await new Promise<number | undefined>((resolve, reject) => {
      const sending = httpRequest(`${host.url}/v1/embeddings`, { method: 'POST', headers: key }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode));
      });
      sending.once('error', reject).end(body);
    });
    expect(untyped).toBe(200);
  });

  it('is never compressed', async () => {
    const input = new Array(500).fill('text');
    const headers = { ...key, 'accept-encoding': 'gzip, br' };
    const answer = await ask('/v1/embeddings', {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'dense', input }),
    });
    expect(answer.headers.get('content-encoding')).toBeNull();
    expect((await answer.json()) as object).toMatchObject({ object: 'list' });
  });

  it('has a unique id for each request', async () => {
    const headers = { 'x-request-id': 'mine-is-long-enough' };
    const [first, second] = await Promise.all([ask('/v1/models', { headers }), ask('/nowhere', { headers })]);
    expect(first.headers.get('x-request-id')).toMatch(ID);
    const { request_id } = (await second.json()) as { request_id: string };
    expect(request_id).toMatch(ID);
    expect(request_id).toBe(second.headers.get('x-request-id'));
  });

  it('accepts requests from any origin', async () => {
    const preflight = await ask('/v1/embeddings', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://page.test',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, x-other',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization, x-other');
    expect(preflight.headers.get('access-control-allow-methods')).toContain('DELETE');
    expect((await ask('/v1/models', { method: 'OPTIONS' })).status).toBe(204);
    expect(
      (await ask('/v1/models', { headers: { origin: 'https://page.test' } })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBe('*');
  });

  it.each([
    ['GET', '/v1/embeddings', 405, 'POST, OPTIONS'],
    ['DELETE', '/v1/rerank', 405, 'POST, OPTIONS'],
    ['POST', '/v1/models', 405, 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/models/dense', 405, 'GET, HEAD, OPTIONS'],
    ['POST', '/ready', 405, 'GET, HEAD, OPTIONS'],
    ['GET', '/v1/nowhere', 404, null],
    ['DELETE', '/nowhere', 404, null],
    ['POST', '/', 404, null],
  ])('%s %s is %i', async (method, path, status, allow) => {
    const answer = await ask(path, { method });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('allow')).toBe(allow);
    const failure = (await answer.json()) as Record<string, unknown>;
    expect(failure).toMatchObject({ detail: expect.any(String), request_id: expect.stringMatching(ID) });
    expect(failure.code).toBe(status === 404 ? 'RESOURCE_NOT_FOUND' : undefined);
  });

  it.each([
    ['{broken', 'json_invalid'],
    ['', 'missing'],
    ['[]', 'dict_type'],
    ['"text"', 'dict_type'],
    ['null', 'dict_type'],
    ['{"model":null,"input":"x"}', 'missing'],
    [`{"model":"dense","input":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'value_error'],
  ])('a body that is none: %.40s', async (text, type) => {
    const answer = await host.post('/v1/embeddings', text);
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0].type).toBe(type);
  });

  it('checks the key before it refuses a large body', async () => {
    const large = JSON.stringify({ model: 'dense', input: 'x'.repeat(2_000_000) });
    expect((await host.post('/v1/embeddings', large)).status).toBe(413);
    expect((await host.post('/v1/embeddings', large, { authorization: 'Bearer nope' })).status).toBe(401);
  });
});

describe('keys and limits', () => {
  it('are shown, and work is charged to the model that ran', async () => {
    const { headers } = await host.post('/v1/embeddings', { model: 'jina-embeddings-v2-base-en', input: 'two words' });
    expect(headers.get('x-ratelimit-limit-requests')).toBe('5000');
    expect(headers.get('x-ratelimit-limit-tokens')).toBe('100000000');
    await expect
      .poll(() => host.charges.at(-1))
      .toMatchObject({ endpoint: 'embeddings', model: 'dense', tokens: 4, status: 200 });
    await host.post('/v1/rerank', { model: 'ranker', query: 'a', documents: ['b'] });
    await expect.poll(() => host.charges.at(-1)).toMatchObject({ endpoint: 'rerank', model: 'ranker', tokens: 6 });
    await host.post('/v1/embeddings', { model: 'dense', input: [] });
    await expect.poll(() => host.charges.at(-1)).toMatchObject({ tokens: 0, status: 422 });
  });

  it('count tokens before the model runs', async () => {
    const flood = { model: 'dense', input: new Array(2_048).fill('word '.repeat(20)) };
    const free = { authorization: 'Bearer free-key' };
    const statuses: number[] = [];
    let last = await host.post('/v1/embeddings', { model: 'dense', input: 'x' }, free);
    for (let count = 0; count < 30 && last.status === 200; count++) {
      last = await host.post('/v1/embeddings', flood, free);
      statuses.push(last.status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(22);
    expect([last.status, last.body.code]).toEqual([429, 'RATE_TOKEN_LIMIT_EXCEEDED']);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('refuse an account without balance', async () => {
    const answer = await host.post('/v1/rerank', {}, { authorization: 'Bearer spent-key' });
    expect([answer.status, answer.body.code]).toEqual([403, 'AUTHZ_INSUFFICIENT_BALANCE']);
  });
});

describe('the list', () => {
  const list = async (init: RequestInit = {}) => {
    const answer = await ask('/v1/models', init);
    expect(answer.status).toBe(200);
    // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
    return (await answer.json()) as any;
  };

  it('contains all available models and aliases, without a key', async () => {
    const { object, data } = await list({ headers: { authorization: 'Bearer nope' } });
    expect(object).toBe('list');
    expect(data.map(({ id }: { id: string }) => id)).toEqual([
      'makers/dense-en',
      'first',
      'ranker',
      'jina-embeddings-v2-base-en',
    ]);
    expect(data[0]).toMatchObject({
      hugging_face_id: 'makers/dense-en',
      output_modalities: ['embeddings'],
      context_length: 32,
      max_output_length: 8,
      pricing: { prompt: '0.00000005', completion: '0' },
      supported_features: ['matryoshka', 'late_chunking', 'tasks'],
      owned_by: 'makers',
      kind: 'text-v3',
      license: 'Apache-2.0',
      on_disk: true,
    });
    expect(data[2]).toMatchObject({ output_modalities: ['rerank'], max_output_length: 0, kind: 'rerank' });
    expect(data[3]).toMatchObject({ hugging_face_id: 'makers/dense-en', serves: 'dense', kind: 'text-v2' });
  });

  it('describes what a model can do, not all fields of its kind', async () => {
    const { supported_features } = (await (await ask('/v1/models/first')).json()) as { supported_features: string[] };
    expect(supported_features).toEqual(['tasks']);
  });

  it.each(['dense', 'makers/dense-en', 'makers%2Fdense-en', 'jina-ai/jina-embeddings-v2-base-en', 'dense/'])(
    'shows %s',
    async (id) => {
      const answer = await ask(`/v1/models/${id}`);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ serves: 'dense' });
    },
  );

  it('has no other models', async () => {
    for (const id of ['none', 'gone', 'makers/gone', '%00', '__proto__', 'constructor']) {
      const answer = await ask(`/v1/models/${id}`);
      expect([answer.status, ((await answer.json()) as { code: string }).code], id).toEqual([
        404,
        'RESOURCE_NOT_FOUND',
      ]);
    }
  });
});

describe('probes', () => {
  it.each(['/health', '/live', '/ready', '/v1/models', '/v1/models/dense'])('%s answers HEAD', async (path) => {
    const answer = await ask(path, { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(0);
  });

  it('report whether models that must be in memory are loaded', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const loading = await startModelHost({
      rows,
      warm: [rows[0]!],
      opening: { embedder: (row) => fakeEmbedder(row, { onLoad: () => gate }), reranker: (row) => fakeReranker(row) },
    });
    const ready = async () => {
      const answer = await fetch(`${loading.url}/ready`);
      return [answer.status, await answer.json()];
    };
    try {
      await expect
        .poll(ready)
        .toEqual([503, { status: 'not_ready', models: { dense: 'loading' }, reason: 'loading: dense' }]);
      for (const path of ['/health', '/live']) {
        expect(await (await fetch(`${loading.url}${path}`)).json()).toEqual({ status: 'ok' });
      }
      open();
      await expect.poll(ready).toEqual([200, { status: 'ready', models: { dense: 'loaded' } }]);
      await loading.post('/v1/rerank', { model: 'ranker', query: 'a', documents: ['b'] });
      expect(await ready()).toEqual([200, { status: 'ready', models: { dense: 'loaded', ranker: 'loaded' } }]);
    } finally {
      await loading.close();
    }
  });
});
