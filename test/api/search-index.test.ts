/** Search without providers: finds pages that the reader read, except those that must not be indexed. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '#config.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createOwnPorts } from '#net/guard/own-ports.ts';
import { createRegion } from '#net/region.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { type GivenOptions, type Reader, resolve } from '#reader/index.ts';
import { createIndexingReader, fill, openIndexOf, openLocalIndex, openSearch, parseQuery } from '#search/index.ts';
import { createMemoryValues } from '#storage/shared/memory.ts';
import { createLog } from '#telemetry/log.ts';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const TOPICS: Record<string, string> = {
  bees: 'Bees find their way home by the sun and by the landmarks that they have learnt on earlier flights.',
  bread: 'Bread rises because yeast turns sugar into gas, and the dough holds the gas in its stretchy net.',
  tides: 'Tides come twice a day, as the earth turns below the bulges that the moon pulls up in the sea.',
  clocks: 'A pendulum keeps time because each of its swings takes equally long, however wide it is.',
  glass: 'Glass is sand that was melted and cooled so fast that it had no time to form crystals.',
  snow: 'Snow crystals have six arms, since that is how the molecules of water join when they freeze.',
  paper: 'Paper is a felt of plant fibres, which are soaked, spread on a sieve, pressed and dried.',
  salt: 'Salt is won from the sea in flat ponds, in which wind and sun leave nothing but crystals.',
  steel: 'Steel is iron with a little carbon, which is beaten or blown out of it until it is right.',
  silk: 'Silk is spun by caterpillars, whose cocoons are boiled and unwound into one long thread.',
};
const article = (title: string, text: string, head = '') =>
  `<html lang="en"><head><title>${title}</title>${head}</head><body><main><h1>${title}</h1><p>${text}</p><p>${text.split(' ').reverse().join(' ')}</p></main></body></html>`;

let site: Site;
let server: TestServer;
let dir: string;
let reader: Reader;
let search: Awaited<ReturnType<typeof openSearch>>;
let index: Awaited<ReturnType<typeof openLocalIndex>>;
const warnings: unknown[] = [];
/** The current response of the changing page. */
let changing = { status: 200, head: '' };
let clock = Date.now();
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  site = await startSite({
    ...Object.fromEntries(Object.entries(TOPICS).map(([name, text]) => [`/${name}`, article(`About ${name}`, text)])),
    '/private': ({ response }) =>
      void response
        .writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' })
        .end(article('Private', 'The zeppelin of the first kind is private.')),
    '/hidden': article(
      'Hidden',
      'The zeppelin of the second kind is hidden.',
      '<meta name="robots" content="noindex, follow">',
    ),
    '/zeppelin': article('Open', 'The zeppelin of the third kind is for everybody.'),
    '/changing': ({ response }) =>
      void response
        .writeHead(changing.status, { 'content-type': 'text/html' })
        .end(article('Changing', 'The dirigible changes its mind now and then.', changing.head)),
    '/gone': ({ response }) =>
      void response.writeHead(404, { 'content-type': 'text/html' }).end(article('Gone', 'The zeppelin has gone.')),
  });
  server = await startServer({ allowNetworks: site.allow.join(',') });
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-search-index-'));
  const log = { warn: (...said: unknown[]) => void warnings.push(said), info() {} };
  index = await openLocalIndex({ file: path.join(dir, 'index.db'), maxBytes: 50_000_000, log });
  const rules = { region: 'any', euHosts: [], log: log as never } as const;
  const trusted = createTrustedFetch(rules);
  const guard = createGuard({ allow: site.allow, isOwnHost: () => false, ownPorts: createOwnPorts() });
  const fetch = createFetch({ guard, region: createRegion(rules) });
  reader = createIndexingReader(server.app.reader, {
    index,
    keepsNoStore: false,
    shared: 'public',
    log,
    now: () => clock,
  });
  search = await openSearch(
    { searchProviders: [], searchProvidersAtOnce: 1, indexShared: 'public' },
    {
      reader,
      trusted,
      fetch,
      fitPicture: async () => ({ png: new Uint8Array() }),
      index,
      mayServeCached: async () => true,
      store: createMemoryValues(),
      version: '0',
      log,
    },
  );
  ends.push(
    () => fetch.close(),
    () => trusted.close(),
    () => index.close(),
  );
}, 60_000);
afterAll(async () => {
  for (const end of ends) await end();
  await server.close();
  await site.close();
  await rm(dir, { recursive: true });
});

const read = (name: string, given: GivenOptions = {}) =>
  reader.last({
    target: { url: `${site.origin}/${name}` },
    options: resolve(given),
    signal: new AbortController().signal,
    keyed: true,
  });
const find = async (q: string) => {
  const { results, providers } = await search.last({
    query: parseQuery(q, { count: 3 }),
    fallback: false,
    reads: true,
    options: resolve({ respondTiming: 'visible-content' }),
    pagesFreshMs: 86_400_000,
    keyed: true,
    budgetMs: 25_000,
    signal: new AbortController().signal,
    ownHosts: [],
    favicons: false,
    keepPicture: async () => '',
  });
  expect(providers).toEqual(['reader']);
  return results;
};

