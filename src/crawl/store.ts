/** Queries for crawls and their pages. The queries shared by all kinds of jobs are in `storage/jobs/table.ts`. */
import type { Selectable } from 'kysely';
import type { GivenOptions } from '#reader/index.ts';
import type { Store } from '#storage/database/store.ts';
import type { Lease } from '#storage/jobs/lease.ts';
import { boundToLease as boundTo } from '#storage/jobs/lease-queries.ts';
import { isFinal } from '#storage/jobs/states.ts';
import { jobTable, NEW_JOB_COLUMNS } from '#storage/jobs/table.ts';
import type { CrawlJob } from './job.ts';
import type { NormalizedUrl } from './normalize-url.ts';
import type { CrawlPlan } from './request.ts';
import { type Db, type JobRow, type PageRow, RANK, type Tables } from './schema.ts';

export type CrawlDb = Pick<Store<Tables>, 'db' | 'dialect'>;

export const JOBS = jobTable<JobRow>({
  name: 'crawl_jobs',
  plural: 'crawls',
  // The options may contain secrets.
  ending: () => ({ options: '{}' }),
  expired: { litter: 1 },
  removable: { litter: 0 },
});

export interface NewJob {
  readonly id: string;
  readonly owner: string;
  readonly account: string | null;
  readonly plan: CrawlPlan;
  readonly options: GivenOptions;
  readonly starts: readonly NormalizedUrl[];
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly data?: unknown;
  readonly requestKey?: string | undefined;
  /** How long a request with the same key gets the same job, in milliseconds. */
  readonly repeatMs?: number | undefined;
}

/**
 * Inserts a job, unless a request with the same key has started one. Returns its id. Throws ResourceLimitExceededError
 * if the owner has too many unfinished crawls.
 */
export async function insertJob(store: CrawlDb, job: NewJob): Promise<string> {
  const row = newRow(job);
  const pages = job.starts.map((start, at) => newPage(job.id, start, { rank: RANK.start, depth: 0, position: at }));
  const { owner, requestKey, repeatMs = 0, createdAt } = job;
  return JOBS.insert(
    store,
    row,
    async (transaction) => {
      await transaction.insertInto('crawl_pages').values(pages).execute();
    },
    requestKey === undefined
      ? undefined
      : (transaction) =>
          findByRequestKey(transaction, { owner, requestKey, since: createdAt - repeatMs, now: createdAt }),
  );
}

const newRow = (job: NewJob): JobRow => ({
  ...NEW_JOB_COLUMNS,
  id: job.id,
  owner: job.owner,
  account_id: job.account,
  plan: JSON.stringify(job.plan),
  options: JSON.stringify(job.options),
  bases: JSON.stringify(job.starts.map(({ url }) => url)),
  created_at: job.createdAt,
  expires_at: job.expiresAt,
  sitemaps_due: job.plan.sitemap && job.plan.depth > 0 ? 1 : 0,
  found: job.starts.length,
  done: 0,
  failed: 0,
  skipped: 0,
  read: 0,
  tokens: 0,
  last_seq: 0,
  data: job.data === undefined ? null : JSON.stringify(job.data),
  request_key: job.requestKey ?? null,
  litter: 0,
});

export const newPage = (
  jobId: string,
  { key, url, host }: NormalizedUrl,
  order: Pick<PageRow, 'rank' | 'depth' | 'position'>,
): PageRow => ({
  job_id: jobId,
  key,
  url,
  host,
  state: 'waiting',
  ...order,
  tries: 0,
  ready_at: 0,
  content: null,
  canonical: null,
  duplicate_of: null,
});

export const ofLease = (db: Db, lease: Lease) => boundTo(db.updateTable('crawl_jobs'), lease);

interface RequestOfOwner {
  readonly owner: string;
  readonly requestKey: string;
  readonly since: number;
  readonly now: number;
}

/** Finds the newest job that a request with this key started since a time, and that has not expired. */
async function findByRequestKey(
  db: Db,
  { owner, requestKey, since, now }: RequestOfOwner,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('crawl_jobs')
    .select('id')
    .where('owner', '=', owner)
    .where('request_key', '=', requestKey)
    .where('created_at', '>', since)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

/** Whether any crawl is waiting for a worker. */
export const hasWaitingJobs = async (store: CrawlDb, now: number): Promise<boolean> =>
  (await JOBS.waiting(store, now, 1)).length > 0;

const TABLES = ['crawl_results', 'crawl_pages', 'crawl_kinds'] as const;
const ORDER = { crawl_results: 'seq', crawl_pages: 'key', crawl_kinds: 'kind' } as const;
const REMOVED_AT_ONCE = 200;

/** Deletes some rows of expired jobs. Returns whether there may be more. */
export async function removeSomeExpired({ db }: CrawlDb): Promise<boolean> {
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
  data: row.data === null ? undefined : JSON.parse(row.data),
});
