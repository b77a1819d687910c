/**
 * A long run of mixed work on three servers over one PostgreSQL, one Redis and one S3 store, while a server is killed
 * every minute and the stores are restarted twice: `npm run bench:soak -- [--minutes 120] [--servers 3] [--kill-seconds 60]`
 *
 * Reads, embeddings, batch jobs and crawls run all the time. At the end, every line of every job and every page of every
 * crawl has to be there exactly once, and the charges have to be those of the work. A request whose connection broke may
 * have been charged or not; any other answer than success or "try again" is an error. The command fails if anything is
 * lost, repeated or wrong. The first server is never killed, because its memory shows whether it grows.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePorts } from '../test/support/free-ports.ts';
import { type Account, balanceOf, makeAccount, openStores, type Server, startServer } from './cluster.ts';
import { report } from './report.ts';
import { articlePage, build, descendantsMb, machine, residentMb, sized } from './support.ts';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: sized('120', '0.1') },
    servers: { type: 'string', default: '3' },
    'kill-seconds': { type: 'string', default: sized('60', '3') },
  },
});
const MINUTES = Number(flags.minutes);
const BALANCE = 1_000_000_000;
const LINES = sized(500, 20);
const CRAWLED = sized(30, 3);
/** Answers that ask the client to try again. */
const AGAIN = new Set([429, 502, 503, 504]);
const MODEL = 'lectern-static-v2';

const site = http.createServer((request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8');
  const crawl = /^\/(crawl-\d+)\/$/.exec(request.url!)?.[1];
  if (request.url === '/robots.txt' || request.url!.startsWith('/sitemap')) return response.writeHead(404).end();
  const links = Array.from({ length: CRAWLED - 1 }, (_, at) => `<a href="/${crawl}/${at}">${at}</a> `);
  return response.end(crawl ? articlePage().replace('<article>', `<article>${links.join('')}`) : articlePage());
});
await once(site.listen(0, '127.0.0.1'), 'listening');
const siteUrl = `http://127.0.0.1:${(site.address() as { port: number }).port}`;

build();
const stores = await openStores({ bucket: true });
const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-soak-'));

/** A server that keeps its ports and its data folder when it is started again. */
async function createPlace(at: number, shared: Readonly<Record<string, string>>) {
  const reader = await freePorts(3);
  const [model, admin] = [reader + 1, reader + 2];
  const start = () =>
    startServer({
      ...shared,
      LECTERN_DATA_DIR: path.join(folder, String(at)),
      LECTERN_ALLOW_NETWORKS: siteUrl.slice('http://'.length),
      LECTERN_BROWSER: 'none',
      LECTERN_CRAWL_DELAY_MS: '20',
      LECTERN_READER_PORT: String(reader),
      LECTERN_MODEL_PORT: String(model),
      LECTERN_ADMIN_PORT: String(admin),
      LECTERN_LOG_LEVEL: 'error',
    });
  const url = (port: number) => `http://127.0.0.1:${port}`;
  return {
    start,
    url: url(reader),
    modelUrl: url(model),
    adminUrl: url(admin),
    running: undefined as Server | undefined,
  };
}
type Place = Awaited<ReturnType<typeof createPlace>>;

const shared = await stores.empty({ bucket: stores.s3 !== undefined });
const places: Place[] = [];
for (let at = 0; at < Number(flags.servers); at++) {
  const place = await createPlace(at, shared);
  place.running = await place.start();
  places.push(place);
}
const [embedding, batch, reading] = [
  await makeAccount(places[0]!, 'premium', BALANCE),
  await makeAccount(places[0]!, 'premium', BALANCE),
  await makeAccount(places[0]!, 'premium'),
];

const counts = { reads: 0, embeddings: 0, again: 0, broken: 0, kills: 0, restarts: 0 };
const faults: string[] = [];
let running = true;
let calls = 0;
const anyPlace = (): Place => places[calls++ % places.length]!;

interface Call {
  readonly account: Account;
  readonly body?: object;
}

/**
 * Calls one of the servers. Returns the response of a success, `undefined` if the client has to try again. An answer that
 * is neither is a fault.
 */
