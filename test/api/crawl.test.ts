/** Crawls of a site over HTTP, against a real site on loopback. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Pages, type Site, sendHtml, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const LONG_MS = 120_000;
const SLOW_PAGES = 30;

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
type Any = any;

const TEXTS = ['bees', 'bread', 'tides', 'clocks', 'glass', 'snow', 'paper', 'salt', 'steel', 'silk'];
const words = (name: string) =>
  `Of ${name} there is much to say, and on this page it is said of ${name} in one long sentence. `.repeat(4);
const page = (name: string, links: readonly string[] = [], head = '') =>
  `<html lang="en"><head><title>About ${name}</title>${head}</head><body><main><h1>About ${name}</h1><p>${words(name)}</p></main><nav>${links
    .map((link) => `<a href="${link}">to ${link}</a>`)
    .join(' ')}</nav></body></html>`;
const CHALLENGE =
  '<!doctype html><title>Just a moment...</title><div id="challenge-stage"></div><script>window._cf_chl_opt={}</script><p>Checking your browser before you continue.</p>';
const to = (location: string): Pages[string] => {
  return ({ response }) => void response.writeHead(302, { location }).end();
};

let flaky = 0;
let site: Site;
let server: TestServer;
let key: string;
let otherKey: string;
let accountId: string;

const tree: Pages = Object.fromEntries(
  TEXTS.map((name, at) => [
    `/docs/${name}.html`,
    page(name, [
      `/docs/${TEXTS[at * 2 + 1] ?? 'bees'}.html`,
      `/docs/${TEXTS[at * 2 + 2] ?? 'bees'}.html`,
      '/outside/one',
    ]),
  ]),
);
const PAGES: Pages = {
  ...tree,
  '/robots.txt': ({ response, origin }) =>
    void response
      .writeHead(200, { 'content-type': 'text/plain' })
      .end(`User-agent: *\nDisallow: /closed/\nSitemap: ${origin}/maps/index.xml`),
  '/docs/': page('everything', ['bees.html', 'bread.html#part', '/outside/one', '/docs/closed.zip']),
  '/outside/one': page('outside'),
  '/maps/index.xml': ({ response, origin }) =>
    void response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end(
        `<sitemapindex><sitemap><loc>${origin}/maps/a.xml.gz</loc></sitemap><sitemap><loc>${origin}/maps/none.xml</loc></sitemap></sitemapindex>`,
      ),
  '/maps/a.xml.gz': ({ response, origin }) =>
    void response
      .writeHead(200, { 'content-type': 'application/gzip' })
      .end(
        gzipSync(
          `<urlset>${['/docs/silk.html', '/mapped/alone', '/outside/one'].map((path) => `<url><loc>${origin}${path}</loc></url>`).join('')}</urlset>`,
        ),
      ),
  '/mapped/': page('maps'),
  '/mapped/alone': page('a page that nothing links to'),
  '/twins/': page('twins', [
    'one?utm_source=x',
    'one',
    'copy',
    'moved',
    'away',
    'own?sort=up',
    'own?sort=down',
    'index.html',
    '/closed/x',
    'broken',
  ]),
  '/twins/one': page('one'),
  '/twins/copy': page('one'),
  '/twins/moved': to('/twins/one'),
  '/twins/away': to('/outside/one'),
  '/twins/own': ({ response, url }) =>
    sendHtml(response, page(`own ${url.search}`, [], '<link rel="canonical" href="/twins/own">')),
  '/twins/index.html': page('twins'),
  '/closed/x': page('closed'),
  '/twins/refused': page('refused'),
  '/nofollow/': `<title>x</title><p>${words('following')}</p><a rel="nofollow" href="a">a</a><a href="b">b</a>`,
  '/nofollow/a': page('a'),
  '/nofollow/b': page('b', ['c'], '<meta name="robots" content="nofollow">'),
  '/nofollow/c': page('c'),
  '/busy/': page('busy', ['later', 'gone']),
  '/busy/later': ({ response }) => {
    if (flaky++ < 1) response.writeHead(429, { 'retry-after': '1', 'content-type': 'text/html' }).end('<p>Later.');
    else sendHtml(response, page('later'));
  },
  '/busy/gone': ({ response }) => sendHtml(response, page('gone'), 410),
  '/endless/': ({ response, url }) => {
    const at = Number(url.searchParams.get('date')?.slice(-4) ?? 1000);
    sendHtml(
      response,
      page(`day ${at}`, [`/endless/?date=2026-01-01T${at + 1}`, `/endless/?date=2026-01-01T${at + 2}`]),
    );
  },
  '/walled/': page('walls', ['one', 'two']),
  '/walled/one': CHALLENGE,
  '/walled/two': CHALLENGE,
  '/slow/': page(
    'slow',
    Array.from({ length: SLOW_PAGES }, (_, at) => `p${at}`),
  ),
  ...Object.fromEntries(Array.from({ length: SLOW_PAGES }, (_, at) => [`/slow/p${at}`, page(`slow ${at}`)])),
};

beforeAll(async () => {
  site = await startSite(PAGES);
  server = await startServer({ allowNetworks: site.allow.join(','), crawlDelayMs: 0, browser: 'none' });
  const { accounts } = server.app.accounts;
  key = server.app.firstKey!;
  ({ id: accountId } = await accounts.createAccount({ name: 'other', plan: 'free', balance: 1_000_000 }));
  ({ key: otherKey } = await accounts.mintKey({ accountId, name: 'other' }));
}, LONG_MS);
afterAll(async () => {
  await server?.close();
  await site?.close();
});

const ask = async (path: string, init: RequestInit = {}, by = key) =>
  fetch(`${server.reader}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${by}`, accept: 'application/json', ...(init.headers as object) },
  });
const json = async (path: string, init: RequestInit = {}, by = key): Promise<Any> => (await ask(path, init, by)).json();
const post = (body: unknown) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

async function ended(id: string, by = key): Promise<Any> {
  for (;;) {
    const job = await json(`/crawl/${id}`, {}, by);
    if (!['pending', 'processing'].includes(job.status)) return job;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const lines = async (id: string, query = '', by = key): Promise<Any[]> =>
  (await (await ask(`/crawl/${id}/pages${query}`, {}, by)).text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** Runs a whole crawl. Returns the finished job and its lines. */
