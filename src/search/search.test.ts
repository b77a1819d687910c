/** Tests search with real providers over loopback and a real index. Pages come from a fake reader. */
// Full run only: waits for timeouts.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createOwnPorts } from '#net/guard/own-ports.ts';
import { createRegion } from '#net/region.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { type Page, type Reader, resolve } from '#reader/index.ts';
import { createMemoryValues } from '#storage/shared/memory.ts';
import { toyEmbedder } from './index/index.suite.ts';
import type { LocalIndex } from './index/local-index.ts';
import { openLocalIndex } from './index/open.ts';
import { openSearch, type SearchTools } from './open.ts';
import { parseQuery } from './query.ts';
import type { Search, SearchRequest } from './search.ts';
import { type Service, searxngAnswer, startService } from './service.suite.ts';

const rules = { region: 'any', euHosts: [], log: { warn() {}, info() {} } as never } as const;
const trusted = createTrustedFetch(rules);
const fetch = createFetch({
  guard: createGuard({ allow: [], isOwnHost: () => false, ownPorts: createOwnPorts() }),
  region: createRegion(rules),
});
let dir: string;
let index: LocalIndex;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-search-'));
  index = await openLocalIndex({ file: path.join(dir, 'index.db'), maxBytes: 10_000_000 });
  await index.add({ url: 'https://own.test/bees', title: 'Bees', content: '# Bees\n\nBees find home by the sun.' });
  await index.add({ url: 'https://own.test/wasps', title: 'Wasps', content: '# Wasps\n\nWasps build nests of paper.' });
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
afterAll(async () => {
  await index.close();
  await trusted.close();
  await fetch.close();
  await rm(dir, { recursive: true });
});

const listOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ title: `T${n}`, url: `https://a.test/${n}`, text: `About ${n}` }));

async function service(answer: Parameters<typeof startService>[0]): Promise<Service> {
  const made = await startService(answer);
  ends.push(() => made.close());
  return made;
}

/** A page whose content is its own URL. */
const pageOf = (url: string): Page => ({
  title: `Read ${url}`,
  description: '',
  url,
  content: `Content of ${url}`,
  usage: { tokens: 5 },
});

type Reading = (url: string, signal: AbortSignal) => Promise<Page>;
const readerOf = (read: Reading): Reader => ({
  async *each() {},
  last: async ({ target, signal }) => ({ page: await read(target.url, signal), body: '', tokens: 5 }),
});
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

async function search(
  searchProviders: (string | Record<string, unknown>)[],
  more: Partial<SearchTools> = {},
): Promise<Search> {
  const made = await openSearch(
    {
      searchProviders,
      searchProvidersAtOnce: 1,
      indexShared: 'public',
    },
    {
      reader: readerOf(async (url) => pageOf(url)),
      trusted,
      fetch,
      fitPicture: async () => ({ png: new Uint8Array() }),
      mayServeCached: async () => true,
      store: createMemoryValues(),
      version: '0',
      log: rules.log,
      ...more,
    },
  );
  return made;
}

const request = (text: string, more: Partial<SearchRequest> = {}, count = 10): SearchRequest => ({
  query: parseQuery(text, { count }),
  fallback: false,
  reads: true,
  options: resolve({}),
  pagesFreshMs: 1_000,
  keyed: true,
  budgetMs: 20_000,
  signal: new AbortController().signal,
  ownHosts: [],
  favicons: false,
  keepPicture: async () => 'https://pictures.test/1.png',
  ...more,
});

describe('without a provider', () => {
  it('the indexed pages answer, with a notice', async () => {
    const made = await search([], { index });
    const { results, providers, notice } = await made.last(request('how do bees find home'));
    expect(results[0]).toMatchObject({
      title: 'Read https://own.test/bees',
      description: expect.stringContaining('sun'),
    });
    expect(providers).toEqual(['reader']);
    expect(notice).toContain('No search provider is configured');
    expect((await made.last(request('bees', { provider: 'local' }))).notice).toBeUndefined();
  });

  it('an empty result names the missing configuration', async () => {
    const made = await search([], { index });
    await expect(made.last(request('zeppelins'))).rejects.toMatchObject({
      status: 42206,
      message: expect.stringMatching(/pages that this server has read; no search provider/),
    });
    await expect((await search([])).last(request('bees'))).rejects.toMatchObject({ status: 42206 });
  });

  it('passages of unreadable pages come from the index', async () => {
    const reader = readerOf(async () => {
      throw problem('AssertionFailureError');
    });
    const made = await search([], { index, reader });
    const { results } = await made.last(request('wasps paper nests', { passageTokens: 500 }));
    expect(results[0]).toMatchObject({
      content: expect.stringContaining('nests of paper'),
      passages: [{ tokens: expect.any(Number) }],
    });
  });
});

