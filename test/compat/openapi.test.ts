/** The OpenAPI documents and the pages of the dialects. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DIALECTS } from '#compat/dialects.ts';
import { startServer, type TestServer } from '../support/server.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a document
type Any = any;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const get = (path: string, init: RequestInit = {}) => fetch(server.urls.compat + path, init);
const document = async (path: string): Promise<Any> => (await get(path)).json();
const described = DIALECTS.filter(({ name }) => name !== 'lectern');

it('the document of all dialects is valid, and each operation has a name of its own', async () => {
  const all = await document('/openapi.json');
  expect(await new Validator().validate(structuredClone(all))).toMatchObject({ valid: true });
  const operations: Any[] = Object.values<Any>(all.paths).flatMap((item) => Object.values(item));
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const { name } of described)
    expect(Object.keys(all.paths).some((path) => path.startsWith(`/for/${name}/`))).toBe(true);
});

describe.each(described.map((dialect) => [dialect.name, dialect] as const))('%s', (name, { routes }) => {
  it('has a valid document with all of its routes', async () => {
    const own = await document(`/for/${name}/openapi.json`);
    expect(await new Validator().validate(structuredClone(own))).toMatchObject({ valid: true });
    const paths = routes.map(({ url }) => url.replaceAll(/:(\w+)/g, '{$1}').replaceAll('*', '{rest}'));
    expect(Object.keys(own.paths).sort()).toEqual([...new Set(paths)].sort());
  });

  it('has schemas of bodies that compile', async () => {
    const own = await document(`/for/${name}/openapi.json`);
    const bodies = Object.values<Any>(own.paths).flatMap((item) =>
      Object.values<Any>(item).flatMap(({ requestBody }) => requestBody?.content['application/json']?.schema ?? []),
    );
    for (const schema of bodies) expect(() => new Ajv2020({ strict: false }).compile(schema)).not.toThrow();
  });

  it('has a page', async () => {
    const page = await get(`/for/${name}/docs`);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await page.text()).toContain(`/for/${name}/openapi.json`);
  });
});

/** Requests that consist of an uploaded file, which no example can contain. */
const UPLOADS = /\/(?:convert\/file(?:\/async)?|v2\/parse|general\/v0\/general|v1\/files)$/;

it('has an example of every request that its route accepts', async () => {
  const { paths }: Any = await document('/openapi.json');
  const missing: string[] = [];
  for (const { name, routes } of described) {
    for (const { url, fields } of routes) {
      const path = `/for/${name}${url.replaceAll(/:(\w+)/g, '{$1}').replaceAll('*', '{rest}')}`;
      const body = paths[path].post?.requestBody?.content['application/json'];
      if (!body || !fields || UPLOADS.test(path)) continue;
      if (body.example === undefined) missing.push(path);
      else expect([path, fields.safeParse(body.example).success]).toEqual([path, true]);
    }
  }
  expect(missing).toEqual([]);
});

it('answers the examples of requests that need no other service', async () => {
  const { paths }: Any = await document('/openapi.json');
  const headers = { authorization: `Bearer ${server.app.firstKey}`, 'content-type': 'application/json' };
  for (const path of [
    '/for/cohere/v2/embed',
    '/for/cohere/v2/rerank',
    '/for/ollama/api/embed',
    '/for/voyage/v1/rerank',
    '/for/segmenter/v1/segment',
  ]) {
    const { example } = paths[path].post.requestBody.content['application/json'];
    const answer = await get(path, { method: 'POST', headers, body: JSON.stringify(example) });
    expect([path, answer.status, answer.ok || (await answer.text())]).toEqual([path, 200, true]);
  }
});

it('answers HEAD, because clients probe these paths', async () => {
  for (const path of ['/openapi.json', '/docs']) {
    const answer = await get(path, { method: 'HEAD' });
    expect([path, answer.status, await answer.text()]).toEqual([path, 200, '']);
  }
});

it('says that a dialect does not exist', async () => {
  const answer = await get('/for/nothing/openapi.json');
  expect(answer.status).toBe(404);
  expect(JSON.stringify(await answer.json())).toContain('nothing');
});
