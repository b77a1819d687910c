/** The dialect of Voyage, through the whole server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BERT, EMBEDDER, type ModelServer, RERANKER, startModelServer } from './model-server.ts';

const TEXTS = ['The river crosses four districts.', 'Tap water in the city is safe to drink.'];
const MODEL = 'voyage-3.5';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer({ modelAliases: { [MODEL]: EMBEDDER, 'voyage-small': BERT } });
});
afterAll(() => server.close());

it('embeds at the root for its model names, and truncates by default', async () => {
  const { json } = await server.post('/v1/embeddings', { model: MODEL, input: TEXTS, input_type: 'query' });
  expect(json).toMatchObject({ object: 'list', model: MODEL, usage: { total_tokens: expect.any(Number) } });
  const vectors = await server.native(TEXTS);
  expect(json.data).toEqual(vectors.map((embedding, index) => ({ object: 'embedding', embedding, index })));
  const long = { model: 'voyage-small', input: 'water '.repeat(200) };
  expect((await server.post('/v1/embeddings', long)).status).toBe(200);
  expect((await server.post('/v1/embeddings', { ...long, truncation: false })).status).toBe(400);
});

it('encodes vectors', async () => {
  const embed = async (fields: object) =>
    (
      await server.post('/for/voyage/v1/embeddings', {
        model: MODEL,
        input: TEXTS[0],
        output_dimension: 128,
        ...fields,
      })
    ).json.data[0].embedding;
  const [vector] = await server.native(TEXTS[0], { dimensions: 128 });
  expect(await embed({})).toEqual(vector);
  expect(await embed({ output_dtype: 'int8' })).toEqual(vector!.map((value) => Math.round(value * 127) || 0));
  const bytes = Buffer.from(await embed({ encoding_format: 'base64' }), 'base64');
  expect(bytes).toHaveLength(128 * 4);
});

it('takes multimodal inputs of text', async () => {
  const inputs = TEXTS.map((text) => ({ content: [{ type: 'text', text }] }));
  const { json } = await server.post('/v1/multimodalembeddings', { model: MODEL, inputs });
  expect(json.data.map(({ embedding }: { embedding: number[] }) => embedding)).toEqual(await server.native(TEXTS));
});

it('ranks in its own format, apart from others at the same path', async () => {
  const body = { query: 'Is tap water safe?', documents: TEXTS };
  const own = await server.post('/v1/rerank', { ...body, model: 'rerank-2.5', top_k: 1, return_documents: true });
  expect(own.json).toMatchObject({ object: 'list', model: 'rerank-2.5', usage: { total_tokens: expect.any(Number) } });
  expect(own.json.data).toEqual([{ index: 1, relevance_score: expect.any(Number), document: TEXTS[1] }]);
  const others = await server.post('/v1/rerank', { ...body, model: RERANKER, top_n: 1 });
  expect(others.json.results[0]).toMatchObject({ index: 1, document: { text: TEXTS[1] } });
  const cohere = await server.post('/v1/rerank', { ...body, model: 'rerank-english-v3.0' });
  expect(Object.keys(cohere.json)).toEqual(['id', 'results', 'meta']);
});

it.each<[string, unknown, number, RegExp]>([
  ['/v1/embeddings', { model: MODEL }, 400, /^input is required/],
  ['/v1/embeddings', { model: MODEL, input: ['a', 1] }, 400, /^input\.1/],
  ['/v1/embeddings', { model: MODEL, input: 'a', output_dtype: 'half' }, 400, /^output_dtype/],
  ['/v1/embeddings', { model: MODEL, input: 'a', output_dimension: 5_000 }, 400, /^output_dimension/],
  ['/v1/embeddings', { model: MODEL, input: 'a', output_dtype: 'int8', encoding_format: 'base64' }, 400, /^encoding_/],
  ['/v1/embeddings', { model: 'voyage-none', input: 'a' }, 400, /^Model voyage-none not found/],
  ['/v1/multimodalembeddings', { model: MODEL, inputs: [{ content: [] }] }, 400, /^inputs\.0\.content/],
  [
    '/v1/multimodalembeddings',
    { model: MODEL, inputs: [{ content: [{ type: 'image_base64', image_base64: 'data:image/png;base64,AA==' }] }] },
    400,
    /^inputs\.0/,
  ],
  ['/v1/rerank', { model: 'rerank-2', query: 'a', documents: [] }, 400, /^documents/],
  ['/v1/rerank', { model: 'rerank-2', query: 'a', documents: ['b'], top_k: 0 }, 400, /^top_k/],
])('%s %j: %i', async (path, body, status, message) => {
  const answer = await server.post(path, body);
  expect([answer.status, answer.json]).toEqual([status, { detail: expect.stringMatching(message) }]);
});