describe('the local index beside providers', () => {
  it('answers for them only with `fallback`', async () => {
    const { url } = await service(() => ({ results: [] }));
    const made = await search([{ name: 'searxng', url }], { index });
    await expect(made.last(request('bees'))).rejects.toMatchObject({ status: 42206 });
    const { providers, notice } = await made.last(request('bees', { fallback: true }));
    expect([providers, notice]).toEqual([['reader'], expect.stringContaining('found nothing')]);
  });

  it('answers when they fail or are too slow', async () => {
    const down = await service((_, response) => void response.destroy());
    const failing = await search([{ name: 'searxng', url: down.url }], { index });
    await expect(failing.last(request('bees'))).rejects.toMatchObject({ status: 50002 });
    expect((await failing.last(request('bees', { fallback: true }))).providers).toEqual(['reader']);
    const slow = await service(() => undefined);
    const waiting = await search([{ name: 'searxng', url: slow.url }], { index });
    expect((await waiting.last(request('bees', { budgetMs: 300 }))).providers).toEqual(['reader']);
  });

  it('a search that does not finish is an error', async () => {
    const slow = await service(() => undefined);
    const made = await search([{ name: 'searxng', url: slow.url, timeoutMs: 60_000 }]);
    await expect(made.last(request('bees', { budgetMs: 200 }))).rejects.toMatchObject({ code: 422, status: 42206 });
  });

  it('is skipped when it fails', async () => {
    const broken = { ...index, search: async () => Promise.reject(new Error('the thread died')) };
    const { url } = await service((one) => searxngAnswer(listOf(1), one));
    const beside = await search(['local', { name: 'searxng', url }], { index: broken });
    expect((await beside.last(request('bees'))).providers).toEqual(['searxng']);
    await expect((await search([], { index: broken })).last(request('bees'))).rejects.toMatchObject({ status: 50002 });
  });

  it('is asked in the order of the settings', async () => {
    const { url, requests } = await service((one) => searxngAnswer(listOf(1), one));
    const made = await search(['local', { name: 'searxng', url }], { index });
    expect((await made.last(request('bees'))).providers).toEqual(['reader']);
    expect(requests).toHaveLength(0);
    expect((await made.last(request('zeppelins'))).providers).toEqual(['searxng']);
  });
});

describe('reading', () => {
  it('ends in time with what it has, and aborts the rest', async () => {
    const aborted: string[] = [];
    const reader = readerOf(async (url, signal) => {
      if (url.endsWith('/0')) return pageOf(url);
      signal.addEventListener('abort', () => aborted.push(url));
      return untilAborted(signal);
    });
    const { url } = await service((one) => searxngAnswer(listOf(3), one));
    const made = await search([{ name: 'searxng', url }], { reader });
    const { results } = await made.last(request('x', { budgetMs: 400 }));
    expect(results.map(({ content, warning }) => [content !== '', warning])).toEqual([
      [true, undefined],
      [false, 'This page was not read in time.'],
      [false, 'This page was not read in time.'],
    ]);
    expect(aborted).toHaveLength(2);
  });

  it('does not wait for a read that does not end', async () => {
    const { url } = await service((one) => searxngAnswer(listOf(1), one));
    const made = await search([{ name: 'searxng', url }], { reader: readerOf(() => new Promise(() => {})) });
    expect((await made.last(request('x', { budgetMs: 100 }))).results[0]!.content).toBe('');
  });

  it('stops when the caller disconnects', async () => {
    const { url } = await service((one) => searxngAnswer(listOf(5), one));
    const gone = new AbortController();
    const reason = new Error('gone');
    let running = 0;
    const reader = readerOf(async (_, signal) => {
      if (++running === 5) setTimeout(() => gone.abort(reason));
      return untilAborted(signal).finally(() => running--);
    });
    const made = await search([{ name: 'searxng', url }], { reader });
    await expect(made.last(request('x', { signal: gone.signal }))).rejects.toBe(reason);
    expect(running).toBe(0);
  });

  it('streams answers, and stops when the consumer does', async () => {
    const { url } = await service((one) => searxngAnswer(listOf(2), one));
    const released: AbortSignal[] = [];
    const reader = readerOf(async (address, signal) => {
      released.push(signal);
      return address.endsWith('/0') ? pageOf(address) : untilAborted(signal);
    });
    const made = await search([{ name: 'searxng', url }], { reader });
    const answers = made.each(request('x'));
    const first = await answers.next();
    expect(first.value.results.map(({ content }: { content: string }) => content)).toEqual(['', '']);
    await answers.return(undefined);
    expect(released.length).toBeGreaterThan(0);
    expect(released.every(({ aborted }) => aborted)).toBe(true);
  });

  it('stores a screenshot once, however often it is shown', async () => {
    const { url } = await service((one) => searxngAnswer(listOf(3), one));
    const screenshot = new Uint8Array([1]);
    const reader: Reader = {
      async *each() {},
      last: async ({ target }) => {
        await new Promise((done) => setTimeout(done, 20 * Number(target.url.at(-1))));
        return { page: pageOf(target.url), body: '', tokens: 770, screenshot };
      },
    };
    let kept = 0;
    const made = await search([{ name: 'searxng', url }], { reader });
    const keepPicture = async () => `https://pictures.test/${++kept}.png`;
    for await (const answer of made.each(request('x', { keepPicture }))) void answer;
    expect(kept).toBe(1);
  });

  it('does not read pages of its own hosts', async () => {
    const own = [{ title: 'Own', url: 'https://search.own.test/x', text: '' }];
    const { url } = await service((one) => searxngAnswer(own, one));
    const read: string[] = [];
    const reader = readerOf(async (address) => {
      read.push(address);
      return pageOf(address);
    });
    const made = await search([{ name: 'searxng', url }], { reader });
    const { results } = await made.last(request('x', { ownHosts: ['search.own.test'] }));
    expect([read, results[0]!.warning]).toEqual([[], 'This page could not be read.']);
  });
});

