/** Tests that the fetch never connects to what the guard refuses: each test counts connections. */
import { describe, expect, test } from 'vitest';
import { type Loopback, resolverOf, startFetch, startSecret, startServer } from '../loopback.suite.ts';

const REFUSED = { name: 'SecurityCompromiseError', message: 'Access to this URL is not allowed' };

/** A site that redirects `/to?…` to the URL in the query, and responds normally to everything else. */
const startSite = () =>
  startServer((request, response) => {
    const [path, to] = request.url!.split('?', 2);
    if (path === '/to')
      response.writeHead(302, { location: Buffer.from(decodeURIComponent(to!)).toString('latin1') }).end();
    else response.end('public');
  });

const spellings = ({ port }: Loopback) => [
  `http://127.0.0.1:${port}/`,
  `http://127.1:${port}/`,
  `http://0x7f.1:${port}/`,
  `http://0177.0.0.1:${port}/`,
  `http://2130706433:${port}/`,
  `http://127.0.0.1.:${port}/`,
  `http://１２７.０.０.１:${port}/`,
  `http://public.example@127.0.0.1:${port}/`,
  `http://0.0.0.0:${port}/`,
  `http://[::1]:${port}/`,
  `http://[::ffff:127.0.0.1]:${port}/`,
  `http://[::ffff:0:127.0.0.1]:${port}/`,
  `http://[64:ff9b::7f00:1]:${port}/`,
  `http://[2002:7f00:1::]:${port}/`,
  `http://localhost:${port}/`,
  `http://localhost.:${port}/`,
  `http://a.localhost:${port}/`,
];

describe('a URL of the caller', () => {
  test('is refused before a socket is opened, in every spelling of a private address', async () => {
    const secret = await startSecret();
    const fetch = startFetch([]);
    for (const url of spellings(secret)) await expect(fetch(url), url).rejects.toMatchObject(REFUSED);
    expect(secret.connections()).toBe(0);
  });

  test('is read if allowed, in any spelling', async () => {
    const site = await startSite();
    const fetch = startFetch([site]);
    for (const url of spellings(site).slice(0, 8)) {
      const response = await fetch(url);
      expect(Buffer.from((await response.collect()).bytes).toString(), url).toBe('public');
    }
  });
});

describe('a redirect', () => {
  test('to any spelling of a private address is refused', async () => {
    const [site, secret] = [await startSite(), await startSecret()];
    const fetch = startFetch([site]);
    for (const url of spellings(secret)) {
      await expect(fetch(`${site.origin}/to?${encodeURIComponent(url)}`), url).rejects.toMatchObject(REFUSED);
    }
    expect(secret.connections()).toBe(0);
  });

  test('over several hops, with every status, is refused at the private hop', async () => {
    const secret = await startSecret();
    for (const status of [301, 302, 303, 307, 308]) {
      const site = await startServer((request, response) => {
        const hop = Number(request.url!.slice(1));
        response.writeHead(status, { location: hop < 3 ? `/${hop + 1}` : secret.origin }).end();
      });
      await expect(startFetch([site])(`${site.origin}/0`)).rejects.toMatchObject(REFUSED);
    }
    expect(secret.connections()).toBe(0);
  });

  test.each(['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:text/plain,x', 'javascript:1'])(
    'to %s is refused',
    async (to) => {
      const site = await startSite();
      await expect(startFetch([site])(`${site.origin}/to?${encodeURIComponent(to)}`)).rejects.toMatchObject({
        name: 'ParamValidationError',
      });
    },
  );

  test('to an allowed URL is followed', async () => {
    const [site, other] = [await startSite(), await startSite()];
    const response = await startFetch([site, other])(`${site.origin}/to?${encodeURIComponent(`${other.origin}/x`)}`);
    expect(response).toMatchObject({ status: 200, redirected: true, url: `${other.origin}/x` });
  });
});

describe('a host name', () => {
  test('with one private address is refused, whatever the order of its addresses', async () => {
    const [site, secret] = [await startSite(), await startSecret()];
    for (const answers of [
      ['127.0.0.1', '127.0.0.2'],
      ['127.0.0.2', '127.0.0.1'],
      ['127.0.0.1', '::1'],
      ['127.0.0.1', '::ffff:10.0.0.1'],
    ]) {
      const fetch = startFetch([site], { lookup: resolverOf({ 'site.example': answers }) });
      await expect(fetch(`http://site.example:${site.port}/`)).rejects.toMatchObject(REFUSED);
      await expect(fetch(`http://site.example:${secret.port}/`)).rejects.toMatchObject(REFUSED);
    }
    expect(site.connections() + secret.connections()).toBe(0);
  });

  test('that resolves differently after the check is connected to at the checked address', async () => {
    const site = await startSite();
    const secret = await startSecret('127.0.0.2', site.port);
    const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.2'];
    let lookups = 0;
    const fetch = startFetch([site], { lookup: async () => [{ address: answers[lookups++]!, family: 4 }] });
    const response = await fetch(`http://rebind.example:${site.port}/`);
    expect(Buffer.from((await response.collect()).bytes).toString()).toBe('public');
    expect(lookups).toBe(1);
    await fetch.close();
    const later = startFetch([site], { lookup: async () => [{ address: answers[lookups++]!, family: 4 }] });
    await expect(later(`http://rebind.example:${site.port}/`)).rejects.toMatchObject(REFUSED);
    expect(secret.connections()).toBe(0);
  });

  test('in a redirect is looked up and checked', async () => {
    const [site, secret] = [await startSite(), await startSecret()];
    const fetch = startFetch([site], { lookup: resolverOf({ 'inside.example': ['127.0.0.1'] }) });
    await expect(fetch(`${site.origin}/to?http://inside.example:${secret.port}/`)).rejects.toMatchObject(REFUSED);
    expect(secret.connections()).toBe(0);
  });

  test('with only allowed addresses is read, and the Host header kept', async () => {
    let host: string | undefined;
    const site = await startServer((request, response) => {
      host = request.headers.host;
      response.end('public');
    });
    const fetch = startFetch([site], { lookup: resolverOf({ 'site.example': ['127.0.0.1'] }) });
    const response = await fetch(`http://site.example:${site.port}/`);
    await response.collect();
    expect(response.url).toBe(`http://site.example:${site.port}/`);
    expect(host).toBe(`site.example:${site.port}`);
  });

  test('with several allowed addresses is read from the one that answers', async () => {
    const site = await startSite();
    const fetch = startFetch([site, { ...site, host: `127.0.0.3:${site.port}` }], {
      lookup: resolverOf({ 'site.example': ['127.0.0.3', '127.0.0.1'] }),
    });
    const response = await fetch(`http://site.example:${site.port}/`);
    expect(Buffer.from((await response.collect()).bytes).toString()).toBe('public');
  });
});

test('all refusals are alike and reveal nothing of the network', async () => {
  const secret = await startSecret();
  const fetch = startFetch([], { lookup: resolverOf({ 'inside.example': ['10.0.0.1'] }) });
  const refusals = [];
  for (const url of [
    secret.origin,
    'http://127.0.0.1:9/',
    'http://inside.example/',
    'http://10.255.255.1/',
    'http://a.internal/',
  ]) {
    refusals.push(await fetch(url).catch(({ name, message, facts }) => ({ name, message, facts })));
  }
  expect(new Set(refusals.map((problem) => JSON.stringify(problem))).size).toBe(1);
});
