/** What became of an address, written down all or nothing: its result, what it says of other addresses, its links. */
import type { Problem } from '#errors.ts';
import type { Page } from '#reader/index.ts';
import { type Lease, LeaseLostError } from '#storage/jobs/lease.ts';
import { type Address, addressOf } from './address.ts';
import type { Reserve } from './billing.ts';
import { addFound, type Found, type WaitingPage } from './frontier.ts';
import type { Db, JobRow, Tables } from './schema.ts';
import { type CrawlDb, ofLease } from './store.ts';

/** A page that was read. */
export interface ReadPage {
  readonly kind: 'page';
  readonly page: Page;
  readonly tokens: number;
  /** The model that wrote the answer, or empty. */
  readonly model: string;
  readonly ms: number;
  /** Where its address led. */
  readonly final: Address;
  /** The address that it calls its own. */
  readonly canonical: Address | undefined;
  /** A hash of its text; undefined for a page without. */
  readonly content: string | undefined;
  /** Where one can go from it, within the bounds of the crawl. */
  readonly found: readonly Found[];
  /** Set when the scope now lies around other addresses. */
  readonly bases?: readonly string[] | undefined;
}

export type Outcome =
  | ReadPage
  | { readonly kind: 'failed'; readonly failure: Problem; readonly status?: number | undefined; readonly read: boolean }
  | { readonly kind: 'skipped'; readonly reason: 'robots' | 'scope'; readonly to?: string; readonly read: boolean }
  /** It led to a page that was given already. */
  | { readonly kind: 'known'; readonly of: string; readonly read: true };

export interface Settled {
  /** Hosts of which pages now wait. */
  readonly hosts: readonly string[];
  /** Whether the page is one of those that are given. */
  readonly isGiven: boolean;
  /** Its number, when it has one. */
  readonly seq: number | undefined;
  readonly job: JobRow;
}

interface Result {
  readonly event: Tables['crawl_results']['event'];
  readonly body: Record<string, unknown>;
}

export interface Bounds {
  /** How many addresses are kept at most. */
  readonly mostFound: number;
}

const NOTHING_NEW = { hosts: [], isGiven: false, seq: undefined };

