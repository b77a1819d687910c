/** The dialect of Cohere, through the whole server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BERT, EMBEDDER, type ModelServer, RERANKER, startModelServer } from './model-server.ts';

const TEXTS = ['The river crosses four districts.', 'Tap water in the city is safe to drink.'];
const MODEL = 'embed-v4.0';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

it('embeds by type in version 2', async () => {
  const { status, json } = await server.post('/v2/embed', { model: MODEL, texts: TEXTS, input_type: 'search_query' });
  expect(status).toBe(200);
  expect(json.embeddings).toEqual({ float: await server.native(TEXTS) });
  expect(json).toMatchObject({ texts: TEXTS, response_type: 'embeddings_by_type' });
  expect(json.meta).toEqual({ api_version: { version: '2' }, billed_units: { input_tokens: expect.any(Number) } });
});

it('embeds as a bare list in version 1, unless types are asked for', async () => {
  const { json } = await server.post('/v1/embed', { model: MODEL, texts: TEXTS, max_tokens: 5 });
  expect([json.embeddings, json.response_type]).toEqual([await server.native(TEXTS), 'embeddings_floats']);
  expect(json.meta.warnings).toEqual([expect.stringMatching(/^max_tokens /)]);
  const typed = await server.post('/v1/embed', { model: MODEL, texts: TEXTS, embedding_types: ['float'] });
  expect([Object.keys(typed.json.embeddings), typed.json.response_type]).toEqual([['float'], 'embeddings_by_type']);
});

it('encodes vectors in each type', async () => {
  const embedding_types = ['float', 'int8', 'uint8', 'binary', 'ubinary', 'base64'];
  const body = { model: MODEL, texts: TEXTS, embedding_types, output_dimension: 128 };
  const { float, int8, uint8, binary, ubinary, base64 } = (await server.post('/v2/embed', body)).json.embeddings;
  const [vector] = await server.native(TEXTS, { dimensions: 128 });
  expect(float[0]).toEqual(vector);
  expect(int8[0]).toEqual(vector!.map((value) => Math.round(value * 127) || 0));
  expect(uint8[0]).toEqual(int8[0].map((value: number) => value + 128));
  const bits = vector!.map((value) => (value > 0 ? '1' : '0')).join('');
  expect(ubinary[0]).toEqual(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
  expect(binary[0]).toEqual(ubinary[0].map((byte: number) => byte - 128));
  const bytes = Buffer.from(base64[0], 'base64');
  expect([...new Float32Array(bytes.buffer, bytes.byteOffset, 128)]).toEqual([...Float32Array.from(vector!)]);
});

it('takes inputs of one part', async () => {
  const inputs = TEXTS.map((text) => ({ content: [{ type: 'text', text }] }));
  const { json } = await server.post('/v2/embed', { model: MODEL, inputs });
  expect(json.embeddings.float).toEqual(await server.native(TEXTS));
});

it('truncates at the end by default', async () => {
  const texts = ['water '.repeat(200)];
  expect((await server.post('/v2/embed', { model: BERT, texts })).status).toBe(200);
  expect((await server.post('/v2/embed', { model: BERT, texts, truncate: 'NONE' })).status).toBe(400);
});

it('ranks in both versions', async () => {
  const query = 'Is tap water safe?';
  const second = await server.post('/v2/rerank', { model: 'rerank-v3.5', query, documents: TEXTS, top_n: 1 });
  expect(second.json.results).toEqual([{ index: 1, relevance_score: expect.any(Number) }]);
  expect(second.json.meta).toMatchObject({ api_version: { version: '2' }, billed_units: { search_units: 1 } });
  const documents = TEXTS.map((body, at) => ({ title: `Number ${at}`, body }));
  const first = await server.post('/v1/rerank', {
    model: RERANKER,
    query,
    documents,
    rank_fields: ['title', 'body'],
    return_documents: true,
  });
  expect(first.json.results[0]).toMatchObject({ index: 1, document: documents[1] });
});

it('tokenizes, checks keys and lists models', async () => {
  const { json } = await server.post('/for/cohere/v1/tokenize', { model: BERT, text: 'the water' });
  expect(json.token_strings).toEqual(['the', 'water']);
  const back = await server.post('/v1/detokenize', { model: BERT, tokens: json.tokens });
  expect(back.json.text).toBe('the water');
  expect((await server.post('/v1/check-api-key', {})).json.valid).toBe(true);
  const { models } = (await server.get('/v1/models')).json;
  expect(models).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: EMBEDDER, endpoints: ['embed'], context_length: 8_192 })]),
  );
  expect((await server.get(`/for/cohere/v1/models/${RERANKER}`)).json.endpoints).toEqual(['rerank']);
});

it.each<[string, unknown, number, RegExp]>([
  ['/v2/embed', { model: MODEL }, 400, /^texts is required/],
  ['/v2/embed', { model: MODEL, texts: ['a'], images: ['b'] }, 400, /^images cannot be combined/],
  ['/v2/embed', { model: MODEL, texts: ['a', 3] }, 400, /^texts\.1/],
  ['/v2/embed', { model: MODEL, images: ['data:image/png;base64,AA=='] }, 400, /^images\.0/],
  ['/v2/embed', { model: MODEL, texts: ['a'], truncate: 'START' }, 400, /^truncate /],
  ['/v2/embed', { model: MODEL, texts: ['a'], embedding_types: ['half'] }, 400, /^embedding_types\.0/],
  ['/v2/embed', { model: MODEL, texts: ['a'], output_dimension: 5_000 }, 400, /^output_dimension/],
  ['/v2/embed', { model: 'embed-none', texts: ['a'] }, 404, /^Model embed-none not found/],
  ['/v2/rerank', { model: RERANKER, query: 'a', documents: [] }, 400, /^documents/],
  ['/for/cohere/v1/rerank', { model: RERANKER, query: 'a', documents: [{ body: 'b' }] }, 400, /^documents\.0\.text/],
  ['/v2/chat', { model: MODEL }, 404, /chat/],
])('%s %j: %i', async (path, body, status, message) => {
  const answer = await server.post(path, body);
  expect([answer.status, answer.json]).toEqual([
    status,
    { message: expect.stringMatching(message), id: expect.any(String) },
  ]);
});

it('needs a key', async () => {
  expect((await server.post('/v2/embed', { model: MODEL, texts: ['a'] }, {})).status).toBe(401);
});
