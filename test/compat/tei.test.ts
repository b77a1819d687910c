/** The dialect of Text Embeddings Inference, through the whole server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VOCABULARY } from '#models/onnx/test-model.suite.ts';
import {
  BERT,
  BERT_REPOSITORY,
  EMBEDDER,
  type Json,
  type ModelServer,
  RERANKER,
  SPARSE,
  startModelServer,
} from './model-server.ts';

const TEXTS = ['The river crosses four districts.', 'Tap water in the city is safe to drink.'];
const LONG = 'water '.repeat(200);

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

describe('embed', () => {
  it('returns a list of vectors without an envelope, for one text too', async () => {
    const several = await server.post('/embed', { inputs: TEXTS });
    expect(several.status).toBe(200);
    expect(several.json).toEqual(await server.native(TEXTS));
    expect(several.headers.get('x-served-model')).toBe(EMBEDDER);
    expect(Number(several.headers.get('x-compute-tokens'))).toBeGreaterThan(5);
    expect((await server.post('/embed', { inputs: TEXTS[0] })).json).toEqual([several.json[0]]);
  });

  it('answers at / as clients of inference endpoints call it', async () => {
    const [vector] = await server.native(TEXTS[0], { dimensions: 128 });
    expect((await server.post('/', { inputs: TEXTS[0], dimensions: 128 })).json).toEqual([vector]);
    expect((await server.post('/for/tei/', { inputs: TEXTS[0], dimensions: 128 })).json).toEqual([vector]);
  });

  it('uses the model of the URL, also with its organization', async () => {
    const expected = await server.native(TEXTS, { model: BERT });
    for (const name of [BERT, BERT_REPOSITORY]) {
      expect((await server.post(`/for/tei/${name}/embed`, { inputs: TEXTS })).json).toEqual(expected);
    }
    expect((await server.post('/for/tei/unknown-model/embed', { inputs: 'a' })).status).toBe(404);
  });

  it('takes the token ids of the model', async () => {
    const { json } = await server.post(`/for/tei/${BERT}/tokenize`, { inputs: 'the water is safe' });
    const ids = json[0].map(({ id }: { id: number }) => id);
    const { json: vectors } = await server.post(`/for/tei/${BERT}/embed`, { inputs: [ids] });
    expect(vectors).toEqual(await server.native('the water is safe', { model: BERT }));
  });

  it('truncates only if asked', async () => {
    const refused = await server.post(`/for/tei/${BERT}/embed`, { inputs: LONG });
    expect([refused.status, refused.json.error_type]).toEqual([422, 'Validation']);
    expect((await server.post(`/for/tei/${BERT}/embed`, { inputs: LONG, truncate: true })).status).toBe(200);
  });

  it('returns a vector for each token', async () => {
    const { json } = await server.post(`/for/tei/${BERT}/embed_all`, { inputs: ['the water', 'the'] });
    const shape = json.map((rows: number[][]) => [rows.length, rows[0]!.length]);
    expect(shape).toEqual([
      [4, 32],
      [3, 32],
    ]);
  });

  it('returns the weights of a sparse model by the ids of its pieces', async () => {
    const { status, json } = await server.post(`/for/tei/${SPARSE}/embed_sparse`, { inputs: ['the water', 'zoo'] });
    const { json: native } = await server.post('/v1/embeddings', { model: SPARSE, input: ['the water', 'zoo'] });
    expect([status, json.length]).toEqual([200, 2]);
    for (const [at, { embedding }] of native.data.entries()) {
      const byId = json[at].map(({ index, value }: Json) => [VOCABULARY[index], value]);
      expect(byId.length).toBeGreaterThan(0);
      expect(Object.fromEntries(byId)).toEqual(embedding);
    }
  });

  it('refuses sparse vectors of a model that has none', async () => {
    const { status, json } = await server.post('/embed_sparse', { inputs: 'a' });
    expect([status, json.error_type]).toEqual([424, 'Backend']);
  });
});

describe('rerank', () => {
  it('ranks, best first', async () => {
    const { json } = await server.post('/rerank', { query: 'Is tap water safe?', texts: TEXTS, return_text: true });
    expect(json.map(({ index, text }: { index: number; text: string }) => [index, text])).toEqual([
      [1, TEXTS[1]],
      [0, TEXTS[0]],
    ]);
    const raw = await server.post('/rerank', { query: 'Is tap water safe?', texts: TEXTS, raw_scores: true });
    const logistic = (score: number) => 1 / (1 + Math.exp(-score));
    for (const [at, { score }] of raw.json.entries()) expect(logistic(score)).toBeCloseTo(json[at].score, 6);
  });

  it('predicts one pair, and a list of pairs', async () => {
    const pairs = [
      ['tap water', TEXTS[0]],
      ['tap water', TEXTS[1]],
      ['river', TEXTS[0]],
    ];
    const { json } = await server.post(`/for/tei/${RERANKER}/predict`, { inputs: pairs });
    expect(json).toHaveLength(3);
    expect(json[1][0].score).toBeGreaterThan(json[0][0].score);
    const one = await server.post('/predict', { inputs: pairs[2] });
    expect(one.json).toEqual([{ score: json[2][0].score, label: 'LABEL_0' }]);
    expect((await server.post('/predict', { inputs: ['a'] })).status).toBe(422);
  });

  it('compares sentences', async () => {
    const inputs = { source_sentence: TEXTS[0], sentences: [TEXTS[0], TEXTS[1]] };
    const { json } = await server.post('/similarity', { inputs });
    expect(json[0]).toBeCloseTo(1, 5);
    expect(json[1]).toBeLessThan(0.9);
  });
});

describe('tokens', () => {
  it('tokenizes, with special tokens by default', async () => {
    const { json } = await server.post(`/for/tei/${BERT}/tokenize`, { inputs: ['the zoo'] });
    const brief = json[0].map(({ text, special }: { text: string; special: boolean }) => [text, special]);
    expect(brief).toEqual([
      ['[CLS]', true],
      ['the', false],
      ['zoo', false],
      ['[SEP]', true],
    ]);
    const bare = await server.post(`/for/tei/${BERT}/tokenize`, { inputs: 'the zoo', add_special_tokens: false });
    expect(bare.json[0]).toHaveLength(2);
  });

  it('decodes what it tokenized', async () => {
    for (const model of [BERT, EMBEDDER]) {
      const { json } = await server.post(`/for/tei/${model}/tokenize`, { inputs: 'the water is safe' });
      const ids = json[0].map(({ id }: { id: number }) => id);
      expect((await server.post(`/for/tei/${model}/decode`, { ids })).json).toEqual(['the water is safe']);
    }
    const unknown = await server.post(`/for/tei/${BERT}/decode`, { ids: [1, 99_999] });
    expect([unknown.status, unknown.json.error]).toEqual([422, expect.stringMatching(/^ids .*vocabulary/)]);
  });
});

describe('info', () => {
  it('describes the model without a key', async () => {
    const info = async (path: string) => (await (await fetch(`${server.urls.compat}${path}/info`)).json()) as Json;
    expect(await info('')).toMatchObject({ model_id: EMBEDDER, model_type: { embedding: { pooling: 'mean' } } });
    const reranker = await info(`/for/tei/${RERANKER}`);
    expect(Object.keys(reranker.model_type)).toEqual(['reranker']);
    expect(await info(`/for/tei/tests/encoder`)).toMatchObject({ model_id: 'tests/encoder', max_input_length: 64 });
    expect((await fetch(`${server.urls.compat}/for/tei/${BERT}/health`)).status).toBe(200);
  });
});

it('answers OpenAI’s format without a model, with errors of that format', async () => {
  const { json } = await server.post('/v1/embeddings', { input: TEXTS });
  expect(json).toMatchObject({ object: 'list', model: EMBEDDER });
  expect(json.data[0].embedding).toEqual((await server.native(TEXTS))[0]);
  const failed = await server.post('/v1/embeddings', { input: [] });
  expect(failed.json).toEqual({ message: expect.stringMatching(/^input /), code: 422, type: 'Validation' });
});

it.each<[string, unknown, number, string, RegExp]>([
  ['/embed', {}, 422, 'Validation', /^inputs is required/],
  ['/embed', { inputs: [] }, 400, 'Empty', /^inputs /],
  ['/embed', { inputs: ['a', { b: 1 }] }, 422, 'Validation', /^inputs\.1/],
  ['/embed', { inputs: 'a', dimensions: 5_000 }, 422, 'Validation', /^dimensions /],
  ['/embed', { inputs: 'a', truncate: true, truncation_direction: 'Left' }, 422, 'Validation', /^truncation_direction/],
  ['/embed', { inputs: 'a', prompt_name: 'poem' }, 422, 'Validation', /^prompt_name/],
  ['/rerank', { query: 'a', texts: [] }, 422, 'Validation', /^texts /],
  ['/rerank', { query: 'a', texts: ['b', 3] }, 422, 'Validation', /^texts\.1/],
  ['/similarity', { inputs: { source_sentence: 'a', sentences: [] } }, 422, 'Validation', /^inputs\.sentences/],
  ['/tokenize', { inputs: 3 }, 422, 'Validation', /^inputs /],
  ['/embed', '{"inputs":', 422, 'Validation', /JSON/],
  ['/for/tei/no/such/path', {}, 404, 'Validation', /./],
])('%s %j: %i', async (path, body, status, type, message) => {
  const answer = await server.post(path, body);
  expect([answer.status, answer.json]).toEqual([status, { error: expect.stringMatching(message), error_type: type }]);
});

it('needs a key, as the model host does', async () => {
  expect((await server.post('/embed', { inputs: 'a' }, {})).status).toBe(401);
  expect((await server.post('/embed', { inputs: 'a' }, { authorization: 'Bearer wrong' })).status).toBe(401);
});
