/** The model host of a server as users start it: without network access, with the first key. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ browser: 'none', modelsWarm: ['lectern-static-v2', 'lectern-static-rerank-v2'] });
});
afterAll(() => server.close());

const ask = async (path: string, body?: unknown) => {
  const headers = { authorization: `Bearer ${server.app.firstKey}` };
  const answer = await fetch(`${server.urls.model}${path}`, {
    headers,
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
};

it('embeds and ranks with the built-in models at once', async () => {
  const model = 'lectern-static-v2';
  const embedded = await ask('/v1/embeddings', { model, input: ['hello', 'world'], dimensions: 256 });
  expect(embedded.status).toBe(200);
  expect(embedded.body.data.map(({ embedding }: { embedding: unknown[] }) => embedding.length)).toEqual([256, 256]);
  const documents = ['The river is long.', 'Tap water is safe to drink.'];
  const ranked = await ask('/v1/rerank', { model: 'lectern-static-rerank-v2', query: 'drinking water', documents });
  expect(ranked.body.results.map(({ index }: { index: number }) => index)).toEqual([1, 0]);
});

it('is ready once they are in memory, and lists them first', async () => {
  await expect
    .poll(() => ask('/ready'))
    .toMatchObject({
      status: 200,
      body: { status: 'ready', models: { 'lectern-static-v2': 'loaded', 'lectern-static-rerank-v2': 'loaded' } },
    });
  const { body } = await ask('/v1/models');
  expect(body.data.slice(0, 2).map(({ id }: { id: string }) => id)).toEqual([
    'lectern-static-v2',
    'lectern-static-rerank-v2',
  ]);
  expect(body.data[0]).toMatchObject({ on_disk: true, residence: 'loaded', dimensions: [1_024, 512, 256, 128] });
});

it('lists usable models, and all known ones on request', async () => {
  const { body } = await ask('/v1/models');
  expect(body.data[0]).toMatchObject({ id: 'lectern-static-v2', available: true, how: 'built-in' });
  expect(body.data.every(({ available }: { available: boolean }) => available)).toBe(true);
  const { data } = (await ask('/v1/models?all=true')).body as {
    data: { id: string; available: boolean; how: string }[];
  };
  expect(data.length).toBeGreaterThan(body.data.length);
  expect(data.slice(0, body.data.length)).toEqual(body.data);
  const rest = data.slice(body.data.length);
  expect(rest.some(({ available }) => available)).toBe(false);
  const how = Object.fromEntries(rest.map((one) => [one.id.slice(one.id.indexOf('/') + 1), one.how]));
  expect(how).toMatchObject({
    'multilingual-e5-small': expect.stringMatching(/^(?:downloaded on first use|lectern models pull )/),
    'jina-embeddings-v3': 'lectern models pull jina-embeddings-v3',
    'splade-v3': 'needs a folder with its exported graph',
  });
});

it('refuses another value of `all`', async () => {
  const { status, body } = await ask('/v1/models?all=some');
  expect([status, body.errors[0].field]).toEqual([422, 'query -> all']);
});

it('a reranker of a hosted service is answered by the default one, which a header names', async () => {
  const asked = { model: 'rerank-v3.5', query: 'tea', documents: ['a car', 'green tea'] };
  const answer = await ask('/v1/rerank', asked);
  expect([answer.status, answer.body.model, answer.body.results[0].index]).toEqual([200, 'rerank-v3.5', 1]);
  expect(answer.headers.get('x-served-model')).toBe('lectern-static-rerank-v2');
});

it('needs a key', async () => {
  const answer = await fetch(`${server.urls.model}/v1/embeddings`, { method: 'POST', body: '{}' });
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Bearer /)]);
  expect(await answer.json()).toMatchObject({ code: 'AUTH_MISSING_API_KEY' });
});

describe('shorter vectors', () => {
  const model = 'lectern-static-v2';
  const SCRIPTS: Readonly<Record<string, string>> = {
    English: 'Green tea is made from leaves that were not oxidised.',
    Chinese: '绿茶是用没有发酵的茶叶制成的。',
    Japanese: '緑茶は発酵させない茶葉から作られます。',
    Thai: 'ชาเขียวทำจากใบชาที่ไม่ผ่านการหมัก',
    Korean: '녹차는 발효되지 않은 찻잎으로 만든다.',
    Russian: 'Зелёный чай делают из неферментированных листьев.',
    Arabic: 'يصنع الشاي الأخضر من أوراق لم تتأكسد.',
    Mixed: '绿茶 green tea ชาเขียว',
    Numbers: '１２³ 4½',
    Nothing: '',
  };
  const input = Object.values(SCRIPTS);
  const vectors = async (more: Record<string, unknown>): Promise<number[][]> => {
    const { status, body } = await ask('/v1/embeddings', { model, input, ...more });
    expect(status).toBe(200);
    return body.data.map(({ embedding }: { embedding: number[] }) => embedding);
  };
  const unit = (values: readonly number[]) => values.map((value) => value / (Math.hypot(...values) || 1));

  it('of every size are prefixes of the whole one, in every script', async () => {
    const whole = await vectors({});
    for (const dimensions of [1, 2, 7, 64, 255, 256, 257, 300, 768, 1_023, 1_024]) {
      for (const [at, vector] of (await vectors({ dimensions })).entries()) {
        const expected = unit(whole[at]!.slice(0, dimensions));
        const apart = Math.max(...vector.map((value, index) => Math.abs(value - expected[index]!)));
        expect([Object.keys(SCRIPTS)[at], dimensions, vector.length, apart < 1e-5]).toEqual([
          Object.keys(SCRIPTS)[at],
          dimensions,
          dimensions,
          true,
        ]);
      }
    }
  });

  it('are the same in every encoding', async () => {
    const [whole, bits, signed] = await Promise.all([
      vectors({ dimensions: 264 }),
      vectors({ embedding_type: 'ubinary' }),
      vectors({ embedding_type: 'binary', dimensions: 264 }),
    ]);
    const { body } = await ask('/v1/embeddings', { model, input, embedding_type: 'base64', dimensions: 264 });
    for (const [at, vector] of whole.entries()) {
      const bytes = Buffer.from(body.data[at].embedding, 'base64');
      expect(Array.from(vector, (_, index) => bytes.readFloatLE(4 * index))).toEqual(vector.map(Math.fround));
      expect(bits[at]).toHaveLength(128);
      expect(signed[at]).toEqual(bits[at]!.slice(0, 33).map((byte) => byte - 128));
    }
  });

  it.each([0, -1, 1_025, 2.5, '256'])('%j is no size, and the answer names the field', async (dimensions) => {
    const { status, body } = await ask('/v1/embeddings', { model, input, dimensions });
    expect([status, body.errors?.[0].field]).toEqual([422, 'body -> dimensions']);
  });
});
