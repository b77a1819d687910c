import type { Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, startBench } from './browser.suite.ts';
import { createRequestCounter, createRequestGate, isLoopbackHost, PAGE_LIMITS } from './limits.ts';

/** The parts of a request that are counted. */
const asked = (url: string, type = 'image') => ({ url: () => url, resourceType: () => type }) as Request;

describe('the requests of a page', () => {
  it('are counted by requests, documents and registrable domains', () => {
    const stopped = (limits: Partial<typeof PAGE_LIMITS>, requests: Request[]) => {
      const tally = createRequestCounter({ ...PAGE_LIMITS, ...limits });
      return requests.map(tally).findIndex((abuse) => abuse !== undefined);
    };
    const many = (count: number, url: (at: number) => string, type?: string) =>
      Array.from({ length: count }, (_, at) => asked(url(at), type));
    expect(
      stopped(
        { maxRequests: 3 },
        many(5, () => 'https://a.example/'),
      ),
    ).toBe(3);
    expect(
      stopped(
        { maxDocuments: 2 },
        many(5, () => 'https://a.example/', 'document'),
      ),
    ).toBe(2);
    expect(
      stopped(
        { maxDocuments: 2 },
        many(50, () => 'https://a.example/'),
      ),
    ).toBe(-1);
    expect(
      stopped(
        { maxDomains: 2 },
        many(5, (at) => `https://a${at}.com/`),
      ),
    ).toBe(2);
    expect(
      stopped(
        { maxDomains: 2 },
        many(50, (at) => `https://www${at}.a.com/`),
      ),
    ).toBe(-1);
    expect(
      stopped(
        { maxDomains: 2 },
        many(50, (at) => `http://10.0.0.${at}/`),
      ),
    ).toBe(-1);
  });

  it('have the documented limits by default', () => {
    expect(PAGE_LIMITS).toEqual({
      maxRequests: 3_300,
      maxDocuments: 1_000,
      maxDomains: 200,
      maxParallel: 100,
      maxBytes: 134_217_728,
    });
  });
});

describe('the limit of concurrent requests', () => {
  it('admits requests in order, and skips those that have ended', async () => {
    const gate = createRequestGate(2);
    const requests = Array.from({ length: 5 }, (_, at) => asked(`${at}`));
    const through: number[] = [];
    const entered = requests.map((request, at) => gate.enter(request).then(() => through.push(at)));
    await entered[1];
    expect(through).toEqual([0, 1]);
    gate.leave(requests[2]!);
    await entered[2];
    gate.leave(requests[0]!);
    gate.leave(requests[0]!);
    await entered[3];
    expect(through).toEqual([0, 1, 2, 3]);
    gate.leave(requests[1]!);
    await entered[4];
    expect(through).toEqual([0, 1, 2, 3, 4]);
  });
});

it.each([
  ['localhost', true],
  ['a.localhost', true],
  ['LOCALHOST.', true],
  ['127.0.0.1', true],
  ['127.9.8.7', true],
  ['0.0.0.0', true],
  ['[::1]', true],
  ['::ffff:127.0.0.1', true],
  ['10.0.0.1', false],
  ['169.254.169.254', false],
  ['localhost.example', false],
  ['notlocalhost', false],
])('%s is this machine: %s', (host, expected) => expect(isLoopbackHost(host)).toBe(expected));

describe('a page that exceeds a limit', () => {
  let bench: Bench;
  let mostAtOnce = 0;
  const abuses: [string, string][] = [];
  const refused = { name: 'SecurityCompromiseError', status: 45102 };
  beforeAll(async () => {
    let atOnce = 0;
    bench = await startBench({
      pages: {
        '/busy': `<!doctype html><title>Busy</title><p>Busy.</p><script>
Promise.all(Array.from({ length: 12 }, (_, at) => fetch('/part?' + at))).then((all) => document.body.append(all.length + ' parts'))</script>`,
        '/part': ({ response }) => {
          mostAtOnce = Math.max(mostAtOnce, ++atOnce);
          setTimeout(() => {
            atOnce--;
            response.end('part');
          }, 60);
        },
        '/calls': ({ response, url }) => {
          response.setHeader('content-type', 'text/html');
          response.end(
            `<!doctype html><title>Calls</title><p>Calls.</p><script>fetch('http://${url.searchParams.get('host')}/', { mode: 'no-cors' }).catch(() => {})</script>`,
          );
        },
        '/names': '<!doctype html><title>Names</title><p>Names.</p><img src="http://localhost:3000/logo.png">',
        '/moves': ({ response, url }) => void response.writeHead(302, { location: url.searchParams.get('to')! }).end(),
        '/moves-local': ({ response }) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
      },
      tools: {
        limits: { maxRequests: 40, maxDocuments: 5, maxDomains: 10, maxParallel: 2, maxBytes: 1_000_000 },
        isOwnHost: (name) => name === 'reader.internal',
        onAbuse: (url, reason) => abuses.push([new URL(url).pathname, reason]),
      },
    });
  });
  afterAll(() => bench.close());

  it('has a limited number of concurrent requests', async () => {
    const page = await bench.last('/busy');
    expect(page.text).toContain('12 parts');
    expect(mostAtOnce).toBe(2);
  });

  it('is stopped and reported with the reason', async () => {
    for (const [path, reason] of [
      ['/many-requests', 'it made too many requests'],
      ['/many-domains', 'it sent requests to too many sites'],
      ['/calls?host=127.0.0.1:9', 'it sent requests to the server that read it'],
      ['/calls?host=reader.internal', 'it sent requests to the server that read it'],
    ] as const) {
      abuses.length = 0;
      await expect(bench.last(path), path).rejects.toMatchObject(refused);
      expect(abuses).toEqual([[path.replace(/\?.*/, ''), reason]]);
    }
    expect(bench.pool.status().pages).toBe(0);
  });

  it('is not stopped for URLs that are not loaded', async () => {
    const page = await bench.last('/names');
    expect(page.text).toContain('Names.');
    await expect(bench.last('/names', { respondWith: 'screenshot' })).rejects.toMatchObject(refused);
  });

  it('is not stopped for a request to another private network, which is only refused', async () => {
    abuses.length = 0;
    expect((await bench.last('/calls?host=10.0.0.1')).text).toContain('Calls.');
    expect(abuses).toEqual([]);
  });

  it("is not reported because of the caller's input or a redirect", async () => {
    abuses.length = 0;
    const call = "fetch('http://127.0.0.1:9/')";
    for (const given of [{ injectPageScript: call }, { html: `<title>x</title><p>x</p><script>${call}</script>` }]) {
      await expect(bench.last('/article', given)).rejects.toMatchObject(refused);
    }
    await expect(bench.last('/calls?host=127.0.0.1:9', { setCookies: ['a=1'] })).rejects.toMatchObject(refused);
    await expect(bench.last('/moves-local')).rejects.toMatchObject(refused);
    expect(abuses).toEqual([]);
  });

  it('is reported itself, not the page that redirects to it', async () => {
    abuses.length = 0;
    const moves = (to: string) => `/moves?to=${encodeURIComponent(to)}`;
    await expect(bench.last(moves(`${bench.site.otherOrigin}/calls?host=127.0.0.1:9`))).rejects.toMatchObject(refused);
    expect(abuses).toEqual([]);
    await expect(bench.last(moves('/calls?host=127.0.0.1:9'))).rejects.toMatchObject(refused);
    expect(abuses).toEqual([['/calls', 'it sent requests to the server that read it']]);
  });
});
