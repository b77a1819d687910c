/** Firecrawl's published clients with a real server: only the URL and the key are ours. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, searxngAnswer, startService } from '../../src/search/service.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const run = promisify(execFile);
const LONG_MS = 240_000;
const installed = existsSync(path.join(import.meta.dirname, 'node_modules', '@mendable', 'firecrawl-js'));
/** Node before version 22 has no WebSocket without it. */
const FLAGS = 'WebSocket' in globalThis ? [] : ['--experimental-websocket'];

const page = (title: string, ...links: string[]) =>
  `<title>${title}</title><main><h1>${title}</h1><p>${`${title} has words of its own. `.repeat(10)}</p>${links
    .map((link) => `<a href="${link}">${link}</a>`)
    .join(' ')}</main>`;

let site: Site;
let service: Service;
let server: TestServer;

describe.skipIf(!installed)('Firecrawl’s clients', () => {
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the results
  let got: any;
  beforeAll(async () => {
    site = await startSite({
      '/docs/': page('Docs', '/docs/a', '/docs/b', '/docs/broken'),
      '/docs/a': page('A'),
      '/docs/b': page('B'),
      '/docs/broken': ({ response }) => void response.writeHead(404).end('gone'),
      '/hangs': ({ response }) => void setTimeout(() => response.end('late'), 60_000).unref(),
    });
    service = await startService((asked) =>
      searxngAnswer([{ title: 'Docs', url: `${site.origin}/docs/`, text: 'About docs' }], asked),
    );
    server = await startServer({
      allowNetworks: site.allow.join(','),
      crawlDelayMs: 0,
      searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
    });
    const program = path.join(import.meta.dirname, 'run-firecrawl.mjs');
    const args = [...FLAGS, program, server.urls.compat!, server.app.firstKey!, site.origin];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 });
    got = JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1));
  }, LONG_MS);
  afterAll(() => Promise.all([server?.close(), service?.close(), site?.close()]));

  const short = (urls: readonly string[]) => urls.map((url) => url.replace(site.origin, '')).sort();
  const sources = (data: { metadata: { sourceURL: string } }[]) =>
    short(data.map(({ metadata }) => metadata.sourceURL));

  it('the current one scrapes, and tells why it cannot', () => {
    const { scraped, badFormat, badUrl, unknownHost, badKey } = got.current;
    expect(scraped.markdown).toContain('Docs has words of its own');
    expect(scraped.html).toContain('<h1>Docs</h1>');
    expect(short(scraped.links)).toEqual(['/docs/a', '/docs/b', '/docs/broken']);
    expect(scraped.screenshot).toMatch(new RegExp(`^${server.urls.compat}/.*\\.png$`));
    expect(scraped.metadata).toMatchObject({ title: 'Docs', statusCode: 200 });
    expect(badFormat).toMatchObject({
      status: 400,
      code: 'BAD_REQUEST',
      message: expect.stringContaining('changeTracking'),
    });
    expect(badUrl).toMatchObject({ status: 400 });
    expect(unknownHost).toMatchObject({ status: 500, code: 'SCRAPE_DNS_RESOLUTION_ERROR' });
    expect(badKey).toMatchObject({ status: 401, message: 'Unauthorized: Invalid token' });
  });

  it('the current one polls batches and crawls, and watches crawls', () => {
    const { batch, batchErrors, crawled, crawlErrors, live } = got.current;
    expect(batch).toMatchObject({ status: 'completed', total: 2, completed: 2 });
    expect(sources(batch.data)).toEqual(['/docs/a', '/docs/b']);
    expect(batchErrors).toEqual({ errors: [], robotsBlocked: [] });
    expect(crawled).toMatchObject({ status: 'completed', total: 4, completed: 3 });
    expect(sources(crawled.data)).toEqual(['/docs/', '/docs/a', '/docs/b']);
    expect(crawlErrors.errors).toMatchObject([{ url: `${site.origin}/docs/broken` }]);
    expect(live.status).toBe('completed');
    expect(short(live.urls)).toEqual(['/docs/', '/docs/a', '/docs/b']);
  });

  it('the current one lists and cancels crawls', () => {
    const { started, cancelled, afterCancel, unknownJob } = got.current;
    expect(started.active).toEqual([{ id: started.hanging, url: `${site.origin}/hangs` }]);
    expect([cancelled, afterCancel]).toEqual([true, 'cancelled']);
    expect(unknownJob).toMatchObject({ status: 404, message: 'Job not found' });
  });

  it('the current one maps, searches, parses and asks about its account', () => {
    const { mapped, found, read, parsed, usage, queue, concurrency } = got.current;
    expect(short(mapped.links.map(({ url }: { url: string }) => url))).toEqual([
      ...['/docs/', '/docs/a', '/docs/b', '/docs/broken'],
    ]);
    expect(found.web).toEqual([{ url: `${site.origin}/docs/`, title: 'Docs', description: 'About docs', position: 1 }]);
    expect(read.web[0].markdown).toContain('Docs has words of its own');
    expect(parsed.markdown).toMatch(/Ada\s*\|\s*36/);
    expect(usage.remainingCredits).toBeGreaterThan(0);
    expect(queue).toMatchObject({ success: true, maxConcurrency: expect.any(Number) });
    expect(concurrency).toMatchObject({ maxConcurrency: expect.any(Number) });
  });

  it('LangChain’s loader', () => {
    const { scraped, crawled, mapped } = got.loader;
    expect(scraped[0].pageContent).toContain('Docs has words of its own');
    expect(crawled).toHaveLength(3);
    // Each URL is written as JSON.
    expect(short(mapped.map(({ pageContent }: { pageContent: string }) => JSON.parse(pageContent)))).toContain(
      '/docs/a',
    );
  });

  it.each(['old', 'first'])('the first interface (%s)', (name) => {
    const { scraped, badFormat, crawled, live, batch, mapped, found } = got[name];
    expect(scraped).toMatchObject({ success: true, metadata: { title: 'Docs', statusCode: 200 } });
    expect(scraped.markdown).toContain('Docs has words of its own');
    expect(badFormat.message).toContain('nonsense');
    expect(crawled).toMatchObject({ success: true, status: 'completed' });
    expect(sources(crawled.data)).toEqual(['/docs/', '/docs/a', '/docs/b']);
    expect(live.status).toBe('completed');
    expect(new Set(short(live.urls))).toEqual(new Set(['/docs/', '/docs/a', '/docs/b']));
    expect(sources(batch.data)).toEqual(['/docs/a', '/docs/b']);
    expect(short(mapped.links)).toEqual(['/docs/', '/docs/a', '/docs/b', '/docs/broken']);
    expect(found.data).toMatchObject([{ url: `${site.origin}/docs/`, title: 'Docs' }]);
  });
});