describe('passages', () => {
  const PAGES: Record<string, string> = {
    '/0': `# Animals\n\n${'The kitten sleeps near the stove all day long. '.repeat(12)}\n\n## Machines\n\n${'The motor turns the gear, and the gear turns the wheel of the mill. '.repeat(10)}`,
    '/1': `# Food\n\n${'Bread is baked before dawn, when the oven is hot. '.repeat(12)}`,
    '/2': `# Food again\n\n${'Bread is baked before dawn, when the oven is hot. '.repeat(12)}`,
  };
  const reader = readerOf(async (url) => ({ ...pageOf(url), content: PAGES[new URL(url).pathname]! }));

  const passagesFor = async (text: string, mostTokens: number, more: Partial<SearchTools> = {}) => {
    const { url } = await service((one) => searxngAnswer(listOf(3), one));
    const made = await search([{ name: 'searxng', url }], { reader, ...more });
    return (await made.last(request(text, { passageTokens: mostTokens }))).results;
  };

  it('are those with the words', async () => {
    const results = await passagesFor('what turns the mill wheel', 200);
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({
      url: 'https://a.test/0',
      content: expect.stringMatching(/^.{0,20}The motor/s),
      passages: [{ heading: 'Animals > Machines' }],
    });
  });

  it('have no near-duplicates', async () => {
    const results = await passagesFor('bread oven', 10_000);
    expect(results.map(({ url }) => url)).toEqual(['https://a.test/0', 'https://a.test/1']);
  });

  it('are found by meaning if there is a model, and without it if the model fails', async () => {
    const meaning = await passagesFor('puppy', 150, { embedder: toyEmbedder });
    expect(meaning[0]!.content).toContain('kitten');
    const broken = { ...toyEmbedder, embed: async () => Promise.reject(new Error('away')) };
    expect((await passagesFor('bread', 150, { embedder: broken }))[0]!.content).toContain('Bread');
  });

  it('are reranked', async () => {
    const rerank = async (_: string, texts: readonly string[]) => texts.map((text) => (text.includes('Bread') ? 1 : 0));
    expect((await passagesFor('motor', 150, { rerank }))[0]!.content).toContain('Bread');
  });

  it('are a part of the best one if none fits', async () => {
    const [first, ...rest] = await passagesFor('motor', 20);
    expect(rest).toEqual([]);
    expect(first!.passages![0]!.tokens).toBeLessThanOrEqual(20);
    expect(first!.content).toContain('motor');
  });

  it('are charged by their own tokens', async () => {
    const results = await passagesFor('motor', 200);
    // The list costs more than the pages.
    expect(results.map(({ usage }) => usage.tokens)).toEqual([10_000]);
  });
});
