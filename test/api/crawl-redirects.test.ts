/** How crawls treat hosts that redirects and sitemaps lead to. Real sites on loopback record each request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

const LONG_MS = 120_000;

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
type Any = any;

interface Host {
  readonly origin: string;
  readonly name: string;
  /** The requested paths, in order. */
  readonly asked: string[];
  /** Times of the requests for pages other than robots.txt. */
  readonly times: number[];
  /** Maximum number of concurrent requests. */
  most: number;
}

type Answer = (request: IncomingMessage, response: ServerResponse, host: Host) => void;
type Paths = Readonly<Record<string, string | Answer>>;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/**
 * Strings are HTML pages, or redirects if they begin with an arrow. Other paths return 404. Each response takes 20 ms.
 */
async function startHost(paths: Paths): Promise<Host> {
  let active = 0;
  const host: Host & { origin: string; name: string } = { origin: '', name: '', asked: [], times: [], most: 0 };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    host.asked.push(path);
    if (path !== '/robots.txt') host.times.push(performance.now());
    host.most = Math.max(host.most, ++active);
    response.once('close', () => active--);
    setTimeout(() => {
      const answer = paths[path.split('?')[0]!];
      if (typeof answer === 'function') answer(request, response, host);
      else if (answer === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not here</h1>');
      else if (path.endsWith('.txt')) response.writeHead(200, { 'content-type': 'text/plain' }).end(answer);
      else if (answer.startsWith('-> ')) response.writeHead(302, { location: answer.slice(3) }).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end(answer);
    }, 20);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  host.name = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  host.origin = `http://${host.name}`;
  return host;
}

const page = (text: string, links: readonly string[] = []) =>
  `<title>${text}</title><main><h1>${text}</h1><p>${`Of ${text} there is much to say. `.repeat(20)}</p></main>${links.map((link) => `<a href="${link}">${link}</a>`).join(' ')}`;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ allowNetworks: '127.0.0.1/32', crawlDelayMs: 0, auth: 'off' });
}, LONG_MS);
afterAll(() => server?.close());

/** Runs a crawl and returns the outcome of each URL, with letters in place of the origins. */
async function crawl(hosts: Readonly<Record<string, Host>>, body: Record<string, unknown>) {
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const json = async (path: string, init?: RequestInit): Promise<Any> =>
    (await fetch(`${server.reader}${path}`, { ...init, headers })).json();
  const started = await json('/crawl', {
    method: 'POST',
    body: JSON.stringify({ options: { engine: 'direct' }, sitemap: false, scope: 'host', ...body }),
  });
  expect(started.crawl_id, JSON.stringify(started)).toBeDefined();
  let job: Any;
  do {
    await new Promise((resolve) => setTimeout(resolve, 50));
    job = await json(`/crawl/${started.crawl_id}`);
  } while (['pending', 'processing'].includes(job.status));
  const text = await (await fetch(`${server.reader}/crawl/${started.crawl_id}/pages`)).text();
  let shown = text;
  for (const [name, { origin }] of Object.entries(hosts)) shown = shown.replaceAll(origin, name);
  const lines: Any[] = shown
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const outcomes = lines.map(({ event, url, reason, to, of, page: read }) =>
    [event, url, ...(read ? [read.title] : []), ...[reason, to, of].filter((fact) => fact !== undefined)].join(' '),
  );
  return { job, lines, outcomes };
}

const gaps = ({ times }: Host) => times.slice(1).map((time, at) => time - times[at]!);

