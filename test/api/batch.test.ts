/** Batch jobs over HTTP: the rules and errors of docs/reference/wire/models.md, Batches to Webhooks. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelFailure } from '#api/envelopes/model.ts';
import { openBatch } from '#batch/index.ts';
import { fakeEmbedder, fakeReranker, fakeRerankRow, fakeRow } from '#models/embed/embed.suite.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createRegion } from '#net/region.ts';
import { createLog } from '#telemetry/log.ts';
import { startModelHost, type TestModelHost } from '../support/model-host.ts';

const LONG_MS = 120_000;
const HOUR_MS = 3_600_000;
const log = createLog('silent');
let dir: string;
let host: TestModelHost;
let idle: TestModelHost;
let now = Date.now();
let clockMs = 0;
/** Releases batches of the `slow` model. */
let open = () => {};
const gate = new Promise<void>((resolve) => {
  open = resolve;
});

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
type Any = any;

const rows = [
  fakeRow('dense', { kind: 'text-v5', matryoshka: [4], hub: 'makers/dense' }),
  fakeRow('slow', { kind: 'text-v3' }),
  fakeRow('tokens', { kind: 'colbert' }),
  fakeRow('sparse', { kind: 'sparse' }),
  fakeRerankRow('ranker'),
];

async function start(name: string, jobs: number): Promise<TestModelHost> {
  const guard = createGuard();
  const out = createFetch({ guard, region: createRegion({ region: 'any', euHosts: [], log }) });
  return startModelHost({
    rows,
    opening: {
      embedder: (row) => fakeEmbedder(row, row.id === 'slow' ? { onBatch: () => gate } : {}),
      reranker: (row) => fakeReranker(row),
    },
    accounts: { other: { plan: 'free', balance: null }, poor: { plan: 'free', balance: 0 } },
    batch: async ({ registry, models }) => ({
      guard,
      batch: await openBatch({
        dataDir: path.join(dir, name),
        registry,
        models,
        fetch: out,
        failureOf: (failure) => {
          const { code, detail } = modelFailure(failure);
          return { code: code ?? 'INVALID_LINE', message: detail };
        },
        charge: async () => {},
        jobs,
        log,
        now: () => now + clockMs,
      }),
    }),
  });
}

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'batch-'));
  now = Date.now();
  [host, idle] = await Promise.all([start('worked', 2), start('idle', 0)]);
});
afterAll(async () => {
  open();
  await Promise.all([host?.close(), idle?.close()]);
  await rm(dir, { recursive: true, force: true });
});

