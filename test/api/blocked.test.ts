/** Pages that are sent in place of the content, through the whole server: they are marked, free and not stored. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Page, type Site, sendHtml, startSite } from '../site/site.ts';
import { parseEvents, startServer, type TestServer } from '../support/server.ts';

const CHALLENGE =
  '<!doctype html><title>Just a moment...</title><div id="challenge-stage"></div><script>window._cf_chl_opt={}</script>';
const PROSE = 'The kiln was lit on Monday, and the jugs were set on the third shelf, where the heat is even. '.repeat(
  9,
);
const ARTICLE = `<!doctype html><title>Kiln log</title><h1>Kiln log</h1><p>${PROSE}</p>`;

/** Answers programs with a challenge, and browsers with `html`. */
const onlyForBrowsers =
  (html: string): Page =>
  ({ request, response }) =>
    request.headers['sec-ch-ua'] === undefined ? sendHtml(response, CHALLENGE) : sendHtml(response, html);

const WALL = `<!doctype html><title>Kiln log</title>
<style>html, body { height: 100%; margin: 0 } .behind { display: none }</style>
<div id="usercentrics-root" style="position:fixed;inset:0;background:#fff"><h2>Your consent</h2><p>We use cookies.</p><button>Accept</button></div>
<main class="behind"><h1>Kiln log</h1><p>${PROSE}</p></main>
<script>new MutationObserver(() => {
  if (!document.getElementById('usercentrics-root')) document.querySelector('main').className = '';
}).observe(document.body, { childList: true })</script>`;

const SHELL = `<!doctype html><title>Kiln log</title><div id="root"></div><script src="/app.js"></script>`;
const WITH_DATA = `${SHELL}<script type="application/ld+json">${JSON.stringify({ '@type': 'Article', articleBody: PROSE })}</script>`;

let site: Site;
let server: TestServer;
beforeAll(async () => {
  site = await startSite({
    '/challenge': CHALLENGE,
    '/article': ARTICLE,
    '/browsers': onlyForBrowsers(ARTICLE),
    '/nobody': onlyForBrowsers(CHALLENGE),
    '/wall': WALL,
    '/shell': SHELL,
    '/data': WITH_DATA,
    '/header': ({ response }) => {
      response.setHeader('x-vercel-mitigated', 'deny');
      sendHtml(response, '<title>pots</title><p>No.</p>', 403);
    },
    '/limit.json': ({ response }) =>
      void response.writeHead(429, { 'content-type': 'application/json' }).end('{"message":"Too many requests"}'),
  });
  server = await startServer({ allowNetworks: site.allow.join(',') });
});
afterAll(async () => {
  await server.close();
  await site.close();
});

// biome-ignore lint/suspicious/noExplicitAny: the tests read any field of an answer
type Answer = any;

async function read(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(`${server.reader}/${site.origin}${path}`, {
    headers: { accept: 'application/json', ...headers },
  });
  return { status: answer.status, headers: answer.headers, ...((await answer.json()) as object) };
}

describe('a page in place of the content', () => {
  it('is marked in JSON, and costs nothing', async () => {
    const { code, data, meta, headers } = await read('/challenge', { 'x-engine': 'direct' });
    expect(code).toBe(200);
    expect(data.blocked).toEqual({ kind: 'challenge', by: 'cloudflare' });
    expect(data.warning).toContain(
      'Blocked: challenge by cloudflare. This is not the content of the page; tried: direct.',
    );
    expect([data.usage.tokens, meta.usage.tokens, headers.get('x-usage-tokens')]).toEqual([0, 0, '0']);
  });

  it('is not a page whose text is in its linked data', async () => {
    expect((await read('/shell', { 'x-engine': 'direct' })).data.blocked).toEqual({ kind: 'js-shell', by: 'generic' });
    const { data } = await read('/data', { 'x-engine': 'direct', 'x-assert-not-blocked': 'true' });
    expect(data.content).toBe(PROSE.trim());
    expect(data.blocked).toBeUndefined();
    expect(data.warning).toContain('taken from its linked data');
    expect(data.warning).not.toContain('not the content');
  });

  it('is marked in text and in streams', async () => {
    const target = `${server.reader}/${site.origin}/challenge`;
    const text = await (await fetch(target, { headers: { 'x-engine': 'direct' } })).text();
    expect(text).toContain('\nWarning: Blocked: challenge by cloudflare.');
    const stream = await fetch(target, { headers: { accept: 'text/event-stream', 'x-engine': 'direct' } });
    const events = parseEvents(await stream.text());
    expect(events.at(-1)!.data.blocked).toEqual({ kind: 'challenge', by: 'cloudflare' });
  });

  it('is recognized by its headers, and by its status if it is a text', async () => {
    expect((await read('/header', { 'x-engine': 'direct' })).data.blocked).toEqual({ kind: 'denied', by: 'vercel' });
    expect((await read('/limit.json', { 'x-engine': 'direct' })).data.blocked).toEqual({
      kind: 'rate-limit',
      by: 'generic',
    });
  });

  it('is not cached', async () => {
    await read('/challenge', { 'x-engine': 'direct' });
    const before = site.hits('/challenge');
    await read('/challenge', { 'x-engine': 'direct' });
    expect(site.hits('/challenge')).toBe(before + 1);
  });

  it('is an error with assertNotBlocked', async () => {
    const answer = await read('/challenge', { 'x-engine': 'direct', 'x-assert-not-blocked': 'true' });
    expect(answer).toMatchObject({
      status: 42_207,
      code: 422,
      name: 'BlockedPageError',
      path: 'assertNotBlocked',
      blocked: { kind: 'challenge', by: 'cloudflare' },
      targetStatus: 200,
      tried: ['direct'],
    });
    const query = new URLSearchParams({ url: `${site.origin}/challenge`, engine: 'direct', assertNotBlocked: 'true' });
    expect((await fetch(`${server.reader}/?${query}`)).status).toBe(422);
    const stream = await fetch(`${server.reader}/?${query}`, { headers: { accept: 'text/event-stream' } });
    expect(stream.status).toBe(422);
  });

  it('is marked if it came with the request', async () => {
    const answer = await fetch(server.reader, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ html: CHALLENGE, engine: 'direct' }),
    });
    expect(((await answer.json()) as Answer).data.blocked).toEqual({ kind: 'challenge', by: 'cloudflare' });
  });
});

it('content has no mark, and passes assertNotBlocked', async () => {
  const { data } = await read('/article', { 'x-assert-not-blocked': 'true' });
  expect(data.content).toContain('third shelf');
  expect(data).not.toHaveProperty('blocked');
  expect(data.usage.tokens).toBeGreaterThan(0);
});

describe('engine auto', () => {
  it('reads a page with the browser if a plain fetch gets a challenge', async () => {
    const { data } = await read('/browsers', { 'x-assert-not-blocked': 'true' });
    expect(data.content).toContain('third shelf');
    expect(data).not.toHaveProperty('blocked');
  });

  it('says what it tried if the browser gets one too', async () => {
    const { data } = await read('/nobody');
    expect(data.blocked).toEqual({ kind: 'challenge', by: 'cloudflare' });
    expect(data.warning).toContain('tried: direct, browser.');
    expect((await read('/nobody', { 'x-assert-not-blocked': 'true' })).tried).toEqual(['direct', 'browser']);
  });

  it('removes a consent wall if the content is behind it', async () => {
    const { data } = await read('/wall');
    expect(data.content).toContain('third shelf');
    expect(data.warning).toContain('A consent wall covered this page and was removed.');
    expect(data).not.toHaveProperty('blocked');
  });
});