describe('a redirect', { timeout: LONG_MS }, () => {
  it('to another host of the crawl obeys the robots.txt and the delay of that host', async () => {
    const b = await startHost({
      '/robots.txt': 'User-agent: *\nCrawl-delay: 0.4',
      ...Object.fromEntries([1, 2, 3, 4].map((at) => [`/x${at}`, page(`x${at}`)])),
      '/own': page('own'),
    });
    const a = await startHost({
      '/': page('start', ['/a1', '/a2', '/a3', '/a4']),
      ...Object.fromEntries([1, 2, 3, 4].map((at) => [`/a${at}`, `-> ${b.origin}/x${at}`])),
    });
    const { outcomes } = await crawl({ A: a, B: b }, { urls: [`${a.origin}/`, `${b.origin}/own`], delayMs: 100 });
    expect(new Set(outcomes)).toEqual(
      new Set(['page A/ start', 'page B/own own', ...[1, 2, 3, 4].map((at) => `page A/a${at} x${at}`)]),
    );
    expect(b.asked[0]).toBe('/robots.txt');
    expect(new Set(b.asked.slice(1))).toEqual(new Set(['/own', '/x1', '/x2', '/x3', '/x4']));
    expect(b.asked).toHaveLength(6);
    expect(b.most).toBe(1);
    expect(Math.min(...gaps(b))).toBeGreaterThan(390);
    expect(Math.min(...gaps(a))).toBeGreaterThan(95);
  });

  it('to a host that is busy for longer than the timeout is retried later', async () => {
    const numbers = [1, 2, 3, 4];
    const b = await startHost({
      '/robots.txt': 'User-agent: *\nCrawl-delay: 1.5',
      ...Object.fromEntries(numbers.map((at) => [`/x${at}`, page(`x${at}`)])),
    });
    const a = await startHost({
      '/': page(
        'start',
        numbers.map((at) => `/a${at}`),
      ),
      ...Object.fromEntries(numbers.map((at) => [`/a${at}`, `-> ${b.origin}/x${at}`])),
    });
    const { outcomes, job } = await crawl(
      { A: a, B: b },
      { urls: [`${a.origin}/`, `${b.origin}/`], options: { engine: 'direct', timeout: 1 } },
    );
    expect(outcomes.slice().sort()).toEqual([
      'failed B/',
      'page A/ start',
      ...numbers.map((at) => `page A/a${at} x${at}`),
    ]);
    expect(job.stats).toMatchObject({ found: 6, done: 5, failed: 1 });
    expect(b.most).toBe(1);
    expect(Math.min(...gaps(b))).toBeGreaterThan(1_490);
    // While the other host is busy, the first one is not requested again and again.
    expect(a.asked.length).toBeLessThan(16);
  });

  it('to a URL that robots.txt forbids is not followed', async () => {
    const b = await startHost({
      '/robots.txt': 'User-agent: *\nDisallow: /closed',
      '/closed/x': page('closed'),
    });
    const a = await startHost({
      '/': page('start', ['/to-closed', '/inside']),
      '/to-closed': `-> ${b.origin}/closed/x`,
      '/inside': '-> /own-closed/x',
      '/own-closed/x': page('own'),
      '/robots.txt': 'User-agent: *\nDisallow: /own-closed',
    });
    const urls = [`${a.origin}/`, `${b.origin}/`];
    const { outcomes } = await crawl({ A: a, B: b }, { urls });
    expect(outcomes).toContain('skipped A/to-closed robots B/closed/x');
    expect(outcomes).toContain('skipped A/inside robots A/own-closed/x');
    expect(b.asked).not.toContain('/closed/x');
    expect(a.asked).not.toContain('/own-closed/x');

    const bold = await crawl({ A: a, B: b }, { urls, robots: false });
    expect(bold.outcomes).toContain('page A/to-closed closed');
  });

  it('out of scope is not followed, also if the page itself redirects', async () => {
    const c = await startHost({ '/x': page('elsewhere') });
    const a = await startHost({
      '/': page('start', ['/away', '/refresh', '/round', '/docs']),
      '/away': `-> ${c.origin}/x`,
      '/refresh': `<meta http-equiv="refresh" content="0; url=${c.origin}/x">${page('refresh')}`,
      '/round': '-> /left/out',
      '/left/out': '-> /back',
      '/back': page('back'),
      '/docs': '-> /left/x',
      '/left/x': page('left'),
    });
    const { outcomes, job } = await crawl({ A: a, C: c }, { url: `${a.origin}/`, exclude: ['/left/**'] });
    expect(outcomes).toEqual([
      'page A/ start',
      'skipped A/away scope C/x',
      'skipped A/refresh scope C/x',
      'page A/round back',
      'skipped A/docs scope A/left/x',
    ]);
    expect(c.asked).toEqual([]);
    expect(job.stats).toMatchObject({ found: 5, done: 2, skipped: 3 });
  });

  it('to a page that was already read is a duplicate and not read again', async () => {
    const a = await startHost({
      '/': page('start', ['/one', '/moved', '/twice']),
      '/one': page('one'),
      '/moved': '-> /one?utm_source=x#part',
      '/twice': '-> /moved',
    });
    const { outcomes } = await crawl({ A: a }, { url: `${a.origin}/` });
    expect(outcomes).toEqual([
      'page A/ start',
      'page A/one one',
      'skipped A/moved duplicate A/one',
      'skipped A/twice duplicate A/one',
    ]);
    expect(a.asked.filter((path) => path.startsWith('/one'))).toEqual(['/one']);
  });

  it('of the start URL moves the scope if robots.txt allows it', async () => {
    const b = await startHost({
      '/robots.txt': 'User-agent: *\nDisallow: /closed',
      '/new/': page('new', ['/new/more', '/other']),
      '/new/more': page('more'),
      '/other': page('other'),
    });
    const a = await startHost({ '/old': `-> ${b.origin}/new/`, '/shut': `-> ${b.origin}/closed/` });
    const { outcomes } = await crawl({ A: a, B: b }, { url: `${a.origin}/old`, scope: 'path' });
    expect(outcomes).toEqual(['page A/old new', 'page B/new/more more']);
    const { outcomes: shut } = await crawl({ A: a, B: b }, { url: `${a.origin}/shut` });
    expect(shut).toEqual(['skipped A/shut robots B/closed/']);
    expect(b.asked).not.toContain('/closed/');
  });

  it('that a browser follows obeys the same rules', async () => {
    const b = await startHost({
      '/robots.txt': 'User-agent: *\nDisallow: /closed',
      '/closed/x': page('closed'),
      '/open': page('open'),
    });
    const a = await startHost({
      '/': page('start', ['/to-closed', '/to-open', '/by-script', '/one', '/copy']),
      '/to-closed': `-> ${b.origin}/closed/x`,
      '/to-open': `-> ${b.origin}/open`,
      '/by-script': `${page('script')}<script>location.replace('${b.origin}/open')</script>`,
      '/one': page('one'),
      '/copy': '-> /one',
    });
    const { outcomes } = await crawl({ A: a, B: b }, { url: `${a.origin}/`, options: { engine: 'browser' } });
    expect(outcomes).toEqual([
      'page A/ start',
      'skipped A/to-closed robots B/closed/x',
      'skipped A/to-open scope B/open',
      'skipped A/by-script scope B/open',
      'page A/one one',
      'skipped A/copy duplicate A/one',
    ]);
  });
});

