/**
 * Tests lists of hits from services on loopback: order, fallbacks, fusion, paging, cached lists, budgets, and faulty
 * services.
 */
// Full run only: waits for timeouts.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTrustedFetch, type TrustedFetch } from '#net/trusted.ts';
import { openSqlValues } from '#storage/shared/sql.ts';
import type { SharedStore } from '#storage/shared/values.ts';
import { createAskProvider } from './ask-provider.ts';
import { createHitFinder, type HitFinder, type HitRequest } from './find-hits.ts';
import type { Hit } from './hit.ts';
import { parseQuery, type SearchQuery } from './query.ts';
import { type ListedPage, type Service, searxngAnswer, startService } from './service.suite.ts';
import { type ProviderRow, parseProviderRows } from './settings.ts';
import { createSource, type Source } from './sources.ts';
import { createSearchStore, type SearchStore } from './store.ts';

const KEY = 'secret-key-of-a-provider';
const HOUR_MS = 3_600_000;

const listed = (count: number, host = 'a.test'): ListedPage[] =>
  Array.from({ length: count }, (_, index) => ({
    title: `T${index}`,
    url: `https://${host}/${index}`,
    text: `About ${index}`,
  }));

let dir: string;
let trusted: TrustedFetch;
let shared: SharedStore;
let store: SearchStore;
let now: number;
let logged: string[];
let services: Service[];
async function openStore() {
  shared = await openSqlValues({ file: path.join(dir, 'shared.db') }, { clock: () => now });
  store = createSearchStore(shared, { now: () => now });
}
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-lists-'));
  trusted = createTrustedFetch({ region: 'any', euHosts: [], log: { warn() {}, info() {} } as never });
  now = Date.UTC(2026, 0, 31, 12);
  await openStore();
  logged = [];
  services = [];
});
afterEach(async () => {
  await shared.close();
  await trusted.close();
  for (const service of services) await service.close();
  await rm(dir, { recursive: true });
});

type Answering = Parameters<typeof startService>[0];

async function service(answer: Answering): Promise<Service> {
  const made = await startService(answer);
  services.push(made);
  return made;
}

function lists(
  rows: readonly object[],
  { maxAtOnce = 1, index }: { maxAtOnce?: number; index?: Source } = {},
): HitFinder {
  const ask = createAskProvider({ fetch: trusted, userAgent: 'test' });
  const log = { warn: (...said: unknown[]) => void logged.push(JSON.stringify(said)) };
  const read = parseProviderRows(rows) as ProviderRow[];
  const sources = read.map((row) => createSource(row, { ask, store, log, now: () => now }));
  return createHitFinder({ sources, index, maxAtOnce });
}

const searxng = (name: string, { url }: Service, more: object = {}) => ({ name, kind: 'searxng', url, ...more });
/** A service that returns exactly the requested page. */
const exact = (name: string, { url }: Service, more: object = {}) => ({
  name,
  url: `${url}/?q={query}&n={count}&o={offset}`,
  fields: { title: 'title', url: 'url', description: 'text' },
  ...more,
});
const windowOf =
  (pages: readonly ListedPage[]): Answering =>
  ({ url }) => {
    const [offset, count] = ['o', 'n'].map((name) => Number(url.searchParams.get(name)));
    return pages.slice(offset!, offset! + count!);
  };

const find = (
  from: HitFinder,
  query: Partial<SearchQuery> & { text?: string } = {},
  request: Partial<HitRequest> = {},
) =>
  from.find(parseQuery(query.text ?? 'cats', { count: 10, page: 1, ...query }), {
    signal: new AbortController().signal,
    noCache: false,
    noTrace: false,
    ...request,
  });
const urls = ({ hits }: { hits: readonly Hit[] }) => hits.map(({ url }) => url);