/** Throws LeaseLost. */
export async function settle(
  { db }: CrawlDb,
  lease: Lease,
  page: WaitingPage,
  outcome: Outcome,
  { mostFound, now, reserve }: Bounds & { readonly now: number; readonly reserve: Reserve },
): Promise<Settled> {
  return db.transaction().execute(async (transaction) => {
    // First of all, so that in PostgreSQL those of one job queue up here.
    const job = await ofLease(transaction, lease).set({ worked_at: now }).returningAll().executeTakeFirst();
    if (!job) throw new LeaseLostError();
    const duplicate = await duplicateOf(transaction, job.id, page, outcome);
    const isGiven = outcome.kind === 'page' && !duplicate;
    const state = outcome.kind === 'failed' ? 'failed' : isGiven ? 'done' : 'skipped';
    const { numUpdatedRows } = await transaction
      .updateTable('crawl_pages')
      .set({
        state,
        ...(isGiven && { content: outcome.content ?? null, canonical: outcome.canonical?.key ?? null }),
        ...(duplicate && { duplicate_of: duplicate.of }),
      })
      .where('job_id', '=', job.id)
      .where('key', '=', page.key)
      .where('state', '=', 'waiting')
      .executeTakeFirst();
    // Another address has led to the same page meanwhile.
    if (!numUpdatedRows) return { ...NOTHING_NEW, job };
    const results: Result[] = [resultOf(page, outcome, duplicate?.of)];
    if (isGiven) results.push(...(await claimFinal(transaction, job.id, page, outcome)));
    const follows = outcome.kind === 'page' && duplicate?.by !== 'content';
    const bounds = { found: job.found, most: mostFound };
    const hosts = follows ? await addFound(transaction, job.id, outcome.found, bounds) : [];
    await insertResults(transaction, job, results);
    const seq = job.last_seq + 1;
    const isCharged = isGiven && job.account_id !== null;
    if (isCharged) {
      const { tokens, model, ms } = outcome;
      const charge = { id: chargeId(job.id, seq), job_id: job.id, account_id: job.account_id!, owner: job.owner };
      await transaction
        .insertInto('crawl_charges')
        .values({ ...charge, model, tokens, at: now, ms, reserve: JSON.stringify(reserve) ?? null })
        .execute();
    }
    const changed = await ofLease(transaction, lease)
      .set({
        found: job.found + hosts.length,
        done: job.done + count(results, 'page'),
        failed: job.failed + count(results, 'failed'),
        skipped: job.skipped + count(results, 'skipped'),
        read: job.read + (outcome.kind === 'page' || outcome.read ? 1 : 0),
        tokens: job.tokens + (isGiven ? outcome.tokens : 0),
        last_seq: job.last_seq + results.length,
        tries: 0,
        ...(outcome.kind === 'page' && outcome.bases && { bases: JSON.stringify(outcome.bases) }),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return { hosts: [...new Set(hosts)], isGiven, seq, job: changed };
  });
}

const chargeId = (jobId: string, seq: number): string => `${jobId}.${seq}`;

const count = (results: readonly Result[], event: Result['event']) =>
  results.filter((result) => result.event === event).length;

function resultOf({ url, depth }: WaitingPage, outcome: Outcome, of?: string): Result {
  const place = { url, depth };
  if (outcome.kind === 'failed') {
    const { name, code, status, message } = outcome.failure;
    const answered = outcome.status === undefined ? {} : { status: outcome.status };
    return { event: 'failed', body: { ...place, ...answered, error: { code, name, status, message } } };
  }
  if (of !== undefined || outcome.kind === 'known') {
    return { event: 'skipped', body: { ...place, reason: 'duplicate', of } };
  }
  if (outcome.kind === 'page') return { event: 'page', body: { ...place, page: outcome.page } };
  const { reason, to } = outcome;
  return { event: 'skipped', body: { ...place, reason, ...(to !== undefined && { to }) } };
}

interface Duplicate {
  readonly of: string;
  readonly by: 'redirect' | 'canonical' | 'content';
}

/** The address of the page that was given already for an address, as that of another page perhaps. */
export async function givenAt(db: Db, jobId: string, key: string): Promise<string | undefined> {
  const there = await db
    .selectFrom('crawl_pages')
    .select(['url', 'state', 'duplicate_of'])
    .where('job_id', '=', jobId)
    .where('key', '=', key)
    .where('state', '!=', 'waiting')
    .executeTakeFirst();
  return there?.state === 'done' ? there.url : (there?.duplicate_of ?? undefined);
}

/** The page that was given already and is the same: by where the address led, by what it calls its own, by its text. */
async function duplicateOf(
  db: Db,
  jobId: string,
  { key }: WaitingPage,
  outcome: Outcome,
): Promise<Duplicate | undefined> {
  if (outcome.kind === 'known') return { of: outcome.of, by: 'redirect' };
  if (outcome.kind !== 'page') return undefined;
  const { final, canonical, content } = outcome;
  const pages = db.selectFrom('crawl_pages').select('url').where('job_id', '=', jobId);
  const of = final.key === key ? undefined : await givenAt(db, jobId, final.key);
  if (of !== undefined) return { of, by: 'redirect' };
  if (canonical) {
    const there = await pages
      .where((eb) => eb.or([eb('key', '=', canonical.key), eb('canonical', '=', canonical.key)]))
      .where('key', '!=', key)
      .where('state', '=', 'done')
      .limit(1)
      .executeTakeFirst();
    if (there) return { of: there.url, by: 'canonical' };
  }
  if (content === undefined) return undefined;
  const same = await pages.where('content', '=', content).where('state', '=', 'done').limit(1).executeTakeFirst();
  return same && { of: same.url, by: 'content' };
}

/** The address to which that of a page led is the same page, and not read again; what is told of it. */
async function claimFinal(
  db: Db,
  jobId: string,
  { key, url, depth }: WaitingPage,
  { final }: ReadPage,
): Promise<Result[]> {
  if (final.key === key) return [];
  const waiting = await db
    .updateTable('crawl_pages')
    .set({ state: 'skipped', duplicate_of: url })
    .where('job_id', '=', jobId)
    .where('key', '=', final.key)
    .where('state', '=', 'waiting')
    .returning('url')
    .executeTakeFirst();
  if (waiting) return [{ event: 'skipped', body: { url: waiting.url, depth, reason: 'duplicate', of: url } }];
  await db
    .insertInto('crawl_pages')
    .values({
      ...{ job_id: jobId, key: final.key, url: final.url, host: final.host, state: 'alias', duplicate_of: url },
      ...{ rank: 0, depth, position: 0, tries: 0, ready_at: 0, content: null, canonical: null },
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return [];
}

/**
 * The address that a page calls its own, when it is believed: one of the same host (with or without `www.`), and not
 * that of the whole site, which templates put everywhere by mistake.
 */
export function believedCanonical(told: string | undefined, own: Address): Address | undefined {
  const address = told === undefined ? undefined : addressOf(told);
  if (!address || address.key === own.key || bare(address.host) !== bare(own.host)) return undefined;
  const { pathname, search } = new URL(address.url);
  return pathname === '/' && !search && new URL(own.url).pathname !== '/' ? undefined : address;
}

const bare = (host: string) => host.replace(/^www\./, '');

/** A page is tried again later, among those of its host: its own, or the one that it leads to. */
export async function postpone(
  { db }: CrawlDb,
  lease: Lease,
  page: WaitingPage,
  { readyAt, rank }: { readonly readyAt: number; readonly rank: number },
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const job = await ofLease(transaction, lease).set({ tries: 0 }).returning('id').executeTakeFirst();
    if (!job) throw new LeaseLostError();
    await transaction
      .updateTable('crawl_pages')
      .set({ host: page.host, tries: page.tries + 1, ready_at: readyAt, rank })
      .where('job_id', '=', lease.jobId)
      .where('key', '=', page.key)
      .where('state', '=', 'waiting')
      .execute();
  });
}

/** Ends all pages of a host that wait, some at a time, and tells how the job stands. Throws LeaseLost. */
export async function failHost(
  { db }: CrawlDb,
  lease: Lease,
  host: string,
  failure: Problem,
  learn: (job: JobRow) => void,
): Promise<void> {
  for (let ended = FAILED_AT_ONCE; ended === FAILED_AT_ONCE; ) {
    ended = await db.transaction().execute((transaction) => failSome(transaction, lease, host, failure, learn));
  }
}

async function failSome(
  db: Db,
  lease: Lease,
  host: string,
  failure: Problem,
  learn: (job: JobRow) => void,
): Promise<number> {
  const job = await ofLease(db, lease).set({ tries: 0 }).returningAll().executeTakeFirst();
  if (!job) throw new LeaseLostError();
  const pages = await db
    .selectFrom('crawl_pages')
    .select(['key', 'url', 'host', 'rank', 'depth', 'tries'])
    .where('job_id', '=', job.id)
    .where('host', '=', host)
    .where('state', '=', 'waiting')
    .limit(FAILED_AT_ONCE)
    .execute();
  if (!pages.length) return 0;
  const keys = pages.map(({ key }) => key);
  await db
    .updateTable('crawl_pages')
    .set({ state: 'failed' })
    .where('job_id', '=', job.id)
    .where('key', 'in', keys)
    .execute();
  const results = pages.map((page) => resultOf(page, { kind: 'failed', failure, read: false }));
  await insertResults(db, job, results);
  const counts = { failed: job.failed + results.length, last_seq: job.last_seq + results.length };
  learn(await ofLease(db, lease).set(counts).returningAll().executeTakeFirstOrThrow());
  return pages.length;
}

const FAILED_AT_ONCE = 200;

async function insertResults(db: Db, { id, last_seq: last }: JobRow, results: readonly Result[]): Promise<void> {
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