const PATH = '/v1/batch/embeddings';
const line = (id: string, input: unknown = 'green tea') => ({ custom_id: id, body: { input } });
const request = async (on: TestModelHost, place: string, init: RequestInit = {}, key = 'test-key') => {
  const answer = await fetch(`${on.url}${place}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, ...init.headers },
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  return { status: answer.status, headers: answer.headers, text, body: (isJson ? JSON.parse(text) : undefined) as Any };
};
async function ended(id: string, on = host): Promise<Any> {
  for (;;) {
    const { body } = await request(on, `/v1/batch/${id}`);
    if (!['pending', 'processing'].includes(body.status)) return body;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
const parse = (text: string): Any[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((part) => JSON.parse(part));

describe('a job', { timeout: LONG_MS }, () => {
  it('of three lines, one of them broken, has two results and one error', async () => {
    const submitted = await host.post(PATH, {
      model: 'makers/dense',
      input: [line('a', 'example'), { custom_id: 'b' }, line('c', ['one', { text: 'two' }])],
      dimensions: 4,
    });
    expect(submitted.status).toBe(200);
    expect(submitted.headers.get('x-ratelimit-limit-requests')).toBe('5000');
    const { batch_id: id } = submitted.body;
    expect(submitted.body).toEqual({
      batch_id: expect.stringMatching(/^batch_[0-9a-z]{26}$/),
      status: 'pending',
      model: 'dense',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      completed_at: null,
      expires_at: expect.any(String),
      stats: { total: 3, completed: 0, failed: 0, total_tokens: 0 },
      output_url: null,
      error_file_url: null,
      error: null,
    });
    expect(Date.parse(submitted.body.expires_at) - Date.parse(submitted.body.created_at)).toBe(24 * HOUR_MS);
    const job = await ended(id);
    expect(job).toMatchObject({
      status: 'completed',
      completed_at: expect.any(String),
      stats: { total: 3, completed: 2, failed: 1, total_tokens: 9 },
      error: null,
    });

    const output = await request(host, `/v1/batch/${id}/output`);
    expect(output.status).toBe(200);
    expect(output.headers.get('content-type')).toBe('application/x-ndjson');
    expect(output.headers.get('content-disposition')).toBe(`attachment; filename="${id}_output.jsonl"`);
    const lines = parse(output.text);
    expect(lines.map(({ custom_id }) => custom_id)).toEqual(['a', 'c']);
    expect(lines[1].response.body).toMatchObject({ model: 'dense', object: 'list', usage: { prompt_tokens: 6 } });
    expect(lines[1].response.body.data.map(({ index }: Any) => index)).toEqual([0, 1]);
    const embedded = await host.post('/v1/embeddings', { model: 'dense', input: 'example', dimensions: 4 });
    expect(lines[0].response.body.data).toEqual(embedded.body.data);

    const errors = await request(host, `/v1/batch/${id}/errors`);
    expect(parse(errors.text)).toEqual([
      {
        id: 'batch_req_000002',
        custom_id: 'b',
        line: 2,
        response: null,
        error: { code: 'INVALID_LINE', message: 'body is required' },
      },
    ]);
    const deleted = await request(host, `/v1/batch/${id}`, { method: 'DELETE' });
    expect([deleted.status, deleted.body]).toEqual([200, job]);
  });

  it('has links that need no key, expire, and cannot be forged', async () => {
    const { body } = await host.post(PATH, { model: 'dense', input: [line('a'), {}] });
    const { output_url, error_file_url, batch_id } = await ended(body.batch_id);
    expect(output_url.startsWith(`${host.url}/v1/batch/${batch_id}/output?exp=`)).toBe(true);
    for (const link of [output_url, error_file_url]) {
      const answer = await fetch(link);
      expect([answer.status, (await answer.text()).split('\n').length]).toEqual([200, 2]);
    }
    const forge = (change: (link: URL) => void) => {
      const link = new URL(output_url);
      change(link);
      return link;
    };
    for (const link of [
      forge(({ searchParams }) => searchParams.set('exp', String(Number(searchParams.get('exp')) + 1))),
      forge(({ searchParams }) => searchParams.set('exp', '1')),
      forge(({ searchParams }) => searchParams.set('sig', '')),
      forge(({ searchParams }) => searchParams.append('sig', 'x')),
      forge(({ searchParams }) => searchParams.delete('exp')),
      forge((made) => {
        made.pathname = made.pathname.replace('output', 'errors');
      }),
      forge((made) => {
        made.pathname = made.pathname.replace(/batch_\w{4}/, 'batch_0000');
      }),
    ]) {
      const answer = await fetch(link);
      expect([answer.status, ((await answer.json()) as Any).code], link.href).toEqual([401, 'AUTH_MISSING_API_KEY']);
    }
    expect((await request(host, output_url.slice(host.url.length).replace(/sig=.*/, 'sig=x'))).status).toBe(200);
  });

  it('serves ranges of its files', async () => {
    const { body } = await host.post(PATH, {
      model: 'dense',
      input: Array.from({ length: 200 }, (_, at) => line(`${at}`)),
    });
    const { batch_id: id } = await ended(body.batch_id);
    const whole = (await request(host, `/v1/batch/${id}/output`)).text;
    const size = Buffer.byteLength(whole);
    const range = (value: string) => request(host, `/v1/batch/${id}/output`, { headers: { range: value } });
    for (const [value, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=10-99', 10, 100],
      [`bytes=${size - 5}-`, size - 5, size],
      [`bytes=5-${size * 2}`, 5, size],
      ['bytes=-7', size - 7, size],
      [`bytes=-${size * 2}`, 0, size],
    ] as const) {
      const answer = await range(value);
      expect(answer.status, value).toBe(206);
      expect(answer.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/${size}`);
      expect(answer.text).toBe(whole.slice(from, to));
    }
    for (const value of [`bytes=${size}-`, 'bytes=-0']) {
      const answer = await range(value);
      expect([answer.status, answer.headers.get('content-range')], value).toEqual([416, `bytes */${size}`]);
      expect(answer.body.request_id).toBeDefined();
    }
    for (const value of ['bytes=1-2,5-6', 'lines=1-2', 'bytes=9-3', 'bytes=-', 'nonsense']) {
      expect([(await range(value)).status, (await range(value)).text.length], value).toEqual([200, whole.length]);
    }
  });

  it('has an empty error file if no line failed, and an empty output if all did', async () => {
    const good = await ended((await host.post(PATH, { model: 'dense', input: [line('a')] })).body.batch_id);
    expect(good.error_file_url).toBeNull();
    expect(await request(host, `/v1/batch/${good.batch_id}/errors`)).toMatchObject({ status: 200, text: '' });
    const bad = await ended((await host.post(PATH, { model: 'dense', input: [{}, 1] })).body.batch_id);
    expect(bad).toMatchObject({ status: 'completed', output_url: null, stats: { completed: 0, failed: 2 } });
    expect(await request(host, `/v1/batch/${bad.batch_id}/output`)).toMatchObject({ status: 200, text: '' });
  });

  it('keeps its results when cancelled, and serves its output only from then on', async () => {
    const { body } = await host.post(PATH, {
      model: 'slow',
      input: Array.from({ length: 300 }, (_, at) => line(`${at}`)),
    });
    const id = body.batch_id;
    await expect.poll(async () => (await request(host, `/v1/batch/${id}`)).body.status).toBe('processing');
    for (const kind of ['output', 'errors']) {
      expect(await request(host, `/v1/batch/${id}/${kind}`)).toMatchObject({
        status: 409,
        body: { code: 'CONFLICT_RESOURCE_BUSY', detail: `batch ${id} is currently being modified` },
      });
    }
    const cancelling = request(host, `/v1/batch/${id}`, { method: 'DELETE' });
    open();
    const { status, body: cancelled } = await cancelling;
    expect([status, cancelled.status, cancelled.error]).toEqual([200, 'cancelled', null]);
    expect(cancelled.completed_at).not.toBeNull();
    expect(cancelled.stats.completed).toBeGreaterThan(0);
    expect(cancelled.stats.completed).toBeLessThan(300);
    expect(parse((await request(host, `/v1/batch/${id}/output`)).text)).toHaveLength(cancelled.stats.completed);
  });

  it('of five thousand lines sent by curl has five thousand results', async () => {
    const file = path.join(dir, 'body.json');
    const input = Array.from({ length: 5_000 }, (_, at) => line(`doc-${at}`, `tea number ${at}`));
    await writeFile(file, JSON.stringify({ model: 'dense', input }));
    const key = 'Authorization: Bearer test-key';
    const curl = async (...args: string[]) =>
      (await promisify(execFile)('curl', ['-sS', '-H', key, ...args], { maxBuffer: 1e8 })).stdout;
    const { batch_id } = JSON.parse(await curl(`${host.url}${PATH}`, '-d', `@${file}`));
    const { output_url, stats } = await ended(batch_id);
    expect(stats).toMatchObject({ total: 5_000, completed: 5_000, failed: 0 });
    const lines = parse(await curl(output_url));
    expect(lines.map(({ custom_id }) => custom_id)).toEqual(input.map(({ custom_id }) => custom_id));
  });
});

