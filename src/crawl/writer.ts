/**
 * Writes the findings of a run: results, links and counts, each in one transaction. Every write is bound to the lease,
 * and throws LeaseLostError if another worker has acquired it.
 */
import type { Problem } from '#errors.ts';
import { type Lease, LeaseLostError } from '#storage/jobs/lease.ts';
import type { Reservation } from './billing.ts';
import { claimFinalUrl, findDuplicate, findDuplicateByKey } from './duplicates.ts';
import { addFoundUrls, type FoundUrl, type WaitingPage } from './frontier.ts';
import { type NewResult, type Outcome, resultOf } from './outcome.ts';
import type { Db, JobRow } from './schema.ts';
import { type CrawlDb, ofLease } from './store.ts';

/** The effects of a write. */
export interface Progress {
  readonly job: JobRow;
  /** Hosts to which the write added waiting pages. */
  readonly hosts: readonly string[];
}

export interface WrittenOutcome extends Progress {
  /** Whether the page is in the results, and therefore charged. A duplicate is not. */
  readonly isDelivered: boolean;
}

export interface Writer {
  /** Writes the outcome of a page, its links and its charge. */
  writeOutcome(page: WaitingPage, outcome: Outcome, reservation: Reservation): Promise<WrittenOutcome>;
  /** Makes a page wait until `readyAt`, under `page.host`: its own host, or the host that it redirects to. */
  postpone(page: WaitingPage, retry: { readonly readyAt: number; readonly rank: number }): Promise<void>;
  /** Marks all waiting pages of a host as failed, in batches. Returns the job after the last batch. */
  failHost(host: string, failure: Problem): Promise<JobRow>;
  /** Adds URLs to the frontier. */
  addUrls(found: readonly FoundUrl[]): Promise<Progress>;
  /** Records that the sitemaps have been read. */
  endSitemaps(): Promise<JobRow>;
  /** Returns the URL under which the page with this key already has a result. */
  findDuplicate(key: string): Promise<string | undefined>;
}

export interface WriterOptions {
  readonly store: CrawlDb;
  readonly lease: Lease;
  /** Maximum number of URLs in the frontier. */
  readonly maxFound: number;
  /** Whether every URL gets a result of its own, even if several lead to the same page. */
  readonly keepsDuplicates?: boolean;
  readonly now: () => number;
}

const FAILED_AT_ONCE = 200;

export function createWriter({ store: { db }, lease, maxFound, keepsDuplicates = false, now }: WriterOptions): Writer {
  return {
    writeOutcome: (page, outcome, reservation) =>
      db
        .transaction()
        .execute((transaction) =>
          writeOutcome(transaction, lease, { page, outcome, reservation, maxFound, keepsDuplicates, now: now() }),
        ),

    async postpone(page, { readyAt, rank }) {
      await db.transaction().execute(async (transaction) => {
        await updateJob(transaction, lease, { tries: 0 });
        await transaction
          .updateTable('crawl_pages')
          .set({ host: page.host, tries: page.tries + 1, ready_at: readyAt, rank })
          .where('job_id', '=', lease.jobId)
          .where('key', '=', page.key)
          .where('state', '=', 'waiting')
          .execute();
      });
    },

    async failHost(host, failure) {
      for (;;) {
        const { job, failed } = await db
          .transaction()
          .execute((transaction) => failSome(transaction, lease, host, failure));
        if (failed < FAILED_AT_ONCE) return job;
      }
    },

    addUrls: (found) =>
      db.transaction().execute(async (transaction) => {
        const before = await updateJob(transaction, lease, { worked_at: now() });
        const hosts = await addFoundUrls(transaction, lease.jobId, found, { found: before.found, maxFound });
        const job = await updateJob(transaction, lease, { found: before.found + hosts.length });
        return { job, hosts: [...new Set(hosts)] };
      }),

    endSitemaps: () => updateJob(db, lease, { sitemaps_due: 0 }),

    findDuplicate: async (key) => (keepsDuplicates ? undefined : findDuplicateByKey(db, lease.jobId, key)),
  };
}

/**
 * Updates the row of the job and returns it. It must be the first operation in every transaction, so that PostgreSQL
 * runs the transactions of one job one after another.
 */
async function updateJob(db: Db, lease: Lease, changes: Partial<JobRow>): Promise<JobRow> {
  const job = await ofLease(db, lease).set(changes).returningAll().executeTakeFirst();
  if (!job) throw new LeaseLostError();
  return job;
}

