/** The dialect of OpenAI: files, batches and token ids, through the whole server. */
import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Answer,
  BERT,
  EMBEDDER,
  type Json,
  type ModelServer,
  RERANKER,
  startModelServer,
} from './model-server.ts';

const TEXTS = ['The river crosses four districts.', 'Tap water in the city is safe to drink.', '日本の川'];
const MODEL = 'text-embedding-3-small';

let server: ModelServer;
let key: string;
beforeAll(async () => {
  server = await startModelServer();
  key = server.key;
});
afterAll(() => server.close());

/** A key of the same account. */
async function anotherKey(): Promise<string> {
  const { accounts } = server.app.accounts;
  const { id } = await accounts.defaultAccount();
  return (await accounts.mintKey({ accountId: id, name: 'another' })).key;
}

const url = (path: string) => server.urls.compat + path;
const bearer = (given = key) => ({ authorization: `Bearer ${given}` });

async function upload(content: string, fields: Record<string, string> = { purpose: 'batch' }): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([content], { type: 'application/jsonl' }), 'lines.jsonl');
  const answer = await fetch(url('/v1/files'), { method: 'POST', headers: bearer(), body: form });
  return { status: answer.status, headers: answer.headers, json: await answer.json() };
}

const line = (id: string, body: object, more: object = {}) =>
  JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/embeddings', body: { model: MODEL, ...body }, ...more });

const content = async (id: string) =>
  (await (await fetch(url(`/v1/files/${id}/content`), { headers: bearer() })).text())
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));

const start = (input_file_id: string, more: object = {}) =>
  server.post('/v1/batches', { input_file_id, endpoint: '/v1/embeddings', completion_window: '24h', ...more });

async function finished(id: string) {
  const batch = async () => (await server.get(`/v1/batches/${id}`)).json;
  await expect.poll(async () => (await batch()).status, { timeout: 30_000 }).toMatch(/completed|failed|cancelled/);
  return batch();
}

it('runs a file, and returns the vectors of single requests', async () => {
  const lines = [
    line('a', { input: TEXTS[0] }),
    line('b', { input: TEXTS, dimensions: 128 }),
    line('c', { input: 'x' }, { url: '/v1/chat/completions' }),
    line('d', { input: 'x', model: 'other' }),
    'not JSON',
  ];
  const file = await upload(lines.join('\n'));
  expect(file.json).toMatchObject({ object: 'file', filename: 'lines.jsonl', purpose: 'batch', status: 'processed' });
  const started = await start(file.json.id, { metadata: { night: 'one' } });
  expect(started.json).toMatchObject({
    object: 'batch',
    endpoint: '/v1/embeddings',
    input_file_id: file.json.id,
    errors: null,
    metadata: { night: 'one' },
  });
  const batch = await finished(started.json.id);
  expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 5, completed: 2, failed: 3 } });
  expect(batch.completed_at).toBeGreaterThanOrEqual(batch.created_at);
  const [first, second] = await content(batch.output_file_id);
  expect(first).toMatchObject({ custom_id: 'a', error: null, response: { status_code: 200, body: { model: MODEL } } });
  expect([first.response.body.data[0].embedding]).toEqual(await server.native(TEXTS[0]));
  expect(second.response.body.data.map(({ embedding }: Json) => embedding)).toEqual(
    await server.native(TEXTS, { dimensions: 128 }),
  );
  const errors = await content(batch.error_file_id);
  expect(errors.map(({ custom_id, error }: Json) => [custom_id, error.message])).toEqual([
    ['c', 'url must be /v1/embeddings'],
    ['d', 'body.model must be the model of the job'],
    [null, 'the line is not valid JSON'],
  ]);
  const described = await server.get(`/v1/files/${batch.output_file_id}`);
  expect(described.json).toMatchObject({ purpose: 'batch_output', expires_at: batch.expires_at });
  expect(described.json.bytes).toBeGreaterThan(1_000);
  const deleting = await fetch(url(`/v1/files/${batch.output_file_id}`), { method: 'DELETE', headers: bearer() });
  expect(deleting.status).toBe(403);
});

it('fails a batch whose file has too little, and cancels one', async () => {
  const blank = await upload('\n\n');
  expect((await start(blank.json.id)).json.error.message).toMatch(/^input_file_id: the file has no lines/);
  const many = await upload(Array.from({ length: 3_000 }, (_, at) => line(`n${at}`, { input: TEXTS })).join('\n'));
  const { json } = await start(many.json.id);
  const cancelled = await server.post(`/v1/batches/${json.id}/cancel`, '');
  expect(cancelled.json.status).toBe('cancelled');
  expect(cancelled.json.cancelled_at).toBeGreaterThanOrEqual(cancelled.json.created_at);
});