describe('rejects', { timeout: LONG_MS }, () => {
  const input = [line('a')];
  it.each<[string, Any, string, string]>([
    ['no model', { input }, 'body -> model', 'missing'],
    ['a model that is not a string', { model: 1, input }, 'body -> model', 'string_type'],
    ['no input', { model: 'dense' }, 'body -> input', 'missing'],
    ['null for both inputs', { model: 'dense', input: null, input_url: null }, 'body -> input', 'missing'],
    ['both inputs', { model: 'dense', input, input_url: 'https://a.example/b' }, 'body -> input_url', 'value_error'],
    ['input that is not a list', { model: 'dense', input: 'a' }, 'body -> input', 'list_type'],
    ['no lines', { model: 'dense', input: [] }, 'body -> input', 'too_short'],
    ['too many lines', { model: 'dense', input: new Array(10_001).fill(0) }, 'body -> input', 'too_long'],
    ['a URL that is not a string', { model: 'dense', input_url: 7 }, 'body -> input_url', 'string_type'],
    ['an invalid URL', { model: 'dense', input_url: 'lines' }, 'body -> input_url', 'value_error'],
    [
      'an unsupported protocol',
      { model: 'dense', input_url: 'file:///etc/passwd' },
      'body -> input_url',
      'value_error',
    ],
    ['a bucket', { model: 'dense', input_url: 's3://bucket/lines' }, 'body -> input_url', 'value_error'],
    ['a private IP address', { model: 'dense', input_url: 'http://10.0.0.1/' }, 'body -> input_url', 'value_error'],
    [
      'the metadata service',
      { model: 'dense', input_url: 'http://169.254.169.254/' },
      'body -> input_url',
      'value_error',
    ],
    [
      'a webhook on the loopback address',
      { model: 'dense', input, webhook_url: 'http://127.0.0.1/' },
      'body -> webhook_url',
      'value_error',
    ],
    [
      'a webhook that is not a string',
      { model: 'dense', input, webhook_url: [] },
      'body -> webhook_url',
      'string_type',
    ],
    ['an unknown task', { model: 'dense', input, task: 'steeping' }, 'body -> task', 'enum'],
    ['zero dimensions', { model: 'dense', input, dimensions: 0 }, 'body -> dimensions', 'greater_than_equal'],
    ['too many dimensions', { model: 'dense', input, dimensions: 9 }, 'body -> dimensions', 'less_than_equal'],
    ['an unknown embedding type', { model: 'dense', input, embedding_type: 'int4' }, 'body -> embedding_type', 'enum'],
    ['truncate that is not a boolean', { model: 'dense', input, truncate: 'yes' }, 'body -> truncate', 'bool_type'],
    ['a body that is a list', [], 'body', 'dict_type'],
    ['invalid JSON', '{', 'body', 'json_invalid'],
  ])('%s', async (_, body, field, type) => {
    const answer = await host.post(PATH, body);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ errors: [{ field, type }], request_id: expect.any(String) });
    expect(answer.body.detail).toContain(`'${field}'`);
    expect(answer.body.code).toBeUndefined();
  });

  it('several invalid fields, all listed in one answer', async () => {
    const { body } = await host.post(PATH, { model: 'dense', dimensions: 99, truncate: 1, webhook_url: 'x' });
    expect(body.errors.map(({ field }: Any) => field).sort()).toEqual([
      'body -> dimensions',
      'body -> input',
      'body -> truncate',
      'body -> webhook_url',
    ]);
    expect(body.detail).toMatch(/^4 validation errors/);
  });

  it.each(['none', 'ranker', 'tokens', 'sparse'])('the unsuitable model %s', async (model) => {
    const { status, body } = await host.post(PATH, { model, input: 'whatever' });
    expect([status, body.code]).toEqual([400, 'INPUT_MODEL_NOT_FOUND']);
  });

  it.each(['0', '101', '-1', 'ten', '1.5', ''])('limit=%s', async (limit) => {
    const { status, body } = await request(host, `/v1/batches?limit=${limit}`);
    expect([status, body.errors[0].field]).toEqual([422, 'query -> limit']);
  });

  it.each<[string, string, RequestInit]>([
    ['POST', PATH, { method: 'POST', body: '{}' }],
    ['GET', '/v1/batches', {}],
    ['GET', '/v1/batch/batch_1', {}],
    ['DELETE', '/v1/batch/batch_1', { method: 'DELETE' }],
    ['GET', '/v1/batch/batch_1/output', {}],
    ['GET', '/v1/batch/batch_1/errors', {}],
  ])('%s %s without a valid key or balance', async (_, place, init) => {
    for (const [authorization, code] of [
      [undefined, 'AUTH_MISSING_API_KEY'],
      ['Basic x', 'AUTH_INVALID_FORMAT'],
      ['Bearer nope', 'AUTH_INVALID_API_KEY'],
    ] as const) {
      const answer = await fetch(`${host.url}${place}`, { ...init, headers: authorization ? { authorization } : {} });
      expect([answer.status, ((await answer.json()) as Any).code]).toEqual([401, code]);
    }
    const poor = await request(host, place, init, 'poor');
    expect([poor.status, poor.body.code]).toEqual([403, 'AUTHZ_INSUFFICIENT_BALANCE']);
  });

  it.each<[string, string, string]>([
    ['GET', PATH, 'POST, OPTIONS'],
    ['POST', '/v1/batches', 'GET, HEAD, OPTIONS'],
    ['POST', '/v1/batch/batch_1', 'GET, DELETE, HEAD, OPTIONS'],
    ['DELETE', '/v1/batch/batch_1/output', 'GET, HEAD, OPTIONS'],
  ])('the method in %s %s', async (method, place, allow) => {
    const answer = await request(host, place, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
  });

  it('the job of another owner, like an unknown one', async () => {
    const { body } = await idle.post(PATH, { model: 'dense', input });
    for (const id of [body.batch_id, 'batch_1', 'x'.repeat(300), '%00', '__proto__']) {
      for (const [place, init] of [
        ['', {}],
        ['', { method: 'DELETE' }],
        ['/output', {}],
        ['/errors', {}],
      ] as const) {
        const answer = await request(idle, `/v1/batch/${id}${place}`, init, 'other');
        expect([answer.status, answer.body.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
        expect(answer.body.detail).toMatch(/^batch .* not found or access denied$/);
      }
    }
    expect((await request(idle, '/v1/batches', {}, 'other')).body).toEqual([]);
    expect((await request(idle, `/v1/batch/${body.batch_id}`)).body.status).toBe('pending');
  });

  it('an eleventh unfinished job', async () => {
    const submit = (key: string) => idle.post(PATH, { model: 'dense', input }, { authorization: `Bearer ${key}` });
    for (let at = 0; at < 10; at++) expect((await submit('other')).status).toBe(200);
    const refused = await submit('other');
    expect([refused.status, refused.body.code]).toEqual([403, 'AUTHZ_RESOURCE_LIMIT_EXCEEDED']);
    const { body: jobs } = await request(idle, '/v1/batches', {}, 'other');
    expect(jobs).toHaveLength(10);
    const times = jobs.map(({ batch_id }: Any) => batch_id.slice(0, 16));
    expect(times).toEqual(times.toSorted().toReversed());
    expect((await request(idle, '/v1/batches?limit=3', {}, 'other')).body).toEqual(jobs.slice(0, 3));
    expect((await request(idle, `/v1/batch/${jobs[0].batch_id}`, { method: 'DELETE' }, 'other')).body).toMatchObject({
      status: 'cancelled',
      stats: { total: 1, completed: 0 },
    });
    for (const kind of ['output', 'errors']) {
      expect((await request(idle, `/v1/batch/${jobs[0].batch_id}/${kind}`, {}, 'other')).status).toBe(404);
    }
    expect((await submit('other')).status).toBe(200);
  });

  it('files of an expired job', async () => {
    const { body } = await host.post(PATH, { model: 'dense', input, webhook_url: 'https://hook.example/x' });
    const { batch_id: id } = await ended(body.batch_id);
    clockMs += 24 * HOUR_MS;
    const job = (await request(host, `/v1/batch/${id}`)).body;
    expect(job).toMatchObject({ status: 'expired', output_url: null, error_file_url: null, stats: { completed: 1 } });
    const answer = await request(host, `/v1/batch/${id}/output`);
    expect([answer.status, answer.body.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
  });

  it('never learns the webhook secret of another owner', async () => {
    const secretOf = async (key: string) => {
      const hook = { model: 'dense', input, webhook_url: 'https://hook.example/x' };
      return (await host.post(PATH, hook, { authorization: `Bearer ${key}` })).headers.get('x-webhook-secret');
    };
    const own = await secretOf('test-key');
    expect(own).toMatch(/^whsec_[\w-]{43}$/);
    expect(await secretOf('test-key')).toBe(own);
    expect(await secretOf('other')).not.toBe(own);
    const plain = await host.post(PATH, { model: 'dense', input });
    expect(plain.headers.get('x-webhook-secret')).toBeNull();
  });
});
