/**
 * Crawls in the database, one function a query. Whoever works on one has a lease with a word of its own; what it changes
 * is bound to that word, so that one that was taken for dead can spoil nothing.
 */
import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import { problem } from '#errors.ts';
import type { GivenOptions } from '#reader/index.ts';
import type { Store } from '#storage/database/store.ts';
import { type Lease, LeaseLost } from '#storage/jobs/workers.ts';
import type { Address } from './address.ts';
import { type CrawlJob, type CrawlState, isFinal, UNFINISHED } from './job.ts';
import type { CrawlPlan } from './request.ts';
import { type Db, type JobRow, type PageRow, RANK, type Tables } from './schema.ts';

export type CrawlDb = Pick<Store<Tables>, 'db' | 'dialect'>;

/** Unfinished crawls that one owner may have. */
const MAX_UNFINISHED = 10;

export interface NewJob {
  readonly id: string;
  readonly owner: string;
  readonly account: string | null;
  readonly plan: CrawlPlan;
  readonly options: GivenOptions;
  readonly starts: readonly Address[];
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** ResourceLimitExceededError when the owner has too many that are not done. */
export async function insertJob({ db, dialect }: CrawlDb, job: NewJob): Promise<JobRow> {
  return db.transaction().execute(async (transaction) => {
    // SQLite's transactions are exclusive; in PostgreSQL those of one owner queue up here.
    if (dialect === 'postgres') await sql`SELECT pg_advisory_xact_lock(hashtext(${job.owner}))`.execute(transaction);
    const { unfinished } = await transaction
      .selectFrom('crawl_jobs')
      .select((eb) => eb.fn.countAll<number>().as('unfinished'))
      .where('owner', '=', job.owner)
      .where('state', 'in', UNFINISHED)
      .executeTakeFirstOrThrow();
    if (unfinished >= MAX_UNFINISHED) {
      const message = `Resource limit exceeded for the plan: ${unfinished} of ${MAX_UNFINISHED} crawls are not done yet`;
      throw problem('ResourceLimitExceededError', { message });
    }
    const row = newRow(job);
    await transaction.insertInto('crawl_jobs').values(row).execute();
    await transaction
      .insertInto('crawl_pages')
      .values(job.starts.map((start, at) => newPage(job.id, start, { rank: RANK.start, depth: 0, position: at })))
      .execute();
    return row;
  });
}

const newRow = (job: NewJob): JobRow => ({
  id: job.id,
  owner: job.owner,
  account_id: job.account,
  plan: JSON.stringify(job.plan),
  options: JSON.stringify(job.options),
  bases: JSON.stringify(job.starts.map(({ url }) => url)),
  state: 'pending',
  error: null,
  created_at: job.createdAt,
  completed_at: null,
  expires_at: job.expiresAt,
  sitemaps_due: job.plan.sitemap && job.plan.depth > 0 ? 1 : 0,
  found: job.starts.length,
  done: 0,
  failed: 0,
  skipped: 0,
  read: 0,
  tokens: 0,
  last_seq: 0,
  lease: null,
  lease_until: 0,
  worked_at: 0,
  ready_at: 0,
  tries: 0,
  cancelling: 0,
  litter: 0,
});

export const newPage = (
  jobId: string,
  { key, url, host }: Address,
  place: Pick<PageRow, 'rank' | 'depth' | 'position'>,
): PageRow => ({
  job_id: jobId,
  key,
  url,
  host,
  state: 'waiting',
  ...place,
  tries: 0,
  ready_at: 0,
  content: null,
  canonical: null,
  duplicate_of: null,
});

export async function findJob({ db }: CrawlDb, id: string): Promise<JobRow | undefined> {
  return db.selectFrom('crawl_jobs').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Newest first. */
export async function listJobs({ db }: CrawlDb, owner: string, limit: number): Promise<JobRow[]> {
  return db
    .selectFrom('crawl_jobs')
    .selectAll()
    .where('owner', '=', owner)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function countJobs({ db }: CrawlDb): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('crawl_jobs')
    .select(({ fn }) => ['state', fn.countAll<number>().as('jobs')])
    .groupBy('state')
    .execute();
  return new Map(rows.map(({ state, jobs }) => [state, Number(jobs)]));
}

/** What every end of a job changes: what its reads were made with is forgotten, since it may have secrets in it. */
const ending = (state: CrawlState, now: number) => ({ state, completed_at: now, lease: null, options: '{}' });

/** Ends a job that nobody works on; to one that somebody does it is said. One that has ended stays as it is. */
export async function askToCancel({ db }: CrawlDb, id: string, now: number): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const idle = await transaction
      .updateTable('crawl_jobs')
      .set(ending('cancelled', now))
      .where('id', '=', id)
      .where('state', 'in', UNFINISHED)
      .where((eb) => eb.or([eb('lease', 'is', null), eb('lease_until', '<=', now)]))
      .executeTakeFirst();
    if (idle.numUpdatedRows) return;
    const asked = transaction.updateTable('crawl_jobs').set({ cancelling: 1 });
    await asked.where('id', '=', id).where('state', 'in', UNFINISHED).execute();
  });
}

/** Ends it whoever works on it: what that one brings later is of no effect. */
export async function cancelNow({ db }: CrawlDb, id: string, now: number): Promise<void> {
  const ended = db.updateTable('crawl_jobs').set(ending('cancelled', now));
  await ended.where('id', '=', id).where('state', 'in', UNFINISHED).execute();
}

