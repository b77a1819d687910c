/**
 * Tests fetching through proxies: what proxies receive, how their failures are reported, and what is never sent to
 * them.
 */
// Full run only: starts proxies.
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { Problem } from '#errors.ts';
import { createGuard } from '../guard/guard.ts';
import { type Loopback, resolverOf, startFetch, startSecret, startServer, startTcp, until } from '../loopback.suite.ts';
import { createProxyTable, parseProxyUrl } from '../proxy/proxy-table.ts';
import { startHttpProxy, startSecure, startSocks, type TestProxy } from '../proxy.suite.ts';
import { createRegion } from '../region.ts';
import { createFetch, type FetchOptions, type GuardedFetch } from './fetch.ts';

const lookup = resolverOf({
  'site.example': ['127.0.0.1'],
  'inside.example': ['127.0.0.1'],
  'proxy.example': ['127.0.0.1'],
  'six.example': ['2606:4700::1'],
});
const ACCOUNT = { username: 'anna', password: 'p@ss:wörd' };
const IN_URL = `${ACCOUNT.username}:${encodeURIComponent(ACCOUNT.password)}@`;

const startSite = () =>
  startServer((request, response) =>
    response.end(JSON.stringify({ url: request.url, host: request.headers.host, headers: request.rawHeaders })),
  );

const fetchFor = (...allowed: Loopback[]): GuardedFetch => startFetch(allowed, { lookup });
const textOf = async (fetch: GuardedFetch, url: string, options: FetchOptions) =>
  Buffer.from((await (await fetch(url, options)).collect()).bytes).toString();

interface Kind {
  readonly name: string;
  readonly start: (options?: { account?: typeof ACCOUNT }) => Promise<TestProxy>;
  readonly scheme: string;
  readonly byName: boolean;
}
const KINDS: Kind[] = [
  { name: 'HTTP', start: startHttpProxy, scheme: 'http', byName: true },
  {
    name: 'HTTP by TLS',
    start: (options) => startHttpProxy({ ...options, secure: true }),
    scheme: 'https',
    byName: true,
  },
  { name: 'SOCKS 4', start: startSocks, scheme: 'socks4', byName: false },
  { name: 'SOCKS 4a', start: startSocks, scheme: 'socks4a', byName: true },
  { name: 'SOCKS 5', start: startSocks, scheme: 'socks5', byName: false },
  { name: 'SOCKS 5 by name', start: startSocks, scheme: 'socks5h', byName: true },
];

