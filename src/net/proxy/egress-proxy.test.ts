import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createGuard, type GuardOptions } from '../guard/guard.ts';
import { type Loopback, resolverOf, startSecret, startServer, startTcp, until } from '../loopback.suite.ts';
import { EGRESS_HEADER } from './egress-header.ts';
import { createEgressProxy, type EgressProxy, type EgressProxyOptions } from './egress-proxy.ts';

async function startEgress(
  allowed: readonly Loopback[],
  { lookup, ...options }: Omit<EgressProxyOptions, 'guard'> & Pick<GuardOptions, 'lookup'> = {},
): Promise<EgressProxy> {
  const guard = createGuard({ allow: allowed.map(({ host }) => host), ...(lookup && { lookup }) });
  const egress = await createEgressProxy({ guard, ...options });
  onTestFinished(() => egress.close());
  return egress;
}

const credentials = ({ username, password }: Pick<EgressProxy, 'username' | 'password'>) => ({
  'proxy-authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** A plain request through the proxy, with an absolute URL. */
const get = (egress: EgressProxy, url: string, headers: Record<string, string> = credentials(egress), method = 'GET') =>
  new Promise<Answer>((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port: egress.port, path: url, method, headers, agent: false },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });

/** Opens a tunnel. Resolves with the socket and the proxy's response. */
const tunnel = (egress: EgressProxy, to: string, headers: Record<string, string> = credentials(egress)) =>
  new Promise<{ status: number; headers: Answer['headers']; socket: Socket }>((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port: egress.port,
      path: to,
      method: 'CONNECT',
      headers,
      agent: false,
    });
    outgoing.on('connect', (response, socket) => {
      socket.on('error', () => {});
      resolve({ status: response.statusCode!, headers: response.headers, socket });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });

/** Reads all data from a socket until it ends. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

const startSite = () =>
  startServer((request, response) => response.end(`public ${request.headers.host} ${request.url}`));

const hosts = [
  '127.0.0.1',
  '127.1',
  '0x7f.1',
  '0177.0.0.1',
  '2130706433',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '0.0.0.0',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'a.internal',
];

describe('refuses', () => {
  test("an invalid URL, with an answer marked as the proxy's own", async () => {
    const egress = await startEgress([]);
    for (const url of ['http://a%20b/', 'http://[/', 'http://127.0.0.1:99999/']) {
      const { headers, text } = await get(egress, url);
      expect([headers[EGRESS_HEADER], text], url).toEqual(['invalid', 'The URL is not valid']);
    }
  });

  test('tunnels to any spelling of a private address', async () => {
    const secret = await startSecret();
    const egress = await startEgress([]);
    for (const host of hosts) {
      const { status, headers } = await tunnel(egress, `${host}:${secret.port}`);
      expect([host, status, headers[EGRESS_HEADER]]).toEqual([host, 403, 'refused']);
    }
    expect(secret.connections()).toBe(0);
  });

  test('plain requests to any spelling of a private address', async () => {
    const secret = await startSecret();
    const egress = await startEgress([]);
    for (const host of hosts) {
      const { status, headers, text } = await get(egress, `http://${host}:${secret.port}/`);
      expect([host, status, headers[EGRESS_HEADER], text]).toEqual([
        host,
        403,
        'refused',
        'Access to this URL is not allowed',
      ]);
    }
    expect(secret.connections()).toBe(0);
  });

  test('a name with a private address, and a user name that hides the host', async () => {
    const secret = await startSecret();
    const egress = await startEgress([], { lookup: resolverOf({ 'mixed.example': ['8.8.8.8', '127.0.0.1'] }) });
    expect((await tunnel(egress, `mixed.example:${secret.port}`)).status).toBe(403);
    expect((await get(egress, `http://mixed.example:${secret.port}/`)).status).toBe(403);
    expect((await tunnel(egress, `public.example@127.0.0.1:${secret.port}`)).status).toBe(403);
    expect((await get(egress, `http://public.example@127.0.0.1:${secret.port}/`)).status).toBe(403);
    expect(secret.connections()).toBe(0);
  });

  test('a WebSocket handshake to a private address', async () => {
    const secret = await startSecret();
    const egress = await startEgress([]);
    const upgrade = {
      ...credentials(egress),
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    };
    expect((await get(egress, `http://127.0.0.1:${secret.port}/`, upgrade)).status).toBe(403);
    expect((await tunnel(egress, `127.0.0.1:${secret.port}`)).status).toBe(403);
    expect(secret.connections()).toBe(0);
  });

  test('ports that browsers refuse, the proxy itself, and malformed request targets', async () => {
    const egress = await startEgress([], { lookup: resolverOf({ 'site.example': ['8.8.8.8'] }) });
    expect((await tunnel(egress, 'site.example:25')).status).toBe(403);
    expect((await tunnel(egress, `127.0.0.1:${egress.port}`)).status).toBe(403);
    expect((await get(egress, '/')).status).toBe(400);
    expect((await get(egress, 'ftp://site.example/')).status).toBe(400);
    expect((await get(egress, 'file:///etc/passwd')).status).toBe(400);
    expect((await tunnel(egress, 'site.example')).status).toBe(400);
  });

  test.each([
    ['no password', {}],
    ['a wrong password', credentials({ username: 'lectern', password: 'wrong' })],
    ['an empty password', credentials({ username: 'lectern', password: '' })],
  ])('with %s, even an allowed target', async (_, headers) => {
    const site = await startSite();
    const onRequest = vi.fn();
    const egress = await startEgress([site], { onRequest });
    expect((await get(egress, `${site.origin}/`, headers)).status).toBe(407);
    expect((await tunnel(egress, site.host, headers)).status).toBe(407);
    expect(site.connections()).toBe(0);
    expect(onRequest).not.toHaveBeenCalled();
  });

  test('the password of another instance', async () => {
    const [one, two] = [await startEgress([]), await startEgress([])];
    expect(one.password).not.toBe(two.password);
    expect((await get(two, 'http://site.example/', credentials(one))).status).toBe(407);
  });

  test('connections to other addresses: it listens only on 127.0.0.1', async () => {
    const egress = await startEgress([]);
    expect(egress.url).toBe(`http://127.0.0.1:${egress.port}`);
    const elsewhere = connect(egress.port, '127.0.0.2');
    const [error] = await once(elsewhere, 'error');
    expect(error.code).toBe('ECONNREFUSED');
  });
});

describe('allows', () => {
  test('plain requests, keeping the Host header', async () => {
    const site = await startSite();
    const egress = await startEgress([site], { lookup: resolverOf({ 'site.example': ['127.0.0.1'] }) });
    expect(
      await get(egress, `http://site.example:${site.port}/a?b`, {
        ...credentials(egress),
        host: `site.example:${site.port}`,
      }),
    ).toMatchObject({
      status: 200,
      text: `public site.example:${site.port} /a?b`,
    });
  });

  test('plain requests without revealing the proxy to the target', async () => {
    const site = await startServer((request, response) => response.end(request.rawHeaders.join('|')));
    const { text } = await get(await startEgress([site]), site.origin);
    expect(text).not.toMatch(/proxy|basic|via|forwarded/i);
  });

  test('many plain requests over one connection', async () => {
    const site = await startSite();
    const egress = await startEgress([site]);
    const client = connect(egress.port, '127.0.0.1');
    const [name, value] = Object.entries(credentials(egress))[0]!;
    const ask = (more: string) =>
      client.write(`GET ${site.origin}/ HTTP/1.1\r\nHost: ${site.host}\r\n${name}: ${value}\r\n${more}\r\n`);
    const onWarning = vi.fn();
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    let text = '';
    client.on('data', (chunk) => {
      text += chunk;
    });
    const ended = once(client, 'end');
    for (let i = 1; i <= 30; i++) {
      ask(i === 30 ? 'Connection: close\r\n' : '');
      await until(() => text.split('public ').length === i + 1);
    }
    await ended;
    expect(site.connections()).toBe(30);
    expect(onWarning).not.toHaveBeenCalled();
  });

  test('a tunnel that carries all bytes in both directions', async () => {
    const size = 5_000_000;
    const site = await startTcp((socket) => {
      let got = 0;
      socket.on('data', (chunk) => {
        got += chunk.length;
        if (got === size) socket.end(Buffer.alloc(size, 'y'));
      });
    });
    const egress = await startEgress([site]);
    const { status, socket } = await tunnel(egress, site.host);
    expect(status).toBe(200);
    socket.write(Buffer.alloc(size, 'x'));
    expect(await readAll(socket)).toBe('y'.repeat(size));
    await until(() => egress.openConnections() === 0);
  });

  test('a tunnel to the checked address of a name, even if the name resolves differently afterwards', async () => {
    const site = await startSite();
    const secret = await startSecret('127.0.0.2', site.port);
    const answers = ['127.0.0.1', '127.0.0.2'];
    let lookups = 0;
    const egress = await startEgress([site], { lookup: async () => [{ address: answers[lookups++]!, family: 4 }] });
    const { socket } = await tunnel(egress, `rebind.example:${site.port}`);
    socket.write('GET / HTTP/1.1\r\nHost: rebind.example\r\nConnection: close\r\n\r\n');
    expect(await readAll(socket)).toContain('public rebind.example');
    expect(lookups).toBe(1);
    expect((await get(egress, `http://rebind.example:${site.port}/`)).status).toBe(403);
    expect(secret.connections()).toBe(0);
  });

  test('a WebSocket handshake through a tunnel', async () => {
    const site = await startTcp((socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
      );
      socket.on('data', (chunk) => chunk.toString() === 'ping' && socket.end('pong'));
    });
    const { socket } = await tunnel(await startEgress([site]), site.host);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    await once(socket, 'data');
    socket.write('ping');
    expect(await readAll(socket)).toBe('pong');
  });

  test('any user name, and reports its requests', async () => {
    const site = await startSite();
    const [onRequest, onRefused, onFailed] = [vi.fn(), vi.fn(), vi.fn()];
    const egress = await startEgress([site], { onRequest, onRefused, onFailed, lookup: resolverOf({}) });
    await get(egress, site.origin, credentials({ username: 'page-1', password: egress.password }));
    await tunnel(egress, '127.0.0.1:1', credentials({ username: 'page-2', password: egress.password }));
    await tunnel(egress, 'absent.example:443', credentials({ username: 'page-3', password: egress.password }));
    expect(onRequest.mock.calls.map(([request]) => request)).toEqual([
      { host: '127.0.0.1', port: site.port, username: 'page-1' },
      { host: '127.0.0.1', port: 1, username: 'page-2' },
      { host: 'absent.example', port: 443, username: 'page-3' },
    ]);
    expect(onRefused.mock.calls).toEqual([[{ host: '127.0.0.1', port: 1, username: 'page-2' }]]);
    expect(onFailed.mock.calls.map(([request]) => request.host)).toEqual(['absent.example']);
  });
});

describe('targets that fail', () => {
  test('are distinguished from targets that answer', async () => {
    const unreachable = await startSite();
    const egress = await startEgress([{ ...unreachable, host: '127.0.0.1:9999' }], { lookup: resolverOf({}) });
    for (const ask of [(to: string) => tunnel(egress, to), (to: string) => get(egress, `http://${to}/`)]) {
      expect(await ask('127.0.0.1:9999')).toMatchObject({ status: 502, headers: { [EGRESS_HEADER]: 'failed' } });
      expect(await ask('absent.example:80')).toMatchObject({ status: 404, headers: { [EGRESS_HEADER]: 'unknown' } });
    }
  });

  test('by closing without a response affect only that request', async () => {
    const [closing, site] = [
      await startTcp((socket) => socket.once('data', () => socket.destroy())),
      await startSite(),
    ];
    const egress = await startEgress([closing, site]);
    expect(await get(egress, closing.origin)).toMatchObject({ status: 502, headers: { [EGRESS_HEADER]: 'failed' } });
    expect((await get(egress, site.origin)).status).toBe(200);
  });

  test('by staying idle are closed', async () => {
    const site = await startTcp((socket) => socket.resume());
    const egress = await startEgress([site], { idleTimeoutMs: 100 });
    const { socket } = await tunnel(egress, site.host);
    expect(await readAll(socket)).toBe('');
    await expect(get(egress, site.origin)).rejects.toThrow();
    await until(() => site.open() === 0 && egress.openConnections() === 0);
  });

  test('by sending forever are closed at their maximum age', async () => {
    const site = await startTcp((socket) => {
      const timer = setInterval(() => socket.write('x'), 10);
      socket.once('close', () => clearInterval(timer));
    });
    const egress = await startEgress([site], { maxAgeMs: 150 });
    const { socket } = await tunnel(egress, site.host);
    expect(await readAll(socket)).toMatch(/^x+$/);
    await until(() => site.open() === 0);
  });
});

describe('clients that disconnect', () => {
  test('close their connections to targets', async () => {
    const site = await startTcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const timer = setInterval(() => socket.write('x'.repeat(10_000)), 5);
      socket.once('close', () => clearInterval(timer));
    });
    const egress = await startEgress([site]);
    const client = spawn(process.execPath, [
      '--eval',
      `for (let i = 0; i < 5; i++) {
        const options = { port: ${egress.port}, host: '127.0.0.1', headers: ${JSON.stringify(credentials(egress))} };
        require('node:http').request({ ...options, method: 'CONNECT', path: '${site.host}' }).on('connect', (_, socket) => socket.resume()).end();
        require('node:http').request({ ...options, path: '${site.origin}/' }, (response) => response.resume()).end();
      }`,
    ]);
    await until(() => egress.openConnections() === 10);
    client.kill('SIGKILL');
    await once(client, 'exit');
    await until(() => egress.openConnections() === 0 && site.open() === 0);
    const other = await startSite();
    const next = await startEgress([other]);
    expect((await get(next, other.origin)).status).toBe(200);
  });

  test('by a reset before the answer do no harm', async () => {
    const site = await startSite();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let lookups = 0;
    const egress = await startEgress([site], {
      lookup: async () => {
        lookups++;
        await released;
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    const [[name, value]] = Object.entries(credentials(egress)) as [[string, string]];
    for (const line of [`CONNECT site.example:${site.port}`, `GET http://site.example:${site.port}/`]) {
      const client = connect(egress.port, '127.0.0.1');
      client.write(`${line} HTTP/1.1\r\nHost: x\r\n${name}: ${value}\r\n\r\n`);
      const before = lookups;
      await until(() => lookups > before);
      client.resetAndDestroy();
    }
    release();
    expect((await get(egress, `http://site.example:${site.port}/`)).status).toBe(200);
    await until(() => egress.openConnections() === 0);
  });

  test('after sending any bytes do not affect the next client', async () => {
    const [site, secret] = [await startSite(), await startSecret()];
    const egress = await startEgress([site]);
    const [[name, value]] = Object.entries(credentials(egress)) as [[string, string]];
    const pieces = [
      'CONNECT ',
      'GET ',
      'POST ',
      `${secret.host} `,
      `http://${secret.host}/ `,
      `http://[::1]:${secret.port}/ `,
      'http://[ ',
      '/ ',
      '* ',
      '127.0.0.1 ',
      ':80 ',
      'HTTP/1.1\r\n',
      'HTTP/9\r\n',
      `Host: ${secret.host}\r\n`,
      `${name}: ${value}\r\n`,
      `${name}: Basic !\r\n`,
      `${name}: Bearer x\r\n`,
      'Upgrade: websocket\r\nConnection: Upgrade\r\n',
      'Content-Length: 5\r\n',
      'Transfer-Encoding: chunked\r\n',
      '\r\n',
      '5\r\nhello\r\n',
      '\0',
      '\xff',
      'x'.repeat(20_000),
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), fc.boolean(), async (parts, isRude) => {
        const client = connect(egress.port, '127.0.0.1');
        client.on('error', () => {}).resume();
        const closed = once(client, 'close').catch(() => {});
        client.write(parts.join(''), 'latin1', () => (isRude ? client.resetAndDestroy() : client.end()));
        await closed;
      }),
      { seed: 7, numRuns: 300 },
    );
    expect((await get(egress, site.origin)).status).toBe(200);
    expect(secret.connections()).toBe(0);
    await until(() => egress.openConnections() === 0);
  });

  test('closing the proxy closes all connections at once', async () => {
    const site = await startTcp((socket) => socket.resume());
    const egress = await startEgress([site]);
    const { socket } = await tunnel(egress, site.host);
    const ended = readAll(socket).catch(() => '');
    await egress.close();
    await ended;
    await until(() => site.open() === 0);
    await expect(get(egress, site.origin)).rejects.toThrow('ECONNREFUSED');
  });
});

test('counts the bytes of a user name over requests and tunnels, and blocks it', async () => {
  const site = await startServer((_, response) => response.end('x'.repeat(100_000)));
  const other = await startTcp((socket) => socket.pipe(socket));
  const egress = await startEgress([site, other]);
  const as = (username: string) => credentials({ username, password: egress.password });
  let reportedBytes = 0;
  const meter = egress.meter('one', (bytes) => {
    reportedBytes = bytes;
  });
  expect((await get(egress, `${site.origin}/`, as('one'))).text).toHaveLength(100_000);
  expect((await get(egress, `${site.origin}/`, as('two'))).text).toHaveLength(100_000);
  await until(() => reportedBytes > 100_000);
  expect(meter.bytes()).toBeLessThan(110_000);
  const { socket } = await tunnel(egress, other.host, as('one'));
  socket.resume().write('y'.repeat(60_000));
  // Traffic in both directions counts.
  await until(() => meter.bytes() > 200_000);
  meter.add(1_000_000);
  expect(meter.bytes()).toBeGreaterThan(1_200_000);
  const closed = once(socket, 'close');
  meter.block();
  await closed;
  expect((await get(egress, `${site.origin}/`, as('one'))).status).toBe(502);
  expect((await get(egress, `${site.origin}/`, as('two'))).status).toBe(200);
  meter.close();
  expect((await get(egress, `${site.origin}/`, as('one'))).status).toBe(200);
});
