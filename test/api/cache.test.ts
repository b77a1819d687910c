/** The page cache of a whole server: what is served from the cache, what is stored, and what is never stored. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Pages, type Site, sendHtml, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const CACHED = 'This is a cached snapshot of the original page, consider retry with caching opt-out.';

let site: Site;
let server: TestServer;
let broken = false;
/** A page that shows how often it was requested, so that a cached copy differs from a new read. */
const counted = (title: string): Pages[string] => {
  let requested = 0;
  return ({ response }) => {
    if (broken) return void response.destroy();
    requested++;
    sendHtml(response, `<title>${title}</title><main><h1>${title}</h1><p>Requested ${requested} times.</p></main>`);
  };
};
const PATHS = Array.from({ length: 20 }, (_, at) => `/counted/${at}`);

beforeAll(async () => {
  site = await startSite({
    ...Object.fromEntries(PATHS.map((at) => [at, counted(at)])),
    '/secret': ({ response, url }) =>
      sendHtml(response, `<title>Secret</title><p>The marker is ${url.searchParams.get('marker')}.</p>`),
    '/private': ({ response }) => {
      response.setHeader('cache-control', 'max-age=0, private, must-revalidate');
      sendHtml(response, '<title>Private</title><p>Some words.</p>');
    },
    '/slow': ({ response }) => void setTimeout(() => sendHtml(response, '<title>Slow</title><p>Slow words.</p>'), 500),
  });
  server = await startServer({ allowNetworks: site.allow.join(','), browser: 'none' });
});
afterAll(async () => {
  await server.close();
  await site.close();
});

let next = 0;
const freshPath = () => PATHS[next++]!;

async function read(at: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${server.reader}/${site.origin}${at}`, {
    headers: { accept: 'application/json', ...headers },
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  return (await answer.json()) as any;
}
const requestCount = async (at: string, headers?: Record<string, string>) =>
  Number(/Requested (\d+) times/.exec((await read(at, headers)).data?.content ?? '')?.[1]);

describe('a second read', () => {
  it('is answered from the cache, with a warning', async () => {
    const at = freshPath();
    expect((await read(at)).data.warning).toBeUndefined();
    const { data } = await read(at);
    expect(data.content).toContain('Requested 1 times');
    expect(data.warning).toBe(CACHED);
    expect(site.hits(at)).toBe(1);
  });

  it('is answered in any format from the same copy', async () => {
    const at = freshPath();
    await read(at);
    const forms: Record<string, string>[] = [
      { 'x-respond-with': 'markdown' },
      { 'x-respond-with': 'html' },
      { 'x-retain-links': 'none', 'x-md-heading-style': 'setext' },
      { 'x-with-links-summary': 'true' },
      { 'x-markdown-chunking': 'h1' },
      { 'x-target-selector': 'main' },
    ];
    for (const headers of forms) await read(at, headers);
    expect(site.hits(at)).toBe(1);
  });

  it.each([
    ['x-no-cache', 'true'],
    ['x-cache-tolerance', '0'],
    ['x-set-cookie', 'a=b'],
    ['x-locale', 'de'],
  ])('fetches again with %s: %s', async (name, value) => {
    const at = freshPath();
    await read(at);
    expect(await requestCount(at, { [name]: value })).toBe(2);
  });

  it('after noCache returns the copy that noCache stored', async () => {
    const at = freshPath();
    await read(at);
    await read(at, { 'x-no-cache': 'true' });
    expect(await requestCount(at)).toBe(2);
    expect(site.hits(at)).toBe(2);
  });

  it('returns the stale copy when the page can no longer be read', async () => {
    const at = freshPath();
    await read(at);
    broken = true;
    try {
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      const stale = await read(at, { 'x-cache-tolerance': '1' });
      expect(stale.data.content).toContain('Requested 1 times');
      const [cached, old, ...more] = stale.data.warning.split('\n');
      expect([cached, more]).toEqual([CACHED, []]);
      expect(old).toMatch(/^This page could not be read now, this is a copy of \S+Z\.$/);
      expect((await read(at, { 'x-no-cache': 'true' })).code).toBe(422);
    } finally {
      broken = false;
    }
  });
});

it('fetches a page once for simultaneous requests', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => read('/slow')));
  expect(answers.map(({ data }) => data.content)).toEqual(Array(8).fill('Slow words.'));
  expect(site.hits('/slow')).toBe(1);
});

describe('stores nothing', () => {
  const filesIn = (dir: string): string[] =>
    readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
      const file = path.join(dir, entry.name);
      return entry.isDirectory() ? filesIn(file) : entry.isFile() ? [file] : [];
    });
  const filesWith = (marker: string) =>
    filesIn(server.dataDir).filter((file) => readFileSync(file).includes(marker) || file.includes(marker));

  it.each([
    ['dnt', '1'],
    ['x-zero-data-retention', 'true'],
    ['x-set-cookie', 'session=1'],
  ])('of a read with %s', async (name, value) => {
    const marker = randomUUID();
    const at = `/secret?marker=${marker}`;
    const before = site.hits('/secret');
    expect((await read(at, { [name]: value })).data.content).toContain(marker);
    await read(at, { [name]: value });
    expect(site.hits('/secret')).toBe(before + 2);
    expect(filesWith(marker)).toEqual([]);
  });

  it('of a page that forbids storing, unless the caller sets a tolerance', async () => {
    await read('/private');
    await read('/private');
    expect(site.hits('/private')).toBe(2);
    expect(filesWith('/private')).toEqual([]);
    await read('/private', { 'x-cache-tolerance': '600' });
    expect((await read('/private', { 'x-cache-tolerance': '600' })).data.warning).toBe(CACHED);
    expect(site.hits('/private')).toBe(3);
    expect(filesWith('/private')).not.toEqual([]);
    expect((await read('/private')).data.warning).toBeUndefined();
  });

  it('if the operator disables the cache', async () => {
    const none = await startServer({ allowNetworks: site.allow.join(','), browser: 'none', cacheMaxBytes: 0 });
    const at = freshPath();
    for (let time = 0; time < 2; time++) await fetch(`${none.reader}/${site.origin}${at}`);
    expect(site.hits(at)).toBe(2);
    await none.close();
  });
});

it('uses one copy for all parts of a page', async () => {
  const at = freshPath();
  await read(at);
  const body = { url: `${site.origin}${at}#3`, page: 2 };
  const answer = await fetch(server.reader, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  });
  expect(((await answer.json()) as { data: { url: string } }).data.url).toBe(body.url);
  expect(site.hits(at)).toBe(1);
});

it('may answer a DNT request from a copy of another request', async () => {
  const at = freshPath();
  await read(at);
  expect(await requestCount(at, { dnt: '1' })).toBe(1);
});

it('keeps copies over a restart', async () => {
  const at = freshPath();
  const dataDir = path.join(server.dataDir, 'another');
  const settings = { allowNetworks: site.allow.join(','), browser: 'none', dataDir };
  for (let time = 0; time < 2; time++) {
    const started = await startServer(settings);
    await fetch(`${started.reader}/${site.origin}${at}`);
    await started.app.close();
  }
  expect(site.hits(at)).toBe(1);
});
