/** The options for proxies, cookies, headers and robots.txt, through the whole server and with both engines. */
import { Server as ProxyServer } from 'proxy-chain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Site, sendHtml, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const LONG_MS = 120_000;

let site: Site;
let server: TestServer;
let proxy: ProxyServer;
let operatorProxy: ProxyServer;
/** Hosts that were requested through each proxy. */
const through: string[] = [];
const throughOperator: string[] = [];

const startProxy = async (seen: string[], credentials?: string) => {
  const made = new ProxyServer({
    host: '127.0.0.1',
    port: 0,
    prepareRequestFunction: ({ username, password, hostname, port }) => {
      if (credentials && `${username}:${password}` !== credentials) return { requestAuthentication: true };
      seen.push(`${hostname}:${port}`);
      return {};
    },
  });
  await made.listen();
  return made;
};

beforeAll(async () => {
  proxy = await startProxy(through, 'ann:secret');
  operatorProxy = await startProxy(throughOperator);
  site = await startSite({
    '/echo': ({ request, response }) =>
      sendHtml(response, `<title>Echo</title><pre id="headers">${JSON.stringify(request.headers)}</pre>`),
    '/sets': ({ response }) =>
      void response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': ['seen=1; Path=/', 'locked=2; HttpOnly'] })
        .end('<title>Sets</title><p>Words.</p><script>localStorage.setItem("mood", "calm")</script>'),
    '/gated': ({ request, response }) => {
      if (request.headers.cookie?.includes('pass=1')) return sendHtml(response, '<title>In</title><p>You are in.</p>');
      return void response.writeHead(302, { location: '/gated', 'set-cookie': 'pass=1' }).end();
    },
    '/refresh': '<meta http-equiv="refresh" content="0; url=/article"><title>Wait</title>',
    '/mood':
      '<title>Mood</title><p id="m">none</p><script>m.textContent = localStorage.getItem("mood") + " " + document.cookie</script>',
    '/robots.txt': ({ response }) =>
      void response
        .writeHead(200, { 'content-type': 'text/plain' })
        .end('User-agent: *\nDisallow: /list\nAllow: /list?ok\n\nUser-agent: goodbot\nDisallow:\n'),
  });
  server = await startServer({
    allowNetworks: [...site.allow, `127.0.0.1:${proxy.port}`].join(','),
    proxies: [{ url: `http://127.0.0.1:${operatorProxy.port}`, countries: ['de'], eu: true }],
  });
});
afterAll(async () => {
  await server.close();
  await proxy.close(true);
  await operatorProxy.close(true);
  await site.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a page
type Answer = any;

async function read(
  at: string,
  body: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await fetch(server.reader, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify({ url: `${site.origin}${at}`, noCache: true, ...body }),
  });
  return answer.json();
}
const withKey = () => ({ authorization: `Bearer ${server.app.firstKey}` });
const echoed = ({ data }: { data: { content: string } }) =>
  JSON.parse(data.content.replace(/^[^{]*/, '').replace(/[^}]*$/, '')) as Record<string, string>;
const host = () => new URL(site.origin).host;

describe.each(['direct', 'browser'])('engine %s', (engine) => {
  it('uses the proxy of the option', { timeout: LONG_MS }, async () => {
    through.length = 0;
    const proxyUrl = `http://ann:secret@127.0.0.1:${proxy.port}`;
    const { data } = await read('/article', { engine, proxyUrl });
    expect(data.title).toBe('The harbour at night');
    expect(through).toContain(host());
  });

  it('says why a proxy failed, without its credentials', { timeout: LONG_MS }, async () => {
    const wrong = await read('/article', { engine, proxyUrl: `http://ann:wrong@127.0.0.1:${proxy.port}` });
    expect(wrong).toMatchObject({ code: 422, path: 'proxyUrl' });
    const down = await read('/article', { engine, proxyUrl: 'http://127.0.0.1:9' });
    expect([422, 451]).toContain(down.code);
    const inside = await read('/article', { engine, proxyUrl: 'socks5://ann:secret@10.1.2.3:1080' });
    expect(inside.code).toBe(451);
    expect(JSON.stringify([wrong, down, inside])).not.toMatch(/wrong@|secret|10\.1\.2\.3/);
  });

  it('sends cookies and headers of the caller', { timeout: LONG_MS }, async () => {
    const setCookies = ['tea=green; Path=/echo', 'far=away; Path=/elsewhere'];
    const headers = echoed(await read('/echo', { engine, setCookies, customHeader: { 'X-Tea': 'hot' } }));
    expect(headers.cookie).toBe('tea=green');
    expect(headers['x-tea']).toBe('hot');
    const refused = await read('/echo', { engine, setCookies: '__Host-a=b; Domain=other.test' });
    expect(refused).toMatchObject({ code: 400, path: 'cookies' });
  });

  it('keeps cookies over a redirect, and follows a refresh', { timeout: LONG_MS }, async () => {
    expect((await read('/gated', { engine })).data.content).toBe('You are in.');
    expect((await read('/refresh', { engine, timeout: 10 })).data.title).toBe('The harbour at night');
  });
});

describe('proxies of the operator', () => {
  it('are selected by country, for callers with a key', { timeout: LONG_MS }, async () => {
    throughOperator.length = 0;
    const { data } = await read('/article', { engine: 'direct', proxy: 'de' }, withKey());
    expect(data.title).toBe('The harbour at night');
    expect(throughOperator).toContain(host());
    expect(data.usage.tokens % 5).toBe(0);
    expect(await read('/article', { proxy: 'fr' }, withKey())).toMatchObject({ code: 422, path: 'proxy' });
  });

  it('are neither used nor charged for callers without a key', { timeout: LONG_MS }, async () => {
    throughOperator.length = 0;
    const plain = await read('/article', { engine: 'direct' });
    const { data } = await read('/article', { engine: 'direct', proxy: 'de' });
    expect(data.title).toBe('The harbour at night');
    expect(data.usage).toEqual(plain.data.usage);
    expect(throughOperator).toEqual([]);
  });
});

describe('storage state', () => {
  it('is exported, and applies when it is submitted', { timeout: LONG_MS }, async () => {
    const { data } = await read('/sets', { exportStorageState: true });
    expect(data.storageState.cookies).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'seen', value: '1', httpOnly: false, sameSite: 'Lax' }),
        expect.objectContaining({ name: 'locked', value: '2', httpOnly: true }),
      ]),
    );
    expect(data.storageState.origins).toEqual([
      { origin: site.origin, localStorage: [{ name: 'mood', value: 'calm' }] },
    ]);
    const mood = await read('/mood', { storageState: data.storageState, engine: 'browser' });
    expect(mood.data.content).toContain('calm seen=1');
    expect((await read('/mood', { engine: 'browser' })).data.content).toContain('null');
  });

  it('comes from the page of preloadUrl', { timeout: LONG_MS }, async () => {
    const { data } = await read('/mood', { preloadUrl: `${site.origin}/sets` });
    expect(data.content).toContain('calm seen=1');
    expect(site.hits('/sets')).toBeGreaterThan(0);
  });
});

describe('robots.txt', () => {
  it.each([
    ['/list', 'true', 409],
    ['/list', 'AnyBot', 409],
    ['/list', 'goodbot', 200],
    ['/list?ok', '*', 200],
    ['/article', 'true', 200],
  ])('%s for %s is %i', { timeout: LONG_MS }, async (at, robotsTxt, code) => {
    const answer = await read(at, { robotsTxt, engine: 'direct' });
    expect(answer.code).toBe(code);
    if (code === 409) expect(answer).toMatchObject({ status: 40902, name: 'ResourcePolicyDenyError' });
  });
});

describe('engine auto', () => {
  it('returns the engine and the reason', { timeout: LONG_MS }, async () => {
    const { data } = await read('/article');
    expect(data.metadata).toMatchObject({ 'lectern:engine': 'direct', 'lectern:engineReason': 'no scripts' });
    const scripted = await read('/mood');
    expect(scripted.data.metadata['lectern:engine']).toBe('browser');
    expect(scripted.data.metadata['lectern:engineReason']).toEqual(expect.any(String));
  });
});
