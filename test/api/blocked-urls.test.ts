/** The operator's list of blocked hosts and URLs, tested for every way in which a URL can be requested or returned. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { type Site, startSite, type Visited } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const about = (word: string, more = '') =>
  `<html lang="en"><title>About ${word}</title><main><h1>About ${word}</h1><p>${`The word of this page is ${word}, which no other page has. `.repeat(6)}</p>${more}</main></html>`;

let site: Site;
let service: Service;
let server: TestServer;
let folder: string;
let file: string;

/** Replaces the file and waits until the server has loaded it. */
async function block(...entries: string[]): Promise<void> {
  // The marker is blocked once the new list is loaded.
  const marker = `marker-${Math.random().toString(36).slice(2)}.example`;
  await writeFile(`${file}.new`, `# blocked\n${[...entries, marker].join('\n')}\n`);
  await rename(`${file}.new`, file);
  await expect
    .poll(async () => (await read(`http://${marker}/`)).json.name, { timeout: 30_000 })
    .toBe('HarmfulContentError');
}

async function post(url: string, body: object) {
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    authorization: `Bearer ${server.app.firstKey}`,
  };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  return { status: answer.status, json: (await answer.json()) as any };
}
const read = (url: string, more: object = {}) => post(server.reader, { url, engine: 'direct', ...more });

beforeAll(async () => {
  const to =
    (target: (visited: Visited) => string) =>
    (visited: Visited): void =>
      void visited.response.writeHead(302, { location: target(visited) }).end();
  site = await startSite({
    '/good': about('albatross'),
    '/bad': about('basilisk'),
    '/bad/deep': about('cormorant'),
    '/to-bad': to(({ origin }) => `${origin}/bad`),
    '/to-other': to(({ otherOrigin }) => `${otherOrigin}/good`),
    '/framed': ({ response, origin, otherOrigin }) =>
      void response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          about(
            'dodo',
            `<iframe src="${origin}/bad"></iframe><iframe src="${otherOrigin}/good"></iframe><script src="/bad/script.js"></script>`,
          ),
        ),
    '/bad/script.js': ({ response }) =>
      void response
        .writeHead(200, { 'content-type': 'text/javascript' })
        .end('document.title = "changed by the script"'),
    '/script-to-bad': about('heron', '<script>location.href = "/bad"</script>'),
    '/links': about('egret', '<a href="/links/one">One</a> <a href="/links/blocked">Two</a>'),
    '/links/one': about('finch'),
    '/links/blocked': about('gannet'),
  });
  service = await startService((asked) =>
    searxngAnswer(
      ['/good', '/bad', '/links'].map((at) => ({ url: site.origin + at, title: at, text: at })),
      asked,
    ),
  );
  folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-blocked-'));
  file = path.join(folder, 'blocked.txt');
  await writeFile(file, '# nothing yet\n');
  server = await startServer({
    allowNetworks: site.allow.join(','),
    blockedUrlsFile: file,
    searchEmbedder: 'none',
    searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
  });
});
afterAll(async () => {
  await server?.close();
  await service.close();
  await site.close();
  await rm(folder, { recursive: true, force: true });
});

const host = () => new URL(site.origin).host;
const blocked = { status: 451, json: { name: 'HarmfulContentError', status: 45101, code: 451, path: 'url' } };