interface NewOutcome {
  readonly page: WaitingPage;
  readonly outcome: Outcome;
  readonly reservation: Reservation;
  readonly maxFound: number;
  readonly keepsDuplicates: boolean;
  readonly now: number;
}

async function writeOutcome(
  db: Db,
  lease: Lease,
  { page, outcome, reservation, maxFound, keepsDuplicates, now }: NewOutcome,
): Promise<WrittenOutcome> {
  const job = await updateJob(db, lease, { worked_at: now });
  const duplicate = keepsDuplicates ? undefined : await findDuplicate(db, job.id, page, outcome);
  const delivered = outcome.kind === 'page' && !duplicate ? outcome : undefined;
  const isDelivered = delivered !== undefined;
  const { numUpdatedRows } = await db
    .updateTable('crawl_pages')
    .set({
      state: outcome.kind === 'failed' ? 'failed' : isDelivered ? 'done' : 'skipped',
      ...(delivered && { content: delivered.content ?? null, canonical: delivered.canonical?.key ?? null }),
      ...(duplicate && { duplicate_of: duplicate.of }),
    })
    .where('job_id', '=', job.id)
    .where('key', '=', page.key)
    .where('state', '=', 'waiting')
    .executeTakeFirst();
  // In the meantime, another URL has redirected to the same page.
  if (!numUpdatedRows) return { hosts: [], isDelivered: false, job };
  const results = [resultOf(page, outcome, duplicate?.of)];
  if (delivered && !keepsDuplicates) results.push(...(await claimFinalUrl(db, job.id, page, delivered)));
  // A page with the same content has the same links.
  const followsLinks = outcome.kind === 'page' && duplicate?.by !== 'content';
  const hosts = followsLinks ? await addFoundUrls(db, job.id, outcome.found, { found: job.found, maxFound }) : [];
  await insertResults(db, job, results);
  if (delivered && job.account_id !== null) {
    const { tokens, model, ms } = delivered;
    const payer = { account_id: job.account_id, owner: job.owner };
    const id = `${job.id}.${job.last_seq + 1}`;
    await db
      .insertInto('crawl_charges')
      .values({
        id,
        job_id: job.id,
        ...payer,
        model,
        tokens,
        at: now,
        ms,
        reserve: JSON.stringify(reservation) ?? null,
      })
      .execute();
  }
  const changed = await updateJob(db, lease, {
    found: job.found + hosts.length,
    done: job.done + count(results, 'page'),
    failed: job.failed + count(results, 'failed'),
    skipped: job.skipped + count(results, 'skipped'),
    read: job.read + (outcome.kind === 'page' || outcome.read ? 1 : 0),
    tokens: job.tokens + (delivered?.tokens ?? 0),
    last_seq: job.last_seq + results.length,
    tries: 0,
    ...(outcome.kind === 'page' && outcome.bases && { bases: JSON.stringify(outcome.bases) }),
  });
  return { hosts: [...new Set(hosts)], isDelivered, job: changed };
}

const count = (results: readonly NewResult[], event: NewResult['event']) =>
  results.filter((result) => result.event === event).length;

/** Marks a batch of a host's waiting pages as failed. Returns the job and the size of the batch. */
async function failSome(
  db: Db,
  lease: Lease,
  host: string,
  failure: Problem,
): Promise<{ readonly job: JobRow; readonly failed: number }> {
  const job = await updateJob(db, lease, { tries: 0 });
  const pages = await db
    .selectFrom('crawl_pages')
    .select(['key', 'url', 'host', 'rank', 'depth', 'tries'])
    .where('job_id', '=', job.id)
    .where('host', '=', host)
    .where('state', '=', 'waiting')
    .limit(FAILED_AT_ONCE)
    .execute();
  const failed = pages.length;
  if (!failed) return { job, failed };
  const keys = pages.map(({ key }) => key);
  await db
    .updateTable('crawl_pages')
    .set({ state: 'failed' })
    .where('job_id', '=', job.id)
    .where('key', 'in', keys)
    .execute();
  await insertResults(
    db,
    job,
    pages.map((page) => resultOf(page, { kind: 'failed', failure, read: false })),
  );
  const counts = { failed: job.failed + failed, last_seq: job.last_seq + failed };
  return { job: await updateJob(db, lease, counts), failed };
}

async function insertResults(db: Db, { id, last_seq: last }: JobRow, results: readonly NewResult[]): Promise<void> {
  await db
    .insertInto('crawl_results')
    .values(
      results.map(({ event, body }, at) => {
        const seq = last + 1 + at;
        return { job_id: id, seq, event, body: JSON.stringify({ seq, event, ...body }) };
      }),
    )
    .execute();
}
