/** Tests HTTP/2: it is used if the server offers it, under the same limits as HTTP/1.1. */
// Full run only: starts servers.
import type { IncomingHttpHeaders } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  constants as h2,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from '#errors.ts';
import { type Loopback, resolverOf, started, startFetch, until } from '../loopback.suite.ts';
import { parseProxyUrl } from '../proxy/proxy-table.ts';
import { CERTIFICATE, KEY, startHttpProxy, startSecure, startSocks } from '../proxy.suite.ts';
import { toJar } from './cookies.ts';
import type { FetchOptions, GuardedFetch } from './fetch.ts';

const TLS = { key: KEY, cert: CERTIFICATE };
type Answer = (request: Http2ServerRequest, response: Http2ServerResponse) => void;
type Respond = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

const startH2 = (answer: Answer) => started(createSecureServer({ ...TLS, allowHTTP1: true }, answer));

/** A server that controls every frame of a stream. */
function startStreams(respond: Respond, prepare: (server: Http2SecureServer) => void = () => {}): Promise<Loopback> {
  const server = createSecureServer(TLS);
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    respond(stream, headers);
  });
  server.on('session', (session) => session.on('error', () => {}));
  prepare(server);
  return started(server);
}

/** A server that negotiates HTTP/2, and responds to the first bytes with arbitrary bytes. */
const startRaw = (respond: (socket: TLSSocket) => void) =>
  started(
    createTlsServer({ ...TLS, ALPNProtocols: ['h2'] }, (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => respond(socket));
    }),
  );

/** RFC 9113, section 4.1. */
const frame = (type: number, flags: number, stream: number, payload: readonly number[] = []) => [
  ...[payload.length >> 16, (payload.length >> 8) & 0xff, payload.length & 0xff, type, flags],
  ...[0, 0, 0, stream],
  ...payload,
];

const fetchFor = (...sites: Loopback[]): GuardedFetch =>
  startFetch(sites, { lookup: resolverOf({ 'site.example': ['127.0.0.1'] }) });

const collect = async (fetch: GuardedFetch, { host }: Loopback, path = '/', options: FetchOptions = {}) => {
  const response = await fetch(`https://${host}${path}`, { acceptInvalidCertificates: true, ...options });
  return { ...response, ...(await response.collect()) };
};
const textOf = async (...parts: Parameters<typeof collect>) => Buffer.from((await collect(...parts)).bytes).toString();

describe('a request', () => {
  test('goes over HTTP/2 with method, headers and body', async () => {
    const site = await startH2(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      response.setHeader('set-cookie', ['a=1', 'b=2']);
      response.setHeader('x-two', ['c', 'd']);
      response.writeHead(404);
      response.end(JSON.stringify({ version: request.httpVersion, headers: request.headers, body, url: request.url }));
    });
    const jar = toJar([]);
    const { status, statusText, headers, bytes } = await collect(fetchFor(site), site, '/a?b#c', {
      method: 'POST',
      headers: { 'X-Own': 'yes', Connection: 'close', 'content-type': 'text/plain' },
      body: 'hello',
      jar,
    });
    expect({ status, statusText }).toEqual({ status: 404, statusText: 'Not Found' });
    expect(headers).toMatchObject({ 'x-two': 'c, d' });
    expect(jar.getCookieStringSync(`https://${site.host}/`)).toBe('a=1; b=2');
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({
      version: '2.0',
      url: '/a?b',
      body: 'hello',
      headers: { ':authority': site.host, 'x-own': 'yes', 'content-type': 'text/plain' },
    });
  });

  test('falls back to HTTP/1.1', async () => {
    const site = await startSecure();
    expect(await textOf(fetchFor(site), site)).toBe('secure /');
  });

  test('decodes, follows redirects over one connection, and drops headers that HTTP/2 forbids', async () => {
    const site = await startH2((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/there' }).end();
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'));
    });
    expect(await textOf(fetchFor(site), site)).toBe('packed');
    expect(site.connections()).toBe(1);
  });

  test('goes through proxies', async () => {
    const site = await startH2((request, response) => response.end(request.httpVersion));
    for (const [proxy, scheme] of [
      [await startHttpProxy(), 'http'],
      [await startHttpProxy({ secure: true }), 'https'],
      [await startSocks(), 'socks5'],
    ] as const) {
      const options = { proxy: parseProxyUrl(`${scheme}://${proxy.host}`) };
      expect(await textOf(fetchFor(proxy, site), site, '/', options)).toBe('2.0');
    }
  });

  test('receives a large body completely', async () => {
    const body = Buffer.alloc(20_000_000, 'lorem ipsum ');
    const site = await startH2((_, response) => response.end(body));
    expect(Buffer.compare((await collect(fetchFor(site), site)).bytes, body)).toBe(0);
  });
});

