import type { IncomingMessage } from 'node:http';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { resolverOf, startFetch, startServer, startTcp, until } from '../loopback.suite.ts';
import { parseSetCookies, toJar } from './cookies.ts';
import { type FetchResponse, RedirectRefusedError } from './fetch.ts';

const textOf = async (response: FetchResponse) => Buffer.from((await response.collect()).bytes).toString();

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}

/** Answers with what it was asked, in JSON, except at `/to?status,address`, which redirects. */
const startEcho = () =>
  startServer(async (request, response) => {
    const body = await bodyOf(request);
    const [, status, to] = /^\/to\?(\d+),(.+)$/.exec(request.url!) ?? [];
    if (status)
      response
        .writeHead(Number(status), { location: decodeURIComponent(to!), 'set-cookie': 'hop=1; Path=/' })
        .end('moved');
    else response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
  });

const asked = async (response: FetchResponse) =>
  JSON.parse(await textOf(response)) as { method: string; url: string; headers: Record<string, string>; body: string };

describe('a request', () => {
  test('sends method, headers and body, and no fragment', async () => {
    const site = await startEcho();
    const response = await startFetch([site])(`http://user:secret@${site.host}/a?b=c#d`, {
      method: 'post',
      headers: { 'X-Own': 'yes', 'content-type': 'text/plain' },
      body: 'hello',
    });
    expect(response).toMatchObject({ status: 200, statusText: 'OK', redirected: false, url: `${site.origin}/a?b=c#d` });
    const seen = await asked(response);
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/a?b=c',
      body: 'hello',
      headers: { 'x-own': 'yes', host: site.host },
    });
    expect(seen.headers.authorization).toBeUndefined();
    expect(seen.headers['accept-encoding']).toMatch(/^gzip, deflate, br/);
  });

  test('headers of the answer come in lower case, repeated ones joined', async () => {
    const site = await startServer((_, response) => {
      response
        .setHeader('X-Two', ['a', 'b'])
        .setHeader('Last-Modified', 'Sat, 01 Jan 2022 00:00:00 GMT')
        .writeHead(418, 'Short')
        .end();
    });
    const response = await startFetch([site])(site.origin);
    expect(response).toMatchObject({ status: 418, statusText: 'Short' });
    expect(response.headers).toMatchObject({ 'x-two': 'a, b', 'last-modified': 'Sat, 01 Jan 2022 00:00:00 GMT' });
    expect((await response.collect()).bytes.length).toBe(0);
  });

  test('a body can be taken as it comes', async () => {
    const site = await startServer((_, response) => {
      response.write('one ');
      response.end('two');
    });
    let text = '';
    for await (const chunk of (await startFetch([site])(site.origin)).body) text += Buffer.from(chunk);
    expect(text).toBe('one two');
  });

  test('a body that is left half way closes the connection', async () => {
    const site = await startServer((_, response) => response.write('x'.repeat(100_000)));
    for await (const _ of (await startFetch([site])(site.origin)).body) break;
    await until(() => site.open() === 0);
  });

  test('a target that is not there is a failure in plain words', async () => {
    const site = await startEcho();
    const gone = await startTcp((socket) => socket.destroy());
    const fetch = startFetch([site, gone, { ...site, host: '127.0.0.1:9999' }], { lookup: resolverOf({}) });
    await expect(fetch('http://127.0.0.1:9999/')).rejects.toMatchObject({
      message: 'The target refused the connection',
    });
    await expect(fetch(gone.origin)).rejects.toMatchObject({ message: 'The target closed the connection' });
    await expect(fetch('http://absent.example/')).rejects.toMatchObject({
      name: 'ParamValidationError',
      facts: { path: 'url' },
    });
    await expect(fetch('not an address')).rejects.toMatchObject({
      name: 'ParamValidationError',
      facts: { path: 'url' },
    });
  });
});

