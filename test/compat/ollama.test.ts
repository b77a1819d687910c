/** The dialect of Ollama, through the whole server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BERT, EMBEDDER, type ModelServer, RERANKER, startModelServer } from './model-server.ts';

const TEXTS = ['The river crosses four districts.', 'Tap water in the city is safe to drink.'];

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer({ compatKeyless: 'ollama' });
});
afterAll(() => server.close());

it('embeds, with and without a tag', async () => {
  const { status, json, headers } = await server.post('/api/embed', {
    model: `${EMBEDDER}:latest`,
    input: TEXTS,
    keep_alive: '5m',
  });
  expect(status).toBe(200);
  expect(json.embeddings).toEqual(await server.native(TEXTS));
  expect(json).toMatchObject({ model: `${EMBEDDER}:latest`, load_duration: 0 });
  expect([json.total_duration > 0, json.prompt_eval_count > 5]).toEqual([true, true]);
  expect(headers.get('x-lectern-ignored')).toBe('keep_alive');
  const short = await server.post('/api/embed', { model: EMBEDDER, input: TEXTS[0], dimensions: 128 });
  expect(short.json.embeddings).toEqual(await server.native(TEXTS[0], { dimensions: 128 }));
  expect((await server.post('/api/embed', { model: EMBEDDER, input: [] })).json.embeddings).toEqual([]);
});

it('answers the older endpoint', async () => {
  const { json } = await server.post('/api/embeddings', { model: EMBEDDER, prompt: TEXTS[0] });
  expect([json.embedding]).toEqual(await server.native(TEXTS[0]));
  expect((await server.post('/api/embeddings', { model: EMBEDDER })).json).toEqual({ embedding: [] });
});

it('truncates unless told not to', async () => {
  const input = 'water '.repeat(200);
  expect((await server.post('/api/embed', { model: BERT, input })).status).toBe(200);
  const { status, json } = await server.post('/api/embed', { model: BERT, input, truncate: false });
  expect([status, json]).toEqual([400, { error: expect.stringMatching(/exceeds/) }]);
});

it('admits callers of this machine without a key, and placeholders', async () => {
  const body = { model: EMBEDDER, input: 'a' };
  expect((await server.post('/api/embed', body, {})).status).toBe(200);
  expect((await server.post('/api/embed', body, { authorization: 'Bearer ollama' })).status).toBe(200);
  expect((await server.post('/api/embed', body, { authorization: 'Bearer wrong' })).status).toBe(401);
});

it('lists and describes embedding models only', async () => {
  const { models } = (await server.get('/api/tags')).json;
  const names = models.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining([`${EMBEDDER}:latest`, `${BERT}:latest`]));
  expect(names).not.toContain(`${RERANKER}:latest`);
  expect(models[0].digest).toMatch(/^[0-9a-f]{64}$/);
  const { json } = await server.post('/api/show', { name: 'tests/encoder' });
  expect(json.capabilities).toEqual(['embedding']);
  expect(json.model_info).toMatchObject({ 'lectern.context_length': 64, 'lectern.embedding_length': 32 });
  const loaded = (await server.get('/api/ps')).json.models;
  expect(loaded.map(({ name }: { name: string }) => name)).toContain(`${EMBEDDER}:latest`);
});

it('answers probes', async () => {
  expect((await server.get('/api/version')).json.version).toMatch(/^0\.\d+\.\d+/);
  for (const path of ['/', '/api/version', '/api/tags']) {
    expect((await fetch(server.urls.compat + path, { method: 'HEAD' })).status).toBe(200);
  }
  const pulled = await server.post('/api/pull', { model: EMBEDDER });
  expect(pulled.json).toEqual({ status: 'success' });
});

it.each<[string, unknown, number, RegExp]>([
  ['/api/embed', { model: EMBEDDER }, 400, /^input is required/],
  ['/api/embed', { input: 'a' }, 400, /^model /],
  ['/api/embed', { model: EMBEDDER, input: ['a', 3] }, 400, /^input\.1/],
  ['/api/embed', { model: 'nomic-embed-text', input: 'a' }, 404, /^model "nomic-embed-text" not found/],
  ['/api/embed', { model: RERANKER, input: 'a' }, 404, /not found/],
  ['/api/embeddings', { model: 'none', prompt: '' }, 404, /not found/],
  ['/api/embeddings', { model: EMBEDDER, prompt: 7 }, 400, /^prompt /],
  ['/api/show', {}, 400, /^model is required/],
  ['/api/pull', { model: 'llama3' }, 404, /not found/],
  ['/api/chat', { model: EMBEDDER, messages: [] }, 404, /serves embeddings/],
])('%s %j: %i', async (path, body, status, message) => {
  const answer = await server.post(path, body);
  expect([answer.status, answer.json]).toEqual([status, { error: expect.stringMatching(message) }]);
});