describe.each(KINDS)('$name', ({ start, scheme, byName }) => {
  const urlOf = ({ host }: Loopback, user = '') => parseProxyUrl(`${scheme}://${user}${host}`);
  const plain = (host: string) => (scheme.startsWith('http') ? `http://${host}/a?b` : host);

  test('forwards plain and secure requests without revealing itself to the target', async () => {
    const [proxy, site, secure] = [await start(), await startSite(), await startSecure()];
    const fetch = fetchFor(proxy, site, secure);
    const options = { proxy: urlOf(proxy), acceptInvalidCertificates: true };
    const seen = await textOf(fetch, `http://site.example:${site.port}/a?b#c`, options);
    expect(JSON.parse(seen)).toMatchObject({ url: '/a?b', host: `site.example:${site.port}` });
    expect(seen).not.toMatch(/proxy/i);
    expect(await textOf(fetch, `https://site.example:${secure.port}/d`, options)).toBe('secure /d');
    const host = byName ? 'site.example' : '127.0.0.1';
    expect(proxy.targets).toEqual([plain(`${host}:${site.port}`), `${host}:${secure.port}`]);
  });

  test('requires the right credentials', async () => {
    const [proxy, site, secure] = [await start({ account: ACCOUNT }), await startSite(), await startSecure()];
    const fetch = fetchFor(proxy, site, secure);
    const options = { acceptInvalidCertificates: true };
    const authorized = { ...options, proxy: urlOf(proxy, IN_URL) };
    expect(await textOf(fetch, site.origin, authorized)).toContain('"url":"/"');
    expect(await textOf(fetch, `https://${secure.host}/`, authorized)).toBe('secure /');
    for (const user of ['', 'someone:else@']) {
      for (const url of [site.origin, `https://${secure.host}/`]) {
        const failure = await fetch(url, { ...options, proxy: urlOf(proxy, user) }).catch((error) => error);
        expect(failure).toMatchObject({ name: 'AssertionFailureError', facts: { path: 'proxyUrl' } });
        expect(failure.message).toMatch(/^The proxy /);
        expect(JSON.stringify([failure.message, failure.facts])).not.toMatch(/else|127\.0\.0/);
      }
    }
    expect(proxy.targets).toHaveLength(2);
  });

  test('serves many requests over one connection', async () => {
    const [proxy, site] = [await start(), await startSite()];
    const fetch = fetchFor(proxy, site);
    for (let i = 0; i < 3; i++)
      await textOf(fetch, site.origin, { proxy: urlOf(proxy), acceptInvalidCertificates: true });
    expect(proxy.connections()).toBe(1);
  });

  test('is never contacted for a private target, given as IP address or name', async () => {
    const [proxy, secret] = [await start(), await startSecret()];
    const fetch = fetchFor(proxy);
    for (const host of ['127.0.0.1', '[::1]', 'localhost', 'inside.example', '169.254.169.254', 'metadata.internal']) {
      for (const protocol of ['http', 'https']) {
        await expect(
          fetch(`${protocol}://${host}:${secret.port}/`, { proxy: urlOf(proxy), acceptInvalidCertificates: true }),
        ).rejects.toMatchObject({ name: 'SecurityCompromiseError', facts: { path: 'url' } });
      }
    }
    expect([proxy.connections(), secret.connections()]).toEqual([0, 0]);
  });

  test('at a private address is refused without a connection, given as IP address or name', async () => {
    const [proxy, site] = [await start(), await startSite()];
    const fetch = fetchFor(site);
    for (const host of ['127.0.0.1', '127.1', '0x7f000001', 'localhost', 'proxy.example', '[::ffff:127.0.0.1]']) {
      const url = parseProxyUrl(`${scheme}://${host}:${proxy.port}`);
      await expect(fetch(site.origin, { proxy: url })).rejects.toMatchObject({
        name: 'SecurityCompromiseError',
        facts: { path: 'proxyUrl' },
      });
    }
    expect(proxy.connections()).toBe(0);
  });

  test('of the operator may be at any address', async () => {
    const [proxy, site] = [await start(), await startSite()];
    const region = createRegion({ region: 'any', euHosts: [], log: { info: vi.fn(), warn: vi.fn() } });
    const table = createProxyTable([{ url: `${scheme}://${proxy.host}`, countries: [], eu: false }], { region });
    const chosen = table.pick('any')!;
    expect(await textOf(fetchFor(site), site.origin, { proxy: chosen, acceptInvalidCertificates: true })).toContain(
      '"/"',
    );
    expect(proxy.targets).toHaveLength(1);
  });

  test('reports its failures as those of the proxy if it is down, unknown or silent', async () => {
    const site = await startSite();
    const silent = await startTcp((socket) => socket.resume());
    const closing = await startTcp((socket) => socket.once('data', () => socket.destroy()));
    const garbled = await startTcp((socket) => socket.once('data', () => socket.end('\0\xff?!\r\n\r\n')));
    const closed = { ...site, host: '127.0.0.1:9999' };
    const fetch = fetchFor(site, closed, silent, closing, garbled);
    const asking = (host: string, connectTimeoutMs = 5_000) =>
      fetch(`https://${site.host}/`, { proxy: parseProxyUrl(`${scheme}://${host}`), connectTimeoutMs });
    const failure = { facts: { path: 'proxyUrl' }, message: expect.stringMatching(/\bproxy\b/) };
    await expect(asking(closed.host)).rejects.toMatchObject({
      ...failure,
      message: 'The proxy refused the connection',
    });
    await expect(asking('absent.example:1080')).rejects.toMatchObject({ ...failure, name: 'ParamValidationError' });
    await expect(asking(silent.host, 200)).rejects.toMatchObject({ ...failure, name: 'AssertionFailureError' });
    await expect(asking(closing.host)).rejects.toMatchObject({ ...failure, name: 'AssertionFailureError' });
    await expect(asking(garbled.host)).rejects.toMatchObject({ ...failure, name: 'AssertionFailureError' });
    await until(() => silent.open() + closing.open() + garbled.open() === 0);
  });

  test('leaves no connection after an abort', async () => {
    const [site, silent] = [await startSite(), await startTcp((socket) => socket.resume())];
    const controller = new AbortController();
    const response = fetchFor(site, silent)(`https://${site.host}/`, {
      proxy: urlOf(silent),
      signal: controller.signal,
    });
    await until(() => silent.open() === 1);
    controller.abort(new Error('aborted'));
    await expect(response).rejects.toThrow('aborted');
    await until(() => silent.open() === 0);
  });
});