describe('content encoding', () => {
  const { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } = zlib;
  // Not in every Node that we run on, nor in the types of the oldest.
  const { zstdCompressSync } = zlib as { zstdCompressSync?: (data: Buffer) => Buffer };
  const PACKERS: Record<string, (data: Buffer) => Buffer> = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    deflate: deflateSync,
    'Deflate ': deflateRawSync,
    br: brotliCompressSync,
    ...(zstdCompressSync && { zstd: zstdCompressSync }),
    'gzip, br': (data) => brotliCompressSync(gzipSync(data)),
    identity: (data) => data,
  };

  test('any bytes come back as they were, packed in any way', async () => {
    let answer: { encoding: string; body: Buffer } = { encoding: '', body: Buffer.alloc(0) };
    const site = await startServer((_, response) =>
      response.writeHead(200, { 'content-encoding': answer.encoding }).end(answer.body),
    );
    const fetch = startFetch([site]);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(PACKERS)),
        fc.uint8Array({ maxLength: 2000 }),
        fc.integer({ min: 1, max: 500 }),
        async (encoding, bytes, times) => {
          const original = Buffer.concat(Array.from({ length: times }, () => bytes));
          answer = { encoding, body: PACKERS[encoding]!(original) };
          expect(Buffer.compare((await (await fetch(site.origin)).collect()).bytes, original)).toBe(0);
        },
      ),
      { seed: 7, numRuns: 60 },
    );
  });

  test('zstd is asked for and read', async () => {
    const packed = Buffer.from('KLUv/SQDGQAAYWJjmQl3rQ==', 'base64');
    const seen: (string | string[] | undefined)[] = [];
    const site = await startServer((request, response) => {
      seen.push(request.headers['accept-encoding']);
      response.writeHead(200, { 'content-encoding': 'zstd' }).end(packed);
    });
    expect(await textOf(await startFetch([site])(site.origin))).toBe('abc');
    expect(seen).toEqual(['gzip, deflate, br, zstd']);
  });

  test('several gzip members are one text, and garbage behind them is passed over', async () => {
    const body = Buffer.concat([gzipSync('one '), gzipSync('two'), Buffer.alloc(10)]);
    const site = await startServer((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(body));
    expect(await textOf(await startFetch([site])(site.origin))).toBe('one two');
  });
});

