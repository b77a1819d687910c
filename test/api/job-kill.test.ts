/** A server that is killed while it runs a batch job and a crawl completes both after it is restarted. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '#storage/database/sqlite.ts';
import { type Site, startSite } from '../site/site.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';

const LONG_MS = 300_000;
const LINES = 1_200;
const PAGES = 150;
const KILLS = 2;
const PAGES_AT_ONCE = 2;

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
type Any = any;

let dir: string;
let site: Site;
let server: ServerProcess;
let key: string;

const start = () =>
  startProcess({
    LECTERN_DATA_DIR: path.join(dir, 'data'),
    LECTERN_BROWSER: 'none',
    LECTERN_CRAWL_DELAY_MS: '0',
    LECTERN_ALLOW_NETWORKS: site.allow.join(','),
  });

/** Each page links to three others. */
const page = (at: number) =>
  `<title>Page ${at}</title><main><p>This is the page with the number ${at} of a site of many.</p></main>${[1, 2, 3]
    .map((link) => at * 3 + link)
    .filter((link) => link < PAGES)
    .map((link) => `<a href="/many/${link}">${link}</a>`)
    .join(' ')}`;

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'jobs-'));
  site = await startSite(
    Object.fromEntries(
      Array.from({ length: PAGES }, (_, at) => [
        `/many/${at}`,
        async ({ response }) => {
          // Slows down the site, so that the crawl is still running at the last kill.
          await new Promise((resolve) => setTimeout(resolve, 50));
          response.setHeader('content-type', 'text/html').end(page(at));
        },
      ]),
    ),
  );
  server = await start();
  key = server.lines.join('\n').match(/only this once: (\S+)/)![1]!;
}, LONG_MS);
afterAll(async () => {
  await server?.stop();
  await site?.close();
  await rm(dir, { recursive: true, force: true });
});

async function curl(url: string, ...args: string[]): Promise<string> {
  const given = ['-sS', '-H', `Authorization: Bearer ${key}`, '-H', 'Accept: application/json', url, ...args];
  return (await promisify(execFile)('curl', given, { maxBuffer: 1e9 })).stdout;
}
const models = (place: string, ...args: string[]) => curl(`${server.urlOf('model host')}${place}`, ...args);
const reader = (place: string, ...args: string[]) => curl(`${server.urlOf('reader')}${place}`, ...args);

/** The job, once its count `done` exceeds `from` or the job has ended. */
async function progressed(look: () => Promise<Any>, done: (job: Any) => number, from: number): Promise<Any> {
  for (;;) {
    const job = await look();
    if (done(job) > from || !['pending', 'processing'].includes(job.status)) return job;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Expires the leases of the killed server, which would otherwise last ten seconds. */
async function expireLeases(): Promise<void> {
  for (const kind of ['batch', 'crawl']) {
    const database = await openDatabase(path.join(dir, 'data', kind, `${kind}.db`), []);
    database.run(`UPDATE ${kind}_jobs SET lease_until = 0`);
    database.close();
  }
}

it('a batch and a crawl survive kills of the server without losing or repeating results', {
  timeout: LONG_MS,
}, async () => {
  const text = 'Green tea is drunk hot, and sometimes cold, in the morning. '.repeat(20);
  const input = Array.from({ length: LINES }, (_, at) => ({
    custom_id: `doc-${at}`,
    body: { input: Array.from({ length: 4 }, (_, part) => `${at}.${part} ${text}`) },
  }));
  const file = path.join(dir, 'body.json');
  await writeFile(file, JSON.stringify({ model: 'lectern-static-v2', dimensions: 64, input }));
  const crawl = {
    ...{ url: `${site.origin}/many/0`, limit: 1000, depth: 20, sitemap: false, concurrency: PAGES_AT_ONCE },
    options: { engine: 'direct', noCache: true },
  };
  const { batch_id: batchId } = JSON.parse(await models('/v1/batch/embeddings', '-d', `@${file}`));
  const { crawl_id: crawlId } = JSON.parse(
    await reader('/crawl', '-H', 'Content-Type: application/json', '-d', JSON.stringify(crawl)),
  );
  const batchJob = async () => JSON.parse(await models(`/v1/batch/${batchId}`));
  const crawlJob = async () => JSON.parse(await reader(`/crawl/${crawlId}`));
  const linesDone = ({ stats }: Any) => stats.completed;
  const pagesDone = ({ stats }: Any) => stats.done;

  let lines = 0;
  let pages = 0;
  const states: string[] = [];
  for (let kills = 0; kills < KILLS; kills++) {
    const [batch, crawled] = await Promise.all([
      progressed(batchJob, linesDone, lines),
      progressed(crawlJob, pagesDone, pages + 10),
    ]);
    states.push(batch.status, crawled.status);
    lines = linesDone(batch);
    pages = pagesDone(crawled);
    const ended = once(server.child, 'exit');
    server.child.kill('SIGKILL');
    await ended;
    // The leases of the last killed server expire by themselves.
    if (kills < KILLS - 1) await expireLeases();
    server = await start();
    expect(linesDone(await batchJob())).toBeGreaterThanOrEqual(lines);
    expect(pagesDone(await crawlJob())).toBeGreaterThanOrEqual(pages);
  }
  expect(states.slice(0, 2)).toEqual(['processing', 'processing']);

  expect(await progressed(batchJob, linesDone, LINES)).toMatchObject({
    status: 'completed',
    stats: { total: LINES, completed: LINES, failed: 0 },
  });
  const output = (await models(`/v1/batch/${batchId}/output`)).split('\n').slice(0, -1);
  expect(output.map((line) => JSON.parse(line).custom_id)).toEqual(input.map(({ custom_id }) => custom_id));
  expect(await models(`/v1/batch/${batchId}/errors`)).toBe('');

  expect(await progressed(crawlJob, pagesDone, PAGES)).toMatchObject({
    status: 'completed',
    stats: { found: PAGES, done: PAGES, failed: 0, skipped: 0 },
  });
  const outcomes = (await reader(`/crawl/${crawlId}/pages`))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(outcomes.map(({ seq }) => seq)).toEqual(outcomes.map((_, at) => at + 1));
  expect(new Set(outcomes.map(({ url }) => url)).size).toBe(PAGES);
  const hits = Array.from({ length: PAGES }, (_, at) => site.hits(`/many/${at}`));
  // At each kill, some pages were being read and were requested again.
  expect(hits.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(PAGES + PAGES_AT_ONCE * KILLS);
});
