/** Tests searches with public sources: which are asked, fusion, the limit of the delay, and what the caller is told. */
// Full run only: waits for timeouts.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '#config.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createOwnPorts } from '#net/guard/own-ports.ts';
import { createRegion } from '#net/region.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { type Reader, resolve } from '#reader/index.ts';
import { createMemoryValues } from '#storage/shared/memory.ts';
import { GRACE_MS, runTogether } from './ask-together.ts';
import { mergeHits } from './merge-hits.ts';
import { openSearch, type SearchSettings, type SearchTools } from './open.ts';
import { PUBLIC_SOURCES } from './providers/providers.ts';
import { parseQuery } from './query.ts';
import type { Search, SearchRequest } from './search.ts';
import { searxngAnswer, startService } from './service.suite.ts';
import { parseSourceRows } from './settings.ts';

const rules = { region: 'any', euHosts: [], log: { warn() {}, info() {} } as never } as const;
let dir: string;
let ends: (() => unknown)[];
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-together-'));
  ends = [];
});
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  await rm(dir, { recursive: true });
});

type Answering = Parameters<typeof startService>[0];
async function service(answer: Answering) {
  const made = await startService(answer);
  ends.push(() => made.close());
  return made;
}

const reader: Reader = {
  async *each() {},
  last: async () => {
    throw new Error('not read');
  },
};

async function search(settings: Partial<SearchSettings>, more: Partial<SearchTools> = {}): Promise<Search> {
  const trusted = createTrustedFetch(rules);
  const guard = createGuard({ allow: [], isOwnHost: () => false, ownPorts: createOwnPorts() });
  const fetch = createFetch({ guard, region: createRegion(rules) });
  ends.push(
    () => trusted.close(),
    () => fetch.close(),
  );
  const made = await openSearch(
    { searchProviders: [], searchProvidersAtOnce: 1, indexShared: 'public', ...settings },
    {
      ...{ reader, trusted, fetch, fitPicture: async () => ({ png: new Uint8Array() }) },
      ...{ mayServeCached: async () => true, version: '1', log: rules.log },
      store: createMemoryValues(),
      ...more,
    },
  );
  return made;
}

const request = (text: string, more: Partial<SearchRequest> = {}): SearchRequest => ({
  query: parseQuery(text, { count: 10 }),
  fallback: false,
  reads: false,
  options: resolve({}),
  pagesFreshMs: 1_000,
  keyed: true,
  budgetMs: 20_000,
  signal: new AbortController().signal,
  ownHosts: [],
  favicons: false,
  keepPicture: async () => '',
  ...more,
});

const story = (id: number, url: string) => ({
  ...{ objectID: String(id), title: `Story ${id}`, url, points: 1, num_comments: 0 },
  created_at: '2026-01-31T10:00:00Z',
});
const stories: Answering = () => ({
  hits: [story(1, 'https://a.test/same?utm_source=hn'), story(2, 'https://b.test/2')],
});
const wikiPages: Answering = () => ({
  query: { search: [{ title: 'Kettle', snippet: 'boils', timestamp: '2026-01-30T00:00:00Z' }] },
});
const silent: Answering = () => undefined;
const at = (name: string, { url }: { url: string }, more: object = {}) => ({ name, url, ...more });

