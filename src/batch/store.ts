/**
 * Jobs in the database, one function a query. Whoever works on a job has a lease with a word of its own; what it changes
 * is bound to that word, so that one that was taken for dead can spoil nothing.
 */
import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import { problem } from '#errors.ts';
import type { Store } from '#storage/database/store.ts';
import { type Lease, LeaseLost } from '#storage/jobs/workers.ts';
import { isFinal, type Job, MOVES, type MoveName, UNFINISHED } from './job.ts';
import { appendPieces } from './pieces.ts';
import type { Db, JobRow, Tables } from './schema.ts';

export type BatchDb = Pick<Store<Tables>, 'db' | 'dialect'>;

/** Unfinished jobs that one owner may have. */
const MAX_UNFINISHED = 10;

export interface NewJob {
  readonly id: string;
  readonly owner: string;
  readonly account: string | null;
  readonly model: string;
  readonly options: Job['options'];
  readonly baseUrl: string;
  readonly inputUrl: string | null;
  readonly webhookUrl: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** What came inline: lines as a worker reads them. */
export interface StoredInput {
  readonly lines: number;
  readonly pieces: Iterable<Uint8Array>;
}

/** ResourceLimitExceededError when the owner has too many that are not done. */
export async function insertJob(
  { db, dialect }: BatchDb,
  job: NewJob,
  input: StoredInput | undefined,
): Promise<JobRow> {
  return db.transaction().execute(async (transaction) => {
    // SQLite's transactions are exclusive; in PostgreSQL those of one owner queue up here.
    if (dialect === 'postgres') await sql`SELECT pg_advisory_xact_lock(hashtext(${job.owner}))`.execute(transaction);
    const { unfinished } = await transaction
      .selectFrom('batch_jobs')
      .select((eb) => eb.fn.countAll<number>().as('unfinished'))
      .where('owner', '=', job.owner)
      .where('state', 'in', UNFINISHED)
      .where('expires_at', '>', job.createdAt)
      .executeTakeFirstOrThrow();
    if (unfinished >= MAX_UNFINISHED) {
      const message = `Resource limit exceeded for the plan: ${unfinished} of ${MAX_UNFINISHED} batch jobs are not done yet`;
      throw problem('ResourceLimitExceededError', { message });
    }
    const row = newRow(job);
    await transaction.insertInto('batch_jobs').values(row).execute();
    if (!input) return row;
    let bytes = 0;
    for (const piece of input.pieces) {
      await appendPieces(transaction, { jobId: job.id, kind: 'input' }, bytes, piece);
      bytes += piece.length;
    }
    const counted = { total: input.lines, input_bytes: bytes };
    await transaction.updateTable('batch_jobs').set(counted).where('id', '=', job.id).execute();
    return { ...row, ...counted };
  });
}

const newRow = (job: NewJob): JobRow => ({
  id: job.id,
  owner: job.owner,
  account_id: job.account,
  model: job.model,
  options: JSON.stringify(job.options),
  input_url: job.inputUrl,
  base_url: job.baseUrl,
  state: 'pending',
  error: null,
  created_at: job.createdAt,
  completed_at: null,
  expires_at: job.expiresAt,
  total: null,
  completed: 0,
  failed: 0,
  tokens: 0,
  done_bytes: 0,
  input_bytes: 0,
  output_bytes: 0,
  error_bytes: 0,
  lease: null,
  lease_until: 0,
  worked_at: 0,
  ready_at: 0,
  tries: 0,
  cancelling: 0,
  webhook_url: job.webhookUrl,
  webhook_at: null,
  webhook_tries: 0,
  charge_due: 0,
  litter: 'none',
});

export async function findJob({ db }: BatchDb, id: string): Promise<JobRow | undefined> {
  return db.selectFrom('batch_jobs').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Newest first. */
export async function listJobs({ db }: BatchDb, owner: string, limit: number): Promise<JobRow[]> {
  return db
    .selectFrom('batch_jobs')
    .selectAll()
    .where('owner', '=', owner)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** What every end of a job changes beside its state. */
const ending = (now: number) => ({
  completed_at: now,
  lease: null,
  litter: 'input' as const,
  charge_due: 1,
  webhook_at: sql<number | null>`case when webhook_url is null then null else cast(${now} as bigint) end`,
});

/** Sets the state where the move is legal. */
const making = (move: Exclude<MoveName, 'take'>, now: number) => ({ state: MOVES[move].to, ...ending(now) });

/**
 * Ends a job that nobody works on; to one that somebody does it is said, and it ends after the line in work. A job that
 * has ended stays as it is.
 */
/** How many jobs are in each state. */
export async function countJobs({ db }: BatchDb): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('batch_jobs')
    .select(({ fn }) => ['state', fn.countAll<number>().as('jobs')])
    .groupBy('state')
    .execute();
  return new Map(rows.map(({ state, jobs }) => [state, Number(jobs)]));
}

export async function askToCancel({ db }: BatchDb, id: string, now: number): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const idle = await transaction
      .updateTable('batch_jobs')
      .set(making('cancel', now))
      .where('id', '=', id)
      .where('state', 'in', MOVES.cancel.from)
      .where((eb) => eb.or([eb('lease', 'is', null), eb('lease_until', '<=', now)]))
      .executeTakeFirst();
    if (idle.numUpdatedRows) return;
    await transaction
      .updateTable('batch_jobs')
      .set({ cancelling: 1 })
      .where('id', '=', id)
      .where('state', 'in', MOVES.cancel.from)
      .execute();
  });
}