describe('sitemaps', { timeout: LONG_MS }, () => {
  const xml = (text: string): Answer => {
    return (_, response) => void response.writeHead(200, { 'content-type': 'application/xml' }).end(text);
  };
  const urlset = (urls: readonly string[]) =>
    `<urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`;

  it('on other hosts and behind redirects obey robots.txt and delays', async () => {
    const c = await startHost({
      '/robots.txt': 'User-agent: *\nDisallow: /closed',
      '/moved.xml': (_, response, host) => void xml(urlset([`${host.origin}/x`]))({} as never, response, host),
      '/closed/map.xml': xml('<urlset></urlset>'),
    });
    const b = await startHost({
      '/robots.txt': 'User-agent: *\nCrawl-delay: 0.4\nDisallow: /closed',
      '/maps/one.xml': `-> ${c.origin}/moved.xml`,
      '/maps/two.xml': `-> ${c.origin}/closed/map.xml`,
      '/closed/three.xml': xml('<urlset></urlset>'),
      '/maps/four.xml.gz': (_, response) =>
        void response.writeHead(200).end(gzipSync(urlset([`${a.origin}/mapped`, `${c.origin}/out`]))),
    });
    const a: Host = await startHost({
      '/robots.txt': (_, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/plain' })
          .end(
            `User-agent: *\nDisallow: /*.xml$\nSitemap: ${a.origin}/own.xml\n${['/maps/one.xml', '/maps/two.xml', '/closed/three.xml', '/maps/four.xml.gz'].map((path) => `Sitemap: ${b.origin}${path}`).join('\n')}`,
          ),
      '/': page('start'),
      '/own.xml': (_, response) => void response.writeHead(200).end(urlset([`${a.origin}/own`])),
      '/own': page('own'),
      '/mapped': page('mapped'),
    });
    const { outcomes } = await crawl({ A: a, B: b, C: c }, { url: `${a.origin}/`, sitemap: true });
    expect(outcomes).toEqual(['page A/ start', 'page A/own own', 'page A/mapped mapped']);
    expect(b.asked).toEqual(['/robots.txt', '/maps/one.xml', '/maps/two.xml', '/maps/four.xml.gz']);
    expect(c.asked).toEqual(['/robots.txt', '/moved.xml']);
    expect(Math.min(...gaps(b))).toBeGreaterThan(390);
  });
});
