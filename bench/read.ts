/**
 * Reading a local static page from end to end: `npm run bench:read`. The baseline is the site itself, a bare Node
 * server, with the same client. The site, the client and the server share the processors of this machine.
 */
import { get, load } from './load.ts';
import { build, descendantsMb, machine, residentMb, serve, site, table } from './support.ts';

const SECONDS = Number(process.argv[2] ?? 8);
const EXPECTED = 'Tea and rain';

build();
const page = await site();
const allowed = { LECTERN_ALLOW_NETWORKS: page.host };
console.log(`${machine()}; ${SECONDS} s each after a warm-up\n`);

const server = await serve(allowed);
const target = `${server.url}/${page.url}`;
const direct = { 'x-engine': 'direct' };
await load({ url: target, headers: direct, concurrency: 4, seconds: 3, expect: EXPECTED });

const rows: (string | number)[][] = [];
for (const concurrency of [1, 16]) {
  const bare = await load({ url: page.url, concurrency, seconds: 3, expect: EXPECTED });
  const read = await load({ url: target, headers: direct, concurrency, seconds: SECONDS, expect: EXPECTED });
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
console.log(table(['read', 'at once', 'requests/s', 'p50 ms', 'p99 ms', 'times the baseline'], rows));
console.log(`\nserver after these reads: ${residentMb(server.pid).toFixed(0)} MB resident`);
await server.stop();

const cold = await serve(allowed);
const rendered = { 'x-engine': 'browser' };
const coldFrom = performance.now();
const first = await get(`${cold.url}/${page.url}`, rendered);
if (first.status !== 200) throw new Error(first.body);
const coldMs = performance.now() - coldFrom;
const idleMb = descendantsMb(cold.pid);

const browserRows: (string | number)[][] = [];
for (const concurrency of [1, 4]) {
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, descendantsMb(cold.pid));
  }, 250);
  const read = await load({
    url: `${cold.url}/${page.url}`,
    headers: rendered,
    concurrency,
    seconds: SECONDS,
    expect: EXPECTED,
  });
  clearInterval(watch);
  browserRows.push([concurrency, read.requestsPerSecond, read.p50Ms, read.p99Ms, peak, (peak - idleMb) / concurrency]);
}
console.log('\nBrowser engine:\n');
console.log(table(['at once', 'pages/s', 'p50 ms', 'p99 ms', 'browser MB at most', 'MB a page'], browserRows));
console.log(
  `\nfirst answer of a cold browser: ${coldMs.toFixed(0)} ms; browser with no page open: ${idleMb.toFixed(0)} MB`,
);
await cold.stop();
page.close();