describe('a search', () => {
  it('fuses providers and sources, once each page, with date, source and license', async () => {
    const web = await service((asked) =>
      searxngAnswer([{ title: 'Web', url: 'https://www.a.test/same', text: 'from the web' }], asked),
    );
    const hn = await service(stories);
    const wiki = await service(wikiPages);
    const made = await search({
      searchProviders: [{ name: 'web', kind: 'searxng', url: web.url }],
      searchSources: [at('hackernews', hn), at('wikipedia', wiki)],
    });
    const { results, providers, notice } = await made.last(request('who invented the kettle'));
    expect(providers).toEqual(['web', 'wikipedia', 'hackernews']);
    expect(notice).toBeUndefined();
    // The page that two lists contain comes first, with the fields of both.
    expect(results[0]).toMatchObject({ title: 'Web', source: 'Hacker News', date: '2026-01-31T10:00:00Z' });
    expect(
      results
        .map(({ url }) => url)
        .slice(1)
        .sort(),
    ).toEqual(['https://b.test/2', `${wiki.url}/wiki/Kettle`].sort());
    expect(results.find(({ title }) => title === 'Kettle')).toMatchObject({
      source: 'Wikipedia',
      attribution: 'Wikipedia contributors, CC BY-SA 4.0',
    });
  });

  it('is not delayed by a slow source, which the notice names', async () => {
    const web = await service((asked) => searxngAnswer([{ title: 'Web', url: 'https://a.test/', text: 'x' }], asked));
    const slow = await service(silent);
    const refusing = await service((_, response) => void response.writeHead(429).end());
    const made = await search({
      searchProviders: [{ name: 'web', kind: 'searxng', url: web.url }],
      searchSources: [at('hackernews', slow), at('wikipedia', refusing)],
    });
    const startedAt = performance.now();
    const { results, notice, leftOut } = await made.last(request('who invented the kettle'));
    // The bound is 800 ms; the rest is for a busy machine. The source itself has 8 s.
    expect(performance.now() - startedAt).toBeLessThan(GRACE_MS + 3_000);
    expect(results).toHaveLength(1);
    expect(notice).toContain('hackernews (too slow)');
    expect(notice).toContain('wikipedia (rate limit)');
    expect(leftOut).toBe(notice);
  });

  it('asks only the sources that the caller names', async () => {
    const hn = await service(stories);
    const wiki = await service(wikiPages);
    const made = await search({ searchSources: [at('hackernews', hn), at('wikipedia', wiki)] });
    const { providers, notice } = await made.last(request('kettle', { sources: ['hackernews', 'arxiv'] }));
    expect([providers, wiki.requests.length]).toEqual([['hackernews'], 0]);
    expect(notice).toContain('arxiv (off: LECTERN_SEARCH_SOURCES)');
    await expect(made.last(request('kettle', { sources: ['arxiv'] }))).rejects.toMatchObject({
      status: 42206,
      message: expect.stringContaining('LECTERN_SEARCH_SOURCES'),
    });
    for (const name of ['nobody', '__proto__', 'constructor'])
      await expect(made.last(request('kettle', { sources: [name] }))).rejects.toMatchObject({
        code: 400,
        facts: { path: 'sources' },
        message: expect.stringContaining('hackernews, wikipedia'),
      });
    await expect(made.last(request('x', { sources: ['arxiv'], provider: 'hackernews' }))).rejects.toMatchObject({
      code: 400,
    });
  });

  it('of a group asks its sources, or says how to turn them on', async () => {
    const hn = await service(stories);
    const made = await search({ searchSources: [at('hackernews', hn)] });
    expect((await made.last(request('kettle', { group: 'discussions' }))).providers).toEqual(['hackernews']);
    await expect(made.last(request('kettle', { group: 'papers' }))).rejects.toMatchObject({
      status: 42206,
      message: expect.stringMatching(/papers.*arxiv.*LECTERN_SEARCH_SOURCES/),
    });
  });

  it('without any source names both settings', async () => {
    await expect((await search({})).last(request('kettle'))).rejects.toMatchObject({
      message: expect.stringMatching(/LECTERN_SEARCH_PROVIDERS.*LECTERN_SEARCH_SOURCES=all/),
    });
  });

  it('with `site` asks only sources of that site', async () => {
    const hn = await service(stories);
    const wiki = await service(wikiPages);
    const made = await search({ searchSources: [at('hackernews', hn), at('wikipedia', wiki)] });
    await made.last(request('kettle site:en.wikipedia.org')).catch(() => {});
    expect([hn.requests.length, wiki.requests.length > 0]).toEqual([0, true]);
  });

  it('uses cached lists of sources', async () => {
    const hn = await service(stories);
    const made = await search({ searchSources: [at('hackernews', hn)] });
    for (let time = 0; time < 3; time++) await made.last(request('kettle'));
    expect(hn.requests).toHaveLength(1);
  });
});

describe('a contact', () => {
  it('is required by the terms of some sources', async () => {
    await expect(search({ searchSources: ['wikipedia'] })).rejects.toThrow(ConfigError);
    await expect(search({ searchProviders: ['wikipedia'] })).rejects.toThrow(/LECTERN_CONTACT/);
    const warned: unknown[] = [];
    const log = { info() {}, warn: (...said: unknown[]) => void warned.push(said) } as never;
    const made = await search({ searchSources: ['all'] }, { log });
    expect(JSON.stringify(warned)).toMatch(/wikipedia.*crates.*LECTERN_CONTACT/);
    expect(made.providers).not.toContain('wikipedia');
    await expect(made.last(request('x', { sources: ['crates'] }))).rejects.toMatchObject({
      message: expect.stringContaining('needs LECTERN_CONTACT'),
    });
    const known = await search({ searchSources: ['all'], contact: 'ops@own.example' });
    expect(known.providers).toContain('wikipedia');
  });

  it('is sent with the name of the program', async () => {
    const hn = await service(stories);
    const made = await search({ searchSources: [at('hackernews', hn)], contact: 'https://own.example/bot' });
    await made.last(request('kettle'));
    expect(hn.requests[0]!.headers['user-agent']).toBe('Lectern/1 (search; https://own.example/bot)');
  });
});

