/** The dialects of Tavily and Open WebUI on the compat host, through the whole server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import type { AnyJson } from '../support/any-json.ts';
import { startServer, type TestServer } from '../support/server.ts';

let site: Site;
let service: Service;
let server: TestServer;
let key: string;

beforeAll(async () => {
  site = await startSite({
    '/bees': `<title>Bees</title><main><h1>Bees</h1><p>${'Bees find their way home by the sun. '.repeat(12)}</p></main>`,
    '/wall': ({ response }) =>
      void response
        .writeHead(403, { 'content-type': 'text/html' })
        .end('<title>Access denied</title><h1>Access denied</h1>'),
  });
  service = await startService((asked) =>
    searxngAnswer([{ title: 'Bees', url: `${site.origin}/bees`, text: 'A snippet about bees' }], asked),
  );
  server = await startServer({
    allowNetworks: site.allow.join(','),
    searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
  });
  key = server.app.firstKey!;
});
afterAll(async () => {
  await server.close();
  await service.close();
  await site.close();
});

async function post(path: string, body: unknown, headers: Record<string, string> = { authorization: `Bearer ${key}` }) {
  const answer = await fetch(server.urls.compat + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as AnyJson };
}

describe('Tavily', () => {
  it('searches without reading pages', async () => {
    const { status, headers, json } = await post('/search', {
      query: 'bees',
      max_results: 3,
      include_answer: true,
      days: null,
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      query: 'bees',
      follow_up_questions: null,
      answer: null,
      images: [],
      results: [{ title: 'Bees', url: `${site.origin}/bees`, content: 'A snippet about bees', raw_content: null }],
    });
    expect([typeof json.response_time, typeof json.request_id]).toEqual(['number', 'string']);
    expect(headers.get('x-lectern-ignored')).toBe('include_answer');
  });

  it('reads pages for raw content and for advanced depth', async () => {
    const raw = await post('/for/tavily/search', { query: 'bees', include_raw_content: true });
    expect(raw.json.results[0].raw_content).toContain('Bees find their way home');
    const advanced = await post('/search', { query: 'how do bees find home', search_depth: 'advanced' });
    expect(advanced.json.results[0].content).toContain('find their way home');
  });

  it('takes the key from the body', async () => {
    expect((await post('/search', { query: 'bees', api_key: key }, {})).status).toBe(200);
    expect((await post('/search', { query: 'bees', api_key: 'wrong' }, {})).status).toBe(401);
    expect((await post('/search', { query: 'bees' }, {})).status).toBe(401);
  });

  it('extracts pages, and lists those that failed', async () => {
    const urls = [`${site.origin}/bees`, 'http://169.254.169.254/latest', `${site.origin}/wall`, 'not a url'];
    const { status, json } = await post('/extract', { urls });
    expect(status).toBe(200);
    expect(json.results.map(({ url }: { url: string }) => url)).toEqual([urls[0]]);
    expect(json.results[0].raw_content).toContain('Bees find their way home');
    expect(json.failed_results.map(({ url }: { url: string }) => url)).toEqual(urls.slice(1));
  });

  it.each<[string, unknown, number, RegExp]>([
    ['/search', {}, 400, /query/],
    ['/search', { query: 'a', max_results: 99 }, 400, /max_results/],
    ['/search', { query: 'a', topic: 'weather' }, 400, /topic/],
    ['/search', { query: 'a', country: 'nowhere at all' }, 400, /country/],
    ['/extract', { urls: [] }, 400, /urls/],
  ])('%s %j: %i', async (path, body, status, message) => {
    const answer = await post(path, body);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ detail: { error: expect.stringMatching(message) } });
  });
});

describe('Open WebUI', () => {
  it('loads pages as a bare list, and leaves out those that failed', async () => {
    const { status, json } = await post('/openwebui/loader', { urls: [`${site.origin}/bees`, 'http://10.0.0.1/'] });
    expect(status).toBe(200);
    expect(json).toHaveLength(1);
    expect(json[0].page_content).toContain('Bees find their way home');
    expect(json[0].metadata).toMatchObject({ source: `${site.origin}/bees`, title: 'Bees' });
  });

  it('answers 422 if every page failed', async () => {
    const { status, json } = await post('/openwebui/loader', { urls: ['http://10.0.0.1/'] });
    expect([status, Object.keys(json)]).toEqual([422, ['detail']]);
  });

  it('searches: a bare list of links', async () => {
    for (const path of ['/openwebui/search', '/search']) {
      const { json } = await post(path, { query: 'bees', count: 3 });
      expect(json).toEqual([{ link: `${site.origin}/bees`, title: 'Bees', snippet: 'A snippet about bees' }]);
    }
  });

  const put = (body: string, type: string, name: string) =>
    fetch(`${server.urls.compat}/process`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': type, 'x-filename': encodeURIComponent(name) },
      body,
    });

  it('converts a file, even one whose type is JSON', async () => {
    const csv = await put('name,age\nAda,36\n', 'text/csv', 'dir/people ü.csv');
    expect(csv.status).toBe(200);
    const { page_content, metadata } = (await csv.json()) as AnyJson;
    expect(page_content).toMatch(/Ada\s*\|\s*36/);
    expect(metadata).toMatchObject({ source: 'people ü.csv', 'Content-Type': 'text/csv' });
    expect((await put('{"a": [1, 2]}', 'application/json', 'a.json')).status).toBe(200);
  });

  it('refuses an empty file', async () => {
    expect((await put('', 'text/plain', 'a.txt')).status).toBe(422);
  });
});
