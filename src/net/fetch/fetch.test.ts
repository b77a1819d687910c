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

/** A server that returns the request as JSON, except that `/to?status,url` redirects. */
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

const echoed = async (response: FetchResponse) =>
  JSON.parse(await textOf(response)) as { method: string; url: string; headers: Record<string, string>; body: string };

describe('a request', () => {
  test('sends method, headers and body, but no fragment', async () => {
    const site = await startEcho();
    const response = await startFetch([site])(`http://user:secret@${site.host}/a?b=c#d`, {
      method: 'post',
      headers: { 'X-Own': 'yes', 'content-type': 'text/plain' },
      body: 'hello',
    });
    expect(response).toMatchObject({ status: 200, statusText: 'OK', redirected: false, url: `${site.origin}/a?b=c#d` });
    const seen = await echoed(response);
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/a?b=c',
      body: 'hello',
      headers: { 'x-own': 'yes', host: site.host },
    });
    expect(seen.headers.authorization).toBeUndefined();
    expect(seen.headers['accept-encoding']).toMatch(/^gzip, deflate, br/);
  });

  test('returns headers in lower case, with repeated ones joined', async () => {
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

  test('streams a body', async () => {
    const site = await startServer((_, response) => {
      response.write('one ');
      response.end('two');
    });
    let text = '';
    for await (const chunk of (await startFetch([site])(site.origin)).body) text += Buffer.from(chunk);
    expect(text).toBe('one two');
  });

  test('closes the connection of a body that is not read to its end', async () => {
    const site = await startServer((_, response) => response.write('x'.repeat(100_000)));
    for await (const _ of (await startFetch([site])(site.origin)).body) break;
    await until(() => site.open() === 0);
  });

  test('reports an unreachable target in plain words', async () => {
    const site = await startEcho();
    const closing = await startTcp((socket) => socket.destroy());
    const fetch = startFetch([site, closing, { ...site, host: '127.0.0.1:9999' }], { lookup: resolverOf({}) });
    await expect(fetch('http://127.0.0.1:9999/')).rejects.toMatchObject({
      message: 'The target refused the connection',
    });
    await expect(fetch(closing.origin)).rejects.toMatchObject({ message: 'The target closed the connection' });
    await expect(fetch('http://absent.example/')).rejects.toMatchObject({
      name: 'ParamValidationError',
      facts: { path: 'url' },
    });
    await expect(fetch('not a URL')).rejects.toMatchObject({
      name: 'ParamValidationError',
      facts: { path: 'url' },
    });
  });
});

