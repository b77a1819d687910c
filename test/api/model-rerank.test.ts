/** Reranking over HTTP, in three formats. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeEmbedder, fakeReranker, fakeRerankRow, fakeRow } from '#models/embed/embed.suite.ts';
import { startModelHost, type TestModelHost } from '../support/model-host.ts';

let host: TestModelHost;
beforeAll(async () => {
  host = await startModelHost({
    rows: [fakeRow('dense'), fakeRerankRow('ranker', { hub: 'makers/ranker-en' })],
    aliases: { 'jina-reranker-v2-base-multilingual': 'ranker' },
    opening: { embedder: (row) => fakeEmbedder(row), reranker: (row) => fakeReranker(row) },
  });
});
afterAll(() => host.close());

const documents = ['The river crosses', 'nothing', 'safe tap water', { text: 'tap water', page: 7 }, 'tap', ''];
const rerank = (body: Record<string, unknown>) =>
  host.post('/v1/rerank', { model: 'ranker', query: 'safe tap water', documents, ...body });
const order = async (body: Record<string, unknown>) =>
  (await rerank(body)).body.results.map(({ index }: { index: number }) => index);

describe('the answer', () => {
  it('is sorted best first, equal scores in the order of the request, with documents as objects', async () => {
    const { status, body } = await rerank({});
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['model', 'object', 'usage', 'results']);
    expect(body).toMatchObject({ model: 'ranker', object: 'list' });
    expect(body.results).toEqual([
      { index: 2, relevance_score: 1, document: { text: 'safe tap water' } },
      { index: 3, relevance_score: 0.66666669, document: { text: 'tap water', page: 7 } },
      { index: 4, relevance_score: 0.33333334, document: { text: 'tap' } },
      { index: 0, relevance_score: 0, document: { text: 'The river crosses' } },
      { index: 1, relevance_score: 0, document: { text: 'nothing' } },
      { index: 5, relevance_score: 0, document: { text: '' } },
    ]);
    const words = 3 + 1 + 3 + 2 + 1;
    expect(body.usage).toEqual({ total_tokens: 6 * (3 + 2) + words + 6 * 2 });
  });

  it('has the requested length', async () => {
    expect(await order({ top_n: 2 })).toEqual([2, 3]);
    expect(await order({ top_k: 1 })).toEqual([2]);
    expect(await order({ top_n: 99 })).toHaveLength(6);
    expect(await order({ top_n: null })).toHaveLength(6);
  });

  it('has documents only if requested', async () => {
    const { body } = await rerank({ return_documents: false });
    expect(body.results.every((result: object) => !('document' in result))).toBe(true);
    expect((await rerank({ return_documents: null })).body.results[0].document).toBeDefined();
  });

  it('names the id that was requested, without organization', async () => {
    for (const [model, shown] of [
      ['ranker', 'ranker'],
      ['makers/ranker-en', 'ranker'],
      ['jinaai/jina-reranker-v2-base-multilingual', 'jina-reranker-v2-base-multilingual'],
    ]) {
      expect((await rerank({ model })).body.model, model).toBe(shown);
    }
  });

  it('accepts query and documents as objects, and ignores unknown fields', async () => {
    const asked = {
      query: { text: 'tap' },
      rank_fields: ['text'],
      max_chunks_per_doc: 3,
      priority: 1,
      max_tokens_per_doc: 100,
    };
    expect((await order(asked)).slice(0, 3)).toEqual([2, 3, 4]);
  });

  it('is the score of the best part of a long document', async () => {
    const long = `${'far off '.repeat(20)}safe tap water`;
    const { body } = await rerank({ documents: ['tap', long] });
    expect(body.results[0]).toMatchObject({ index: 1, relevance_score: 1 });
    const { status, body: refused } = await rerank({ documents: ['tap', long], truncation: false });
    expect([status, refused.code]).toEqual([400, 'INPUT_TOKEN_LIMIT_EXCEEDED']);
    expect(refused.detail).toBe('Input text exceeds the model maximum of 16 tokens: the query with document 1 has 50');
  });

  it('may have 2,048 documents', async () => {
    const many = Array.from({ length: 2_048 }, (_, index) => (index === 1_500 ? 'safe tap water' : `text ${index}`));
    const { status, body } = await rerank({ documents: many, return_documents: false });
    expect(status).toBe(200);
    expect(body.results).toHaveLength(2_048);
    expect(body.results[0].index).toBe(1_500);
    expect(body.results[1].index).toBe(0);
  });
});

describe('an invalid request', () => {
  it.each([
    [{ query: undefined }, 'body -> query', 'missing', undefined],
    [{ query: '' }, 'body -> query', 'too_short', ''],
    [{ query: 5 }, 'body -> query', 'string_type', 5],
    [{ query: { image: 'https://example.test/a.png' } }, 'body -> query', 'value_error', undefined],
    [{ documents: undefined }, 'body -> documents', 'missing', undefined],
    [{ documents: [] }, 'body -> documents', 'too_short', []],
    [{ documents: 'one' }, 'body -> documents', 'list_type', 'one'],
    [{ documents: ['a', 5] }, 'body -> documents -> 1', 'string_type', 5],
    [{ documents: [{ image: 'x' }] }, 'body -> documents -> 0', 'value_error', undefined],
    [{ documents: [{ bytes: 'x' }] }, 'body -> documents -> 0', 'value_error', undefined],
    [{ documents: [{ page: 1 }] }, 'body -> documents -> 0 -> text', 'missing', { page: 1 }],
    [{ top_n: 0 }, 'body -> top_n', 'greater_than_equal', 0],
    [{ top_n: '3' }, 'body -> top_n', 'int_type', '3'],
    [{ return_documents: 'no' }, 'body -> return_documents', 'bool_type', 'no'],
    [{ max_doc_length: 9_000 }, 'body -> max_doc_length', 'less_than_equal', 9_000],
    [{ return_embeddings: true }, 'body -> return_embeddings', 'value_error', true],
  ])('%j', async (change, field, type, input) => {
    const { status, body } = await rerank(change);
    expect(status).toBe(422);
    expect(body.errors).toHaveLength(1);
    expect([body.errors[0].field, body.errors[0].type, body.errors[0].input]).toEqual([field, type, input]);
    expect(body.detail).toBe(`Validation error: '${field}' ${body.errors[0].message}`);
  });

  it('contains an image, for a model without image input', async () => {
    const { body } = await rerank({ documents: ['a', { image: 'x' }] });
    expect(body.errors[0].message).toBe('must be text: this model does not read images');
  });

  it('has too many documents', async () => {
    const { status, body } = await rerank({ documents: new Array(2_049).fill('a') });
    expect([status, body.errors[0].type]).toEqual([422, 'too_long']);
    expect(body.errors[0].input).toHaveLength(10);
  });

  it('names a model for another task', async () => {
    const { status, body } = await rerank({ model: 'dense' });
    expect([status, body.code]).toEqual([400, 'INPUT_MODEL_NOT_FOUND']);
    expect(body.detail).toBe(
      'Model dense not found. Available for /v1/rerank: ranker, jina-reranker-v2-base-multilingual',
    );
  });
});

describe('other request formats', () => {
  it('of Cohere', async () => {
    const { status, body } = await host.post('/v2/rerank', {
      model: 'ranker',
      query: 'tap water',
      documents: ['none', 'tap water'],
      top_n: 1,
      max_tokens_per_doc: 4_096,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      results: [{ index: 1, relevance_score: 1 }],
      meta: { api_version: { version: '2' }, billed_units: { search_units: 1 }, tokens: { input_tokens: 15 } },
    });
  });

  it('of TEI', async () => {
    const asked = { query: 'tap water', texts: ['none', 'tap water'] };
    expect((await host.post('/rerank', asked)).body).toEqual([
      { index: 1, score: 1 },
      { index: 0, score: 0 },
    ]);
    expect((await host.post('/rerank', { ...asked, return_text: true, truncate: true })).body[0]).toEqual({
      index: 1,
      score: 1,
      text: 'tap water',
    });
  });

  it('its own, at the path of TEI', async () => {
    const { body } = await host.post('/rerank', { model: 'ranker', query: 'tap', documents: ['tap'] });
    expect(body.results).toEqual([{ index: 0, relevance_score: 1, document: { text: 'tap' } }]);
    expect((await host.post('/rerank', { query: 'tap', documents: ['tap'] })).status).toBe(422);
  });
});