describe('a blocked URL', () => {
  it('is refused when asked for, at every hop and as final URL, by every engine, without its entry', async () => {
    await block();
    expect((await read(`${site.origin}/bad`)).status).toBe(200);
    await block(`${host()}/bad*`);
    for (const engine of ['direct', 'browser', 'auto']) {
      const before = site.hits('/bad');
      for (const at of ['/bad', '/bad/deep', '/to-bad']) {
        const answer = await read(site.origin + at, { engine, noCache: true });
        expect([engine, at, answer]).toMatchObject([engine, at, blocked]);
        // The entry of the list is only logged.
        expect(JSON.stringify(answer.json)).not.toContain('bad*');
      }
      expect([engine, site.hits('/bad')]).toEqual([engine, before]);
      expect((await read(`${site.origin}/good`, { engine })).status).toBe(200);
    }
  });

  it('may be a host: with a port here', async () => {
    await block(new URL(site.otherOrigin).host);
    for (const engine of ['direct', 'browser', 'auto']) {
      expect([engine, await read(`${site.otherOrigin}/good`, { engine, noCache: true })]).toMatchObject([
        engine,
        blocked,
      ]);
      expect([engine, await read(`${site.origin}/to-other`, { engine, noCache: true })]).toMatchObject([
        engine,
        blocked,
      ]);
    }
  });

  it('is not loaded as a frame or resource of a page, which says so', async () => {
    await block(`${host()}/bad*`, new URL(site.otherOrigin).host);
    const before = { bad: site.hits('/bad'), script: site.hits('/bad/script.js'), other: site.hits('/good') };
    const { status, json } = await read(`${site.origin}/framed`, { engine: 'browser', withIframe: true });
    expect([status, json.data.title]).toEqual([200, 'About dodo']);
    expect(json.data.content).toContain('dodo');
    expect(json.data.content).not.toMatch(/basilisk|albatross/);
    expect(json.data.warning).toContain(
      'Parts of this page were not loaded: the operator of this server blocks their URLs',
    );
    expect({ bad: site.hits('/bad'), script: site.hits('/bad/script.js'), other: site.hits('/good') }).toEqual(before);
  });

  it('is never reached by a script of a page, which stays', async () => {
    await block(`${host()}/bad*`);
    const before = site.hits('/bad');
    const { json } = await read(`${site.origin}/script-to-bad`, { engine: 'browser' });
    expect(JSON.stringify(json)).toContain('heron');
    expect(site.hits('/bad')).toBe(before);
  });

  it('has no cached and no stale copy any more, also as the target of a redirect', async () => {
    await block();
    for (const at of ['/bad', '/to-bad']) expect((await read(site.origin + at)).status).toBe(200);
    await block(`${host()}/bad`);
    for (const at of ['/bad', '/to-bad']) {
      expect([at, await read(site.origin + at, { cacheTolerance: 3_600 })]).toMatchObject([at, blocked]);
    }
    // The list is reloaded again: no restart is needed to unblock the URL.
    await block();
    expect((await read(`${site.origin}/bad`)).status).toBe(200);
  });

  it('is left out of search results, with a count', async () => {
    const search = (more: object = {}) => post(`${server.urls.search}/search`, { q: 'birds', ...more });
    await block();
    const urls = (answer: { json: { data: { url: string }[] } }) => answer.json.data.map(({ url }) => url);
    expect(urls(await search())).toContain(`${site.origin}/bad`);
    await block(`${host()}/bad`, `${host()}/links`);
    const left = await search();
    expect(urls(left)).toEqual([`${site.origin}/good`]);
    expect(JSON.stringify(left.json)).toContain(
      '2 results were left out: the operator of this server blocks their URLs.',
    );
  });

  it('is left out of hits of the index, with a count', async () => {
    await block();
    expect((await read(`${site.origin}/bad`, { noCache: true })).status).toBe(200);
    const search = () =>
      post(`${server.urls.search}/search`, { q: 'basilisk', provider: 'reader', respondWith: 'no-content' });
    await expect.poll(async () => (await search()).status, { timeout: 30_000 }).toBe(200);
    await block(`${host()}/bad*`);
    const { status, json } = await search();
    expect(status).toBe(422);
    expect(json.message).toMatch(/All \d+ results for this query were left out: the operator/);
  });

  it('is recorded as refused by a crawl', async () => {
    await block(`${host()}/links/blocked`);
    const { json } = await post(`${server.reader}/crawl`, {
      url: `${site.origin}/links`,
      depth: 1,
      options: { engine: 'direct' },
    });
    const id = json.data?.crawl_id ?? json.crawl_id;
    const authorization = `Bearer ${server.app.firstKey}`;
    const lines = async () => {
      const answer = await fetch(`${server.reader}/crawl/${id}/pages`, { headers: { authorization } });
      return (await answer.text())
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    };
    const refused = async () => (await lines()).find(({ url }) => url === `${site.origin}/links/blocked`);
    await expect.poll(refused, { timeout: 60_000 }).toBeDefined();
    expect(JSON.stringify(await refused())).toContain('HarmfulContentError');
    expect(site.hits('/links/blocked')).toBe(0);
    const start = await post(`${server.reader}/crawl`, { url: `${site.origin}/links/blocked` });
    expect(start).toMatchObject({ status: 451, json: { name: 'HarmfulContentError' } });
  });

  it('is not fetched for a model', async () => {
    await block(`${host()}/bad*`);
    const before = site.hits('/bad');
    const { status, json } = await post(`${server.urls.model}/v1/chat/completions`, {
      model: 'lectern-ocr',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `${site.origin}/bad` } }] }],
    });
    expect([status, json.error.message]).toEqual([400, expect.stringContaining('cannot be fetched')]);
    expect(site.hits('/bad')).toBe(before);
  });
});
