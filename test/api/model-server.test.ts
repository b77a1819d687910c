/** The model host of a server as it is started: without a network, with the first key. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ browser: 'none' });
});
afterAll(() => server.close());

const ask = async (path: string, body?: unknown) => {
  const headers = { authorization: `Bearer ${server.app.firstKey}` };
  const answer = await fetch(`${server.urls.model}${path}`, {
    headers,
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  return { status: answer.status, body: (await answer.json()) as any };
};

it('embeds and ranks with the built-in models at once', async () => {
  const model = 'lectern-static-v1';
  const embedded = await ask('/v1/embeddings', { model, input: ['hello', 'world'], dimensions: 256 });
  expect(embedded.status).toBe(200);
  expect(embedded.body.data.map(({ embedding }: { embedding: unknown[] }) => embedding.length)).toEqual([256, 256]);
  const documents = ['The river is long.', 'Tap water is safe to drink.'];
  const ranked = await ask('/v1/rerank', { model: 'lectern-static-rerank-v1', query: 'drinking water', documents });
  expect(ranked.body.results.map(({ index }: { index: number }) => index)).toEqual([1, 0]);
});

it('is ready once they are in memory, and lists them first', async () => {
  await expect
    .poll(() => ask('/ready'))
    .toEqual({
      status: 200,
      body: { status: 'ready', models: { 'lectern-static-v1': 'loaded', 'lectern-static-rerank-v1': 'loaded' } },
    });
  const { body } = await ask('/v1/models');
  expect(body.data.slice(0, 2).map(({ id }: { id: string }) => id)).toEqual([
    'lectern-static-v1',
    'lectern-static-rerank-v1',
  ]);
  expect(body.data[0]).toMatchObject({ on_disk: true, residence: 'loaded', dimensions: [1_024, 256, 128, 64] });
});

it('needs a key', async () => {
  const answer = await fetch(`${server.urls.model}/v1/embeddings`, { method: 'POST', body: '{}' });
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect(await answer.json()).toMatchObject({ code: 'AUTH_MISSING_API_KEY' });
});
