/** Tests routes of the egress proxy: the clients of one user name connect through another proxy. */
import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { connect as startTls } from 'node:tls';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createGuard } from '../guard/guard.ts';
import { type Loopback, resolverOf, startSecret, startServer, startTcp, until } from '../loopback.suite.ts';
import { startHttpProxy, startSecure, startSocks } from '../proxy.suite.ts';
import { EGRESS_HEADER } from './egress-header.ts';
import { createEgressProxy, type EgressProxy, type EgressProxyOptions } from './egress-proxy.ts';
import { parseProxyUrl } from './proxy-table.ts';

const lookup = resolverOf({ 'site.example': ['127.0.0.1'], 'inside.example': ['127.0.0.1'] });

async function startEgress(
  allowed: readonly Loopback[],
  options: Partial<EgressProxyOptions> = {},
): Promise<EgressProxy> {
  const guard = createGuard({ allow: allowed.map(({ host }) => host), lookup });
  const egress = await createEgressProxy({ guard, ...options });
  onTestFinished(() => egress.close());
  return egress;
}

const login = ({ password }: EgressProxy, username: string) => ({
  'proxy-authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});

/** Sends requests as a browser does: plain requests with a full URL, all others through a tunnel. */
const ask = (egress: EgressProxy, username: string, path: string, method = 'GET') =>
  new Promise<{ status: number; verdict: unknown; text: string; socket: Socket }>((resolve, reject) => {
    const headers = login(egress, username);
    const outgoing = request({ host: '127.0.0.1', port: egress.port, path, method, headers, agent: false });
    outgoing.on('connect', ({ statusCode, headers: answered }, socket) => {
      socket.on('error', () => {});
      resolve({ status: statusCode!, verdict: answered[EGRESS_HEADER], text: '', socket });
    });
    outgoing.on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({
        status: response.statusCode!,
        verdict: response.headers[EGRESS_HEADER],
        text,
        socket: response.socket,
      });
    });
    outgoing.on('error', reject).end();
  });

const startSite = () =>
  startServer((incoming, response) => response.end(`${incoming.url} ${incoming.rawHeaders.join('|')}`));

const ACCOUNT = { username: 'anna', password: 'p@ss:word' };
const USER = 'anna:p%40ss%3Aword@';

