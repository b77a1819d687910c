/** Embeddings over HTTP: inputs, fields, vectors and usage (docs/reference/wire/models.md). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeEmbedder, fakeReranker, fakeRerankRow, fakeRow, fakeVector } from '#models/embed/embed.suite.ts';
import { startModelHost, type TestModelHost } from '../support/model-host.ts';

const E5 = { query: 'query: ', passage: 'passage: ', 'text-matching': 'query: ' };
const rows = [
  fakeRow('dense', { hub: 'makers/dense-en', matryoshka: [8, 4, 2], prefixes: E5 }),
  fakeRow('whole', { kind: 'text-v2' }),
  fakeRow('sparse', { kind: 'sparse' }),
  fakeRow('colbert', { kind: 'colbert', matryoshka: [4] }),
  fakeRow('omni', { kind: 'omni-v4', matryoshka: [4] }),
  fakeRow('bag', { kind: 'omni-v4', runs: { on: 'static' } }),
  fakeRerankRow('ranker'),
];

let host: TestModelHost;
let seen: string[] = [];
beforeAll(async () => {
  host = await startModelHost({
    rows,
    aliases: { 'jina-embeddings-v5-text-nano': 'dense', 'text-embedding-3-small': 'makers/dense-en' },
    opening: {
      embedder: (row) => fakeEmbedder(row, { onBatch: (texts) => void seen.push(...texts) }),
      reranker: (row) => fakeReranker(row),
    },
  });
});
afterAll(() => host.close());

const embed = (body: Record<string, unknown>) => host.post('/v1/embeddings', { model: 'dense', ...body });
const vectors = async (body: Record<string, unknown>) =>
  (await embed(body)).body.data.map(({ embedding }: { embedding: unknown }) => embedding);
const unit = (numbers: readonly number[]) => {
  const norm = Math.hypot(...numbers);
  return numbers.map((number) => number / norm);
};
const expectClose = (actual: readonly number[], expected: readonly number[]) => {
  expect(actual).toHaveLength(expected.length);
  for (const [at, number] of expected.entries()) expect(actual[at]).toBeCloseTo(number, 6);
};

describe('the answer', () => {
  it('has vectors in the order of the inputs, and counts', async () => {
    const { status, body, headers } = await embed({ input: ['one', 'two words', { text: 'three' }], user: 'x' });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
    expect(Object.keys(body)).toEqual(['model', 'object', 'usage', 'data']);
    expect(body).toMatchObject({ model: 'dense', object: 'list', usage: { total_tokens: 10, prompt_tokens: 10 } });
    expect(body.data.map(({ index, object }: never) => [index, object])).toEqual([
      [0, 'embedding'],
      [1, 'embedding'],
      [2, 'embedding'],
    ]);
    expectClose(body.data[1].embedding, unit(fakeVector('two words')));
  });

  it('has one vector for one string, and one for an empty one', async () => {
    expect(await vectors({ input: 'text' })).toHaveLength(1);
    expect(await vectors({ input: ['', 'x', ''] })).toHaveLength(3);
    expect(await vectors({ input: { text: '' } })).toHaveLength(1);
  });

  it('names the id that was requested, without organization', async () => {
    for (const [model, shown] of [
      ['dense', 'dense'],
      ['makers/dense-en', 'dense'],
      ['makers/dense', 'dense'],
      ['text-embedding-3-small', 'text-embedding-3-small'],
      ['openai/text-embedding-3-small', 'text-embedding-3-small'],
    ]) {
      expect((await embed({ model, input: 'x' })).body.model, model).toBe(shown);
    }
  });

  it('accepts 2,048 inputs of any length, in order', async () => {
    const input = Array.from({ length: 2_048 }, (_, index) => 'word '.repeat(index % 20).trim());
    const all = await vectors({ input });
    expect(all).toHaveLength(2_048);
    for (const index of [0, 1, 19, 1_000, 2_047]) expectClose(all[index], unit(fakeVector(input[index]!)));
  });
});

describe('numbers', () => {
  const example = { model: 'whole', input: 'example' };

  it('equal the examples of the reference', async () => {
    expectClose(
      (await vectors(example))[0],
      [0.7579367, -0.1684304, 0.3368608, 0.0842152, -0.2526456, 0.421076, -0.0842152, 0.1684304],
    );
    const cut = await vectors({ input: 'example', dimensions: 4 });
    expectClose(cut[0], [0.8911328, -0.1980295, 0.396059, 0.0990148]);
    expectClose((await vectors({ ...example, normalized: false }))[0], fakeVector('example'));
    expectClose((await vectors({ input: 'example', dimensions: 2, normalized: false }))[0], [0.9, -0.2]);
  });

  it.each([
    ['base64', 'JAhCPwR5LL4Eeaw+BHmsPcNagb5Fl9c+BHmsvQR5LD4='],
    ['ubinary', [181]],
    ['binary', [53]],
  ])('are written as %s', async (type, expected) => {
    for (const name of ['embedding_type', 'encoding_format', 'encoding_type', 'output_dtype', 'embedding_types']) {
      expect(await vectors({ ...example, [name]: type }), name).toEqual([expected]);
    }
    expect(await vectors({ ...example, embedding_type: [type, type] })).toEqual([expected]);
  });

  it('are written in several ways at once', async () => {
    const [both] = await vectors({ ...example, embedding_type: ['binary', 'base64', 'binary'] });
    expect(both).toEqual({ binary: [53], base64: 'JAhCPwR5LL4Eeaw+BHmsPcNagb5Fl9c+BHmsvQR5LD4=' });
  });

  it('follow the canonical name if an alias is given too; null means absent', async () => {
    expect(await vectors({ ...example, embedding_type: 'binary', encoding_format: 'base64' })).toEqual([[53]]);
    expect(await vectors({ ...example, embedding_type: null, encoding_format: 'ubinary', dimensions: null })).toEqual([
      [181],
    ]);
    expect(
      await vectors({ model: 'dense', texts: ['example'], output_dimension: 4, embedding_types: ['ubinary'] }),
    ).toEqual([[176]]);
  });
});

describe('tasks', () => {
  const front = async (body: Record<string, unknown>) => {
    seen = [];
    const { status } = await embed({ input: 'x', ...body });
    expect(status).toBe(200);
    return seen[0];
  };

  it('put the model’s own prefix before the text', async () => {
    expect(await front({ task: 'retrieval.query' })).toBe('query: x');
    expect(await front({ task: 'retrieval.passage' })).toBe('passage: x');
    expect(await front({ task: 'classification' })).toBe('query: x');
    expect(await front({ task_type: 'retrieval.passage' })).toBe('passage: x');
    expect(await front({})).toBe('x');
    expect(await front({ task: null })).toBe('x');
  });

  it('can be a side if the model has no tasks', async () => {
    expect(await front({ input_type: 'search_document' })).toBe('passage: x');
    expect(await front({ input_type: 'query' })).toBe('query: x');
    expect(await front({ input_type: 'clustering' })).toBe('x');
    expect(await front({ input_type: 'query', task: 'retrieval.passage' })).toBe('passage: x');
  });

  it('are those of the requested kind of model', async () => {
    const model = 'jina-embeddings-v5-text-nano';
    expect(await front({ model })).toBe('query: x');
    expect(await front({ model, task: 'retrieval' })).toBe('passage: x');
    expect(await front({ model, task: 'clustering' })).toBe('query: x');
    expect((await embed({ model, input: 'x', task: 'separation' })).status).toBe(422);
    expect((await embed({ input: 'x', task: 'clustering' })).body.errors[0]).toMatchObject({ type: 'enum' });
    expect(await front({ model: 'whole', task: 'nonsense' })).toBe('x');
  });
});

describe('length', () => {
  const long = 'word '.repeat(40).trim();

  it('is refused unless the input may be truncated', async () => {
    const { status, body } = await embed({ input: ['short', long] });
    expect(status).toBe(400);
    expect(body).toEqual({
      detail: 'Input text exceeds the model maximum of 32 tokens: input 1 has 42',
      code: 'INPUT_TOKEN_LIMIT_EXCEEDED',
      request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    for (const name of ['truncate', 'truncation']) {
      expect((await embed({ input: long, [name]: true })).body.usage.total_tokens).toBe(32);
    }
  });

  it('counts the prefix', async () => {
    const input = 'word '.repeat(30).trim();
    expect((await embed({ input })).status).toBe(200);
    expect((await embed({ input, task: 'retrieval.query' })).status).toBe(400);
  });
});

describe('late chunking', () => {
  it('reads the inputs as one document, and returns a vector for each', async () => {
    const input = ['Berlin is large.', 'It has a zoo.'];
    const { body } = await embed({ input, late_chunking: true });
    const apart = await vectors({ input });
    expect(body.data).toHaveLength(2);
    expect(body.usage.total_tokens).toBe(9);
    expect(body.data[1].embedding).not.toEqual(apart[1]);
    expectClose(body.data[1].embedding, unit(fakeVector(`in context: ${input[1]}`)));
  });

  it('makes no difference for a single input', async () => {
    expect(await vectors({ input: ['alone'], late_chunking: true })).toEqual(await vectors({ input: ['alone'] }));
  });

  it('requires that all inputs fit, or packs windows', async () => {
    const input = Array.from({ length: 6 }, (_, index) => `some eight words that stand in text ${index}`);
    const { status, body } = await embed({ input, late_chunking: true });
    expect([status, body.code]).toEqual([400, 'INPUT_TOKEN_LIMIT_EXCEEDED']);
    expect(await vectors({ input, late_chunking: true, truncate: true })).toHaveLength(6);
  });
});

describe('other outputs', () => {
  it('a vector for each token', async () => {
    const { body } = await embed({
      model: 'omni',
      input: 'two words',
      return_multivector: true,
      return_tokenized_input: true,
    });
    expect(body.data[0]).toMatchObject({ object: 'embeddings', index: 0, tokenized_input: ['two', 'words'] });
    expect(body.data[0].embedding).toBeUndefined();
    expect(body.data[0].embeddings).toHaveLength(2);
    expectClose(body.data[0].embeddings[0], unit(fakeVector('two')));
    const colbert = await embed({ model: 'colbert', input: ['two words'], dimensions: 4, embedding_type: 'base64' });
    expect(colbert.body.data[0].embeddings.map((text: string) => Buffer.from(text, 'base64').length)).toEqual([16, 16]);
    expect(colbert.body.data[0].tokenized_input).toBeUndefined();
  });

  it('weights of tokens', async () => {
    const { body } = await embed({ model: 'sparse', input: ['a', 'b'] });
    expect(body.usage).toEqual({ input_tokens: 6, output_tokens: 0, total_tokens: 6 });
    expect(body.data[1]).toEqual({ object: 'embedding', index: 1, embedding: { machin: 1.42, learn: 1.11 } });
  });
});

describe('an invalid request', () => {
  const faults = async (body: Record<string, unknown>) => {
    const { status, body: answer } = await embed(body);
    expect(status, JSON.stringify(answer)).toBe(422);
    expect(answer.code).toBeUndefined();
    expect(typeof answer.detail).toBe('string');
    return answer.errors as { field: string; type: string; message: string; input: unknown }[];
  };
  const first = async (body: Record<string, unknown>) => {
    const [{ field, type, input }] = (await faults(body)) as [never];
    return [field, type, input];
  };

  it.each([
    [{}, 'body -> input', 'missing', undefined],
    [{ input: null }, 'body -> input', 'missing', undefined],
    [{ input: [] }, 'body -> input', 'too_short', []],
    [{ input: 5 }, 'body -> input', 'string_type', 5],
    [{ input: [1, 2, 3] }, 'body -> input', 'string_type', [1, 2, 3]],
    [{ input: [[1, 2], [3]] }, 'body -> input', 'string_type', [[1, 2], [3]]],
    [{ input: ['a', null] }, 'body -> input -> 1', 'string_type', null],
    [{ input: ['a', ['b']] }, 'body -> input -> 1', 'string_type', ['b']],
    [{ input: [{ text: 5 }] }, 'body -> input -> 0 -> text', 'string_type', 5],
    [{ input: [{}] }, 'body -> input -> 0 -> text', 'missing', {}],
    [{ texts: [true] }, 'body -> texts -> 0', 'string_type', true],
    [{ input: 'x', dimensions: 0 }, 'body -> dimensions', 'greater_than_equal', 0],
    [{ input: 'x', dimensions: 9 }, 'body -> dimensions', 'less_than_equal', 9],
    [{ input: 'x', output_dimension: 1.5 }, 'body -> output_dimension', 'int_type', 1.5],
    [{ input: 'x', model: 'whole', dimensions: 4 }, 'body -> dimensions', 'value_error', 4],
    [{ input: 'x', truncate: 'yes' }, 'body -> truncate', 'bool_type', 'yes'],
    [{ input: 'x', normalized: 1 }, 'body -> normalized', 'bool_type', 1],
    [{ input: 'x', encoding_format: 'int8' }, 'body -> encoding_format', 'enum', 'int8'],
    [{ input: 'x', embedding_type: [] }, 'body -> embedding_type', 'too_short', []],
    [{ input: 'x', embedding_type: ['float', 3] }, 'body -> embedding_type -> 1', 'enum', 3],
    [{ input: 'x', task: 'retrieval' }, 'body -> task', 'enum', 'retrieval'],
    [{ input: 'x', return_multivector: true }, 'body -> return_multivector', 'value_error', true],
    [{ input: 'x', model: 'bag', return_multivector: true }, 'body -> return_multivector', 'value_error', undefined],
    [{ input: 'x', model: 'whole', late_chunking: true }, 'body -> late_chunking', 'value_error', true],
    [
      { input: 'x', model: 'omni', return_tokenized_input: true },
      'body -> return_tokenized_input',
      'value_error',
      true,
    ],
    [{ input: 'x', model: 'colbert', input_type: 'passage' }, 'body -> input_type', 'enum', 'passage'],
    [{ input: 'x', model: 'omni', return_multivector: true, dimensions: 4 }, 'body -> dimensions', 'value_error', 4],
  ])('%j', async (body, field, type, input) => {
    expect(await first(body)).toEqual([field, type, input]);
  });

  it('is answered with all errors at once', async () => {
    const found = await faults({ input: ['a', 5, null], dimensions: 'x', truncate: 2 });
    expect(found.map(({ field }) => field).sort()).toEqual(
      ['body -> dimensions', 'body -> input -> 1', 'body -> input -> 2', 'body -> truncate'].sort(),
    );
  });

  it('names the setting of clients that send token ids', async () => {
    expect((await faults({ input: [[1, 2]] }))[0]!.message).toContain('check_embedding_ctx_length=False');
  });

  it.each([
    [{ image: 'https://example.test/a.png' }, 'clip-v1, clip-v2, omni-v4, omni-v5'],
    [{ url: 'https://example.test/a.png' }, 'clip-v1, clip-v2, omni-v4, omni-v5'],
    [{ bytes: 'aGk=' }, 'clip-v1, clip-v2, omni-v4, omni-v5'],
    [{ type: 'image_url', image_url: { url: 'https://example.test/a.png' } }, 'clip-v2'],
    [{ type: 'image', format: 'base64', value: 'aGk=' }, 'clip-v2'],
    [{ audio: 'https://example.test/a.mp3' }, 'omni-v5'],
    [{ video: 'https://example.test/a.mp4' }, 'omni-v5'],
  ])('tells which models take %j', async (item: object, kinds) => {
    const moving = 'audio' in item || 'video' in item;
    const [{ message, type, field }] = (await faults({ input: ['a', item] })) as [never];
    expect([field, type]).toEqual(['body -> input -> 1', 'value_error']);
    expect(message).toContain(kinds);
    expect(await first({ input: item, model: moving ? 'dense' : 'omni' })).toEqual([
      'body -> input',
      moving ? 'value_error' : 'media_error',
      undefined,
    ]);
  });

  it('tells which models take a PDF, which must be the only input', async () => {
    const pdf = { pdf: 'https://example.test/a.pdf' };
    const [refused] = await faults({ input: pdf, model: 'sparse' });
    expect(refused).toMatchObject({ field: 'body -> input', type: 'value_error' });
    expect(refused!.message).toContain('text-v2, text-v3, text-v5, code, colbert, m3');
    expect(await first({ input: ['a', pdf] })).toEqual(['body -> input -> 1 -> pdf', 'value_error', undefined]);
  });

  it('ignores options without effect', async () => {
    const odd = { return_multivector: false, late_chunking: false, nonsense: [{}], task: 'x', truncate: true };
    expect((await embed({ model: 'whole', input: { type: 'text', text: 'x' }, ...odd })).status).toBe(200);
    expect((await embed({ model: 'whole', input: 'x', dimensions: 8 })).status).toBe(200);
  });
});

describe('the order of checks', () => {
  const wrong = { model: 'no-such', input: [], dimensions: -1 };
  const codeOf = async (body: unknown, headers: Record<string, string>) => {
    const answer = await host.post('/v1/embeddings', body, headers);
    return [answer.status, answer.body.code];
  };

  it('is: key, body, model, fields', async () => {
    expect(await codeOf('{broken', { authorization: 'Bearer nope' })).toEqual([401, 'AUTH_INVALID_API_KEY']);
    expect(await codeOf(wrong, { authorization: 'Basic x' })).toEqual([401, 'AUTH_INVALID_FORMAT']);
    expect(await codeOf(wrong, { authorization: '' })).toEqual([401, 'AUTH_MISSING_API_KEY']);
    expect(await codeOf('{broken', {})).toEqual([422, undefined]);
    expect(await codeOf(wrong, {})).toEqual([400, 'INPUT_MODEL_NOT_FOUND']);
    expect(await codeOf({ ...wrong, model: 'dense' }, {})).toEqual([422, undefined]);
    expect(await codeOf({ input: 'x' }, {})).toEqual([422, undefined]);
    expect(await codeOf({ model: 7, input: 'x' }, {})).toEqual([422, undefined]);
    expect(await codeOf({ model: 'ranker', input: 'x' }, {})).toEqual([400, 'INPUT_MODEL_NOT_FOUND']);
  });

  it('lists the available models for an unknown one', async () => {
    const { body } = await embed({ model: 'no-such', input: 'x' });
    expect(body.detail).toBe(
      'Model no-such not found. Available for /v1/embeddings: dense, whole, sparse, colbert, omni, bag, jina-embeddings-v5-text-nano, text-embedding-3-small. To use another model for this name, set LECTERN_MODEL_ALIASES={"no-such":"dense"}',
    );
  });
});
