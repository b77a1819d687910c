/**
 * Reading a local static page from end to end, without the cache: `npm run bench:read`. In the browser also a page to which
 * a script adds text after 1.5 s. The baseline is the site itself, a bare Node server, with the same client. The site, the
 * client and the server share the processors of this machine.
 */
import { get, type LoadResult, load } from './load.ts';
import { nodeBaseline, report } from './report.ts';
import { build, descendantsMb, LATE_TEXT, machine, residentMb, serve, site, sized } from './support.ts';

const SECONDS = Number(process.argv[2] ?? sized(8, 0.3));
const EXPECTED = 'Tea and rain';

build();
const page = await site();
const allowed = { LECTERN_ALLOW_NETWORKS: page.host };
console.log(`${machine()}; ${SECONDS} s each after a warm-up\n`);

const server = await serve(allowed);
const target = `${server.url}/${page.url}`;
const direct = { 'x-engine': 'direct', 'x-no-cache': 'true' };
await load({ url: target, headers: direct, concurrency: 4, seconds: sized(3, 0.2), expect: EXPECTED });

/** Reads under load. Each read has to fetch the page, so that no copy from the cache is measured. */
async function liveReads(
  url: string,
  headers: Record<string, string>,
  concurrency: number,
  expected = EXPECTED,
): Promise<LoadResult> {
  const before = page.hits();
  const result = await load({ url, headers, concurrency, seconds: SECONDS, expect: expected });
  const fetched = page.hits() - before;
  if (fetched < result.count) throw new Error(`${result.count} reads fetched the page only ${fetched} times`);
  return result;
}

const rows: (string | number)[][] = [];
for (const concurrency of [1, 16]) {
  const bare = await load({ url: page.url, concurrency, seconds: sized(3, 0.2), expect: EXPECTED });
  const read = await liveReads(target, direct, concurrency);
  rows.push(['bare Node server', concurrency, bare.requestsPerSecond, bare.p50Ms, bare.p99Ms, 1]);
  rows.push([
    'direct engine',
    concurrency,
    read.requestsPerSecond,
    read.p50Ms,
    read.p99Ms,
    bare.requestsPerSecond / read.requestsPerSecond,
  ]);
}
report('read.direct', ['read', 'at once', 'requests/s', 'p50 ms', 'p99 ms', 'times the baseline'], rows, {
  ratios: ['times the baseline'],
  baselines: [nodeBaseline('bare Node server')],
});
console.log(`\nserver after these reads: ${residentMb(server.pid).toFixed(0)} MB resident`);
await server.stop();

const cold = await serve(allowed);
const rendered = { 'x-engine': 'browser', 'x-no-cache': 'true' };
const coldFrom = performance.now();
const first = await get(`${cold.url}/${page.url}`, rendered);
if (first.status !== 200) throw new Error(first.body);
const coldMs = performance.now() - coldFrom;
const idleMb = descendantsMb(cold.pid);

const browserRows: (string | number)[][] = [];
const shapes: [string, string, string, number][] = [
  ['static', page.url, EXPECTED, 1],
  ['static', page.url, EXPECTED, 6],
  ['text after 1.5 s', page.lateUrl, LATE_TEXT, 1],
  ['text after 1.5 s', page.lateUrl, LATE_TEXT, 6],
];
for (const [name, url, expected, concurrency] of shapes) {
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, descendantsMb(cold.pid));
  }, 250);
  const read = await liveReads(`${cold.url}/${url}`, rendered, concurrency, expected);
  clearInterval(watch);
  const perPageMb = (peak - idleMb) / concurrency;
  browserRows.push([name, concurrency, read.requestsPerSecond, read.p50Ms, read.p99Ms, peak, perPageMb]);
}
console.log('\nBrowser engine:\n');
report(
  'read.browser',
  ['page', 'at once', 'pages/s', 'p50 ms', 'p99 ms', 'browser MB at most', 'MB a page'],
  browserRows,
);
console.log(
  `\nfirst answer of a cold browser: ${coldMs.toFixed(0)} ms; browser with no page open: ${idleMb.toFixed(0)} MB`,
);
await cold.stop();
page.close();
