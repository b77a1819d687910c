/**
 * Reading a page from the cache compared with reading it live: `npm run bench:cache`. Both use the whole server. The
 * site, the client and the server share the processors of this machine.
 */
import { get, load } from './load.ts';
import { ownBaseline, report } from './report.ts';
import { build, machine, serve, site, sized } from './support.ts';

const SECONDS = Number(process.argv[2] ?? sized(8, 0.2));
const EXPECTED = 'Tea and rain';

build();
const page = await site();
const server = await serve({ LECTERN_ALLOW_NETWORKS: page.host });
const target = `${server.url}/${page.url}`;
console.log(`${machine()}; ${SECONDS} s each after a warm-up\n`);

let formatsUsed = 0;
const rows: (string | number)[][] = [];

/** Measures one engine, live and from the cache. Both have to render the page. */
async function compare(engine: string, concurrencies: readonly number[]): Promise<void> {
  const kept = { 'x-engine': engine, 'x-respond-with': 'markdown' };
  const live = { ...kept, 'x-no-cache': 'true' };
  await load({ url: target, headers: live, concurrency: 4, seconds: sized(3, 0.1), expect: EXPECTED });
  await load({ url: target, headers: kept, concurrency: 4, seconds: sized(2, 0.1), expect: EXPECTED });
  for (const concurrency of concurrencies) {
    const before = page.hits();
    const hits = await load({ url: target, headers: kept, concurrency, seconds: SECONDS, expect: EXPECTED });
    if (page.hits() !== before) throw new Error('the page was fetched, so these were not cache hits');
    // A format that was not requested before, so that it must be rendered from the stored snapshot.
    const forms = (index: number) => ({ ...kept, 'x-token-budget': String(1_000_000 + formatsUsed + index) });
    const otherFormat = await load({ url: target, headers: forms, concurrency, seconds: SECONDS, expect: EXPECTED });
    formatsUsed += otherFormat.count;
    if (page.hits() !== before) throw new Error('the page was fetched, so these were not cache hits');
    const reads = await load({ url: target, headers: live, concurrency, seconds: SECONDS, expect: EXPECTED });
    if (page.hits() - before < reads.count) throw new Error('the page was not fetched, so these were not live reads');
    for (const [name, { requestsPerSecond, p50Ms, p99Ms }] of [
      [`${engine}, live`, reads],
      [`${engine}, cached`, hits],
      [`${engine}, cached, other format`, otherFormat],
    ] as const) {
      rows.push([name, concurrency, requestsPerSecond, p50Ms, p99Ms]);
    }
  }
}

await compare('direct', [1, 16]);
const { status } = await get(target, { 'x-engine': 'browser' });
if (status === 200) await compare('browser', [1, 4]);

report('cache', ['read', 'at once', 'reads/s', 'p50 ms', 'p99 ms'], rows, {
  baselines: [ownBaseline('the page read live')],
});
await server.stop();
page.close();