async function crawl(body: Record<string, unknown>) {
  const answer = await ask('/crawl', post({ options: { engine: 'direct' }, ...body }));
  const job: Any = await answer.json();
  expect(answer.status, JSON.stringify(job)).toBe(202);
  const end = await ended(job.crawl_id);
  const all = await lines(job.crawl_id);
  const of = (event: string) => all.filter((line) => line.event === event);
  const paths = (event: string) => of(event).map((line) => line.url.replace(site.origin, ''));
  return { job, end, all, of, paths };
}

describe('a site', { timeout: LONG_MS }, () => {
  it('is read from its start, breadth first, within its folder', async () => {
    const { job, end, all, paths, of } = await crawl({ url: `${site.origin}/docs/`, sitemap: false, depth: 9 });
    expect(job).toMatchObject({ status: 'pending', url: `${site.origin}/docs/`, stats: { found: 1, done: 0 } });
    expect(paths('page').slice(0, 5)).toEqual([
      '/docs/',
      '/docs/bees.html',
      '/docs/bread.html',
      '/docs/tides.html',
      '/docs/clocks.html',
    ]);
    expect(new Set(paths('page'))).toEqual(new Set(['/docs/', ...TEXTS.map((name) => `/docs/${name}.html`)]));
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1));
    expect(end).toMatchObject({
      status: 'completed',
      error: null,
      stats: { found: 11, done: 11, failed: 0, skipped: 0 },
    });
    expect(end.stats.tokens).toBe(of('page').reduce((sum, { page: read }) => sum + read.usage.tokens, 0));
    expect(of('page')[1]).toMatchObject({
      depth: 1,
      page: { title: 'About bees', url: `${site.origin}/docs/bees.html`, content: expect.stringContaining('Of bees') },
    });
    expect(Object.keys(of('page')[1]!)).toEqual(['seq', 'event', 'url', 'depth', 'page']);
  });

  it('marks pages that are blocked, charges nothing for them, and takes none for a copy of another', async () => {
    const { of, paths, end } = await crawl({ url: `${site.origin}/walled/`, sitemap: false });
    expect(paths('page')).toEqual(['/walled/', '/walled/one', '/walled/two']);
    expect(of('page').map(({ page: read }) => read.blocked?.kind)).toEqual([undefined, 'challenge', 'challenge']);
    expect(end.stats.tokens).toBe(of('page')[0]!.page.usage.tokens);
  });

  it('up to the depth, scope and number of pages requested', async () => {
    const flat = await crawl({ url: `${site.origin}/docs/`, sitemap: false, depth: 1 });
    expect(flat.paths('page')).toEqual(['/docs/', '/docs/bees.html', '/docs/bread.html']);
    const few = await crawl({ url: `${site.origin}/docs/`, sitemap: false, depth: 9, limit: 4 });
    expect(few.end.stats.done).toBe(4);
    const wide = await crawl({ url: `${site.origin}/docs/`, sitemap: false, depth: 9, scope: 'host' });
    expect(wide.paths('page')).toContain('/outside/one');
  });

  it('only URLs that match the patterns', async () => {
    const some = await crawl({
      url: `${site.origin}/docs/`,
      sitemap: false,
      depth: 9,
      include: ['/docs/b*', '/(?:tides|snow|silk)\\.html$/'],
      exclude: ['*/bread.html'],
    });
    expect(new Set(some.paths('page'))).toEqual(
      new Set(['/docs/', '/docs/bees.html', '/docs/tides.html', '/docs/snow.html']),
    );
  });

  it('sitemaps first: by robots.txt, through an index, packed', async () => {
    const mapped = await crawl({ url: `${site.origin}/docs/`, limit: 3 });
    expect(mapped.paths('page')).toEqual(['/docs/', '/docs/silk.html', '/docs/bees.html']);
    const alone = await crawl({ url: `${site.origin}/mapped/` });
    expect(alone.paths('page')).toEqual(['/mapped/', '/mapped/alone']);
    expect((await crawl({ url: `${site.origin}/mapped/`, sitemap: false })).paths('page')).toEqual(['/mapped/']);
  });

  it('each page once by URL, redirect, canonical URL and text, and reports skipped and failed pages', async () => {
    const before = { one: site.hits('/twins/one'), index: site.hits('/twins/index.html') };
    const { end, of, paths } = await crawl({
      url: `${site.origin}/twins/`,
      sitemap: false,
      scope: 'host',
      exclude: ['/outside/**'],
    });
    expect(paths('page')).toEqual(['/twins/', '/twins/one', '/twins/own?sort=up']);
    const skipped = Object.fromEntries(
      of('skipped').map(({ url, reason, of: original }) => [
        url.replace(site.origin, ''),
        [reason, original?.replace(site.origin, '')],
      ]),
    );
    expect(skipped).toMatchObject({
      '/twins/copy': ['duplicate', '/twins/one'],
      '/twins/moved': ['duplicate', '/twins/one'],
      '/twins/own?sort=down': ['duplicate', '/twins/own?sort=up'],
      '/closed/x': ['robots', undefined],
    });
    expect(of('failed')).toMatchObject([
      { url: `${site.origin}/twins/broken`, status: 404, error: { name: 'AssertionFailureError' } },
    ]);
    expect(site.hits('/twins/one') - before.one).toBe(1);
    expect(site.hits('/twins/index.html') - before.index).toBe(0);
    expect(site.hits('/closed/x')).toBe(0);
    expect(end.stats.found).toBe(end.stats.done + end.stats.failed + end.stats.skipped);
  });

  it('a redirect out of scope is not taken; that of the start moves the scope', async () => {
    const { of } = await crawl({ url: `${site.origin}/twins/`, sitemap: false });
    expect(of('skipped')).toContainEqual(
      expect.objectContaining({ url: `${site.origin}/twins/away`, reason: 'scope', to: `${site.origin}/outside/one` }),
    );
    const moved = await crawl({ url: `${site.origin}/to?where=/docs/`, sitemap: false, depth: 1 });
    expect(moved.end.stats.done).toBe(3);
  });

  it('links that ask not to be followed are not, unless robots are none of the caller’s business', async () => {
    const polite = await crawl({ url: `${site.origin}/nofollow/`, sitemap: false });
    expect(polite.paths('page')).toEqual(['/nofollow/', '/nofollow/b']);
    const rude = await crawl({ url: `${site.origin}/nofollow/`, sitemap: false, robots: false });
    expect(rude.paths('page')).toEqual(['/nofollow/', '/nofollow/a', '/nofollow/b', '/nofollow/c']);
    expect((await crawl({ url: `${site.origin}/closed/x`, robots: false })).end.stats.done).toBe(1);
  });

  it('retries a busy host after its Retry-After, but not a page that is gone', async () => {
    flaky = 0;
    const { end, of, paths } = await crawl({ url: `${site.origin}/busy/`, sitemap: false });
    expect(paths('page')).toEqual(['/busy/', '/busy/later']);
    expect(of('failed')).toMatchObject([{ status: 410 }]);
    expect(flaky).toBe(2);
    expect(end.status).toBe('completed');
  });

  it('without an end is given up after a while', async () => {
    const { end } = await crawl({ url: `${site.origin}/endless/`, sitemap: false, depth: 100, limit: 1000 });
    expect(end.status).toBe('completed');
    expect(end.stats.found).toBeGreaterThan(20);
    expect(end.stats.found).toBeLessThan(100);
  });

  it('that cannot be read fails the crawl with a reason', async () => {
    const { end } = await crawl({ url: `${site.origin}/nowhere/`, sitemap: false });
    expect(end).toMatchObject({ status: 'failed', error: 'The page answered with status 404', stats: { failed: 1 } });
  });
});

