/**
 * The cost of a dialect over the native call: `npm run bench:compat`. Each pair sends the same work to the native endpoint
 * and to the dialect, in alternating order, over HTTP with a key. Pages and lists of results come from the cache, so that
 * neither network nor site counts; in one row, the provider is asked, on this machine. The ratio is the median of the ratios of the pairs.
 */

import { searxngAnswer, startService } from '../src/search/service.suite.ts';
import { startSite } from '../test/site/site.ts';
import { startServer } from '../test/support/server.ts';
import { ownBaseline, report } from './report.ts';
import { machine, sized } from './support.ts';

const PAIRS = Number(process.argv[2] ?? sized(400, 2));
const WARM_UP = sized(40, 1);

/** High limits, so that work is measured and not refusals. */
const MANY = { requestsPerMinute: 1_000_000 };

const paragraph = `<p>${'Bees find their way home by the sun, and tell the others by a dance. '.repeat(6)}</p>`;
const site = await startSite({
  '/page': `<title>Bees</title><main><h1>Bees</h1>${paragraph.repeat(40)}</main>`,
});
const url = `${site.origin}/page`;
const listed = Array.from({ length: 10 }, (_, at) => ({ title: `Bees ${at}`, url: `${url}?${at}`, text: 'A snippet' }));
const service = await startService((asked) => searxngAnswer(listed, asked));
const server = await startServer({
  allowNetworks: site.allow.join(','),
  searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
  keylessRpm: 'none',
  plans: { premium: { reader: MANY, search: MANY } },
});
const key = server.app.firstKey!;
/** Each API reads the header that it knows. */
const keyed = { authorization: `Bearer ${key}`, 'x-api-key': key };

/** The compat API does not compress its responses, so the native ones are not compressed either. */
const UNCOMPRESSED = { 'accept-encoding': 'identity' };

type Call = () => Promise<void>;

/** `body` is called for each request. */
const post =
  (to: string, body: object | (() => object)): Call =>
  async () => {
    const answer = await fetch(to, {
      method: 'POST',
      headers: { ...keyed, 'content-type': 'application/json', accept: 'application/json', ...UNCOMPRESSED },
      body: JSON.stringify(typeof body === 'function' ? body() : body),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${to}: ${answer.status} ${text.slice(0, 200)}`);
  };

const { compat, search } = server.urls;
const read = (respondWith = 'content') => post(server.reader, { url, respondWith });
const list = (num: number) => post(`${search}/search`, { q: 'bees', num, respondWith: 'no-content' });
let asked = 0;
/** A query that no request had before, so that its list is not cached. */
const newQuery = () => `bees ${asked++}`;
const CASES: readonly [name: string, native: Call, dialect: Call][] = [
  ['Tavily extract', read(), post(`${compat}/for/tavily/extract`, { urls: [url] })],
  ['Tavily search', list(10), post(`${compat}/for/tavily/search`, { query: 'bees', max_results: 10 })],
  [
    'Tavily search, new query',
    post(`${search}/search`, () => ({ q: newQuery(), num: 10, respondWith: 'no-content' })),
    post(`${compat}/for/tavily/search`, () => ({ query: newQuery(), max_results: 10 })),
  ],
  ['SearXNG search', list(20), post(`${compat}/for/searxng/search`, { q: 'bees' })],
  ['Exa contents', read(), post(`${compat}/for/exa/contents`, { urls: [url], text: true })],
  ['Serper search', list(10), post(`${compat}/for/serper/search`, { q: 'bees', num: 10 })],
  ['crawl4ai md', read('markdown'), post(`${compat}/for/crawl4ai/md`, { url, f: 'raw' })],
  ['Open WebUI loader', read(), post(`${compat}/openwebui/loader`, { urls: [url] })],
];

async function timed(call: Call): Promise<number> {
  const startedAt = performance.now();
  await call();
  return performance.now() - startedAt;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

async function measure(native: Call, dialect: Call): Promise<{ native: number; dialect: number; ratio: number }> {
  const pairs: [native: number, dialect: number][] = [];
  for (let at = -WARM_UP; at < PAIRS; at++) {
    // The order alternates, because the second call of a pair finds warmer processor caches.
    const first = at % 2 === 0;
    const before = first ? await timed(native) : await timed(dialect);
    const after = first ? await timed(dialect) : await timed(native);
    if (at >= 0) pairs.push(first ? [before, after] : [after, before]);
  }
  return {
    native: median(pairs.map(([ms]) => ms)),
    dialect: median(pairs.map(([, ms]) => ms)),
    ratio: median(pairs.map(([nativeMs, dialectMs]) => dialectMs / nativeMs)),
  };
}

console.log(`${machine()}; ${PAIRS} pairs after ${WARM_UP}\n`);
const rows: string[][] = [];
for (const [name, native, dialect] of CASES) {
  const { native: nativeMs, dialect: dialectMs, ratio } = await measure(native, dialect);
  rows.push([name, nativeMs.toFixed(2), dialectMs.toFixed(2), ratio.toFixed(3)]);
}
report('compat', ['dialect', 'native ms', 'dialect ms', 'ratio'], rows, {
  ratios: ['ratio'],
  baselines: [ownBaseline('the native call')],
});
await server.close();
await service.close();
await site.close();