describe('content encoding', () => {
  const { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } = zlib;
  // Not available in every supported Node version, and missing from the types of the oldest one.
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

  test('decodes any bytes in every encoding', async () => {
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

  test('requests and decodes zstd', async () => {
    const packed = Buffer.from('KLUv/SQDGQAAYWJjmQl3rQ==', 'base64');
    const seen: (string | string[] | undefined)[] = [];
    const site = await startServer((request, response) => {
      seen.push(request.headers['accept-encoding']);
      response.writeHead(200, { 'content-encoding': 'zstd' }).end(packed);
    });
    expect(await textOf(await startFetch([site])(site.origin))).toBe('abc');
    expect(seen).toEqual(['gzip, deflate, br, zstd']);
  });

  test('decodes several gzip members as one text, and ignores garbage after them', async () => {
    const body = Buffer.concat([gzipSync('one '), gzipSync('two'), Buffer.alloc(10)]);
    const site = await startServer((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(body));
    expect(await textOf(await startFetch([site])(site.origin))).toBe('one two');
  });
});

describe('redirects', () => {
  test('are checked before they are followed', async () => {
    const site = await startEcho();
    const refusedSite = await startServer((_, response) => response.end('never'));
    const fetch = startFetch([site, refusedSite]);
    const checks: string[][] = [];
    const checkRedirect = async (to: URL, from: URL, signal: AbortSignal) => {
      checks.push([from.pathname, to.href]);
      if (to.host === refusedSite.host) throw new RedirectRefusedError('not there');
      if (to.pathname === '/never') await new Promise((_, reject) => signal.addEventListener('abort', reject));
    };
    expect((await fetch(`${site.origin}/to?302,/there`, { checkRedirect })).url).toBe(`${site.origin}/there`);
    await expect(fetch(`${site.origin}/to?302,${refusedSite.origin}`, { checkRedirect })).rejects.toThrow(
      RedirectRefusedError,
    );
    expect(checks).toEqual([
      ['/to', `${site.origin}/there`],
      ['/to', `${refusedSite.origin}/`],
    ]);
    expect(refusedSite.connections()).toBe(0);
    const late = fetch(`${site.origin}/to?302,/never`, { checkRedirect, timeoutMs: 500 });
    await expect(late).rejects.toThrow('did not respond in time');
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
    const seen = await echoed(response);
    expect(seen.method).toBe(expected);
    expect(seen.body).toBe(expected === 'GET' ? '' : 'data');
    expect(seen.headers['content-type']).toBe(expected === 'GET' ? undefined : 'text/plain');
  });

  test('report each hop, keep the fragment, and accept an unescaped URL', async () => {
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

  test('a 3xx response without a redirect is the answer', async () => {
    const site = await startServer((_, response) => response.writeHead(300).end('choices'));
    expect(await textOf(await startFetch([site])(site.origin))).toBe('choices');
  });

  test('to an invalid URL are a failure', async () => {
    const site = await startServer((_, response) => response.writeHead(302, { location: 'http://[' }).end());
    await expect(startFetch([site])(site.origin)).rejects.toMatchObject({ name: 'AssertionFailureError' });
  });

  const SECRETS = { authorization: 'Basic eA==', cookie: 'own=1', 'X-Api-Key': 'k', referer: 'http://a.example/' };

  test('to the same site keep the headers of the caller', async () => {
    const site = await startEcho();
    const { headers } = await echoed(await startFetch([site])(`${site.origin}/to?302,/there`, { headers: SECRETS }));
    expect(headers).toMatchObject({ authorization: 'Basic eA==', cookie: 'own=1', 'x-api-key': 'k' });
  });

  test('to another site or port drop all secrets of the caller', async () => {
    const [site, other] = [await startEcho(), await startEcho()];
    const fetch = startFetch([site, other], { lookup: resolverOf({ 'other.example': ['127.0.0.1'] }) });
    for (const to of [other.origin, `http://other.example:${site.port}/`]) {
      const { headers } = await echoed(
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
  test('set by a redirect are sent only to hops that they match', async () => {
    const [site, other] = [await startEcho(), await startEcho()];
    const fetch = startFetch([site, other], { lookup: resolverOf({ 'other.example': ['127.0.0.1'] }) });
    const same = await echoed(await fetch(`${site.origin}/to?302,/there`, { jar: toJar([]) }));
    expect(same.headers.cookie).toBe('hop=1');
    const to = encodeURIComponent(`http://other.example:${other.port}/`);
    const elsewhere = await echoed(await fetch(`${site.origin}/to?302,${to}`, { jar: toJar([]) }));
    expect(elsewhere.headers).not.toHaveProperty('cookie');
  });

  test('are not kept between requests', async () => {
    const site = await startEcho();
    const fetch = startFetch([site]);
    await (await fetch(`${site.origin}/to?302,/there`, { jar: toJar([]) })).collect();
    expect((await echoed(await fetch(site.origin, { jar: toJar([]) }))).headers).not.toHaveProperty('cookie');
    expect((await echoed(await fetch(site.origin))).headers).not.toHaveProperty('cookie');
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
  ])('set by a server as %j are sent to %s as %j', async (cookie, next, expected) => {
    const site = await startServer((request, response) => {
      if (request.url === '/deep/page') response.writeHead(302, { location: next, 'set-cookie': cookie }).end();
      else response.end(JSON.stringify({ headers: request.headers }));
    });
    const fetch = startFetch([site], { lookup: resolverOf({ 'www.site.example': ['127.0.0.1'] }) });
    const { headers } = await echoed(await fetch(`http://www.site.example:${site.port}/deep/page`, { jar: toJar([]) }));
    expect(headers.cookie).toBe(expected);
  });

  test('of the caller are added to a cookie header, by path and domain', async () => {
    const site = await startEcho();
    const fetch = startFetch([site], {
      lookup: resolverOf({ 'www.site.example': ['127.0.0.1'], 'site.example': ['127.0.0.1'] }),
    });
    const target = `http://www.site.example:${site.port}/`;
    const jar = () => toJar(parseSetCookies('a=1, b=2; Path=/deep, c=3; Domain=site.example, d=4; Secure', target));
    expect((await echoed(await fetch(target, { jar: jar(), headers: { Cookie: 'z=0' } }))).headers.cookie).toBe(
      'z=0; a=1; c=3',
    );
    expect((await echoed(await fetch(`${target}deep`, { jar: jar() }))).headers.cookie).toBe('b=2; a=1; c=3');
    const parent = encodeURIComponent(`http://site.example:${site.port}/`);
    expect((await echoed(await fetch(`${target}to?302,${parent}`, { jar: jar() }))).headers.cookie).toBe('c=3');
  });
});

describe('connections', () => {
  test('are kept alive and reused for one origin', async () => {
    const site = await startEcho();
    const fetch = startFetch([site]);
    for (let i = 0; i < 5; i++) await (await fetch(site.origin)).collect();
    expect(site.connections()).toBe(1);
  });

  test('that were returned already are not closed under the next request', async () => {
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

  test('that closed while idle are replaced', async () => {
    let answered = 0;
    const site = await startTcp((socket) => {
      // Keeps the connection open, but closes it on the next request.
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

  test('that may be tied to an authorization are not reused', async () => {
    const site = await startEcho();
    const fetch = startFetch([site]);
    for (let i = 0; i < 2; i++) await (await fetch(site.origin, { headers: { Authorization: 'NTLM x' } })).collect();
    expect(site.connections()).toBe(2);
  });

  test('all close with the fetch', async () => {
    const site = await startEcho();
    const fetch = startFetch([site]);
    await (await fetch(site.origin)).collect();
    expect(site.open()).toBe(1);
    await fetch.close();
    await until(() => site.open() === 0);
  });
});
