/** The dialects of vLLM and of Gemini, through the whole server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BERT, EMBEDDER, type ModelServer, RERANKER, startModelServer } from './model-server.ts';

const TEXTS = ['The river crosses four districts.', 'Tap water in the city is safe to drink.'];

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

describe('vLLM', () => {
  it('scores one text with many, and lists pair by pair', async () => {
    const scores = async (body: object) =>
      (await server.post('/score', { model: RERANKER, ...body })).json.data.map(
        ({ score }: { score: number }) => score,
      );
    const [river, water] = await scores({ text_1: 'Is tap water safe?', text_2: TEXTS });
    expect(water).toBeGreaterThan(river);
    expect(await scores({ queries: ['Is tap water safe?', 'river'], documents: TEXTS })).toEqual([
      river,
      (await scores({ text_1: 'river', text_2: TEXTS[1] }))[0],
    ]);
    const { json } = await server.post('/v1/score', { data_1: 'river', data_2: TEXTS[0] });
    expect(json).toMatchObject({ object: 'list', model: RERANKER, data: [{ index: 0, object: 'score' }] });
    expect(json.usage.total_tokens).toBeGreaterThan(0);
  });

  it('ranks, and returns all documents for top_n 0', async () => {
    const { json } = await server.post('/rerank', { query: 'Is tap water safe?', documents: TEXTS, top_n: 0 });
    expect(json.results).toEqual([
      { index: 1, relevance_score: expect.any(Number), document: { text: TEXTS[1] } },
      { index: 0, relevance_score: expect.any(Number), document: { text: TEXTS[0] } },
    ]);
  });

  it('pools, tokenizes and detokenizes', async () => {
    const { json } = await server.post('/pooling', { model: EMBEDDER, input: TEXTS });
    expect(json.data.map(({ data }: { data: number[] }) => data)).toEqual(await server.native(TEXTS));
    const tokenized = await server.post('/tokenize', { model: BERT, prompt: 'the water', return_token_strs: true });
    expect(tokenized.json).toMatchObject({
      count: 4,
      max_model_len: 64,
      token_strs: ['[CLS]', 'the', 'water', '[SEP]'],
    });
    const { tokens } = tokenized.json;
    expect((await server.post('/detokenize', { model: BERT, tokens })).json).toEqual({ prompt: 'the water' });
  });

  it.each<[string, unknown, number, string | null]>([
    ['/score', { text_1: 'a' }, 400, 'text_2'],
    ['/score', { text_1: ['a', 'b'], text_2: ['c'] }, 400, 'text_2'],
    ['/score', { queries: 'a', documents: ['b', 3] }, 400, 'documents.1'],
    ['/rerank', { query: 'a' }, 400, 'documents'],
    ['/v1/rerank', { query: 'a', documents: ['b'], return_embeddings: true }, 400, 'return_embeddings'],
    ['/pooling', {}, 400, 'input'],
    ['/tokenize', { prompt: 1 }, 400, 'prompt'],
    ['/detokenize', { model: BERT, tokens: [99_999] }, 400, 'tokens'],
    ['/score', { model: 'none', text_1: 'a', text_2: 'b' }, 404, null],
  ])('%s %j: %i', async (path, body, status, param) => {
    const answer = await server.post(path, body);
    expect([answer.status, answer.json.error.param]).toEqual([status, param]);
  });
});

describe('Gemini', () => {
  const content = (text: string) => ({ parts: [{ text }] });
  const post = (method: string, body: unknown, headers: Record<string, string> = { 'x-goog-api-key': server.key }) =>
    server.post(`/v1beta/models/${method}`, body, headers);

  it('embeds one content, and several', async () => {
    const one = await post(`${EMBEDDER}:embedContent`, { content: content(TEXTS[0]!), taskType: 'RETRIEVAL_QUERY' });
    expect([one.json.embedding.values]).toEqual(await server.native(TEXTS[0]));
    const requests = [
      { model: `models/${EMBEDDER}`, content: content(TEXTS[0]!), outputDimensionality: 128 },
      { model: `models/${EMBEDDER}`, content: content(TEXTS[1]!) },
    ];
    const several = await post(`${EMBEDDER}:batchEmbedContents?key=${server.key}`, { requests }, {});
    expect(several.json.embeddings.map(({ values }: { values: number[] }) => values)).toEqual([
      ...(await server.native(TEXTS[0], { dimensions: 128 })),
      ...(await server.native(TEXTS[1])),
    ]);
    const { models } = (await server.get('/v1beta/models')).json;
    expect(models.map(({ name }: { name: string }) => name)).toContain(`models/${EMBEDDER}`);
  });

  it.each<[string, unknown, number, RegExp]>([
    [`${EMBEDDER}:embedContent`, {}, 400, /^content /],
    [`${EMBEDDER}:embedContent`, { content: content('a'), outputDimensionality: 5_000 }, 400, /^outputDimensionality/],
    [`${EMBEDDER}:embedContent`, { content: content('a'), taskType: 'POEM' }, 400, /^taskType/],
    ['gemini-none:embedContent', { content: content('a') }, 404, /not found/],
    [`${EMBEDDER}:generateContent`, {}, 404, /embedContent/],
  ])('%s %j: %i', async (method, body, code, message) => {
    const answer = await post(method, body);
    expect([answer.status, answer.json]).toEqual([
      code,
      { error: { code, message: expect.stringMatching(message), status: expect.stringMatching(/^[A-Z_]+$/) } },
    ]);
  });
});