describe('paging', () => {
  it.each(['exact', 'own'] as const)('with pages of %s size gives every result once, in order', async (paging) => {
    const pages = listed(23);
    const made = await service(paging === 'exact' ? windowOf(pages) : (asked) => searxngAnswer(pages, asked, 7));
    const from = lists([paging === 'exact' ? exact('one', made) : searxng('one', made)]);
    const seen: string[] = [];
    for (let page = 1; page <= 5; page++) seen.push(...urls(await find(from, { page, count: 5 })));
    expect(seen).toEqual(pages.map(({ url }) => url));
    expect(urls(await find(from, { page: 6, count: 5 }))).toEqual([]);
    // If several of a service's pages were fetched for one of our pages, they are reused for the next page.
    if (paging === 'own') expect(made.requests.length).toBeLessThanOrEqual(5);
  });

  it('of two providers at once neither repeats nor loses a result', async () => {
    const one = await service(windowOf(listed(12, 'a.test')));
    const two = await service(windowOf([...listed(6, 'b.test'), ...listed(8, 'a.test')]));
    const from = lists([exact('one', one), exact('two', two)], { maxAtOnce: 2 });
    const seen: string[] = [];
    for (let page = 1; page <= 4; page++) seen.push(...urls(await find(from, { page, count: 5 })));
    expect(new Set(seen).size).toBe(seen.length);
    expect(new Set(seen)).toEqual(new Set([...listed(12, 'a.test'), ...listed(6, 'b.test')].map(({ url }) => url)));
    expect((await find(from)).providers).toEqual(['one', 'two']);
  });

  it('fills up a page that operators have filtered', async () => {
    const pages = listed(40).map((page, index) => ({ ...page, url: index % 4 ? page.url : `https://b.test/${index}` }));
    const made = await service(windowOf(pages));
    const noOperators = parseProviderRows([{ name: 'mojeek', key: KEY, url: made.url }]) as ProviderRow[];
    expect(noOperators[0]!.provider.operators.size).toBe(0);
    const mojeek = await service(({ url }) => {
      const start = Number(url.searchParams.get('s')) - 1;
      const results = pages.slice(start, start + Number(url.searchParams.get('t')));
      return {
        response: { results: results.map(({ title, url: address, text }) => ({ title, url: address, desc: text })) },
      };
    });
    const from = lists([{ name: 'mojeek', key: KEY, url: mojeek.url }]);
    const found = await find(from, { text: 'cats site:b.test', count: 4 });
    expect(urls(found)).toEqual([0, 4, 8, 12].map((index) => `https://b.test/${index}`));
    expect(urls(await find(from, { text: 'cats site:b.test', count: 4, page: 2 }))).toEqual(
      [16, 20, 24, 28].map((index) => `https://b.test/${index}`),
    );
  });

  it('returns the whole list for a count of 0, at most a hundred hits', async () => {
    const made = await service((asked) => searxngAnswer(listed(10_000), asked, 10_000));
    expect((await find(lists([searxng('one', made)]), { count: 0 })).hits).toHaveLength(100);
  });
});

describe('providers that fail', () => {
  const BAD: Record<string, Answering> = {
    'answers HTML': (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sorry</html>'),
    'answers 500': (_, response) => void response.writeHead(500).end('oops'),
    'refuses the key': (_, response) => void response.writeHead(401).end('{}'),
    'hangs up': (_, response) => void response.destroy(),
    'never answers': () => undefined,
    'never ends': (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
      return undefined;
    },
    redirects: (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    'has nothing': () => ({ results: [] }),
  };

  it.each(Object.keys(BAD))('one that %s gives way to the next', async (name) => {
    const bad = await service(BAD[name]!);
    const good = await service((asked) => searxngAnswer(listed(3), asked));
    const from = lists([searxng('bad', bad, { key: KEY, timeoutMs: 700 }), searxng('good', good)]);
    const found = await find(from);
    expect(found.providers).toEqual(['good']);
    expect(found.hits).toHaveLength(3);
    expect(bad.requests.length).toBeGreaterThan(0);
    if (name !== 'has nothing') expect(logged.join()).toContain('"provider":"bad"');
    expect(logged.join()).not.toMatch(/secret|127\.0\.0\.1|cats/);
  });

  it('all together are one error without their messages', async () => {
    const bad = await service(BAD['answers 500']!);
    const failure = await find(lists([searxng('bad', bad, { key: KEY })])).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 500, status: 50002 });
    expect(JSON.stringify(failure) + String((failure as Error).stack)).not.toMatch(/secret|bad|127\.0/);
    expect((failure as Error).cause).toBeUndefined();
  });

  it('several times in a row are asked last for some time', async () => {
    const bad = await service(BAD['refuses the key']!);
    const good = await service((asked) => searxngAnswer(listed(3), asked));
    const from = lists([searxng('bad', bad), searxng('good', good)]);
    for (let time = 0; time < 6; time++) await find(from, { text: `cats ${time}` });
    expect(bad.requests).toHaveLength(3);
    now += 60_000;
    await find(from, { text: 'later' });
    expect(bad.requests).toHaveLength(4);
  });

  it('by rate limit are not asked until it has passed', async () => {
    const busy = await service((_, response) => void response.writeHead(429, { 'retry-after': '90' }).end());
    const good = await service((asked) => searxngAnswer(listed(3), asked));
    const from = lists([searxng('busy', busy), searxng('good', good)]);
    await find(from, { text: 'one' });
    now += 80_000;
    await find(from, { text: 'two' });
    expect(busy.requests).toHaveLength(1);
    now += 20_000;
    await find(from, { text: 'three' });
    expect(busy.requests).toHaveLength(2);
  });
});

