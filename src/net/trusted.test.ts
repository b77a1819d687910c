// Full run only: waits for timeouts.
import type { RequestListener } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startSecret, startServer, startTcp, until } from './loopback.suite.ts';
import type { RegionOptions } from './region.ts';
import { createTrustedFetch } from './trusted.ts';

function start(rules: Partial<RegionOptions> = {}) {
  const log = { info: vi.fn(), warn: vi.fn() };
  const fetch = createTrustedFetch({ region: 'any', euHosts: [], log, ...rules });
  onTestFinished(() => fetch.close());
  return { fetch, log };
}

const ask = async (answer: RequestListener, options?: Parameters<ReturnType<typeof start>['fetch']>[1]) =>
  start().fetch((await startServer(answer)).origin, options);

test('sends the request and returns the response', async () => {
  const response = await ask(
    async (request, reply) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      reply.setHeader('X-Two', ['a', 'b']).writeHead(418);
      reply.end(JSON.stringify({ method: request.method, body, key: request.headers.authorization }));
    },
    { method: 'POST', headers: { authorization: 'Bearer k' }, body: 'hello' },
  );
  expect(response).toMatchObject({ status: 418, headers: { 'x-two': 'a, b' } });
  expect(await response.json()).toEqual({ method: 'POST', body: 'hello', key: 'Bearer k' });
});

test('streams a body', async () => {
  const steps: string[] = [];
  let next = () => {};
  const response = await ask((_, reply) => {
    reply.write('one');
    next = () => reply.end('two');
  });
  for await (const chunk of response.body) {
    steps.push(Buffer.from(chunk).toString());
    next();
  }
  expect(steps).toEqual(['one', 'two']);
});

test('sends credentials from the URL in a header, not in the path', async () => {
  const site = await startServer((request, reply) => reply.end(`${request.headers.authorization} ${request.url}`));
  const { fetch } = start();
  const text = await (await fetch(`http://a:b%20c@${site.host}/v1?x`)).text();
  expect(text).toBe(`Basic ${Buffer.from('a:b c').toString('base64')} /v1?x`);
});

test('returns a redirect without following it', async () => {
  const secret = await startSecret();
  const response = await ask((_, reply) => reply.writeHead(307, { location: secret.origin }).end());
  expect(response.status).toBe(307);
  response.discard();
  expect(secret.connections()).toBe(0);
});

describe('failures have messages that reveal nothing', () => {
  const failureOf = async (url: string, options = {}) => {
    const { fetch } = start();
    const failure = await fetch(url, options)
      .then((response) => response.json())
      .catch((error: Error) => error);
    expect(failure).toMatchObject({ name: 'DownstreamServiceFailureError' });
    expect((failure as Error).message).not.toMatch(/127\.0|secret|\d{4}/);
    return (failure as Error).message;
  };

  test('unreachable, silent, endless, incomplete, not JSON', async () => {
    expect(await failureOf('http://secret:secret@127.0.0.1:9999/')).toContain('cannot be reached');
    const silent = await startTcp((socket) => socket.resume());
    expect(await failureOf(silent.origin, { timeoutMs: 150 })).toContain('in time');
    const drip = await startTcp((socket) => socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n{"secret')));
    expect(await failureOf(drip.origin, { timeoutMs: 150 })).toContain('in time');
    const large = await startServer((_, reply) => reply.end('x'.repeat(2_000)));
    expect(await failureOf(large.origin, { maxBytes: 1_000 })).toContain('too large');
    const broken = await startServer((_, reply) => {
      reply.writeHead(200, { 'content-length': 50 }).write('secret', () => reply.destroy());
    });
    expect(await failureOf(broken.origin)).toContain('incomplete');
    expect(await failureOf((await startServer((_, reply) => reply.end('secret'))).origin)).toContain('JSON');
    await until(() => silent.open() + drip.open() + large.open() + broken.open() === 0);
  });
});

test('an abort ends the request', async () => {
  const silent = await startTcp((socket) => socket.resume());
  const controller = new AbortController();
  const request = start().fetch(silent.origin, { signal: controller.signal });
  await until(() => silent.open() === 1);
  controller.abort(new Error('aborted'));
  await expect(request).rejects.toThrow('aborted');
  await until(() => silent.open() === 0);
});

test('closing ends requests in progress and refuses new ones', async () => {
  const silent = await startTcp((socket) => socket.resume());
  const { fetch } = start();
  const request = fetch(silent.origin).catch((error) => error.name);
  await until(() => silent.open() === 1);
  await fetch.close();
  expect(await request).toBe('DownstreamServiceFailureError');
  await expect(fetch(silent.origin)).rejects.toMatchObject({ name: 'DownstreamServiceFailureError' });
  await until(() => silent.open() === 0);
});

describe('inside the EU', () => {
  test('a host outside the list is not contacted, and the log says so', async () => {
    const secret = await startSecret();
    const { fetch, log } = start({ region: 'eu', euHosts: ['other.example', `127.0.0.1:${secret.port + 1}`] });
    await expect(fetch(`${secret.origin}/?key=word`)).rejects.toMatchObject({
      name: 'DownstreamServiceFailureError',
      message: expect.stringContaining('not inside the EU'),
    });
    expect(() => fetch.check(secret.origin)).toThrow('not inside the EU');
    expect(secret.connections()).toBe(0);
    expect(log.warn.mock.calls[0]).toEqual([
      { host: secret.host, region: 'not marked', kept: 'eu' },
      expect.stringContaining('refused'),
    ]);
    expect(JSON.stringify(log.warn.mock.calls)).not.toContain('word');
  });

  test('a listed host is contacted, and logged once', async () => {
    const site = await startServer((_, reply) => reply.end('fine'));
    for (const mark of ['127.0.0.1', site.host]) {
      const { fetch, log } = start({ region: 'eu', euHosts: [mark] });
      expect(() => fetch.check(site.origin)).not.toThrow();
      for (let i = 0; i < 3; i++) expect(await (await fetch(site.origin)).text()).toBe('fine');
      expect(log.info.mock.calls).toEqual([[{ host: site.host, region: 'eu', kept: 'eu' }, expect.any(String)]]);
    }
  });
});

test('discarded responses leave no connection open', async () => {
  const site = await startServer((_, reply) => reply.write('x'.repeat(100_000)));
  const { fetch } = start();
  const responses = await Promise.all(Array.from({ length: 10 }, () => fetch(site.origin)));
  for (const response of responses) response.discard();
  await until(() => site.open() === 0);
});
