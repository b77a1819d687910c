/** The EU hosts next to the other hosts: which services their requests may use. */
import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const HTML =
  '<title>Tea</title><main><h1>Tea</h1><p>Green tea is made from leaves. <img src="https://a.test/x.png"></p></main>';

let site: Site;
/** Search providers inside and outside the EU, and a model server and a rendering service outside it. */
let inside: Service;
let outside: Service;
let model: Service;
let server: TestServer;

beforeAll(async () => {
  site = await startSite({ '/tea': HTML });
  const listed = (asked: Parameters<typeof searxngAnswer>[1]) =>
    searxngAnswer([{ title: 'Tea', url: `${site.origin}/tea`, text: 'About tea' }], asked);
  inside = await startService(listed);
  outside = await startService(listed);
  const message = { role: 'assistant', content: 'A cup of tea.' };
  model = await startService(() => ({ choices: [{ message, finish_reason: 'stop' }], usage: {} }));
  server = await startServer({
    allowNetworks: site.allow.join(','),
    browser: 'none',
    port: 0,
    euReaderPort: 0,
    euSearchPort: 0,
    euHosts: new URL(inside.url).host,
    searchEmbedder: 'none',
    searchProviders: [
      { name: 'far', kind: 'searxng', url: outside.url },
      { name: 'near', kind: 'searxng', url: inside.url },
    ],
    ...{ chatUrl: model.url, chatModel: 'm' },
    ...{ cfUrl: model.url, cfAccount: 'a', cfToken: 't' },
  });
});
afterAll(async () => {
  await server?.close();
  await Promise.all([inside, outside, model, site].map((one) => one.close()));
});

/** Sends a request for a host name to one of the ports of the server. */
async function ask(url: string, host: string | undefined, path: string, body?: object) {
  const sent = http.request(url, {
    method: body === undefined ? 'GET' : 'POST',
    path,
    headers: {
      host: host ?? new URL(url).host,
      accept: 'application/json',
      authorization: `Bearer ${server.app.firstKey}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
  });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(sent, 'response')) as [http.IncomingMessage];
  return { status: answer.statusCode, json: JSON.parse(await text(answer)) };
}

/** All ways to reach the EU reader and search: by host name on their own ports and on the shared one, and by port. */
const READERS = [
  ['eu-r.lectern.example', 'reader'],
  ['EU-R.lectern.example:8443', 'all'],
  ['eu-r.lectern.example', 'search'],
  [undefined, 'eu-reader'],
] as const;
const SEARCHES = [
  ['eu-s.lectern.example', 'search'],
  ['eu-s.lectern.example', 'all'],
  [undefined, 'eu-search'],
] as const;
const NEEDED = [
  [{ html: HTML, respondWith: 'readerlm-v2' }, 'respondWith', 'LECTERN_CHAT_URL'],
  [{ html: HTML, retainImages: 'all_p' }, 'retainImages', 'LECTERN_CHAT_URL'],
  [{ html: HTML, withGeneratedAlt: true }, 'retainImages', 'LECTERN_CHAT_URL'],
  [{ html: HTML, instruction: 'Read it' }, 'instruction', 'LECTERN_CHAT_URL'],
  [{ url: 'https://tea.example/', engine: 'cf-browser-rendering' }, 'engine', 'LECTERN_CF_URL'],
  [{ url: 'https://tea.example/', proxyUrl: 'http://proxy.example:1' }, 'proxyUrl', 'LECTERN_EU_HOSTS'],
] as const;

describe('a reader inside the EU', () => {
  it.each(READERS)('named %s at the port %s refuses what needs a service outside, and names it', async (host, port) => {
    for (const [body, path, setting] of NEEDED) {
      const before = model.requests.length;
      const { status, json } = await ask(server.urls[port]!, host, '/', body);
      expect([status, json.name, json.path]).toEqual([403, 'OperationNotAllowedError', path]);
      expect(json.message).toContain(setting);
      expect(json.message).toContain('LECTERN_EU_HOSTS');
      expect(model.requests).toHaveLength(before);
    }
  });

  it.each(READERS)('named %s at the port %s reads with what is on this machine', async (host, port) => {
    const { status, json } = await ask(server.urls[port]!, host, `/${site.origin}/tea`);
    expect([status, json.data.title]).toEqual([200, 'Tea']);
  });

  it('does not start work that goes on elsewhere', async () => {
    for (const path of ['/crawl', '/mcp']) {
      const { status, json } = await ask(server.urls['eu-reader']!, undefined, path, { url: site.origin });
      expect([path, status, json.name]).toEqual([path, 403, 'OperationNotAllowedError']);
    }
  });
});

describe('the hosts beside it', () => {
  it('use every service', async () => {
    const before = model.requests.length;
    const { status, json } = await ask(server.reader, 'r.lectern.example', '/', {
      html: HTML,
      respondWith: 'readerlm-v2',
    });
    expect([status, json.data?.content]).toEqual([200, 'A cup of tea.']);
    expect(model.requests.length).toBeGreaterThan(before);
    const asked = outside.requests.length;
    expect((await ask(server.urls.search!, undefined, '/search', { q: 'tea', respondWith: 'no-content' })).status).toBe(
      200,
    );
    expect(outside.requests.length).toBeGreaterThan(asked);
  });
});

describe('a search inside the EU', () => {
  it.each(SEARCHES)('named %s at the port %s asks only providers inside', async (host, port) => {
    const before = outside.requests.length;
    const near = inside.requests.length;
    const q = `tea ${host} ${port}`;
    const { status, json } = await ask(server.urls[port]!, host, '/search', { q, noCache: true });
    expect([status, json.data[0].url]).toEqual([200, `${site.origin}/tea`]);
    expect([outside.requests.length, inside.requests.length]).toEqual([before, near + 1]);
    const named = await ask(server.urls[port]!, host, '/search', { q, provider: 'far' });
    expect([named.status, named.json.path]).toEqual([400, 'provider']);
  });
});

it('with every search provider or a database outside, requests are refused with the setting', async () => {
  const lone = await startServer({
    browser: 'none',
    euSearchPort: 0,
    searchProviders: [{ name: 'far', kind: 'searxng', url: outside.url }],
  });
  try {
    const authorization = `Bearer ${lone.app.firstKey}`;
    const answer = await fetch(`${lone.urls['eu-search']}/tea`, {
      headers: { authorization, accept: 'application/json' },
    });
    const json = (await answer.json()) as { name: string; message: string };
    expect([answer.status, json.name]).toEqual([403, 'OperationNotAllowedError']);
    expect(json.message).toContain('LECTERN_SEARCH_PROVIDERS');
  } finally {
    await lone.close();
  }
});