test.each([
  ['http', ['HTTP/1.1 200 Fine\r\nVia: x\r\n\r\n']],
  ['socks4', ['\0\x5a\0\0\0\0\0\0']],
  ['socks5', ['\x05\0', '\x05\0\0\x03\x02ab\0\x50']],
])('an answer of %s is understood byte by byte', async (scheme, answers) => {
  const slow = await startTcp((socket) => {
    const left = [...answers];
    socket.on('data', async () => {
      const answer = left.shift();
      for (const byte of answer ?? 'no TLS') {
        socket.write(byte, 'latin1');
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      if (!answer) socket.end();
    });
  });
  const secure = await startSecure();
  // The tunnel works, because the failure is the target's.
  await expect(
    fetchFor(slow, secure)(`https://${secure.host}/`, { proxy: parseProxyUrl(`${scheme}://${slow.host}`) }),
  ).rejects.toMatchObject({ message: 'No secure connection to the target could be established' });
});

test('any answer of a proxy ends in a response or a problem', async () => {
  let bytes = Buffer.alloc(0);
  const garbled = await startTcp((socket) => void socket.once('data', () => socket.end(bytes)));
  const site = await startSite();
  const fetch = fetchFor(garbled, site);
  const pieces = [
    'HTTP/1.1 200 OK\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 407 ?\r\nProxy-Authenticate: Negotiate x\r\n\r\n',
    'HTTP/1.1 ',
    'x'.repeat(20_000),
    '\r\n\r\n',
    '\x05\x00',
    '\x05\x02',
    '\x05\xff',
    '\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50',
    '\x05\x00\x00\x03\xff',
    '\x05\x00\x00\x09',
    '\x05\x01',
    '\x00\x5a\x00\x00\x00\x00\x00\x00',
    '\x00\x5b',
    '\x00',
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...pieces), { maxLength: 6 }),
      fc.constantFrom('http', 'https', 'socks4', 'socks5', 'socks5h'),
      fc.constantFrom('http', 'https'),
      async (parts, scheme, protocol) => {
        bytes = Buffer.from(parts.join(''), 'latin1');
        const proxy = parseProxyUrl(`${scheme}://a:b@${garbled.host}`);
        const outcome = await fetch(`${protocol}://${site.host}/`, { proxy, timeoutMs: 5_000 })
          .then((response) => response.collect())
          .catch((error: unknown) => error);
        expect(outcome instanceof Problem || (outcome as { bytes: unknown }).bytes instanceof Uint8Array).toBe(true);
      },
    ),
    { seed: 7, numRuns: 300 },
  );
  expect(site.connections()).toBe(0);
  await until(() => garbled.open() === 0);
});

test.each([
  [403, 'The proxy refused the connection to the target (403)'],
  [502, 'The proxy could not reach the target (502)'],
])('an HTTP proxy that answers %i is reported as the cause', async (refuse, message) => {
  const [proxy, secure] = [await startHttpProxy({ refuse }), await startSecure()];
  await expect(
    fetchFor(proxy, secure)(`https://${secure.host}/`, { proxy: parseProxyUrl(proxy.origin) }),
  ).rejects.toMatchObject({ name: 'AssertionFailureError', message, facts: { path: 'proxyUrl' } });
});

test.each([
  ['socks5', 2, 'The proxy does not allow the connection to the target'],
  ['socks5', 4, 'The proxy could not reach the target'],
  ['socks5', 99, 'The proxy refused the connection to the target'],
  ['socks4', 1, 'The proxy refused the connection to the target'],
])('a %s proxy that replies %i is reported as the cause', async (scheme, reply, message) => {
  const [proxy, site] = [await startSocks({ reply }), await startSite()];
  await expect(
    fetchFor(proxy, site)(site.origin, { proxy: parseProxyUrl(`${scheme}://${proxy.host}`) }),
  ).rejects.toMatchObject({ name: 'AssertionFailureError', message, facts: { path: 'proxyUrl' } });
});