async function call(url: string, { account, body }: Call): Promise<Response | undefined> {
  try {
    const answer = await fetch(url, {
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json', 'x-engine': 'direct' },
      signal: AbortSignal.timeout(60_000),
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (answer.ok) return answer;
    const text = await answer.text();
    // The plan allows a number of unfinished crawls. On a slow machine, a crawl takes longer than the time between two.
    const waits = answer.status === 403 && text.includes('ResourceLimitExceededError');
    if (AGAIN.has(answer.status) || waits) counts.again++;
    else faults.push(`${url}: status ${answer.status}: ${text.slice(0, 200)}`);
  } catch {
    counts.broken++;
  }
  await sleep(200);
  return undefined;
}

/** Repeats a call until it succeeds. */
async function insist<T>(make: (place: Place) => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const result = await make(anyPlace());
    if (result !== undefined) return result;
  }
}

const textOf = (answer: Response | undefined) => answer?.text().catch(() => undefined);

async function read(): Promise<void> {
  for (let at = 0; running; at++) {
    const text = await textOf(await call(`${anyPlace().url}/${siteUrl}/page-${at % 400}`, { account: reading }));
    if (text === undefined) continue;
    counts.reads++;
    if (!text.includes('Tea and rain')) faults.push(`a read without the page: ${text.slice(0, 200)}`);
    await sleep(20);
  }
}

let tokens = 0;
/** Tokens of requests whose answer did not arrive, which may have been charged. */
let uncertainTokens = 0;
const INPUT = ['the pot of tea stands on the table', 'the steam goes up'];
let tokensOfInput = 0;

async function embed(): Promise<void> {
  while (running) {
    const before = counts.broken;
    const body = { model: MODEL, input: INPUT, dimensions: 256 };
    const text = await textOf(await call(`${anyPlace().modelUrl}/v1/embeddings`, { account: embedding, body }));
    if (text === undefined) {
      // Counted for every call that broke meanwhile, so the bound is generous.
      uncertainTokens += Math.max(1, counts.broken - before) * tokensOfInput;
      continue;
    }
    const { usage, data } = JSON.parse(text) as { usage: { total_tokens: number }; data: unknown[] };
    counts.embeddings++;
    tokensOfInput = usage.total_tokens;
    tokens += usage.total_tokens;
    if (data.length !== INPUT.length) faults.push(`an answer with ${data.length} vectors`);
    await sleep(20);
  }
}

const jobs: string[] = [];
/** Submissions whose answer did not arrive. The job may exist, and be charged. */
let uncertainJobs = 0;
async function submitJobs(): Promise<void> {
  for (let at = 0; running; at++) {
    const input = Array.from({ length: LINES }, (_, line) => ({
      custom_id: `${line}`,
      body: { input: `tea ${at} ${line}` },
    }));
    const body = { model: MODEL, input, dimensions: 256 };
    const answer = await call(`${anyPlace().modelUrl}/v1/batch/embeddings`, { account: batch, body });
    const text = await textOf(answer);
    if (text) jobs.push((JSON.parse(text) as { batch_id: string }).batch_id);
    else uncertainJobs++;
    await sleep(sized(3_000, 500));
  }
}

const crawls: string[] = [];
async function submitCrawls(): Promise<void> {
  for (let at = 0; running; at++) {
    const body = { url: `${siteUrl}/crawl-${at}/`, limit: CRAWLED, delayMs: 20, sitemap: false };
    const text = await textOf(await call(`${anyPlace().url}/crawl`, { account: reading, body }));
    if (text) crawls.push((JSON.parse(text) as { crawl_id: string }).crawl_id);
    await sleep(sized(10_000, 1_000));
  }
}

interface Job {
  readonly status: string;
  readonly stats: { readonly total_tokens: number };
}

async function untilDone(url: (place: Place) => string, account: Account): Promise<Job> {
  for (;;) {
    const text = await insist(async (place) => textOf(await call(url(place), { account })));
    const job = JSON.parse(text) as Job;
    if (!['pending', 'processing'].includes(job.status)) return job;
    await sleep(200);
  }
}

const found = { lines: 0, pages: 0, lost: 0, repeated: 0 };
/** Counts what is missing of `wanted` names, and what is there more than once. */
function compare(names: readonly string[], wanted: number): void {
  const distinct = new Set(names).size;
  found.lost += Math.max(0, wanted - distinct);
  found.repeated += names.length - distinct;
}
const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

async function checkJobs(): Promise<number> {
  let charged = 0;
  for (const id of jobs) {
    const job = await untilDone((place) => `${place.modelUrl}/v1/batch/${id}`, batch);
    if (job.status !== 'completed') faults.push(`job ${id} is ${job.status}`);
    charged += job.stats.total_tokens;
    const text = await insist(async (place) =>
      textOf(await call(`${place.modelUrl}/v1/batch/${id}/output`, { account: batch })),
    );
    const names = linesOf(text).map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
    found.lines += names.length;
    compare(names, LINES);
  }
  return charged;
}

async function checkCrawls(): Promise<void> {
  for (const id of crawls) {
    const crawl = await untilDone((place) => `${place.url}/crawl/${id}`, reading);
    if (crawl.status !== 'completed') faults.push(`crawl ${id} is ${crawl.status}`);
    const text = await insist(async (place) =>
      textOf(await call(`${place.url}/crawl/${id}/pages`, { account: reading })),
    );
    const pages = linesOf(text).map((line) => JSON.parse(line) as { url: string });
    found.pages += pages.length;
    compare(
      pages.map(({ url }) => url),
      CRAWLED,
    );
  }
}

const memory: { minute: number; mb: number }[] = [];
const startedAt = performance.now();
const minutesNow = () => (performance.now() - startedAt) / 60_000;

/** Kills all servers but the first in turn, starts them again, and looks at the memory of the first. */
async function disturb(): Promise<void> {
  const restarts = [MINUTES / 3, (2 * MINUTES) / 3];
  for (let at = 0; ; at++) {
    const until = performance.now() + Number(flags['kill-seconds']) * 1000;
    while (performance.now() < until && minutesNow() < MINUTES) await sleep(100);
    if (minutesNow() >= MINUTES) return;
    const [{ running: watched }, ...killed] = places as [Place, ...Place[]];
    const { pid } = watched!;
    memory.push({ minute: minutesNow(), mb: residentMb(pid) + descendantsMb(pid) });
    const place = killed[at % killed.length]!;
    await place.running!.kill();
    counts.kills++;
    if (restarts.length > 0 && minutesNow() >= restarts[0]!) {
      restarts.shift();
      counts.restarts++;
      const restarted = [stores.postgres, stores.redis, ...(stores.s3 ? [stores.s3] : [])];
      await Promise.all(restarted.map((store) => store.stop()));
      await Promise.all(restarted.map((store) => store.start()));
    }
    place.running = await place.start();
    console.log(`minute ${minutesNow().toFixed(1)}: ${JSON.stringify(counts)}, ${memory.at(-1)!.mb.toFixed(0)} MB`);
  }
}

console.log(`${machine()}, load ${os.loadavg()[0]!.toFixed(1)}; ${MINUTES} minutes, ${places.length} servers\n`);
try {
  const work = [read(), read(), embed(), embed(), submitJobs(), submitCrawls()];
  await disturb();
  running = false;
  await Promise.all(work);
  const batchTokens = await checkJobs();
  await checkCrawls();
  // Servers write what was used every few seconds.
  await sleep(sized(15_000, 8_000));
  const [spent, batchSpent] = [
    BALANCE - (await balanceOf(places[0]!, embedding)),
    BALANCE - (await balanceOf(places[0]!, batch)),
  ];
  const uncertainBatch = uncertainJobs * Math.ceil(batchTokens / Math.max(1, jobs.length));
  const lostCharges = Math.max(0, tokens - spent) + Math.max(0, batchTokens - batchSpent);
  const repeated =
    Math.max(0, spent - tokens - uncertainTokens) + Math.max(0, batchSpent - batchTokens - uncertainBatch);
  const third = Math.ceil(memory.length / 3);
  const mean = (part: typeof memory) => part.reduce((sum, { mb }) => sum + mb, 0) / part.length;
  console.log('');
  report(
    'soak',
    [
      'minutes',
      'kills',
      'restarts of the stores',
      'reads',
      'embeddings',
      'jobs',
      'lines',
      'crawls',
      'pages',
      'asked to try again',
      'connections broken',
    ],
    [
      [
        MINUTES,
        counts.kills,
        counts.restarts,
        counts.reads,
        counts.embeddings,
        jobs.length,
        found.lines,
        crawls.length,
        found.pages,
        counts.again,
        counts.broken,
      ].map(String),
    ],
  );
  console.log('');
  report(
    'soak.result',
    [
      'lines and pages lost',
      'repeated',
      'tokens charged',
      'tokens not charged',
      'repeated charges',
      'errors',
      'MB, first third',
      'MB, last third',
    ],
    [
      [
        found.lost,
        found.repeated,
        spent + batchSpent,
        lostCharges,
        repeated,
        faults.length,
        mean(memory.slice(0, third)).toFixed(0),
        mean(memory.slice(-third)).toFixed(0),
      ].map(String),
    ],
  );
  for (const fault of faults.slice(0, 20)) console.error(fault);
  const wrong = found.lost + found.repeated + lostCharges + repeated + faults.length;
  if (wrong !== 0 || found.lines === 0 || found.pages === 0) process.exitCode = 1;
} finally {
  await Promise.all(places.map((place) => place.running?.stop()));
  await stores.close();
  site.close();
  rmSync(folder, { recursive: true, force: true });
}
