/** Crawls and batches of Firecrawl's API on the compat host, through the whole server. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const WAIT_MS = 120_000;
const page = (title: string, ...links: string[]) =>
  `<title>${title}</title><main><h1>${title}</h1><p>${`${title} has words of its own. `.repeat(10)}</p>${links
    .map((link) => `<a href="${link}">${link}</a>`)
    .join(' ')}</main>`;

let site: Site;
let server: TestServer;
let key: string;
let dataDir: string;

const settings = () => ({ port: 0, allowNetworks: site.allow.join(','), crawlDelayMs: 0, dataDir });

beforeAll(async () => {
  site = await startSite({
    '/robots.txt': ({ response }) => void response.end('User-agent: *\nDisallow: /docs/secret'),
    '/docs/': page('Docs', '/docs/a', '/docs/b', '/docs/secret', '/docs/broken', '/blog/', '/docs/a?page=2'),
    '/docs/a': page('A', '/docs/deep/down/c'),
    '/docs/b': page('B'),
    '/docs/deep/down/c': page('C'),
    '/docs/broken': ({ response }) => void response.writeHead(404).end('gone'),
    '/blog/': page('Blog'),
    '/same': page('A'),
    '/hangs': ({ response }) => void setTimeout(() => response.end('late'), 60_000).unref(),
  });
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-test-'));
  server = await startServer(settings());
  key = server.app.firstKey!;
});
afterAll(async () => {
  await server.close();
  await site.close();
  await rm(dataDir, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of the answers
type Json = any;

async function call(method: string, route: string, body?: unknown, more: Record<string, string> = {}) {
  const url = route.startsWith('http') ? route : server.urls.compat + route;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more };
  const answer = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return { status: answer.status, json: (await answer.json()) as Json };
}

async function ended(route: string): Promise<Json> {
  const until = Date.now() + WAIT_MS;
  while (Date.now() < until) {
    const { json } = await call('GET', route);
    if (json.status !== 'scraping') return json;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the job did not end');
}

const paths = (job: Json): string[] =>
  job.data.map(({ metadata }: Json) => metadata.sourceURL.replace(site.origin, '')).sort();

describe('crawl', () => {
  it('reads a site, and lists what it could not read', { timeout: WAIT_MS }, async () => {
    const url = `${site.origin}/docs/`;
    const { status, json } = await call('POST', '/v2/crawl', { url, sitemap: 'skip', ignoreQueryParameters: true });
    expect([status, json.success]).toEqual([200, true]);
    expect(json.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(json.url).toBe(`${server.urls.compat}/v2/crawl/${json.id}`);
    const job = await ended(json.url);
    expect(job).toMatchObject({ success: true, status: 'completed', total: 5, completed: 4, creditsUsed: 4 });
    expect(new Date(job.expiresAt).getTime()).toBeGreaterThan(Date.now());
    expect(job).not.toHaveProperty('next');
    expect(paths(job)).toEqual(['/docs/', '/docs/a', '/docs/b', '/docs/deep/down/c']);
    expect(job.data[0].markdown).toContain('Docs has words of its own');
    const errors = await call('GET', `/v2/crawl/${json.id}/errors`);
    expect(errors.json).toEqual({
      errors: [expect.objectContaining({ url: `${site.origin}/docs/broken`, error: expect.stringContaining('404') })],
      robotsBlocked: [`${site.origin}/docs/secret`],
    });
  });

  it('pages through its documents', { timeout: WAIT_MS }, async () => {
    const { json } = await call('POST', '/v1/crawl', { url: `${site.origin}/docs/`, ignoreSitemap: true, limit: 3 });
    expect((await ended(json.url)).data).toHaveLength(3);
    const first = await call('GET', `/v1/crawl/${json.id}?limit=2`);
    expect(first.json.data).toHaveLength(2);
    expect(first.json.next).toBe(`${server.urls.compat}/v1/crawl/${json.id}?skip=2&limit=2`);
    const second = await call('GET', first.json.next);
    expect([second.json.data.length, 'next' in second.json]).toEqual([1, false]);
    const beyond = await call('GET', `/v1/crawl/${json.id}?skip=50`);
    expect([beyond.status, beyond.json.data]).toEqual([200, []]);
    expect((await call('GET', `/v1/crawl/${json.id}?skip=x`)).status).toBe(400);
  });

  it.each<[string, string, Record<string, unknown>, string[]]>([
    ['/v2', 'expressions on the path', { includePaths: ['^/docs/a$'] }, ['/docs/', '/docs/a']],
    ['/v2', 'excluded paths', { excludePaths: ['/docs/b', 'deep'], maxDiscoveryDepth: 2 }, ['/docs/', '/docs/a']],
    ['/v2', 'the whole host', { crawlEntireDomain: true, includePaths: ['blog'] }, ['/blog/', '/docs/']],
    ['/v1', 'the depth of paths', { maxDepth: 1 }, ['/docs/', '/docs/a', '/docs/b']],
  ])('%s: %s', { timeout: WAIT_MS }, async (version, _, options, expected) => {
    const body = { url: `${site.origin}/docs/`, ignoreQueryParameters: true, ...options };
    const { json } = await call('POST', `${version}/crawl`, body);
    expect(paths(await ended(json.url))).toEqual(expected);
  });

  it('starts a repeated request once, and only for its key', async () => {
    const body = { url: `${site.origin}/docs/`, limit: 1 };
    const start = (id: string) => call('POST', '/v2/crawl', body, { 'x-idempotency-key': id });
    const [one, again, other] = [await start('first'), await start('first'), await start('second')];
    expect(again.json.id).toBe(one.json.id);
    expect(other.json.id).not.toBe(one.json.id);
    const together = await Promise.all(Array.from({ length: 6 }, () => start('third')));
    expect(new Set(together.map(({ json }) => json.id)).size).toBe(1);
  });

  it('answers 404 for jobs that do not exist', async () => {
    for (const id of ['00000000-0000-4000-8000-000000000000', 'nonsense']) {
      const { status, json } = await call('GET', `/v2/crawl/${id}`);
      expect([status, json]).toEqual([404, { success: false, error: 'Job not found' }]);
    }
  });

  it('is listed while it runs, and can be cancelled', { timeout: WAIT_MS }, async () => {
    const scrapeOptions = { headers: { 'x-secret': 'hidden' } };
    const { json } = await call('POST', '/v2/crawl', { url: `${site.origin}/hangs`, limit: 7, scrapeOptions });
    const active = await call('GET', '/v2/crawl/active');
    expect(active.json.crawls).toContainEqual(
      expect.objectContaining({
        id: json.id,
        url: `${site.origin}/hangs`,
        options: expect.objectContaining({ limit: 7 }),
      }),
    );
    expect(JSON.stringify(active.json)).not.toContain('hidden');
    const cancelled = await call('DELETE', `/v2/crawl/${json.id}`);
    expect(cancelled.json).toEqual({ success: true, status: 'cancelled' });
    expect((await call('GET', `/v2/crawl/${json.id}`)).json.status).toBe('cancelled');
    const left = await call('GET', '/v2/crawl/active');
    expect(left.json.crawls.map(({ id }: Json) => id)).not.toContain(json.id);
  });
});

describe('batch', () => {
  it('reads each URL, also if pages are the same', { timeout: WAIT_MS }, async () => {
    const urls = [
      `${site.origin}/docs/a#top`,
      `${site.origin}/same`,
      'http://10.0.0.1/',
      'no url',
      `${site.origin}/docs/secret`,
    ];
    const { json } = await call('POST', '/v2/batch/scrape', { urls, formats: ['markdown', 'html', 'links'] });
    expect(json).toMatchObject({ success: true, invalidURLs: ['http://10.0.0.1/', 'no url'] });
    const job = await ended(`/v2/batch/scrape/${json.id}`);
    expect(job).toMatchObject({ status: 'completed', completed: 2 });
    expect(paths(job)).toEqual(['/docs/a#top', '/same']);
    const [document] = job.data;
    expect(document.html).toContain('<h1>A</h1>');
    expect(document.links).toEqual([`${site.origin}/docs/deep/down/c`]);
    // Old clients ask for batches at the path of crawls.
    expect((await call('GET', `/v1/crawl/${json.id}`)).json.data).toHaveLength(2);
  });

  it('refuses invalid URLs if asked', async () => {
    const body = { urls: [`${site.origin}/docs/a`, 'no url'], ignoreInvalidURLs: false };
    const { status, json } = await call('POST', '/v2/batch/scrape', body);
    expect([status, json.details[0].path]).toEqual([400, ['urls', '1']]);
  });
});

interface Watched {
  readonly frames: Json[];
  readonly code: number;
  readonly reason: string;
  readonly protocol: string;
}

const watch = (route: string, protocol = key): Promise<Watched> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(server.urls.compat!.replace('http', 'ws') + route, protocol);
    const frames: Json[] = [];
    socket.on('message', (data, isBinary) => frames.push(isBinary ? 'binary' : JSON.parse(String(data))));
    socket.on('close', (code, reason) => resolve({ frames, code, reason: String(reason), protocol: socket.protocol }));
    socket.on('error', reject);
  });

describe('WebSocket', () => {
  it('sends what there is, each document, and the end', { timeout: WAIT_MS }, async () => {
    const { json } = await call('POST', '/v2/crawl', { url: `${site.origin}/docs/`, sitemap: 'skip', delay: 0.1 });
    const live = await watch(`/v2/crawl/${json.id}`);
    expect(live).toMatchObject({ code: 1000, reason: '{"type":"done"}', protocol: key });
    expect([live.frames[0].type, live.frames.at(-1)]).toEqual(['catchup', { type: 'done' }]);
    const documents = live.frames.filter(({ type }) => type === 'document').map(({ data }) => data);
    const all = [...live.frames[0].data.data, ...documents];
    const late = await watch(`/v1/crawl/${json.id}`);
    expect(late.frames.map(({ type }) => type)).toEqual(['catchup', 'done']);
    expect(late.frames[0].data).toMatchObject({ status: 'completed', data: all });
  });

  it('reports a job that was cancelled', { timeout: WAIT_MS }, async () => {
    const { json } = await call('POST', '/v2/batch/scrape', { urls: [`${site.origin}/hangs`] });
    const watching = watch(`/v2/batch/scrape/${json.id}`);
    await call('DELETE', `/v2/batch/scrape/${json.id}`);
    const { code, reason, frames } = await watching;
    expect(code).toBe(3000);
    expect(JSON.parse(reason)).toEqual({ type: 'error', error: 'The job was cancelled' });
    expect(frames.at(-1)).toEqual(JSON.parse(reason));
  });

  it('works on the port that all APIs share', { timeout: WAIT_MS }, async () => {
    const { json } = await call('POST', '/v2/batch/scrape', { urls: [`${site.origin}/docs/a`] });
    const origin = server.urls.all!.replace('http', 'ws');
    const socket = new WebSocket(`${origin}/v2/batch/scrape/${json.id}`, key, {
      headers: { host: 'compat.localhost' },
    });
    const reason = await new Promise((resolve, reject) => {
      socket.on('close', (_, text) => resolve(String(text)));
      socket.on('error', reject);
    });
    expect(reason).toBe('{"type":"done"}');
  });

  it('is refused like other requests', async () => {
    await expect(watch('/v2/crawl/nonsense')).rejects.toThrow('404');
    await expect(watch('/v2/crawl/nonsense', 'lectern_wrong')).rejects.toThrow('401');
    await expect(watch('/v2/team/credit-usage')).rejects.toThrow('200');
  });
});

it('continues after a restart', { timeout: 2 * WAIT_MS }, async () => {
  const body = {
    url: `${site.origin}/docs/`,
    sitemap: 'skip',
    delay: 0.5,
    scrapeOptions: { formats: ['links'], maxAge: 0 },
  };
  const { json } = await call('POST', '/v2/crawl', body);
  while ((await call('GET', `/v2/crawl/${json.id}`)).json.completed < 1) await new Promise((go) => setTimeout(go, 20));
  const watching = watch(`/v2/crawl/${json.id}`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await server.close();
  expect((await watching).code).toBe(1001);
  server = await startServer(settings());
  const job = await ended(`/v2/crawl/${json.id}`);
  expect(job.status).toBe('completed');
  expect(Object.keys(job.data[0])).toEqual(['links', 'metadata']);
  expect(paths(job)).toContain('/docs/deep/down/c');
});
