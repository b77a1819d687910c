/** Tavily's `/crawl`, `/map` and `/usage` on the compat host, through the whole server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import type { AnyJson } from '../support/any-json.ts';
import { startServer, type TestServer } from '../support/server.ts';

let site: Site;
let server: TestServer;
let key: string;

const page = (title: string, ...links: string[]) =>
  `<title>${title}</title><main><h1>${title}</h1><p>${`About ${title}, in some words. `.repeat(20)}</p>${links
    .map((href) => `<p><a href="${href}">${href}</a></p>`)
    .join('')}</main>`;

beforeAll(async () => {
  site = await startSite({
    '/start': page('Start', '/docs/a', '/docs/b', '/blog/c', '/wall', '/forbidden', 'https://elsewhere.example/'),
    '/docs/a': page('Doc A', '/docs/deep'),
    '/docs/b': page('Doc B'),
    '/robots.txt': ({ response }) =>
      void response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nDisallow: /forbidden'),
    '/forbidden': page('Forbidden'),
    '/docs/deep': page('Deep'),
    '/blog/c': page('Blog C'),
    '/wall': ({ response }) =>
      void response
        .writeHead(403, { 'content-type': 'text/html' })
        .end('<title>Access denied</title><h1>Access denied</h1>'),
  });
  server = await startServer({ allowNetworks: site.allow.join(','), crawlDelayMs: 0 });
  key = server.app.firstKey!;
});
afterAll(async () => {
  await server.close();
  await site.close();
});

async function ask(path: string, body?: unknown) {
  const answer = await fetch(server.urls.compat + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as AnyJson };
}

const pathsOf = (urls: readonly string[]) => urls.map((url) => new URL(url).pathname).sort();

describe('/crawl', () => {
  it('reads the pages one link away, and waits for the end', async () => {
    const { status, headers, json } = await ask('/crawl', {
      url: `${site.origin}/start`,
      max_breadth: 5,
      limit: 9,
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({ base_url: `${site.origin}/start` });
    expect(pathsOf(json.results.map(({ url }: { url: string }) => url))).toEqual([
      '/blog/c',
      '/docs/a',
      '/docs/b',
      '/start',
    ]);
    // robots.txt is obeyed.
    expect(site.hits('/forbidden')).toBe(0);
    for (const { raw_content, images } of json.results) {
      expect(raw_content).toContain('in some words');
      expect(images).toEqual([]);
    }
    expect(pathsOf(json.failed_results.map(({ url }: { url: string }) => url))).toEqual(['/wall']);
    expect(headers.get('x-lectern-ignored')).toBe('max_breadth');
    expect([typeof json.response_time, typeof json.request_id]).toEqual(['number', 'string']);
  });

  it('puts the pages first that fit the instructions', async () => {
    const asked = { url: `${site.origin}/start`, instructions: 'Find the text about Blog C' };
    const { json } = await ask('/crawl', asked);
    expect(new URL(json.results[0].url).pathname).toBe('/blog/c');
    expect(json.results).toHaveLength(4);
  });

  it('follows only what the expressions select', async () => {
    const { json } = await ask('/for/tavily/crawl', {
      ...{ url: `${site.origin}/start`, max_depth: 2, format: 'text' },
      ...{ select_paths: ['^/docs/.*'], exclude_paths: ['/b$'], select_domains: ['^127\\.0\\.0\\.1$'] },
    });
    expect(pathsOf(json.results.map(({ url }: { url: string }) => url))).toEqual(['/docs/a', '/docs/deep', '/start']);
  });
});

describe('/map', () => {
  it('lists links of the start page without reading them', async () => {
    const hits = site.hits('/docs/deep');
    const { json } = await ask('/map', { url: `${site.origin}/start` });
    expect(pathsOf(json.results)).toEqual(['/blog/c', '/docs/a', '/docs/b', '/forbidden', '/start', '/wall']);
    expect(site.hits('/docs/deep')).toBe(hits);
  });

  it('stops at the limit', async () => {
    const { json } = await ask('/map', { url: `${site.origin}/start`, max_depth: 2, limit: 3 });
    expect(json.results).toHaveLength(3);
  });
});

it('/usage returns the tokens used', async () => {
  await server.app.accounts.usage.flush();
  const { status, json } = await ask('/usage');
  expect(status).toBe(200);
  expect(json).toEqual({
    key: { usage: expect.any(Number), limit: null },
    account: {
      current_plan: 'premium',
      plan_usage: json.key.usage,
      plan_limit: null,
      paygo_usage: 0,
      paygo_limit: null,
    },
  });
});

describe('errors', () => {
  it.each<[string, unknown, number, RegExp]>([
    ['/crawl', {}, 400, /url/],
    ['/crawl', { url: 'http://10.0.0.1/' }, 400, /not allowed/],
    ['/crawl', { url: 'https://a.example', max_depth: 9 }, 400, /max_depth/],
    ['/crawl', { url: 'https://a.example', timeout: 1 }, 400, /timeout/],
    ['/crawl', { url: 'https://a.example', select_paths: ['('] }, 400, /select_paths\.0/],
    ['/map', { url: 'https://a.example', exclude_domains: ['^a$|^b$'] }, 400, /exclude_domains/],
    ['/map', { url: 'https://a.example', limit: 90_000 }, 400, /limit/],
    ['/map', { url: 'not a url at all' }, 400, /URL/],
  ])('%s %j: %i', async (path, body, status, message) => {
    const answer = await ask(path, body);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ detail: { error: expect.stringMatching(message) } });
  });

  it('need a key', async () => {
    const answer = await fetch(`${server.urls.compat}/crawl`, { method: 'POST', body: '{"url":"https://a.example"}' });
    expect(answer.status).toBe(401);
  });
});
