// Full run only: waits for time limits.
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

test('sends what it is given and gives back what comes', async () => {
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

test('a body comes as it is sent', async () => {
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

test('credentials in the address are sent, and are no part of it', async () => {
  const site = await startServer((request, reply) => reply.end(`${request.headers.authorization} ${request.url}`));
  const { fetch } = start();
  const text = await (await fetch(`http://a:b%20c@${site.host}/v1?x`)).text();
  expect(text).toBe(`Basic ${Buffer.from('a:b c').toString('base64')} /v1?x`);
});

test('a redirect is an answer, not followed', async () => {
  const secret = await startSecret();
  const response = await ask((_, reply) => reply.writeHead(307, { location: secret.origin }).end());
  expect(response.status).toBe(307);
  response.discard();
  expect(secret.connections()).toBe(0);
});

describe('what goes wrong is told in words that name nothing', () => {
  const failing = async (url: string, options = {}) => {
    const { fetch } = start();
    const failure = await fetch(url, options)
      .then((response) => response.json())
      .catch((error: Error) => error);
    expect(failure).toMatchObject({ name: 'DownstreamServiceFailureError' });
    expect((failure as Error).message).not.toMatch(/127\.0|secret|\d{4}/);
    return (failure as Error).message;
  };

  test('unreachable, mute, endless, broken off, not JSON', async () => {
    expect(await failing('http://secret:secret@127.0.0.1:9999/')).toContain('cannot be reached');
    const mute = await startTcp((socket) => socket.resume());
    expect(await failing(mute.origin, { timeoutMs: 150 })).toContain('in time');
    const drip = await startTcp((socket) => socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n{"secret')));
    expect(await failing(drip.origin, { timeoutMs: 150 })).toContain('in time');
    const large = await startServer((_, reply) => reply.end('x'.repeat(2_000)));
    expect(await failing(large.origin, { maxBytes: 1_000 })).toContain('too large');
    const broken = await startServer((_, reply) => {
      reply.writeHead(200, { 'content-length': 50 }).write('secret', () => reply.destroy());
    });
    expect(await failing(broken.origin)).toContain('incomplete');
    expect(await failing((await startServer((_, reply) => reply.end('secret'))).origin)).toContain('JSON');
    await until(() => mute.open() + drip.open() + large.open() + broken.open() === 0);
  });
});

test('a caller who leaves ends the request', async () => {
  const mute = await startTcp((socket) => socket.resume());
  const gone = new AbortController();
  const asked = start().fetch(mute.origin, { signal: gone.signal });
  await until(() => mute.open() === 1);
  gone.abort(new Error('gone'));
  await expect(asked).rejects.toThrow('gone');
  await until(() => mute.open() === 0);
});

test('closing ends what is under way, and nothing begins afterwards', async () => {
  const mute = await startTcp((socket) => socket.resume());
  const { fetch } = start();
  const asked = fetch(mute.origin).catch((error) => error.name);
  await until(() => mute.open() === 1);
  await fetch.close();
  expect(await asked).toBe('DownstreamServiceFailureError');
  await expect(fetch(mute.origin)).rejects.toMatchObject({ name: 'DownstreamServiceFailureError' });
  await until(() => mute.open() === 0);
});

describe('inside the EU', () => {
  test('a host that is not marked is not asked, and the log says so', async () => {
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

  test('one that is marked is asked, and logged once', async () => {
    const site = await startServer((_, reply) => reply.end('fine'));
    for (const mark of ['127.0.0.1', site.host]) {
      const { fetch, log } = start({ region: 'eu', euHosts: [mark] });
      expect(() => fetch.check(site.origin)).not.toThrow();
      for (let i = 0; i < 3; i++) expect(await (await fetch(site.origin)).text()).toBe('fine');
      expect(log.info.mock.calls).toEqual([[{ host: site.host, region: 'eu', kept: 'eu' }, expect.any(String)]]);
    }
  });
});

test('many answers that nobody reads leave nothing open', async () => {
  const site = await startServer((_, reply) => reply.write('x'.repeat(100_000)));
  const { fetch } = start();
  const responses = await Promise.all(Array.from({ length: 10 }, () => fetch(site.origin)));
  for (const response of responses) response.discard();
  await until(() => site.open() === 0);
});