describe('cached lists', () => {
  it('answer for an hour, and longer while no provider does', async () => {
    let up = true;
    const made = await service((asked, response) =>
      up ? searxngAnswer(listed(3), asked) : void response.writeHead(503).end(),
    );
    const from = lists([searxng('one', made)]);
    await find(from);
    now += HOUR_MS - 1;
    expect((await find(from)).hits).toHaveLength(3);
    expect(made.requests).toHaveLength(1);
    await find(from, {}, { noCache: true });
    expect(made.requests).toHaveLength(2);
    up = false;
    now += 3 * HOUR_MS;
    expect((await find(from)).hits).toHaveLength(3);
    expect(made.requests.length).toBeGreaterThan(2);
    await expect(find(from, {}, { noCache: true })).rejects.toMatchObject({ status: 50002 });
    now += 7 * 24 * HOUR_MS;
    await expect(find(from)).rejects.toMatchObject({ status: 50002 });
  });

  it('are separate for each query, and not stored for empty lists or without a trace', async () => {
    const made = await service((asked) =>
      searxngAnswer(asked.url.searchParams.get('q') === 'none' ? [] : listed(3), asked),
    );
    const from = lists([searxng('one', made)]);
    const queries = [{}, { language: 'de' }, { kind: 'news' }, { text: 'dogs' }, { country: 'de' }] as const;
    for (const query of [...queries, ...queries]) await find(from, query);
    expect(made.requests).toHaveLength(queries.length);
    for (let time = 0; time < 2; time++) await find(from, { text: 'none' });
    expect(made.requests).toHaveLength(queries.length + 2);
    for (let time = 0; time < 2; time++) await find(from, { text: 'private' }, { noTrace: true });
    expect(made.requests).toHaveLength(queries.length + 4);
  });

  it('do not contain the query', async () => {
    const made = await service((asked) => searxngAnswer(listed(1), asked));
    await find(lists([searxng('one', made)]), { text: 'a very private question' });
    await shared.close();
    const { readFile } = await import('node:fs/promises');
    expect((await readFile(path.join(dir, 'shared.db'))).includes('private question')).toBe(false);
    await openStore();
  });
});

describe('budgets', () => {
  it('hold for a day, over restarts, and cached lists do not count', async () => {
    const made = await service((asked) => searxngAnswer(listed(3), asked));
    const row = searxng('paid', made, { budgetPerDay: 2 });
    const from = lists([row]);
    await find(from, { text: 'one' });
    await find(from, { text: 'one' });
    await find(from, { text: 'two' });
    await expect(find(from, { text: 'three' })).rejects.toMatchObject({ status: 50002 });
    await shared.close();
    await openStore();
    await expect(find(lists([row]), { text: 'three' })).rejects.toMatchObject({ status: 50002 });
    expect(made.requests).toHaveLength(2);
    now += 13 * HOUR_MS;
    await find(lists([row]), { text: 'three' });
    expect(made.requests).toHaveLength(3);
  });

  it('equal searches at the same time cost one request', async () => {
    const made = await service(async (asked) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return searxngAnswer(listed(3), asked);
    });
    const from = lists([searxng('paid', made, { budgetPerDay: 1 })]);
    const all = await Promise.all(Array.from({ length: 10 }, () => find(from)));
    expect(all.map(({ hits }) => hits.length)).toEqual(Array(10).fill(3));
    expect(made.requests).toHaveLength(1);
  });
});

describe('a provider named by the caller', () => {
  const own: Source = {
    name: 'reader',
    kinds: ['web'],
    paging: 'exact',
    maxCount: 100,
    operators: new Set(['site']),
    engines: [],
    isResting: async () => false,
    page: async () => [{ title: 'Own', url: 'https://own.test/', description: '' }],
  };

  it('is asked alone', async () => {
    const one = await service((asked) => searxngAnswer(listed(1), asked));
    const two = await service(windowOf(listed(2)));
    const from = lists([searxng('one', one), exact('two', two)], { index: own });
    expect((await find(from, {}, { provider: 'two' })).providers).toEqual(['two']);
    for (const provider of ['reader', 'local'])
      expect((await find(from, {}, { provider })).providers).toEqual(['reader']);
    expect((await find(from, {}, { provider: 'google' })).providers).toEqual(['one']);
    expect(one.requests.map(({ url }) => url.searchParams.get('engines'))).toEqual(['google']);
    await expect(find(from, {}, { provider: 'three' })).rejects.toMatchObject({
      code: 400,
      facts: { path: 'provider' },
    });
  });

  it('may be missing here', async () => {
    const two = await service(windowOf(listed(2)));
    const from = lists([exact('two', two)]);
    await expect(find(from, {}, { provider: 'bing' })).rejects.toMatchObject({ code: 422, status: 42206 });
    await expect(find(from, {}, { provider: 'reader' })).rejects.toMatchObject({ code: 422, status: 42206 });
    await expect(find(from, { kind: 'images' })).rejects.toMatchObject({
      code: 422,
      status: 42206,
      facts: { path: 'type' },
    });
    await expect(find(lists([]))).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining('No search provider is configured'),
    });
  });

  it('is the local index if no provider is configured', async () => {
    const from = lists([], { index: own });
    expect(await find(from)).toMatchObject({ providers: ['reader'], hits: [{ title: 'Own' }] });
    expect(from.hasIndexOnly).toBe(true);
  });
});

it('stops when the caller disconnects', async () => {
  const slow = await service(() => undefined);
  const gone = new AbortController();
  const finding = find(lists([searxng('slow', slow)]), {}, { signal: gone.signal });
  const reason = new Error('gone');
  setTimeout(() => gone.abort(reason), 50);
  await expect(finding).rejects.toBe(reason);
});
