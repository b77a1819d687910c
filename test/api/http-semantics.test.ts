/** HTTP as every face speaks it: HEAD, conditional requests, standard rate-limit headers, problem details, front pages. */
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const PROBLEM = { accept: 'application/json, application/problem+json' };
const SECRET = 'secret-of-the-test';
const PAGE =
  '<title>Tea</title><article><h1>Tea</h1><p>Green tea is made from leaves that were not oxidised.</p></article>';

let site: Site;
let server: TestServer;
beforeAll(async () => {
  let count = 0;
  site = await startSite({
    '/tea': ({ response }) => void response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE),
    '/changing': ({ response }) => {
      count++;
      response.writeHead(200, { 'content-type': 'text/html' }).end(`${PAGE}<p>Version ${count} of the page.</p>`);
    },
  });
  server = await startServer({
    browser: 'none',
    allowNetworks: site.allow.join(','),
    adminSecret: SECRET,
    adminPort: 0,
    adminHost: '127.0.0.1',
    metricsPort: 0,
    keylessRpm: 1000,
  });
});
afterAll(async () => {
  await server?.close();
  await site?.close();
});

async function mint() {
  const { accounts } = server.app.accounts;
  const account = await accounts.createAccount({ name: 'paid', plan: 'paid', balance: 1_000_000 });
  const { key } = await accounts.mintKey({ accountId: account.id, name: 'test' });
  const balance = async () => {
    await server.app.accounts.usage.flush();
    return (await accounts.account(account.id))!.balance!;
  };
  return { headers: { authorization: `Bearer ${key}` }, balance };
}

describe('HEAD', () => {
  const PLACES: readonly (readonly [face: string, path: string])[] = [
    ['reader', '/'],
    ['reader', '/health'],
    ['reader', '/robots.txt'],
    ['reader', '/favicon.ico'],
    ['reader', '/openapi.json'],
    ['reader', '/docs/api'],
    ['reader', '/playground/setup.json'],
    ['reader', '/no-target'],
    ['search', '/'],
    ['search', '/openapi.json'],
    ['search', '/docs'],
    ['model', '/v1/models'],
    ['model', '/v1/models/none'],
    ['model', '/openapi.json'],
    ['compat', '/'],
    ['compat', '/docs'],
    ['compat', '/openapi.json'],
    ['flow', '/'],
    ['flow', '/openapi.json'],
    ['flow', '/nothing'],
    ['admin', '/openapi.json'],
    ['admin', '/keys'],
    ['metrics', '/metrics'],
  ];
  /** Headers that differ from request to request. */
  const OWN = /^(?:date|connection|keep-alive|x-request-id|server-timing|ratelimit|x-ratelimit-.*)$/;
  const told = ({ status, headers }: Response) => ({
    status,
    headers: Object.fromEntries([...headers].filter(([name]) => !OWN.test(name))),
  });

  it.each(PLACES)('of %s%s has the headers of GET and no body', async (face, path) => {
    const headers = { 'accept-encoding': 'identity', authorization: face === 'admin' ? `Bearer ${SECRET}` : '' };
    const url = server.urls[face] + path;
    const get = await fetch(url, { headers });
    const head = await fetch(url, { method: 'HEAD', headers });
    expect(await head.text()).toBe('');
    const body = await get.text();
    expect(body).not.toBe('');
    // The length of the metrics and of the time since the start changes.
    const { 'content-length': length, ...expected } = told(get).headers;
    const { 'content-length': headLength, ...given } = told(head).headers;
    expect([head.status, given]).toEqual([get.status, expected]);
    expect(headLength === undefined).toBe(length === undefined);
    if (path !== '/health' && face !== 'metrics') expect(headLength).toBe(length);
  });

  it.each(['text/plain', 'application/json'])('of a page as %s has the headers of the read', async (accept) => {
    const url = `${server.reader}/${site.origin}/tea`;
    await fetch(url, { headers: { accept } });
    const get = await fetch(url, { headers: { accept } });
    const head = await fetch(url, { method: 'HEAD', headers: { accept } });
    expect(told(head)).toEqual(told(get));
    expect(Number(head.headers.get('x-usage-tokens'))).toBeGreaterThan(0);
    expect(await head.text()).toBe('');
  });

  it('of a stream of events ends at once', async () => {
    const head = await fetch(`${server.reader}/${site.origin}/tea`, {
      method: 'HEAD',
      headers: { accept: 'text/event-stream' },
    });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(await head.text()).toBe('');
  });

  it('of a path without GET is refused', async () => {
    const head = (face: string, path: string) => fetch(server.urls[face] + path, { method: 'HEAD' });
    expect((await head('reader', '/crawl')).status).toBe(405);
    expect((await head('model', '/v1/embeddings')).status).toBe(405);
  });
});