describe('redirects', () => {
  test('are asked about before they are followed', async () => {
    const site = await startEcho();
    const secret = await startServer((_, response) => response.end('never'));
    const fetch = startFetch([site, secret]);
    const told: string[][] = [];
    const checkRedirect = async (to: URL, from: URL, signal: AbortSignal) => {
      told.push([from.pathname, to.href]);
      if (to.host === secret.host) throw new RedirectRefusedError('not there');
      if (to.pathname === '/never') await new Promise((_, reject) => signal.addEventListener('abort', reject));
    };
    expect((await fetch(`${site.origin}/to?302,/there`, { checkRedirect })).url).toBe(`${site.origin}/there`);
    await expect(fetch(`${site.origin}/to?302,${secret.origin}`, { checkRedirect })).rejects.toThrow(
      RedirectRefusedError,
    );
    expect(told).toEqual([
      ['/to', `${site.origin}/there`],
      ['/to', `${secret.origin}/`],
    ]);
    expect(secret.connections()).toBe(0);
    const late = fetch(`${site.origin}/to?302,/never`, { checkRedirect, timeoutMs: 500 });
    await expect(late).rejects.toThrow('did not answer in time');
  });

  test.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [302, 'PUT', 'PUT'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
    [303, 'HEAD', 'HEAD'],
  ])('%i turns %s into %s', async (status, method, expected) => {
    const site = await startEcho();
    const options = { method, headers: { 'content-type': 'text/plain' }, ...(method !== 'HEAD' && { body: 'data' }) };
    const response = await startFetch([site])(`${site.origin}/to?${status},/there`, options);
    expect(response.url).toBe(`${site.origin}/there`);
    if (expected === 'HEAD') return;
    const seen = await asked(response);
    expect(seen.method).toBe(expected);
    expect(seen.body).toBe(expected === 'GET' ? '' : 'data');
    expect(seen.headers['content-type']).toBe(expected === 'GET' ? undefined : 'text/plain');
  });

  test('tell each hop, carry the fragment, and take an unescaped address', async () => {
    const site = await startServer((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: Buffer.from('/wörter').toString('latin1') }).end();
      else response.end(request.url);
    });
    const onRedirect = vi.fn();
    const response = await startFetch([site])(`${site.origin}/#part`, { onRedirect });
    expect(response.url).toBe(`${site.origin}/w%C3%B6rter#part`);
    expect(await textOf(response)).toBe('/w%C3%B6rter');
    expect(onRedirect.mock.calls.map(([from, to, status]) => [String(from), String(to), status])).toEqual([
      [`${site.origin}/#part`, `${site.origin}/w%C3%B6rter#part`, 302],
    ]);
  });

  test('an answer that only looks like one is the answer', async () => {
    const site = await startServer((_, response) => response.writeHead(300).end('choices'));
    expect(await textOf(await startFetch([site])(site.origin))).toBe('choices');
  });

  test('to an address that cannot be read are a failure', async () => {
    const site = await startServer((_, response) => response.writeHead(302, { location: 'http://[' }).end());
    await expect(startFetch([site])(site.origin)).rejects.toMatchObject({ name: 'AssertionFailureError' });
  });

  const SECRETS = { authorization: 'Basic eA==', cookie: 'own=1', 'X-Api-Key': 'k', referer: 'http://a.example/' };

  test('to the same site keep what the caller sends', async () => {
    const site = await startEcho();
    const { headers } = await asked(await startFetch([site])(`${site.origin}/to?302,/there`, { headers: SECRETS }));
    expect(headers).toMatchObject({ authorization: 'Basic eA==', cookie: 'own=1', 'x-api-key': 'k' });
  });

  test('to another site, or another port, keep no secret of the caller', async () => {
    const [site, other] = [await startEcho(), await startEcho()];
    const fetch = startFetch([site, other], { lookup: resolverOf({ 'other.example': ['127.0.0.1'] }) });
    for (const to of [other.origin, `http://other.example:${site.port}/`]) {
      const { headers } = await asked(
        await fetch(`${site.origin}/to?302,${encodeURIComponent(to)}`, { headers: SECRETS }),
      );
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['authorization']));
      expect(headers).not.toHaveProperty('authorization');
      expect(headers).not.toHaveProperty('cookie');
      expect(headers).not.toHaveProperty('x-api-key');
      expect(headers.referer).toBe('http://a.example/');
    }
  });
});

describe('cookies', () => {
  test('set on the way are sent to the hops they are for, and to no others', async () => {
    const [site, other] = [await startEcho(), await startEcho()];
    const fetch = startFetch([site, other], { lookup: resolverOf({ 'other.example': ['127.0.0.1'] }) });
    const same = await asked(await fetch(`${site.origin}/to?302,/there`, { jar: toJar([]) }));
    expect(same.headers.cookie).toBe('hop=1');
    const to = encodeURIComponent(`http://other.example:${other.port}/`);
    const elsewhere = await asked(await fetch(`${site.origin}/to?302,${to}`, { jar: toJar([]) }));
    expect(elsewhere.headers).not.toHaveProperty('cookie');
  });

  test('are not kept from one request to the next', async () => {
    const site = await startEcho();
    const fetch = startFetch([site]);
    await (await fetch(`${site.origin}/to?302,/there`, { jar: toJar([]) })).collect();
    expect((await asked(await fetch(site.origin, { jar: toJar([]) }))).headers).not.toHaveProperty('cookie');
    expect((await asked(await fetch(site.origin))).headers).not.toHaveProperty('cookie');
  });

  test.each([
    ['a=1', '/deep/other', 'a=1'],
    ['a=1', '/else', undefined],
    ['a=1; Path=/', '/else', 'a=1'],
    ['a=1; Path=/deep', '/deeper', undefined],
    ['a=1; Path=/; Max-Age=0', '/', undefined],
    ['a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT', '/', undefined],
    ['a=1; Path=/; Expires=Thu, 01 Jan 2099 00:00:00 GMT; SameSite=Strict; HttpOnly', '/', 'a=1'],
    ['a=1; Path=/; Secure', '/', undefined],
    ['__Host-a=1; Path=/', '/', undefined],
    ['__Secure-a=1; Path=/', '/', undefined],
    ['a=1; Path=/; Domain=site.example', '/', 'a=1'],
    ['a=1; Path=/; Domain=www.site.example', '/', 'a=1'],
    ['a=1; Path=/; Domain=other.example', '/', undefined],
    ['a=1; Path=/; Domain=example', '/', undefined],
    ['a=1; Path=/; Domain=co.uk', '/', undefined],
  ])('that a server sets, %j, are sent to %s as %j', async (cookie, next, expected) => {
    const site = await startServer((request, response) => {
      if (request.url === '/deep/page') response.writeHead(302, { location: next, 'set-cookie': cookie }).end();
      else response.end(JSON.stringify({ headers: request.headers }));
    });
    const fetch = startFetch([site], { lookup: resolverOf({ 'www.site.example': ['127.0.0.1'] }) });
    const { headers } = await asked(await fetch(`http://www.site.example:${site.port}/deep/page`, { jar: toJar([]) }));
    expect(headers.cookie).toBe(expected);
  });

  test('of the caller are sent beside a cookie header, by path and domain', async () => {
    const site = await startEcho();
    const fetch = startFetch([site], {
      lookup: resolverOf({ 'www.site.example': ['127.0.0.1'], 'site.example': ['127.0.0.1'] }),
    });
    const target = `http://www.site.example:${site.port}/`;
    const jar = () => toJar(parseSetCookies('a=1, b=2; Path=/deep, c=3; Domain=site.example, d=4; Secure', target));
    expect((await asked(await fetch(target, { jar: jar(), headers: { Cookie: 'z=0' } }))).headers.cookie).toBe(
      'z=0; a=1; c=3',
    );
    expect((await asked(await fetch(`${target}deep`, { jar: jar() }))).headers.cookie).toBe('b=2; a=1; c=3');
    const parent = encodeURIComponent(`http://site.example:${site.port}/`);
    expect((await asked(await fetch(`${target}to?302,${parent}`, { jar: jar() }))).headers.cookie).toBe('c=3');
  });
});