/** Ends it whoever works on it: what that one brings later is of no effect. */
export async function cancelNow({ db }: BatchDb, id: string, now: number): Promise<void> {
  await db
    .updateTable('batch_jobs')
    .set(making('cancel', now))
    .where('id', '=', id)
    .where('state', 'in', MOVES.cancel.from)
    .execute();
}

/** The job whose turn it is, with a lease; undefined when there is nothing to do. */
export async function takeJob(
  { db, dialect }: BatchDb,
  now: number,
  leaseMs: number,
): Promise<{ row: JobRow; lease: Lease } | undefined> {
  return db.transaction().execute(async (transaction) => {
    const next = transaction
      .selectFrom('batch_jobs')
      .select('id')
      .where('state', 'in', MOVES.take.from)
      .where('ready_at', '<=', now)
      .where('expires_at', '>', now)
      .where((eb) => eb.or([eb('lease', 'is', null), eb('lease_until', '<=', now)]))
      .orderBy('worked_at')
      .orderBy('created_at')
      .limit(1);
    const found = await (dialect === 'postgres' ? next.forUpdate().skipLocked() : next).executeTakeFirst();
    if (!found) return undefined;
    const word = randomUUID();
    const row = await transaction
      .updateTable('batch_jobs')
      .set({ state: MOVES.take.to, lease: word, lease_until: now + leaseMs, worked_at: now })
      .where('id', '=', found.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    return { row, lease: { jobId: row.id, word } };
  });
}

/** Makes the lease longer; whether the job is to be cancelled. Throws LeaseLost. */
export async function keepLease({ db }: BatchDb, lease: Lease, until: number): Promise<{ cancelling: boolean }> {
  const row = await ofLease(db, lease).set({ lease_until: until }).returning('cancelling').executeTakeFirst();
  if (!row) throw new LeaseLost();
  return { cancelling: row.cancelling === 1 };
}

const ofLease = (db: Db, { jobId, word }: Lease) =>
  db.updateTable('batch_jobs').where('id', '=', jobId).where('lease', '=', word).where('state', '=', 'processing');

/** What a worker brings. */
export interface Progress {
  /** The place in the input up to which lines have their outcome. */
  readonly doneBytes: number;
  readonly output: Uint8Array;
  readonly errors: Uint8Array;
  readonly completed: number;
  readonly failed: number;
  readonly tokens: number;
}

/** Results and progress, all or nothing; the job ends with it where a move says so. Throws LeaseLost. */
export async function writeProgress(
  { db }: BatchDb,
  lease: Lease,
  progress: Progress,
  now: number,
  end?: 'complete' | 'cancel',
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const row = await ofLease(transaction, lease)
      .set((eb) => ({
        done_bytes: progress.doneBytes,
        completed: eb('completed', '+', progress.completed),
        failed: eb('failed', '+', progress.failed),
        tokens: eb('tokens', '+', progress.tokens),
        output_bytes: eb('output_bytes', '+', progress.output.length),
        error_bytes: eb('error_bytes', '+', progress.errors.length),
        tries: 0,
        ...(end && making(end, now)),
      }))
      .returning(['output_bytes', 'error_bytes'])
      .executeTakeFirst();
    if (!row) throw new LeaseLost();
    const { jobId } = lease;
    const { output, errors } = progress;
    await appendPieces(transaction, { jobId, kind: 'output' }, row.output_bytes - output.length, output);
    await appendPieces(transaction, { jobId, kind: 'errors' }, row.error_bytes - errors.length, errors);
  });
}

/** Gives a job back, not to be taken again before a time. */
export async function releaseJob(
  { db }: BatchDb,
  lease: Lease,
  { readyAt, failed }: { readyAt: number; failed: boolean },
): Promise<void> {
  await ofLease(db, lease)
    .set((eb) => ({
      lease: null,
      ready_at: readyAt,
      ...(failed && { tries: eb('tries', '+', 1) }),
    }))
    .execute();
}

export async function failJob({ db }: BatchDb, lease: Lease, error: string, now: number): Promise<void> {
  await ofLease(db, lease)
    .set({ ...making('fail', now), error })
    .execute();
}