describe('a conditional request', () => {
  it.each([
    ['reader', '/openapi.json'],
    ['reader', '/docs/api'],
    ['reader', '/favicon.ico'],
    ['reader', '/playground/setup.json'],
    ['search', '/openapi.json'],
    ['search', '/docs'],
    ['model', '/openapi.json'],
    ['compat', '/openapi.json'],
    ['compat', '/docs'],
    ['flow', '/openapi.json'],
    ['flow', '/docs'],
  ])('for %s%s gets 304 while nothing has changed', async (face, path) => {
    const url = server.urls[face] + path;
    const first = await fetch(url);
    const tag = first.headers.get('etag')!;
    expect([first.status, tag]).toEqual([200, expect.stringMatching(/^W\/"[\w-]{22}"$/)]);
    expect(first.headers.get('cache-control')).toMatch(/no-cache|max-age/);
    const body = await first.text();
    for (const known of [tag, `"other", ${tag}`, '*', tag.slice(2)]) {
      const again = await fetch(url, { headers: { 'if-none-match': known } });
      expect([known, again.status, again.headers.get('etag'), await again.text()]).toEqual([known, 304, tag, '']);
    }
    const other = await fetch(url, { headers: { 'if-none-match': '"other"' } });
    expect([other.status, await other.text()]).toEqual([200, body]);
  });

  it('for a page costs nothing if the copy is in the cache', async () => {
    const { headers, balance } = await mint();
    const url = `${server.reader}/${site.origin}/tea`;
    const first = await fetch(url, { headers: { ...headers, accept: 'application/json' } });
    const tag = first.headers.get('etag')!;
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    await first.text();
    const before = await balance();
    const again = await fetch(url, { headers: { ...headers, accept: 'application/json', 'if-none-match': tag } });
    expect([again.status, again.headers.get('x-usage-tokens'), await again.text()]).toEqual([304, '0', '']);
    const head = await fetch(url, { method: 'HEAD', headers: { ...headers, accept: 'application/json' } });
    expect([head.status, head.headers.get('etag')]).toEqual([200, tag]);
    expect(await balance()).toBe(before);
    // Another form of the page is another response.
    const plain = await fetch(url, { headers: { ...headers, 'if-none-match': tag } });
    expect([plain.status, await plain.text()]).toEqual([200, expect.stringContaining('Green tea')]);
    expect(await balance()).toBeLessThan(before);
  });

  it('for a page that is fetched again costs as much as a read, and sends a changed page', async () => {
    const { headers, balance } = await mint();
    const options = { ...headers, 'x-no-cache': 'true' };
    const tea = `${server.reader}/${site.origin}/tea`;
    const tag = (await fetch(tea, { headers: options })).headers.get('etag')!;
    const before = await balance();
    const same = await fetch(tea, { headers: { ...options, 'if-none-match': tag } });
    expect(same.status).toBe(304);
    const cost = Number(same.headers.get('x-usage-tokens'));
    expect(cost).toBeGreaterThan(0);
    expect(await balance()).toBe(before - cost);

    const changing = `${server.reader}/${site.origin}/changing`;
    const old = (await fetch(changing, { headers: options })).headers.get('etag')!;
    const changed = await fetch(changing, { headers: { ...options, 'if-none-match': old } });
    expect([changed.status, await changed.text()]).toEqual([200, expect.stringContaining('Version 2')]);
  });
});

describe('rate limits', () => {
  it.each(['reader', 'search', 'model', 'compat'])('of the %s host are in the standard headers too', async (face) => {
    const { headers } = await mint();
    const request = {
      reader: ['/', { html: PAGE }],
      search: ['/', {}],
      model: ['/v1/embeddings', { model: 'lectern-static-v2', input: 'tea' }],
      compat: ['/v1/embeddings', { model: 'lectern-static-v2', input: 'tea' }],
    }[face] as [path: string, body: object];
    const answer = await fetch(server.urls[face] + request[0], {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(request[1]),
    });
    const own = (name: string) =>
      answer.headers.get(`x-ratelimit-${name}`) ?? answer.headers.get(`x-ratelimit-${name}-requests`);
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map(own);
    expect(Number(limit)).toBeGreaterThan(0);
    expect(answer.headers.get('ratelimit-policy')).toBe(`"requests";q=${limit};w=60`);
    expect(answer.headers.get('ratelimit')).toBe(`"requests";r=${remaining};t=${reset}`);
    expect(Number(reset)).toBeLessThanOrEqual(60);
  });
});