it('ranks the right page of ten first, and returns its content', async () => {
  for (const name of Object.keys(TOPICS)) await read(name);
  await index.flush();
  expect((await index.stats()).pages).toBe(10);
  const asked = {
    bees: 'how do bees find home',
    bread: 'why does dough rise',
    tides: 'moon and sea',
    clocks: 'swinging pendulums',
    snow: 'six arms crystal freezing water',
    silk: 'caterpillar cocoon',
  };
  for (const [name, q] of Object.entries(asked)) {
    const [first] = await find(q);
    expect([q, first?.title]).toEqual([q, `About ${name}`]);
    expect(first!.content).toContain(TOPICS[name]!.slice(0, 40));
    expect(first!.url).toBe(`${site.origin}/${name}`);
  }
});

it('indexes no private pages', async () => {
  const before = (await index.stats()).pages;
  const signal = new AbortController().signal;
  const given = { text: article('Given', 'The zeppelin is made up.'), mediaType: 'text/html' };
  await reader.last({ target: { url: `${site.origin}/glass`, given }, options: resolve({}), signal, keyed: true });
  await read('private');
  await read('hidden');
  await read('gone');
  const unseen: GivenOptions[] = [
    { doNotTrack: true },
    { zeroDataRetention: true },
    { setCookies: ['a=1'] },
    { customHeader: { 'x-me': '1' } },
    { targetSelector: ['p'] },
    { maxTokens: 500 },
    { respondWith: 'html' },
    { retainLinks: 'none' },
  ];
  for (const options of unseen) await read('zeppelin', options);
  await index.flush();
  expect((await index.stats()).pages).toBe(before);
  await expect(find('zeppelin')).rejects.toMatchObject({ status: 42206 });

  await read('zeppelin', { respondWith: 'frontmatter' });
  await index.flush();
  const [first] = await find('zeppelin');
  expect(first).toMatchObject({ title: 'Open' });
  expect(warnings).toEqual([]);
});

it('indexes the last snapshot of a stream', async () => {
  await index.remove(`${site.origin}/zeppelin`);
  await read('bees');
  const before = (await index.stats()).pages;
  const each = reader.each({
    target: { url: `${site.otherOrigin}/salt` },
    options: resolve({ engine: 'direct' }),
    signal: new AbortController().signal,
    keyed: true,
  });
  for await (const rendition of each) void rendition;
  await index.flush();
  // The same text at another URL counts as the same page.
  expect((await index.stats()).pages).toBeLessThanOrEqual(before + 1);
  expect((await find('flat ponds wind sun'))[0]!.title).toBe('About salt');
});

it('removes a page that is gone or has become noindex', async () => {
  for (const [then, indexed] of [
    [{ status: 200, head: '<meta name="robots" content="noindex">' }, false],
    [{ status: 404, head: '' }, false],
    [{ status: 503, head: '' }, true],
  ] as const) {
    changing = { status: 200, head: '' };
    await read('changing', { engine: 'direct', noCache: true });
    await index.flush();
    expect([then, await index.search(parseQuery('dirigible'))]).toEqual([then, [expect.anything()]]);
    changing = then;
    await read('changing', { engine: 'direct', noCache: true });
    await index.flush();
    expect([then, await index.search(parseQuery('dirigible'))]).toEqual([then, indexed ? [expect.anything()] : []]);
  }
});

it('keeps pages that are read again, and adds removed ones again', async () => {
  await read('steel');
  await index.flush();
  await index.clear();
  await read('steel');
  await index.flush();
  expect((await index.stats()).pages).toBe(0);
  clock += 3_600_000;
  await read('steel');
  await index.flush();
  expect((await index.stats()).pages).toBe(1);
});

it('finds files that the command line put into the index, without the path of their folder', async () => {
  const notes = path.join(dir, 'notes');
  await mkdir(path.join(notes, 'animals'), { recursive: true });
  await writeFile(
    path.join(notes, 'animals', 'penguin.md'),
    '# Penguins\n\nPenguins huddle in the dark of the winter to keep each other warm.\n',
  );
  await writeFile(path.join(notes, 'tax.txt'), 'The tax office wants its form until May, signed by hand.\n');
  const log = createLog('silent');
  const config = readConfig({ environment: {}, flags: { dataDir: server.dataDir } });
  const filled = await openIndexOf(config, { log });
  const tools = { index: filled, reader: server.app.reader, log };
  const options = { depth: 0, maxPages: 10, delayMs: 0, agent: 'test', signal: new AbortController().signal };
  const told = await fill(notes, config, tools, { ...options, onProgress() {} });
  expect(told.added).toBe(2);
  await filled.close();

  const headers = { accept: 'application/json', authorization: `Bearer ${server.app.firstKey}` };
  const answer = await fetch(`${server.urls.search}/search?q=penguins+winter&provider=reader`, { headers });
  const body = (await answer.json()) as { data: { url: string; title: string; content: string }[] };
  expect(answer.status).toBe(200);
  expect(body.data[0]).toMatchObject({ url: 'file:///notes/animals/penguin.md', title: 'penguin.md' });
  expect(body.data[0]!.content).toContain('huddle in the dark');
  expect(JSON.stringify(body)).not.toContain(dir);
});