/** What was read of a file before a worker died is read anew. */
export async function dropInput({ db }: BatchDb, lease: Lease): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const row = await ofLease(transaction, lease).set({ input_bytes: 0 }).returning('id').executeTakeFirst();
    if (!row) throw new LeaseLost();
    await transaction
      .deleteFrom('batch_pieces')
      .where('job_id', '=', lease.jobId)
      .where('kind', '=', 'input')
      .execute();
  });
}

/** Throws LeaseLost. */
export async function appendInput({ db }: BatchDb, lease: Lease, bytes: Uint8Array): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const row = await ofLease(transaction, lease)
      .set((eb) => ({ input_bytes: eb('input_bytes', '+', bytes.length) }))
      .returning('input_bytes')
      .executeTakeFirst();
    if (!row) throw new LeaseLost();
    await appendPieces(transaction, { jobId: lease.jobId, kind: 'input' }, row.input_bytes - bytes.length, bytes);
  });
}

/** The input is there as a whole. */
export async function countInput({ db }: BatchDb, lease: Lease, total: number): Promise<void> {
  const row = await ofLease(db, lease).set({ total }).returning('id').executeTakeFirst();
  if (!row) throw new LeaseLost();
}

/** Ends jobs whose time is over, and the files of those that had ended. */
export async function expireJobs({ db }: BatchDb, now: number, id?: string): Promise<void> {
  const due = (move: 'lapse' | 'expire') => {
    const query = db.updateTable('batch_jobs').where('expires_at', '<=', now).where('state', 'in', MOVES[move].from);
    return id === undefined ? query : query.where('id', '=', id);
  };
  await due('lapse')
    .set({ ...making('lapse', now), litter: 'all' })
    .execute();
  await due('expire').set({ state: MOVES.expire.to, litter: 'all' }).execute();
}

export async function littered({ db }: BatchDb): Promise<Pick<JobRow, 'id' | 'litter'> | undefined> {
  return db
    .selectFrom('batch_jobs')
    .select(['id', 'litter'])
    .where('litter', 'in', ['input', 'all'])
    .limit(1)
    .executeTakeFirst();
}

export async function markClean({ db }: BatchDb, { id, litter }: Pick<JobRow, 'id' | 'litter'>): Promise<void> {
  await db
    .updateTable('batch_jobs')
    .set({ litter: 'none' })
    .where('id', '=', id)
    .where('litter', '=', litter)
    .execute();
}

/** Forgets jobs that were made before a time, and whose files are gone. */
export async function forgetJobs({ db }: BatchDb, before: number): Promise<void> {
  await db
    .deleteFrom('batch_jobs')
    .where('created_at', '<', before)
    .where('state', '=', 'expired')
    .where('litter', '=', 'none')
    .where('charge_due', '=', 0)
    .execute();
}

export async function uncharged({ db }: BatchDb): Promise<JobRow | undefined> {
  return db.selectFrom('batch_jobs').selectAll().where('charge_due', '=', 1).limit(1).executeTakeFirst();
}

export async function markCharged({ db }: BatchDb, id: string): Promise<void> {
  await db.updateTable('batch_jobs').set({ charge_due: 0 }).where('id', '=', id).execute();
}

/** A job whose end is to be told now; nobody else tells it before `until`. */
export async function takeWebhook({ db, dialect }: BatchDb, now: number, until: number): Promise<JobRow | undefined> {
  return db.transaction().execute(async (transaction) => {
    const next = transaction.selectFrom('batch_jobs').select('id').where('webhook_at', '<=', now).limit(1);
    const found = await (dialect === 'postgres' ? next.forUpdate().skipLocked() : next).executeTakeFirst();
    if (!found) return undefined;
    return transaction
      .updateTable('batch_jobs')
      .set((eb) => ({ webhook_at: until, webhook_tries: eb('webhook_tries', '+', 1) }))
      .where('id', '=', found.id)
      .returningAll()
      .executeTakeFirst();
  });
}

/** When to tell it again; null when it is told, or was tried often enough. */
export async function setWebhook({ db }: BatchDb, id: string, at: number | null): Promise<void> {
  await db.updateTable('batch_jobs').set({ webhook_at: at }).where('id', '=', id).execute();
}

export const jobOf = (row: Selectable<JobRow>): Job => ({
  id: row.id,
  owner: row.owner,
  account: row.account_id,
  model: row.model,
  options: JSON.parse(row.options) as Job['options'],
  state: row.state,
  error: row.error,
  createdAt: row.created_at,
  completedAt: row.completed_at,
  expiresAt: row.expires_at,
  total: row.total,
  completed: row.completed,
  failed: row.failed,
  tokens: row.tokens,
  outputBytes: isFinal(row.state) ? row.output_bytes : 0,
  errorBytes: isFinal(row.state) ? row.error_bytes : 0,
  baseUrl: row.base_url,
  webhookUrl: row.webhook_url,
});
