/** The dialects of model servers on the model host, beside its own endpoints. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EMBEDDER, type Json, type ModelServer, RERANKER, startModelServer } from './model-server.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const TEXT = 'The river crosses four districts.';

async function call(method: string, path: string, body?: unknown) {
  const answer = await fetch(server.urls.model + path, {
    method,
    headers: {
      authorization: `Bearer ${server.key}`,
      ...(body instanceof FormData ? {} : { 'content-type': 'text/plain' }),
    },
    ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
  });
  return { status: answer.status, allow: answer.headers.get('allow'), json: (await answer.json()) as Json };
}

it('answers the dialects', async () => {
  const [vector] = await server.native(TEXT);
  expect((await call('POST', '/embed', { inputs: TEXT })).json).toEqual([vector]);
  expect((await call('POST', '/', { inputs: TEXT })).json).toEqual([vector]);
  expect((await call('POST', '/api/embed', { model: EMBEDDER, input: TEXT })).json.embeddings).toEqual([vector]);
  expect((await call('POST', '/v2/embed', { model: EMBEDDER, texts: [TEXT] })).json.embeddings.float).toEqual([vector]);
  const score = await call('POST', '/score', { model: RERANKER, text_1: 'river', text_2: TEXT });
  expect(score.json.data[0].score).toBeGreaterThan(0);
  expect(await (await fetch(`${server.urls.model}/`)).text()).toBe('Lectern is running');
});

it('has OpenAI’s files and batches, except the list of batches', async () => {
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([JSON.stringify({ custom_id: 'a', body: { model: EMBEDDER, input: TEXT } })]), 'a.jsonl');
  const { json: file } = await call('POST', '/v1/files', form);
  const asked = { input_file_id: file.id, endpoint: '/v1/embeddings', completion_window: '24h' };
  const { json: batch } = await call('POST', '/v1/batches', asked);
  await expect.poll(async () => (await call('GET', `/v1/batches/${batch.id}`)).json.status).toBe('completed');
  expect((await call('GET', '/v1/batches')).json).toEqual([expect.objectContaining({ batch_id: batch.id })]);
});

it('keeps its own endpoints and errors', async () => {
  const native = await call('POST', '/v1/embeddings', { model: EMBEDDER, input: [] });
  expect([native.status, Object.keys(native.json)]).toEqual([422, ['detail', 'request_id', 'errors']]);
  const prefixed = await call('POST', '/for/openai/v1/embeddings', { model: EMBEDDER, input: [] });
  expect([prefixed.status, prefixed.json.error.param]).toEqual([400, 'input']);
  const tei = await call('POST', '/embed', { inputs: [{}] });
  expect([tei.status, tei.json.error_type]).toEqual([422, 'Validation']);
  const refused = await call('PUT', '/v1/batches');
  expect([refused.status, refused.allow]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
  expect((await call('GET', '/no/such/path')).json.code).toBe('RESOURCE_NOT_FOUND');
});