it('lists files and batches in pages', async () => {
  const ids = [];
  for (const name of ['1', '2', '3']) ids.unshift((await upload(line(name, { input: name }))).json.id);
  const newest = (await server.get('/v1/files?limit=2')).json;
  expect([newest.data.map(({ id }: Json) => id), newest.has_more]).toEqual([ids.slice(0, 2), true]);
  const next = (await server.get(`/v1/files?limit=1&after=${newest.last_id}&purpose=batch`)).json;
  expect(next.data[0].id).toBe(ids[2]);
  const batches = (await server.get('/v1/batches?limit=1')).json;
  expect(batches).toMatchObject({ object: 'list', has_more: true });
  const older = (await server.get(`/v1/batches?after=${batches.last_id}`)).json;
  expect([older.has_more, older.data.length > 0]).toEqual([false, true]);
  expect(older.data.map(({ id }: Json) => id)).not.toContain(batches.last_id);
});

it('deletes files, and keeps those of another key apart', async () => {
  const { json } = await upload(line('a', { input: 'a' }));
  expect((await content(json.id))[0].custom_id).toBe('a');
  const stranger = bearer(await anotherKey());
  expect((await fetch(url(`/v1/files/${json.id}`), { headers: stranger })).status).toBe(404);
  const theirs = await fetch(url('/v1/batches'), {
    method: 'POST',
    headers: stranger,
    body: JSON.stringify({ input_file_id: json.id, endpoint: '/v1/embeddings', completion_window: '24h' }),
  });
  expect(theirs.status).toBe(400);
  const deleted = await fetch(url(`/v1/files/${json.id}`), { method: 'DELETE', headers: bearer() });
  expect(await deleted.json()).toEqual({ id: json.id, object: 'file', deleted: true });
  expect((await server.get(`/v1/files/${json.id}`)).status).toBe(404);
  expect((await start(json.id)).json.error.param).toBe('input_file_id');
});

it('takes the token ids of cl100k_base', async () => {
  const body = (input: unknown) => ({ model: MODEL, input });
  const vectors = async (input: unknown) =>
    (await server.post('/v1/embeddings', body(input))).json.data.map(({ embedding }: Json) => embedding);
  expect(await vectors(TEXTS.map((text) => encode(text)))).toEqual(await server.native(TEXTS));
  expect(await vectors(encode(TEXTS[0]!))).toEqual(await server.native(TEXTS[0]));
  const unknown = await server.post('/v1/embeddings', body([[1, 2], [999_999]]));
  expect([unknown.status, unknown.json.error.param]).toEqual([400, 'input.1']);
  expect(unknown.json.error.message).toMatch(/check_embedding_ctx_length=False/);
});

it('encodes vectors as base64, and lists models', async () => {
  const { json } = await server.post('/v1/embeddings', { model: MODEL, input: TEXTS[0], encoding_format: 'base64' });
  const bytes = Buffer.from(json.data[0].embedding, 'base64');
  const [vector] = await server.native(TEXTS[0]);
  expect([...new Float32Array(bytes.buffer, bytes.byteOffset, vector!.length)]).toEqual([
    ...Float32Array.from(vector!),
  ]);
  const { data } = (await server.get('/v1/models')).json;
  expect(data.map(({ id }: Json) => id)).toEqual(expect.arrayContaining([EMBEDDER, MODEL, 'tests/encoder']));
  expect((await server.get(`/v1/models/${BERT}`)).json).toMatchObject({ object: 'model', endpoints: ['embed'] });
});

it.each<[string, unknown, number, string | null]>([
  ['/v1/batches', { endpoint: '/v1/embeddings', completion_window: '24h' }, 400, 'input_file_id'],
  ['/v1/batches', { input_file_id: 'f', endpoint: '/v1/chat/completions', completion_window: '24h' }, 400, 'endpoint'],
  [
    '/v1/batches',
    { input_file_id: 'f', endpoint: '/v1/embeddings', completion_window: '1h' },
    400,
    'completion_window',
  ],
  ['/v1/batches/batch_none/cancel', {}, 404, 'id'],
  ['/v1/files', { purpose: 'batch' }, 400, 'file'],
  ['/v1/embeddings', { model: MODEL }, 400, 'input'],
  ['/v1/embeddings', { model: 5, input: 'a' }, 400, 'model'],
  ['/v1/chat/completions', { messages: [] }, 400, 'model'],
  ['/v1/batches/batch_a%00b/cancel', {}, 404, 'id'],
  ['/v1/embeddings', { model: MODEL, input: 'a', dimensions: 1_536 }, 400, 'dimensions'],
  ['/v1/embeddings', { model: RERANKER, input: 'a' }, 404, null],
])('%s %j: %i', async (path, body, status, param) => {
  const answer = await server.post(path, body);
  expect([answer.status, answer.json.error.param]).toEqual([status, param]);
});

it.each<[string, Record<string, string>, string]>([
  ['the purpose', { purpose: 'fine-tune' }, 'purpose'],
  ['an expiry', { purpose: 'batch', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '5' }, 'expires'],
])('refuses %s', async (_, fields, param) => {
  const { status, json } = await upload(line('a', { input: 'a' }), fields);
  expect([status, json.error.param]).toEqual([400, expect.stringContaining(param)]);
});