describe('a crawl', { timeout: LONG_MS }, () => {
  it('comes as it goes, its outcomes numbered, and a stream that was left is taken up again', async () => {
    const answer = await ask('/crawl', {
      ...post({ url: `${site.origin}/docs/`, sitemap: false, limit: 9, options: { engine: 'direct' } }),
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const events = (await answer.text())
      .split('\n\n')
      .filter((block) => block.includes('event: '))
      .map((block) => ({
        id: /^id: (\d+)$/m.exec(block)?.[1],
        event: /^event: (\w+)$/m.exec(block)![1],
        data: JSON.parse(/^data: (.*)$/m.exec(block)![1]!),
      }));
    expect(events[0]).toMatchObject({ event: 'progress', data: { url: `${site.origin}/docs/` } });
    expect(events.at(-1)).toMatchObject({ event: 'done', data: { status: 'completed', stats: { done: 9 } } });
    const pages = events.filter(({ event }) => event === 'page');
    expect(pages.map(({ id }) => Number(id))).toEqual(Array.from({ length: 9 }, (_, at) => at + 1));
    const id = events[0]!.data.crawl_id;
    expect(await lines(id, '?after=6')).toEqual(pages.slice(6).map(({ data }) => data));
    const again = await ask(`/crawl/${id}/pages`, { headers: { accept: 'text/event-stream', 'last-event-id': '8' } });
    expect(await again.text()).toMatch(/^id: 9\nevent: page\ndata: .*\n\nevent: done\n/);
  });

  it('continues without its client, unless it should end with it', async () => {
    for (const cancelOnClose of [false, true]) {
      const leaving = new AbortController();
      const answer = await ask('/crawl', {
        ...post({
          url: `${site.origin}/slow/`,
          sitemap: false,
          delayMs: 50,
          cancelOnClose,
          options: { engine: 'direct' },
        }),
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        signal: leaving.signal,
      });
      const id = answer.headers.get('location')!.replace('/crawl/', '');
      await answer.body!.getReader().read();
      leaving.abort();
      const end = await ended(id);
      expect(end.status).toBe(cancelOnClose ? 'cancelled' : 'completed');
      expect(end.stats.done < SLOW_PAGES + 1).toBe(cancelOnClose);
    }
  });

  it('can only be seen and cancelled by its owner', async () => {
    const job = await json('/crawl', post({ url: `${site.origin}/slow/`, delayMs: 200, sitemap: false }));
    for (const [path, method] of [
      ['', 'GET'],
      ['', 'DELETE'],
      ['/pages', 'GET'],
    ]) {
      const answer = await ask(`/crawl/${job.crawl_id}${path}`, { method: method! }, otherKey);
      expect([path, method, answer.status, ((await answer.json()) as Any).name]).toEqual([
        path,
        method,
        404,
        'ResourceNotFoundError',
      ]);
    }
    expect(await json('/crawls', {}, otherKey)).toEqual([]);
    expect((await json('/crawls?limit=1')).map(({ crawl_id }: Any) => crawl_id)).toEqual([job.crawl_id]);
    expect(await json(`/crawl/${job.crawl_id}`, { method: 'DELETE' })).toMatchObject({ status: 'cancelled' });
  });

  it('is paid for page by page by the account of its key', async () => {
    const { accounts, usage } = server.app.accounts;
    const before = (await accounts.account(accountId))!.balance!;
    const job = await json(
      '/crawl',
      post({ url: `${site.origin}/docs/`, sitemap: false, limit: 3, options: { engine: 'direct' } }),
      otherKey,
    );
    const end = await ended(job.crawl_id, otherKey);
    const left = async () => (await accounts.account(accountId))!.balance!;
    while ((await left()) !== before - end.stats.tokens) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(end.stats.tokens).toBeGreaterThan(100);
    await usage.flush();
    expect(await left()).toBe(before - end.stats.tokens);
  });

  it('adds its pages to the index', async () => {
    await crawl({
      url: `${site.origin}/docs/`,
      sitemap: false,
      limit: 3,
      options: { engine: 'direct', preset: 'spider', noCache: true },
    });
    for (;;) {
      const found: Any = await (
        await fetch(`${server.urls.search}/?q=everything+there+is+to+say`, {
          headers: { authorization: `Bearer ${key}`, accept: 'application/json', 'x-respond-with': 'no-content' },
        })
      ).json();
      if (found.data?.some(({ url }: Any) => url === `${site.origin}/docs/`)) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
});

describe('bad input', { timeout: LONG_MS }, () => {
  const start = 'https://a.example/';
  it.each([
    ['nothing', {}, 400, 'url'],
    ['no address', { url: 'ftp://a.example/' }, 400, 'url'],
    ['an empty address', { url: '  ' }, 400, 'url'],
    ['both', { url: start, urls: [start] }, 400, 'urls'],
    ['one of many that is none', { urls: [start, 'javascript:f()'] }, 400, 'urls.1'],
    ['no number', { url: start, limit: 'many' }, 400, 'limit'],
    ['too few', { url: start, limit: 0 }, 400, 'limit'],
    ['too many', { url: start, limit: 10_001 }, 400, 'limit'],
    ['no depth', { url: start, depth: -1 }, 400, 'depth'],
    ['another scope', { url: start, scope: 'world' }, 400, 'scope'],
    ['no pattern', { url: start, include: ['/docs/**', '/(/'] }, 400, 'include.1'],
    ['a pattern that looks back', { url: start, exclude: ['/(a)\\1/'] }, 400, 'exclude.0'],
    ['too many patterns', { url: start, exclude: Array(51).fill('/x') }, 400, 'exclude'],
    ['a long delay', { url: start, delayMs: 60_001 }, 400, 'delayMs'],
    ['too much at once', { url: start, concurrency: 5 }, 400, 'concurrency'],
    ['options that are none', { url: start, options: 'x' }, 400, 'options'],
    ['an option of the reader', { url: start, options: { respondWith: 'pdf' } }, 400, 'options.respondWith'],
    ['a selector', { url: start, options: { targetSelector: 'a[' } }, 400, 'options.targetSelector'],
    ['a target of its own', { url: start, options: { html: '<p>' } }, 400, 'options.html'],
    ['pictures', { url: start, options: { respondWith: 'pageshot' } }, 400, 'options.respondWith'],
    ['what must not be kept', { url: start, options: { zeroDataRetention: true } }, 400, 'options.zeroDataRetention'],
    ['a private address', { url: 'http://10.0.0.1/' }, 451, 'url'],
  ])('%s', async (_, body, code, path) => {
    const answer = await json('/crawl', post(body));
    expect([answer.code, answer.path], answer.readableMessage).toEqual([code, path]);
  });

  it('this server itself, somebody without a key, what is not there', async () => {
    expect(await json('/crawl', post({ url: server.reader }))).toMatchObject({ name: 'SecurityCompromiseError' });
    const anybody = await fetch(`${server.reader}/crawl`, post({ url: start }));
    expect(anybody.status).toBe(401);
    expect(await json('/crawl/crawl_none')).toMatchObject({ code: 404, name: 'ResourceNotFoundError' });
    expect(await json('/crawl/crawl_none/pages?after=x')).toMatchObject({ code: 400, path: 'after' });
    expect(await json('/crawls?limit=0')).toMatchObject({ code: 400, path: 'limit' });
    for (const [path, method] of [
      ['/crawl', 'GET'],
      ['/crawls', 'POST'],
      ['/crawl/crawl_none', 'POST'],
      ['/crawls', 'DELETE'],
    ] as const)
      expect([path, method, (await json(path, { method })).code]).toEqual([path, method, 405]);
    expect(await json('/crawl/crawl_none/more')).toMatchObject({ code: 404, name: 'RouteNotFoundError' });
    expect(await json('/crawl', { ...post(0), body: '[' })).toMatchObject({ code: 400, path: 'body' });
  });
});