const takeable = (db: Db, now: number) =>
  db
    .selectFrom('crawl_jobs')
    .select('id')
    .where('state', 'in', UNFINISHED)
    .where('ready_at', '<=', now)
    .where('expires_at', '>', now)
    .where((eb) => eb.or([eb('lease', 'is', null), eb('lease_until', '<=', now)]))
    .orderBy('worked_at')
    .orderBy('created_at')
    .limit(1);

/** The job whose turn it is, with a lease; undefined when there is nothing to do. */
export async function takeJob(
  { db, dialect }: CrawlDb,
  now: number,
  leaseMs: number,
): Promise<{ row: JobRow; lease: Lease } | undefined> {
  return db.transaction().execute(async (transaction) => {
    const next = takeable(transaction, now);
    const found = await (dialect === 'postgres' ? next.forUpdate().skipLocked() : next).executeTakeFirst();
    if (!found) return undefined;
    const word = randomUUID();
    const row = await transaction
      .updateTable('crawl_jobs')
      .set({ state: 'processing', lease: word, lease_until: now + leaseMs, worked_at: now })
      .where('id', '=', found.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    return { row, lease: { jobId: row.id, word } };
  });
}

/** Whether another job waits for somebody to work on it. */
export async function othersWait({ db }: CrawlDb, now: number): Promise<boolean> {
  return (await takeable(db, now).executeTakeFirst()) !== undefined;
}

export const ofLease = (db: Db, { jobId, word }: Lease) =>
  db.updateTable('crawl_jobs').where('id', '=', jobId).where('lease', '=', word).where('state', '=', 'processing');

/** Makes the lease longer; whether the job is to be cancelled. Throws LeaseLost. */
export async function keepLease({ db }: CrawlDb, lease: Lease, until: number): Promise<{ cancelling: boolean }> {
  const row = await ofLease(db, lease).set({ lease_until: until }).returning('cancelling').executeTakeFirst();
  if (!row) throw new LeaseLost();
  return { cancelling: row.cancelling === 1 };
}

/** Gives a job back, not to be taken again before a time. */
export async function releaseJob(
  { db }: CrawlDb,
  lease: Lease,
  { readyAt, failed }: { readonly readyAt: number; readonly failed: boolean },
): Promise<void> {
  await ofLease(db, lease)
    .set((eb) => ({ lease: null, ready_at: readyAt, tries: failed ? eb('tries', '+', 1) : 0 }))
    .execute();
}

export async function endJob(
  { db }: CrawlDb,
  lease: Lease,
  end: { readonly state: 'completed' | 'failed' | 'cancelled'; readonly error?: string | undefined },
  now: number,
): Promise<void> {
  await ofLease(db, lease)
    .set({ ...ending(end.state, now), error: end.error ?? null })
    .execute();
}

/** Ends jobs whose time is over; their pages are to be removed. */
export async function expireJobs({ db }: CrawlDb, now: number, id?: string): Promise<void> {
  const due = db.updateTable('crawl_jobs').where('expires_at', '<=', now);
  const those = id === undefined ? due : due.where('id', '=', id);
  const removed = { state: 'expired' as const, litter: 1 };
  await those
    .set({ ...ending('expired', now), ...removed })
    .where('state', 'in', UNFINISHED)
    .execute();
  await those.set(removed).where('state', 'in', ['completed', 'failed', 'cancelled']).execute();
}

const TABLES = ['crawl_results', 'crawl_pages', 'crawl_kinds'] as const;
const ORDER = { crawl_results: 'seq', crawl_pages: 'key', crawl_kinds: 'kind' } as const;
const REMOVED_AT_ONCE = 200;

/** Removes some rows of expired jobs; whether there may be more. */
export async function sweep({ db }: CrawlDb): Promise<boolean> {
  const job = await db.selectFrom('crawl_jobs').select('id').where('litter', '=', 1).limit(1).executeTakeFirst();
  if (!job) return false;
  for (const table of TABLES) {
    const column = ORDER[table] as never;
    const some = db.selectFrom(table).select(column).where('job_id', '=', job.id).limit(REMOVED_AT_ONCE);
    const { numDeletedRows } = await db
      .deleteFrom(table)
      .where('job_id', '=', job.id)
      .where(column, 'in', some as never)
      .executeTakeFirst();
    if (numDeletedRows) return true;
  }
  await db.updateTable('crawl_jobs').set({ litter: 0 }).where('id', '=', job.id).execute();
  return true;
}

/** Forgets jobs that were made before a time, and whose pages are gone. */
export async function forgetJobs({ db }: CrawlDb, before: number): Promise<void> {
  const old = db.deleteFrom('crawl_jobs').where('created_at', '<', before);
  await old.where('state', '=', 'expired').where('litter', '=', 0).execute();
}

export const jobOf = (row: Selectable<JobRow>): CrawlJob => ({
  id: row.id,
  owner: row.owner,
  account: row.account_id,
  plan: JSON.parse(row.plan) as CrawlPlan,
  options: JSON.parse(row.options) as GivenOptions,
  state: row.state,
  error: row.error,
  createdAt: row.created_at,
  completedAt: isFinal(row.state) ? row.completed_at : null,
  expiresAt: row.expires_at,
  found: row.found,
  done: row.done,
  failed: row.failed,
  skipped: row.skipped,
  tokens: row.tokens,
  lastSeq: row.last_seq,
});