describe.each([
  ['http', (options: object) => startHttpProxy(options)],
  ['https', (options: object) => startHttpProxy({ ...options, secure: true })],
  ['socks4', (options: object) => startSocks(options)],
  ['socks5', (options: object) => startSocks(options)],
  ['socks5h', (options: object) => startSocks(options)],
])('through %s', (scheme, start) => {
  test('only the requests and tunnels of its user name go, with its credentials', async () => {
    const [proxy, site, secure] = [await start({ account: ACCOUNT }), await startSite(), await startSecure()];
    const egress = await startEgress([proxy, site, secure]);
    const route = egress.route(parseProxyUrl(`${scheme}://${USER}${proxy.host}`), { acceptInvalidCertificates: true });
    const plain = await ask(egress, route.username, `http://site.example:${site.port}/a`);
    expect(plain.status).toBe(200);
    expect(plain.text).toMatch(/^\/a /);
    expect(plain.text).not.toMatch(/proxy|anna|basic/i);
    const { status, socket } = await ask(egress, route.username, `site.example:${secure.port}`, 'CONNECT');
    expect(status).toBe(200);
    const tls = startTls({ socket, rejectUnauthorized: false });
    tls.write('GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    let text = '';
    for await (const chunk of tls) text += chunk;
    expect(text).toContain('secure /b');
    expect(proxy.targets).toHaveLength(2);
    expect(route.failure()).toBeUndefined();

    expect((await ask(egress, 'another', `${site.origin}/c`)).status).toBe(200);
    route.close();
    const before = site.connections();
    expect(await ask(egress, route.username, `${site.origin}/d`)).toMatchObject({ status: 502, verdict: 'failed' });
    expect((await ask(egress, route.username, site.host, 'CONNECT')).status).toBe(502);
    expect([proxy.targets.length, site.connections()]).toEqual([2, before]);
  });

  test('wrong credentials are reported as a failure of the route', async () => {
    const [proxy, site] = [await start({ account: ACCOUNT }), await startSite()];
    const onFailed = vi.fn();
    const egress = await startEgress([proxy, site], { onFailed });
    const url = parseProxyUrl(`${scheme}://other:one@${proxy.host}`);
    const route = egress.route(url, { acceptInvalidCertificates: true, username: 'visit' });
    for (const asking of [ask(egress, 'visit', site.origin), ask(egress, 'visit', site.host, 'CONNECT')]) {
      expect(await asking).toMatchObject({ status: 502, verdict: 'failed' });
      expect(route.failure()).toMatchObject({
        name: 'AssertionFailureError',
        message: expect.stringMatching(/^The proxy /),
        facts: { path: 'proxyUrl' },
      });
    }
    expect(onFailed).toHaveBeenCalledTimes(2);
    expect(site.connections()).toBe(0);
  });

  test('no private target is requested', async () => {
    const [proxy, secret] = [await start({}), await startSecret()];
    const egress = await startEgress([proxy]);
    const { username } = egress.route(parseProxyUrl(`${scheme}://${proxy.host}`), { acceptInvalidCertificates: true });
    for (const host of ['127.0.0.1', '[::1]', 'localhost', 'inside.example', '0x7f.1']) {
      expect(await ask(egress, username, `http://${host}:${secret.port}/`)).toMatchObject({ verdict: 'refused' });
      expect(await ask(egress, username, `${host}:${secret.port}`, 'CONNECT')).toMatchObject({ verdict: 'refused' });
    }
    expect([proxy.connections(), secret.connections()]).toEqual([0, 0]);
  });

  test('a proxy at a private address is refused, but not reported as a refused target', async () => {
    const [proxy, site] = [await start({}), await startSite()];
    const onRefused = vi.fn();
    const egress = await startEgress([site], { onRefused });
    const route = egress.route(parseProxyUrl(`${scheme}://${proxy.host}`));
    expect(await ask(egress, route.username, site.origin)).toMatchObject({ status: 502, verdict: 'failed' });
    expect(route.failure()).toMatchObject({ name: 'SecurityCompromiseError', facts: { path: 'proxyUrl' } });
    expect(onRefused).not.toHaveBeenCalled();
    expect(proxy.connections()).toBe(0);
  });
});

test('a proxy that closes the connection is reported as a failure of the route', async () => {
  const closing = await startTcp((socket) => socket.once('data', () => socket.destroy()));
  const site = await startSite();
  const egress = await startEgress([closing, site]);
  const route = egress.route(parseProxyUrl(`http://${closing.host}`));
  expect(await ask(egress, route.username, site.origin)).toMatchObject({ status: 502, verdict: 'failed' });
  expect(route.failure()).toMatchObject({ message: 'The proxy closed the connection', facts: { path: 'proxyUrl' } });
});

test('closing a client closes the connections through the proxy', async () => {
  const proxy = await startSocks();
  const site = await startTcp((socket) => socket.resume());
  const egress = await startEgress([proxy, site]);
  const { username } = egress.route(parseProxyUrl(`socks5://${proxy.host}`));
  const { socket } = await ask(egress, username, site.host, 'CONNECT');
  expect(site.open()).toBe(1);
  socket.destroy();
  await once(socket, 'close');
  await until(() => site.open() === 0 && proxy.open() === 0 && egress.openConnections() === 0);
});

test("a target cannot imitate the egress proxy's header, whose name is not guessable", async () => {
  const site = await startServer((_, response) =>
    response.writeHead(200, { [EGRESS_HEADER]: 'refused', 'x-other': 'kept' }).end('page'),
  );
  const egress = await startEgress([site]);
  expect(await ask(egress, 'visit', site.origin)).toMatchObject({ status: 200, verdict: undefined, text: 'page' });
  expect(EGRESS_HEADER).toMatch(/-[0-9a-f]{24}$/);
});