test('SOCKS 5 receives the address of a target that has only IPv6', async () => {
  const proxy = await startSocks({ reply: 4 });
  const asking = fetchFor(proxy)('http://six.example/', { proxy: parseProxyUrl(`socks5://${proxy.host}`) });
  await expect(asking).rejects.toMatchObject({ message: 'The proxy could not reach the target' });
  expect(proxy.targets).toEqual(['[26064700000000000000000000000001]:80']);
});

test('a proxy that closes the connection during a plain request is reported as the cause', async () => {
  const [closing, site] = [await startTcp((socket) => socket.once('data', () => socket.destroy())), await startSite()];
  await expect(
    fetchFor(closing, site)(site.origin, { proxy: parseProxyUrl(`http://${closing.host}`) }),
  ).rejects.toMatchObject({ message: 'The proxy closed the connection', facts: { path: 'proxyUrl' } });
});

test('the certificate of a proxy is verified by default', async () => {
  const [proxy, site] = [await startHttpProxy({ secure: true }), await startSite()];
  await expect(fetchFor(proxy, site)(site.origin, { proxy: parseProxyUrl(proxy.origin) })).rejects.toMatchObject({
    message: 'The certificate of the proxy is not valid (DEPTH_ZERO_SELF_SIGNED_CERT)',
  });
  expect(proxy.targets).toEqual([]);
});

test('a redirect goes through the proxy too, and not to private addresses', async () => {
  const secret = await startSecret();
  const site = await startServer((request, response) =>
    request.url === '/'
      ? response.writeHead(302, { location: '/there' }).end()
      : response.writeHead(302, { location: secret.origin }).end(),
  );
  const proxy = await startHttpProxy();
  await expect(fetchFor(proxy, site)(site.origin, { proxy: parseProxyUrl(proxy.origin) })).rejects.toMatchObject({
    name: 'SecurityCompromiseError',
  });
  expect(proxy.targets).toEqual([`${site.origin}/`, `${site.origin}/there`]);
  expect(secret.connections()).toBe(0);
});

test('connections are not shared between proxies, accounts and direct requests', async () => {
  const [one, two, site] = [await startHttpProxy(), await startHttpProxy(), await startSite()];
  const fetch = fetchFor(one, two, site);
  await textOf(fetch, site.origin, { proxy: parseProxyUrl(one.origin) });
  await textOf(fetch, site.origin, { proxy: parseProxyUrl(two.origin) });
  await textOf(fetch, site.origin, { proxy: parseProxyUrl(`http://a:b@${one.host}`) });
  await textOf(fetch, site.origin, {});
  expect([one.connections(), two.connections()]).toEqual([2, 1]);
});

describe('inside the EU', () => {
  const regionIn = (euHosts: readonly string[]) => {
    const log = { info: vi.fn(), warn: vi.fn() };
    return { log, region: createRegion({ region: 'eu', euHosts, log }) };
  };

  test("a caller's proxy outside the list is refused, and its URL is not logged", async () => {
    const [proxy, site] = [await startHttpProxy(), await startSite()];
    const { region, log } = regionIn(['elsewhere.example']);
    const guard = createGuard({ allow: [proxy.host, site.host] });
    const fetch = createFetch({ guard, region });
    await expect(fetch(site.origin, { proxy: parseProxyUrl(proxy.origin) })).rejects.toMatchObject({
      name: 'DownstreamServiceFailureError',
      facts: { path: 'proxyUrl' },
      message: expect.stringContaining('not inside the EU'),
    });
    await fetch.close();
    expect(proxy.connections()).toBe(0);
    expect(log.warn).toHaveBeenCalledTimes(1);
    expect(JSON.stringify([log.warn.mock.calls, log.info.mock.calls])).not.toContain(String(proxy.port));
  });

  test.each(['127.0.0.1', 'with port'])('a proxy listed by %s is used', async (mark) => {
    const [proxy, site] = [await startHttpProxy(), await startSite()];
    const { region } = regionIn([mark === 'with port' ? proxy.host : mark]);
    const fetch = createFetch({ guard: createGuard({ allow: [proxy.host, site.host] }), region });
    expect(await textOf(fetch, site.origin, { proxy: parseProxyUrl(proxy.origin) })).toContain('"/"');
    await fetch.close();
  });
});