describe('connections', () => {
  test('are kept alive and reused, one request at a time', async () => {
    const site = await startH2((_, response) => response.end('x'));
    const fetch = fetchFor(site);
    for (let i = 0; i < 4; i++) await textOf(fetch, site);
    expect(site.connections()).toBe(1);
    await Promise.all(Array.from({ length: 3 }, () => textOf(fetch, site)));
    expect(site.connections()).toBe(3);
    await fetch.close();
    await until(() => site.open() === 0);
  });

  test('that received GOAWAY finish their request and are not reused', async () => {
    const sessions: ServerHttp2Session[] = [];
    const site = await startStreams((stream) => {
      stream.respond({ ':status': 200 });
      stream.write('first ');
      stream.session!.goaway(h2.NGHTTP2_NO_ERROR, stream.id);
      setTimeout(() => stream.end('last'), 50);
      sessions.push(stream.session as ServerHttp2Session);
    });
    const fetch = fetchFor(site);
    for (let i = 0; i < 2; i++) {
      const { bytes, truncated } = await collect(fetch, site);
      expect([Buffer.from(bytes).toString(), truncated]).toEqual(['first last', undefined]);
    }
    expect(site.connections()).toBe(2);
    await until(() => site.open() === 0);
  });

  test('that closed while idle are replaced', async () => {
    const site = await startStreams((stream, { ':path': path }) => {
      stream.respond({ ':status': 200 });
      stream.end(String(path));
      if (path === '/close') stream.once('close', () => stream.session?.goaway());
    });
    const fetch = fetchFor(site);
    expect(await textOf(fetch, site, '/close')).toBe('/close');
    expect(await textOf(fetch, site, '/again')).toBe('/again');
  });

  test('that break on the next request are replaced', async () => {
    let requests = 0;
    const site = await startStreams((stream) => {
      if (++requests === 2) return stream.session!.destroy();
      stream.respond({ ':status': 200 });
      stream.end('fine');
    });
    const fetch = fetchFor(site);
    for (let i = 0; i < 2; i++) expect(await textOf(fetch, site)).toBe('fine');
    expect([requests, site.connections()]).toEqual([3, 2]);
  });

  test('a refused stream is retried once', async () => {
    for (const refusals of [1, 2]) {
      let requests = 0;
      const site = await startStreams((stream) => {
        if (requests++ < refusals) return stream.close(h2.NGHTTP2_REFUSED_STREAM);
        stream.respond({ ':status': 200 });
        stream.end('fine');
      });
      const outcome = textOf(fetchFor(site), site, '/', { method: 'POST', body: 'x' });
      if (refusals === 1) expect(await outcome).toBe('fine');
      else await expect(outcome).rejects.toMatchObject({ name: 'AssertionFailureError' });
      expect(requests).toBe(2);
    }
  });

  test('a server that requires HTTP/1.1 gets it', async () => {
    const server = createSecureServer({ ...TLS, allowHTTP1: true }, (request, response) => {
      if (request.httpVersion === '2.0') request.stream.close(h2.NGHTTP2_HTTP_1_1_REQUIRED);
      else response.end(request.httpVersion);
    });
    const site = await started(server);
    expect(await textOf(fetchFor(site), site)).toBe('1.1');
  });
});

