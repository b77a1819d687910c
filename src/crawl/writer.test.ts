/** Tests the writer with a SQLite database: the changes of each write, and the writes that a lost lease prevents. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { problem } from '#errors.ts';
import type { GivenOptions } from '#reader/index.ts';
import { openStore, type Store } from '#storage/database/store.ts';
import { LeaseLostError } from '#storage/jobs/lease.ts';
import { createFrontier, type WaitingPage } from './frontier.ts';
import { normalizeUrl } from './normalize-url.ts';
import { CRAWL_TABLES } from './open.ts';
import type { Outcome, ReadPage } from './outcome.ts';
import type { CrawlPlan } from './request.ts';
import { RANK, type Tables } from './schema.ts';
import { insertJob, JOBS } from './store.ts';
import { createWriter, type Writer } from './writer.ts';

const A = 'https://a.example/';
const NOW = 1_000;
const url = (name: string) => normalizeUrl(A + name)!;

let dataDir: string;
let store: Store<Tables>;
let writer: Writer;

beforeEach(async () => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'writer-'));
  store = await openStore<Tables>(
    { url: undefined, file: CRAWL_TABLES.fileIn(dataDir) },
    { ...CRAWL_TABLES, log: { warn() {} } },
  );
  const starts = [url('')];
  const plan = { starts: [A], sitemap: true, depth: 3 } as unknown as CrawlPlan;
  const owner = { owner: 'key', account: 'account', options: {} as GivenOptions };
  await insertJob(store, { id: 'crawl', ...owner, plan, starts, createdAt: 1, expiresAt: 10_000 });
  const taken = await JOBS.take(store, { now: NOW, leaseMs: 1_000 });
  writer = createWriter({ store, lease: taken!.lease, maxFound: 4, now: () => NOW });
});

afterEach(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const frontier = () => createFrontier(store.db, 'crawl');
const waiting = async (): Promise<WaitingPage[]> => frontier().nextPages('a.example', 99_999, 10);
const results = async () =>
  (await store.db.selectFrom('crawl_results').selectAll().orderBy('seq').execute()).map(({ body }) => JSON.parse(body));

const readPage = (at: string, some: Partial<ReadPage> = {}): ReadPage => ({
  kind: 'page',
  page: { title: '', description: '', url: A + at, content: at, usage: { tokens: 3 } } as ReadPage['page'],
  ...{ tokens: 3, model: '', ms: 5, final: url(at), canonical: undefined, content: at || 'start', found: [] },
  ...some,
});
const links = (...names: string[]) => names.map((name) => ({ normalized: url(name), rank: RANK.link, depth: 1 }));

it('writes a page with its links, counts and charge', async () => {
  const [start] = await waiting();
  const written = await writer.writeOutcome(start!, readPage('', { found: links('b', 'c') }), { hold: 1 });
  expect(written).toMatchObject({ isDelivered: true, hosts: ['a.example'] });
  expect(written.job).toMatchObject({ found: 3, done: 1, read: 1, tokens: 3, last_seq: 1 });
  expect((await waiting()).map((page) => page.url)).toEqual([`${A}b`, `${A}c`]);
  expect(await results()).toMatchObject([{ seq: 1, event: 'page', url: A }]);
  expect(await store.db.selectFrom('crawl_charges').selectAll().execute()).toMatchObject([
    { id: 'crawl.1', account_id: 'account', tokens: 3, at: NOW, ms: 5, reserve: '{"hold":1}' },
  ]);
});

it('keeps no more URLs than the frontier may hold', async () => {
  const { job } = await writer.addUrls(links('b', 'c', 'd', 'e', 'f'));
  expect(job.found).toBe(4);
  expect(await waiting()).toHaveLength(4);
});

it('skips a page with the same content, and does not charge for it', async () => {
  await writer.addUrls(links('b'));
  const [start, second] = await waiting();
  await writer.writeOutcome(start!, readPage('', { content: 'same' }), undefined);
  const written = await writer.writeOutcome(second!, readPage('b', { content: 'same' }), undefined);
  expect(written).toMatchObject({ isDelivered: false, job: { done: 1, skipped: 1, read: 2, tokens: 3 } });
  expect((await results())[1]).toMatchObject({ event: 'skipped', reason: 'duplicate', of: A });
  expect(await store.db.selectFrom('crawl_charges').selectAll().execute()).toHaveLength(1);
});

it('makes the final URL of a redirect a duplicate, whether it waits or is found later', async () => {
  await writer.addUrls(links('b'));
  const [start] = await waiting();
  await writer.writeOutcome(start!, readPage('', { final: url('b') }), undefined);
  expect(await waiting()).toEqual([]);
  expect(await writer.findDuplicate(url('b').key)).toBe(A);
  expect(await results()).toMatchObject([{ event: 'page' }, { event: 'skipped', url: `${A}b`, of: A }]);
});

it('postpones a page, under another host if it redirects there', async () => {
  const [start] = await waiting();
  await writer.postpone({ ...start!, host: 'b.example' }, { readyAt: 5_000, rank: RANK.retry });
  expect(await frontier().hosts()).toEqual(['b.example']);
  expect(await frontier().readyAt('b.example')).toBe(5_000);
  expect(await frontier().nextPages('b.example', 5_000, 1)).toMatchObject([{ tries: 1, rank: RANK.retry }]);
});

it('fails the waiting pages of a host, which do not count as read', async () => {
  await writer.addUrls(links('b', 'c'));
  const failure = problem('AssertionFailureError', { message: 'No answer' });
  expect(await writer.failHost('a.example', failure)).toMatchObject({ failed: 3, read: 0, last_seq: 3 });
  expect(await waiting()).toEqual([]);
});

it('notes that the sitemaps have been read', async () => {
  expect(await writer.endSitemaps()).toMatchObject({ sitemaps_due: 0 });
});

it('writes nothing once the lease is lost', async () => {
  const [start] = await waiting();
  await JOBS.cancelNow(store, 'crawl', NOW);
  const failed: Outcome = { kind: 'failed', failure: problem('AssertionFailureError', { message: 'x' }), read: true };
  const writes = [
    () => writer.writeOutcome(start!, failed, undefined),
    () => writer.postpone(start!, { readyAt: 0, rank: 0 }),
    () => writer.failHost('a.example', failed.failure),
    () => writer.addUrls(links('b')),
    () => writer.endSitemaps(),
  ];
  for (const write of writes) await expect(write()).rejects.toThrow(LeaseLostError);
  expect(await waiting()).toHaveLength(1);
  expect(await results()).toEqual([]);
});
