/** Stored data of URLs that may no longer be read: the guard must check the URL before any stored copy is returned. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '#app.ts';
import { readConfig } from '#config.ts';
import { createLog } from '#telemetry/log.ts';
import { type Site, startSite } from '../site/site.ts';
import { shareBrowser } from '../support/server.ts';

const word = (text: string) =>
  `<html lang="en"><title>About ${text}</title><main><h1>About ${text}</h1><p>${`The word of this page is ${text}, which no other page has. `.repeat(6)}</p></main></html>`;

let site: Site;
let dataDir: string;
beforeAll(async () => {
  site = await startSite({
    '/page': word('albatross'),
    '/moved': ({ response, otherOrigin }) => void response.writeHead(302, { location: `${otherOrigin}/other` }).end(),
    '/other': word('basilisk'),
    '/named': word('cormorant'),
  });
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-narrowed-'));
  shareBrowser(dataDir);
});
afterAll(async () => {
  await site.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** The DNS lookup function of the server. */
let lookup: () => Promise<{ address: string; family: number }[]>;
const resolveTo = (address: string) => async () => [{ address, family: 4 }];
const failLookup = async (): Promise<never> => {
  throw Object.assign(new Error('no name server'), { code: 'ETIMEOUT' });
};

/** Runs a server on a data folder that a later server uses again. */
async function serve<T>(dir: string, allow: readonly string[], work: (server: Server) => Promise<T>): Promise<T> {
  const flags = {
    ...{ dataDir: dir, host: '127.0.0.1', logLevel: 'silent', auth: 'off', modelsWarm: [], searchEmbedder: 'none' },
    ...{ readerPort: 0, searchPort: 0, modelPort: 0, compatPort: 0, flowPort: 0, flowGrpcPort: 0 },
    allowNetworks: allow.join(','),
  };
  const config = readConfig({ environment: { LECTERN_BROWSER: process.env.LECTERN_BROWSER }, flags });
  const app = await createApp({ config, version: '0', log: createLog('silent'), lookup: () => lookup() });
  try {
    const urls = Object.fromEntries((await app.listen()).map(({ name, url }) => [name, url]));
    const ask = async (url: string, body: object) => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
      return { status: answer.status, json: (await answer.json()) as any };
    };
    const search = (q: string, more: object = {}) =>
      ask(`${urls.search}/search`, { q, provider: 'reader', respondWith: 'no-content', ...more });
    return await work({
      reader: urls.reader!,
      read: (url, more = {}) => ask(urls.reader!, { url, engine: 'direct', ...more }),
      search,
      async waitUntilFound(q) {
        await expect.poll(async () => (await search(q)).status, { timeout: 20_000 }).toBe(200);
      },
    });
  } finally {
    await app.close();
  }
}

interface Server {
  readonly reader: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  read(url: string, more?: object): Promise<{ status: number; json: any }>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  search(q: string, more?: object): Promise<{ status: number; json: any }>;
  waitUntilFound(q: string): Promise<void>;
}

const REFUSED = 451;

it('copies, pictures and the index answer only while their URL may be read', async () => {
  lookup = resolveTo('127.0.0.1');
  const page = `${site.origin}/page`;
  const moved = `${site.origin}/moved`;
  const screenshotPath = await serve(dataDir, site.allow, async ({ read, waitUntilFound }) => {
    expect((await read(page)).status).toBe(200);
    expect((await read(moved)).json.data.content).toContain('basilisk');
    await waitUntilFound('albatross');
    await waitUntilFound('basilisk');
    const shot = await read(page, { respondWith: 'screenshot', engine: 'browser' });
    return new URL(shot.json.data.screenshotUrl).pathname;
  });
  const hits = site.hits('/page');

  await serve(dataDir, [], async ({ reader, read, search }) => {
    // With the default tolerance, a short one and a long one, and as text.
    for (const more of [{}, { cacheTolerance: 1 }, { cacheTolerance: 600_000 }, { respondWith: 'text' }])
      expect((await read(page, more)).status).toBe(REFUSED);
    for (const q of ['albatross', 'basilisk', 'site:127.0.0.1'])
      for (const more of [{}, { passages: true }, { respondWith: 'content' }])
        expect((await search(q, more)).status).toBe(422);
    expect((await fetch(reader + screenshotPath)).status).toBe(404);
  });
  expect(site.hits('/page')).toBe(hits);

  // The URL may be read, but not the target of its redirect.
  const own = new URL(site.origin).host;
  await serve(dataDir, [own], async ({ read }) => {
    expect((await read(page)).status).toBe(200);
    expect((await read(moved)).status).toBe(REFUSED);
  });

  await serve(dataDir, site.allow, async ({ reader, read, search }) => {
    expect((await read(moved)).json.data.content).toContain('basilisk');
    expect((await search('albatross')).status).toBe(200);
    expect((await fetch(reader + screenshotPath)).status).toBe(200);
  });
  expect(site.hits('/page')).toBe(hits);
}, 120_000);

it('refuses a name that now resolves to a private IP address; answers from the cache while DNS fails', async () => {
  const namedUrl = `http://named.example:${new URL(site.origin).port}/named`;
  lookup = resolveTo('127.0.0.1');
  await serve(dataDir, ['127.0.0.1'], async ({ read, search, waitUntilFound }) => {
    expect((await read(namedUrl)).status).toBe(200);
    await waitUntilFound('cormorant');
    lookup = resolveTo('10.1.2.3');
    expect((await read(namedUrl)).status).toBe(REFUSED);
    expect((await search('cormorant')).status).toBe(422);
    lookup = failLookup;
    expect((await read(namedUrl)).json.data.content).toContain('cormorant');
    expect((await search('cormorant')).status).toBe(200);
  });
}, 120_000);