describe('connections', () => {
  test('rest between requests to one origin and are used again', async () => {
    const site = await startEcho();
    const fetch = startFetch([site]);
    for (let i = 0; i < 5; i++) await (await fetch(site.origin)).collect();
    expect(site.connections()).toBe(1);
  });

  test('given back already are not closed under the next request', async () => {
    const waiting: (() => void)[] = [];
    const site = await startServer((request, response) => {
      if (request.url === '/slow') waiting.push(() => response.end('slow'));
      else response.end('quick');
    });
    const fetch = startFetch([site]);
    const first = await fetch(site.origin);
    await first.collect();
    const second = fetch(`${site.origin}/slow`);
    await until(() => waiting.length === 1);
    first.discard();
    waiting[0]!();
    expect(await textOf(await second)).toBe('slow');
    expect(site.connections()).toBe(1);
  });

  test('serve one request at a time', async () => {
    const site = await startEcho();
    const fetch = startFetch([site]);
    await Promise.all(Array.from({ length: 5 }, async () => (await fetch(site.origin)).collect()));
    expect(site.connections()).toBe(5);
  });

  test('that were closed while they rested are replaced', async () => {
    let answered = 0;
    const site = await startTcp((socket) => {
      // Promises to stay, and is gone with the next request.
      socket.on('data', () => {
        if (answered++ % 2 === 0) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        else socket.destroy();
      });
    });
    const fetch = startFetch([site]);
    for (let i = 0; i < 3; i++) expect(await textOf(await fetch(site.origin))).toBe('ok');
    expect(site.connections()).toBe(3);
    await expect(textOf(await fetch(site.origin))).resolves.toBe('ok');
  });

  test('that an authorization may have been tied to are not used again', async () => {
    const site = await startEcho();
    const fetch = startFetch([site]);
    for (let i = 0; i < 2; i++) await (await fetch(site.origin, { headers: { Authorization: 'NTLM x' } })).collect();
    expect(site.connections()).toBe(2);
  });

  test('all end when the fetch is closed', async () => {
    const site = await startEcho();
    const fetch = startFetch([site]);
    await (await fetch(site.origin)).collect();
    expect(site.open()).toBe(1);
    await fetch.close();
    await until(() => site.open() === 0);
  });
});