it('sources outside the region are not asked', async () => {
  const hn = await service(stories);
  const region = { allows: () => false, refusal: () => new Error('outside') as never };
  const made = await search({ searchSources: [at('hackernews', hn)] }, { region });
  await expect(made.last(request('kettle'))).rejects.toThrow('outside');
  expect(hn.requests).toHaveLength(0);
});

describe('the setting', () => {
  it('turns on all sources, some, or none', () => {
    expect(parseSourceRows(['none'])).toEqual([]);
    expect(parseSourceRows(['arxiv', { name: 'github', key: 'k' }]).map(({ name }) => name)).toEqual([
      'arxiv',
      'github',
    ]);
    const all = parseSourceRows(['all', { name: 'github', key: 'k' }], ['wikipedia']);
    const names = all.map(({ name }) => name);
    expect([new Set(names).size, names.includes('wikipedia'), names[0]]).toEqual([names.length, false, 'github']);
    const [own] = parseSourceRows([{ name: 'handbook', kind: 'mediawiki', url: 'https://wiki.test' }]);
    expect(own).toMatchObject({ name: 'handbook', settings: { url: 'https://wiki.test' } });
  });

  it.each([
    [['none', 'arxiv'], /only entry/],
    [['arxiv', 'arxiv'], /twice/],
    [[{ name: 'brave', key: 'k' }], /not a public source/],
    [['nobody'], /nobody is not one of/],
    [[{ name: 'own', kind: 'mediawiki' }], /needs a url/],
  ])('refuses %j', (rows, message) => expect(() => parseSourceRows(rows)).toThrow(message));
});

describe('the limit of the delay', () => {
  const listAfter = (ms: number, lists: readonly string[]) => () =>
    new Promise<readonly string[]>((done) => {
      setTimeout(() => done(lists), ms);
    });
  const isUseful = () => true;

  it('starts with the first useful list, and waits for providers that come later', async () => {
    const { lists, leftOut } = await runTogether(
      [
        { name: 'provider', isAwaited: true, run: listAfter(1_200, ['web']) },
        { name: 'quick', isAwaited: false, run: listAfter(10, ['quick']) },
        { name: 'never', isAwaited: false, run: () => new Promise<never>(() => {}) },
      ],
      isUseful,
    );
    expect([lists, leftOut]).toEqual([['quick', 'web'], [{ name: 'never', reason: 'too slow' }]]);
  });

  it('does not start with an empty list', async () => {
    const { lists } = await runTogether(
      [
        { name: 'empty', isAwaited: false, run: listAfter(1, []) },
        { name: 'later', isAwaited: false, run: listAfter(GRACE_MS + 300, ['later']) },
      ],
      isUseful,
    );
    expect(lists).toEqual(['later']);
  });

  it('ends at once if nothing is asked, and rejects for other errors', async () => {
    expect(await runTogether([], isUseful)).toMatchObject({ lists: [], answered: false });
    const run = () => Promise.reject(new Error('a bug'));
    await expect(runTogether([{ name: 'x', isAwaited: false, run }], isUseful)).rejects.toThrow('a bug');
  });
});

it.each([
  ['https://doi.org/10.5555/ABC', 'http://dx.doi.org/10.5555/abc'],
  ['https://arxiv.org/abs/2601.00042', 'https://arxiv.org/pdf/2601.00042v2.pdf'],
  ['https://arxiv.org/abs/2601.00042', 'https://doi.org/10.48550/arXiv.2601.00042'],
  ['https://en.wikipedia.org/wiki/Kettle', 'https://en.m.wikipedia.org/wiki/Kettle'],
  ['https://stackoverflow.com/questions/42/why', 'https://stackoverflow.com/q/42'],
])('%s and %s are one page', (one, two) => {
  const hit = (url: string) => ({ title: 'T', url, description: '' });
  expect(mergeHits([[hit(one)], [hit(two)]], 'web')).toHaveLength(1);
  expect(mergeHits([[hit(one)], [hit('https://other.test/42')]], 'web')).toHaveLength(2);
});

it('the guide names every public source', async () => {
  const guide = await readFile(new URL('../../docs/guide/search-providers.md', import.meta.url), 'utf8');
  const rows = guide.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`([\w-]+)`/g)].map(([, name]) => name));
  expect(Object.keys(PUBLIC_SOURCES).filter((name) => !named.includes(name))).toEqual([]);
});