describe('failures', () => {
  test.each([
    ['with a reset', frame(3, 0, 1, [0, 0, 0, 2])],
    ['with a cancellation', frame(3, 0, 1, [0, 0, 0, 8])],
    ['with a connection error', frame(7, 0, 0, [0, 0, 0, 0, 0, 0, 0, 2])],
    ['before its declared length', frame(0, 1, 1)],
    ['with a closed connection', []],
  ])('a body that ends %s is returned as far as it arrived', async (_, end) => {
    const site = await startRaw((socket) => {
      // The declared length is 900, but only four bytes are sent.
      socket.write(Buffer.from([...frame(4, 0, 0), ...frame(1, 4, 1, [0x88, 0x5c, 3, 57, 48, 48])]));
      socket.write(Buffer.from(frame(0, 0, 1, [...Buffer.from('half')])));
      setTimeout(() => (end.length ? socket.write(Buffer.from(end)) : socket.destroy()), 30);
    });
    const { bytes, truncated } = await collect(fetchFor(site), site);
    expect([Buffer.from(bytes).toString(), truncated]).toEqual(['half', 'broken']);
    await until(() => site.open() === 0);
  });

  test('a connection that breaks within a body returns the part that arrived', async () => {
    const sockets: TLSSocket[] = [];
    const site = await startStreams(
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.write('half', () => setTimeout(() => sockets[0]!.destroy(), 20));
      },
      (server) => server.on('secureConnection', (socket) => sockets.push(socket)),
    );
    expect(await collect(fetchFor(site), site)).toMatchObject({ truncated: 'broken' });
  });

  test.each(['NGHTTP2_NO_ERROR', 'NGHTTP2_INTERNAL_ERROR'] as const)(
    '%s instead of a response is a failure',
    async (code) => {
      const site = await startStreams((stream) => stream.close(h2[code]));
      await expect(collect(fetchFor(site), site)).rejects.toMatchObject({ name: 'AssertionFailureError' });
      await until(() => site.open() === 0);
    },
  );

  test('headers beyond the limit are a failure, many small ones are not', async () => {
    const flood = (count: number) =>
      startStreams((stream) => {
        const lines = Array.from({ length: count }, (_, i) => [`x-${i}`, 'y'.repeat(1_000)]);
        stream.respond({ ':status': 200, ...Object.fromEntries(lines) });
        stream.end('page');
      });
    const [few, many] = [await flood(40), await flood(200)];
    expect(await textOf(fetchFor(few), few)).toBe('page');
    await expect(collect(fetchFor(many), many)).rejects.toMatchObject({ name: 'AssertionFailureError' });
    await until(() => many.open() === 0);
  });

  test('a silent server and a slow body end at the time limit', async () => {
    const mute = await startStreams(() => {});
    await expect(collect(fetchFor(mute), mute, '/', { timeoutMs: 300 })).rejects.toMatchObject({
      message: 'The target did not respond in time',
    });
    const drip = await startStreams((stream) => {
      stream.respond({ ':status': 200 });
      const timer = setInterval(() => stream.write('.'), 20);
      stream.once('close', () => clearInterval(timer));
    });
    expect(await collect(fetchFor(drip), drip, '/', { timeoutMs: 500 })).toMatchObject({ truncated: 'time' });
    await until(() => mute.open() + drip.open() === 0);
  });

  test('an endless body is stopped at the size limit', async () => {
    const site = await startStreams((stream) => {
      stream.respond({ ':status': 200 });
      const more = () => {
        while (!stream.destroyed && stream.write(Buffer.alloc(64 * 1024)));
      };
      stream.on('drain', more);
      more();
    });
    await expect(collect(fetchFor(site), site, '/', { maxBytes: 3_000_000 })).rejects.toMatchObject({
      name: 'TargetFileTooLargeError',
    });
    await until(() => site.open() === 0);
  });

  test('an abort closes the connection', async () => {
    const site = await startStreams((stream, { ':path': path }) => {
      if (path === '/body') stream.respond({ ':status': 200 });
      stream.write('x');
    });
    for (const path of ['/', '/body']) {
      const controller = new AbortController();
      const response = collect(fetchFor(site), site, path, { signal: controller.signal });
      const before = site.connections();
      await until(() => site.connections() > before || site.open() > 0);
      controller.abort(new Error('aborted'));
      await expect(response).rejects.toThrow('aborted');
      await until(() => site.open() === 0);
    }
  });

  test('any bytes after HTTP/2 was negotiated end in a response or a problem', async () => {
    let response = Buffer.alloc(0);
    const site = await startRaw((socket) => socket.end(response));
    const fetch = fetchFor(site);
    const pieces = [
      [...Buffer.from('HTTP/1.1 200 OK\r\n\r\nhello')],
      [0, 255, 13, 10],
      frame(4, 0, 0),
      frame(4, 1, 0),
      frame(4, 0, 0, [0, 5, 0, 0, 0, 0]),
      frame(1, 4, 1, [0x88]),
      frame(1, 5, 1, [0x88]),
      frame(1, 0, 1, [0x88]),
      frame(1, 4, 3, [0x88]),
      frame(9, 4, 1, [0xff, 0xff, 0xff]),
      frame(0, 0, 1, [104, 105]),
      frame(0, 1, 1, [104, 105]),
      frame(0, 8, 1, [200]),
      frame(3, 0, 1, [0, 0, 0, 7]),
      frame(3, 0, 1, [0, 0, 0, 0]),
      frame(5, 4, 1, [0, 0, 0, 2]),
      frame(6, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]),
      frame(7, 0, 0, [0, 0, 0, 1, 0, 0, 0, 0]),
      frame(7, 0, 0, [0, 0, 0, 0, 0, 0, 0, 11]),
      frame(8, 0, 0, [0, 0, 0, 0]),
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), async (parts) => {
        response = Buffer.from(parts.flat());
        const outcome = await collect(fetch, site, '/', { timeoutMs: 2_000 }).catch((error: unknown) => error);
        expect(outcome instanceof Problem || (outcome as { bytes: unknown }).bytes instanceof Uint8Array).toBe(true);
      }),
      { seed: 7, numRuns: 150 },
    );
    await until(() => site.open() === 0);
  });
});
