/**
 * Hostile and malformed requests to the model host with the built-in models. Each gets the exact error code, and the
 * next request is served.
 */
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fakeEmbedder, fakeReranker, fakeRow } from '#models/embed/embed.suite.ts';
import { startModelHost, startRealModelHost, type TestModelHost } from '../support/model-host.ts';

const LONG_MS = 120_000;

let host: TestModelHost;
beforeAll(async () => {
  host = await startRealModelHost();
});
afterAll(() => host.close());

const model = 'lectern-static-v2';
const embed = (body: Record<string, unknown>) => host.post('/v1/embeddings', { model, ...body });
const rerank = (body: Record<string, unknown>) =>
  host.post('/v1/rerank', { model: 'lectern-static-rerank-v2', query: 'tap water', ...body });

afterEach(async () => {
  const { status, body } = await embed({ input: 'still here' });
  expect([status, body.data.length]).toEqual([200, 1]);
});

const finite = (vector: readonly number[]) => vector.length === 1_024 && vector.every(Number.isFinite);

describe('texts', () => {
  it.each([
    ['lone surrogates', ['\ud800x', 'a\udfff b', '1\udc00\ud800']],
    ['little to see', ['a\u200b\u200d\ufeff', '1\u00ad', '\u0301'.repeat(1_000), '']],
    ['control characters', ['\u0001\u001f\u007f\u0085x', 'a\u0000b']],
    ['odd scripts', ['😀'.repeat(300).concat('x'), '漢字かな交じり文', 'ไม่มีช่องว่าง', 'عربي', '𒀀𒁀']],
    ['what is special elsewhere', ['[CLS] [SEP] [MASK]', '<|endoftext|>', '__proto__', '"},{"x']],
  ])('with %s', async (_, input) => {
    const { status, body } = await embed({ input });
    expect(status).toBe(200);
    expect(body.data).toHaveLength(input.length);
    for (const { embedding } of body.data) expect(finite(embedding)).toBe(true);
    const ranked = await rerank({ documents: input });
    expect(ranked.status).toBe(200);
    expect(ranked.body.results).toHaveLength(input.length);
    for (const { index, document } of ranked.body.results) expect(document.text).toBe(input[index]);
  });

  it(
    'of a million characters: refused whole, taken cut, in pieces or without a break',
    async () => {
      for (const text of [
        'word '.repeat(200_000),
        'x'.repeat(1_000_000),
        '漢'.repeat(1_000_000),
        '\u0301'.repeat(1_000_000),
      ]) {
        const whole = await embed({ input: text });
        const few = whole.status === 200 && whole.body.usage.total_tokens <= 8_192;
        if (!few) expect([whole.status, whole.body.code]).toEqual([400, 'INPUT_TOKEN_LIMIT_EXCEEDED']);
        const cut = await embed({ input: text, truncate: true });
        expect(cut.status).toBe(200);
        expect(cut.body.usage.total_tokens).toBeLessThanOrEqual(8_192);
        expect(finite(cut.body.data[0].embedding)).toBe(true);
        const ranked = await rerank({ documents: [text, 'tap water'], return_documents: false });
        expect(ranked.status).toBe(200);
        expect(ranked.body.results[0].index).toBe(1);
      }
    },
    LONG_MS,
  );
});

describe('lists', () => {
  it('of 100,000 inputs are refused because of their number', async () => {
    const { status, body } = await embed({ input: new Array(100_000).fill('text') });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      {
        field: 'body -> input',
        message: 'must have at most 2048 items, not 100000',
        type: 'too_long',
        input: new Array(10).fill('text'),
      },
    ]);
  });

  it('of 2,048 inputs are answered completely, with 1,024 numbers each', async () => {
    const input = Array.from({ length: 2_048 }, (_, index) => `number ${index} of the texts`);
    const { body } = await embed({ input });
    expect(body.data).toHaveLength(2_048);
    expect(body.data.every(({ embedding }: { embedding: number[] }) => finite(embedding))).toBe(true);
    const [alone] = (await embed({ input: input[2_000] })).body.data;
    expect(body.data[2_000].embedding).toEqual(alone.embedding);
  });

  it('of a million values are refused without being read', async () => {
    const { status, body } = await embed({ input: new Array(1_000_000).fill(1) });
    expect([status, body.errors[0].field]).toEqual([422, 'body']);
  });

  it('of 2,048 wrong inputs are reported one by one, in a bounded answer', async () => {
    const { status, body } = await embed({
      input: new Array(2_048)
        .fill({ text: 'x'.repeat(1_000), image: 'y' })
        .map((item, index) => (index % 2 ? 5 : { ...item, text: index })),
    });
    expect(status).toBe(422);
    expect(body.errors).toHaveLength(2_048);
    expect(JSON.stringify(body).length).toBeLessThan(1_000_000);
  });

  it('echo no more than the beginning of a long value', async () => {
    const { body } = await embed({ input: 'x', task: 'q'.repeat(100_000) });
    expect(body.errors[0].input).toBe('q'.repeat(200));
    const deep = await embed({ input: [{ text: { a: { b: { c: { d: 1 } } } } }] });
    expect(deep.body.errors[0].input).toEqual({ a: { b: { c: {} } } });
  });
});