describe('problem details', () => {
  const ask = async (face: string, path: string, init: RequestInit = {}) => {
    const answer = await fetch(server.urls[face] + path, { ...init, headers: { ...PROBLEM, ...init.headers } });
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    const body = (await answer.json()) as Record<string, unknown>;
    expect(body.request_id).toBe(answer.headers.get('x-request-id'));
    expect(body.status).toBe(answer.status);
    return body;
  };

  it('are sent by every face that has no shape of another product', async () => {
    expect(await ask('reader', '/ftp://a.test/')).toMatchObject({
      ...{ type: 'about:blank', title: 'Bad Request', status: 400, name: 'ParamValidationError', path: 'url' },
    });
    expect(await ask('search', '/tea')).toMatchObject({ title: 'Unauthorized', name: 'AuthenticationRequiredError' });
    const post = (body: object) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(await ask('model', '/v1/embeddings', post({}))).toMatchObject({
      ...{ status: 401, code: 'AUTH_MISSING_API_KEY' },
    });
    const { headers } = await mint();
    const wrong = post({ model: 'lectern-static-v2', input: 5 });
    expect(await ask('model', '/v1/embeddings', { ...wrong, headers: { ...wrong.headers, ...headers } })).toMatchObject(
      { status: 422, errors: [expect.objectContaining({ field: expect.stringContaining('input') })] },
    );
    expect(await ask('model', '/v1/chat/completions', post({}))).toMatchObject({ status: 401 });
    expect(await ask('compat', '/nothing/here')).toMatchObject({ status: 404, name: 'RouteNotFoundError' });
    expect(await ask('flow', '/nothing')).toMatchObject({ title: 'Not Found', detail: 'Not Found' });
    expect(await ask('flow', '/post', post({ data: 5 }))).toMatchObject({
      status: 422,
      errors: expect.arrayContaining([expect.objectContaining({ loc: expect.arrayContaining(['data']) })]),
    });
    expect(await ask('admin', '/keys')).toMatchObject({ status: 401 });
  });

  it('name the limit that was exceeded', async () => {
    const limited = await startServer({ browser: 'none', keylessRpm: 1 });
    try {
      const read = () => fetch(`${limited.reader}/`, { headers: PROBLEM });
      await read();
      expect(await (await read()).json()).toMatchObject({
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        status: 429,
        'violated-policies': ['requests'],
        retryAfter: expect.any(Number),
      });
    } finally {
      await limited.close();
    }
  });

  it('do not replace the shapes of other products, nor those of clients that do not ask', async () => {
    const dialect = await fetch(`${server.urls.compat}/v2/scrape`, { method: 'POST', headers: PROBLEM });
    expect(dialect.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const own = await fetch(`${server.reader}/ftp://a.test/`, { headers: { accept: '*/*' } });
    expect(await own.json()).toMatchObject({ code: 400, status: 40001 });
  });
});

describe('the page at / in a browser', () => {
  it.each(['reader', 'search', 'model'])('of the %s host shows the state, links and an example', async (face) => {
    const answer = await fetch(`${server.urls[face]}/`, { headers: { accept: BROWSER } });
    const html = await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(html).toContain('State: ok, no browser.');
    expect(html).toContain(`curl `);
    expect(html).toContain(server.urls[face]!);
    for (const path of ['/playground', '/docs']) {
      const link = new RegExp(`href="([^"]*${path})"`).exec(html)![1]!;
      expect(new URL(link, server.urls[face]).href).toBe(server.reader + path);
    }
  });

  it('does not replace the answers to other clients', async () => {
    const ask = (face: string, accept: string) => fetch(`${server.urls[face]}/`, { headers: { accept } });
    expect(await (await ask('reader', '*/*')).text()).toMatch(/^\[Usage 1] /);
    expect(await (await ask('reader', 'application/json, text/html')).json()).toMatchObject({ code: 200 });
    expect(await (await ask('model', '*/*')).text()).toContain('is running');
    expect(await (await ask('flow', BROWSER)).json()).toEqual({});
    const read = await fetch(`${server.reader}/?url=${site.origin}/tea`, { headers: { accept: BROWSER } });
    expect(await read.text()).toContain('Green tea');
  });

  it('leads from the shared port to the reader', async () => {
    const shared = await startServer({ browser: 'none', port: 0 });
    try {
      const { port } = new URL(shared.urls.all!);
      const headers = { host: `s.lectern.test:${port}`, accept: BROWSER };
      const body = await new Promise<string>((resolve, reject) =>
        get(shared.urls.all!, { headers }, (response) => text(response).then(resolve, reject)).on('error', reject),
      );
      expect(body).toContain(`href="http://r.lectern.test:${port}/playground"`);
    } finally {
      await shared.close();
    }
  });
});

it('a refused caller is told how a key is made', async () => {
  const answer = await fetch(`${server.urls.model}/v1/embeddings`, { method: 'POST' });
  expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm=".*lectern keys mint"$/);
  expect(await (await fetch(`${server.urls.search}/tea`)).text()).toContain('lectern keys mint');
  const unknown = await fetch(`${server.reader}/`, { headers: { authorization: 'Bearer lectern_none' } });
  expect(await unknown.text()).toContain('lectern keys mint');
});