describe('wrong JSON types', () => {
  it.each([
    ['input', 12],
    ['input', true],
    ['model', 12],
    ['model', ['x']],
    ['task', 12],
    ['dimensions', '256'],
    ['dimensions', 1e300],
    ['normalized', 'true'],
    ['embedding_type', 12],
    ['truncate', 0],
  ])('%s: %j', async (field, value) => {
    const { status, body } = await embed({ input: 'x', [field]: value });
    expect(status).toBe(422);
    expect(body.errors[0].field).toBe(`body -> ${field}`);
  });
});

describe('names', () => {
  it.each([
    '',
    ' ',
    '../../etc/passwd',
    '__proto__',
    'constructor',
    'toString',
    'a/b/c',
    '/',
    'x'.repeat(100_000),
    '\ud800',
  ])('of no model: %.30j', async (name) => {
    const { status, body } = await embed({ model: name, input: 'x' });
    expect([status, body.code]).toEqual([400, 'INPUT_MODEL_NOT_FOUND']);
    expect(body.detail.length).toBeLessThan(2_000);
  });

  it('of inherited object properties are ignored', async () => {
    const text = `{"model":"${model}","input":"x","__proto__":{"dimensions":64},"constructor":1,"toString":2}`;
    const { status, body } = await host.post('/v1/embeddings', text);
    expect([status, body.data[0].embedding.length]).toEqual([200, 1_024]);
  });
});

describe('clients that disconnect', () => {
  it('cause no more work: their inputs are not run', async () => {
    const batches: number[] = [];
    let wait = true;
    const slow = await startModelHost({
      rows: [fakeRow('dense')],
      opening: {
        embedder: (row) =>
          fakeEmbedder(row, {
            async onBatch(texts, signal) {
              batches.push(texts.length);
              while (wait && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
              signal.throwIfAborted();
            },
          }),
        reranker: (row) => fakeReranker(row),
      },
    });
    try {
      const body = JSON.stringify({ model: 'dense', input: new Array(500).fill('some words') });
      const leaving = httpRequest(`${slow.url}/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: 'Bearer test-key' },
      });
      leaving.on('error', () => {});
      leaving.end(body);
      await expect.poll(() => batches.length).toBe(1);
      leaving.destroy();
      await expect.poll(() => slow.charges.length).toBe(1);
      wait = false;
      const { status } = await slow.post('/v1/embeddings', { model: 'dense', input: 'x' });
      expect(status).toBe(200);
      expect(batches).toEqual([expect.any(Number), 1]);
      expect(slow.charges[0]).toMatchObject({ tokens: 0, status: 499 });
    } finally {
      await slow.close();
    }
  });

  it('and clients that wait too long get an error', async () => {
    const slow = await startModelHost({
      rows: [fakeRow('dense')],
      deadlineMs: 200,
      opening: { embedder: (row) => fakeEmbedder(row, { batchMs: 600_000 }), reranker: (row) => fakeReranker(row) },
    });
    try {
      const { status, body } = await slow.post('/v1/embeddings', { model: 'dense', input: 'x' });
      expect([status, body.code]).toEqual([504, 'SERVICE_TIMEOUT']);
      expect(body.detail).toContain('did not finish within 0.2 s (LECTERN_MODEL_DEADLINE_MS)');
    } finally {
      await slow.close();
    }
  });
});

describe('bodies that are not plain JSON', () => {
  const post = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${host.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: 'Bearer test-key', ...headers },
      body,
    });
    return { status: answer.status, body: (await answer.json()) as { detail?: string } };
  };
  const text = JSON.stringify({ model, input: 'x' });

  it('are refused with 415 if compressed', async () => {
    const compressed = new Uint8Array(gzipSync(text));
    const { status, body } = await post(compressed, { 'content-encoding': 'gzip' });
    expect([status, body.detail]).toEqual([415, expect.stringContaining('send the body uncompressed')]);
    expect((await post(text, { 'content-encoding': 'identity' })).status).toBe(200);
  });

  it('are read after a byte order mark', async () => {
    expect((await post(`\ufeff${text}`)).status).toBe(200);
  });

  it('are named by their endpoint', async () => {
    const failureOf = async (place: string) => {
      const answer = await fetch(`${host.url}${place}`);
      const { errors } = (await answer.json()) as { errors: object[] };
      return [answer.status, errors];
    };
    const error = { message: 'cannot be decoded', type: 'value_error' };
    expect(await failureOf('/v1/models/%zz')).toEqual([422, [{ field: 'path -> model_id', ...error }]]);
    expect(await failureOf('/v1/batch/%zz')).toEqual([422, [{ field: 'path -> batch_id', ...error }]]);
    expect(await failureOf('/nowhere/%zz')).toEqual([422, [{ field: 'path', ...error }]]);
  });
});
