/**
 * Queries for batch jobs that the general job table does not provide: input, progress, results, charges and webhooks.
 * One function per query.
 */
import { type Selectable, sql } from 'kysely';
import { type Lease, LeaseLostError } from '#storage/jobs/lease.ts';
import { boundToLease } from '#storage/jobs/lease-queries.ts';
import { isFinal } from '#storage/jobs/states.ts';
import { jobTable, NEW_JOB_COLUMNS } from '#storage/jobs/table.ts';
import type { Job } from './job.ts';
import { type BatchDb, releaseObjects, splitBytes, withObjects } from './objects.ts';
import { appendPieces } from './pieces.ts';
import type { Db, JobRow, PieceColumns } from './schema.ts';

export const JOBS = jobTable<JobRow>({
  name: 'batch_jobs',
  plural: 'batch jobs',
  ending: (now) => ({
    litter: 'input',
    charge_due: 1,
    webhook_at: sql<number | null>`case when webhook_url is null then null else cast(${now} as bigint) end`,
  }),
  expired: { litter: 'all' },
  removable: { litter: 'none', charge_due: 0 },
});

export interface NewJob {
  readonly id: string;
  readonly owner: string;
  readonly account: string | null;
  readonly model: string;
  readonly options: Job['options'];
  readonly baseUrl: string;
  readonly inputUrl: string | null;
  readonly inputFile?: string | null;
  readonly metadata?: Job['metadata'];
  readonly webhookUrl: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Inline input, stored as the lines that a worker reads. */
export interface StoredInput {
  readonly lines: number;
  readonly pieces: Iterable<Uint8Array>;
}

/** Throws ResourceLimitExceededError if the owner has too many unfinished jobs, and BlobsUnavailableError. */
export async function insertJob(store: BatchDb, job: NewJob, input: StoredInput | undefined): Promise<JobRow> {
  let row = newRow(job);
  await withObjects(store, inputPieces(input), (pieces) =>
    JOBS.insert(store, row, async (transaction) => {
      if (!input) return;
      const bytes = await appendPieces(transaction, { jobId: job.id, kind: 'input' }, 0, pieces);
      const counted = { total: input.lines, input_bytes: bytes };
      await transaction.updateTable('batch_jobs').set(counted).where('id', '=', job.id).execute();
      row = { ...row, ...counted };
    }),
  );
  return row;
}

function* inputPieces(input: StoredInput | undefined): Generator<PieceColumns> {
  for (const bytes of input?.pieces ?? []) yield* splitBytes(bytes);
}

const newRow = (job: NewJob): JobRow => ({
  ...NEW_JOB_COLUMNS,
  id: job.id,
  owner: job.owner,
  account_id: job.account,
  model: job.model,
  options: JSON.stringify(job.options),
  input_url: job.inputUrl,
  input_file: job.inputFile ?? null,
  metadata: job.metadata ? JSON.stringify(job.metadata) : null,
  base_url: job.baseUrl,
  created_at: job.createdAt,
  expires_at: job.expiresAt,
  total: null,
  completed: 0,
  failed: 0,
  tokens: 0,
  done_bytes: 0,
  input_bytes: 0,
  output_bytes: 0,
  error_bytes: 0,
  webhook_url: job.webhookUrl,
  webhook_at: null,
  webhook_tries: 0,
  charge_due: 0,
  litter: 'none',
});

const leased = (db: Db, lease: Lease) => boundToLease(db.updateTable('batch_jobs'), lease);

/** New results of a worker that are to be stored. */
export interface Progress {
  /** Offset in the input up to which every line has a result. */
  readonly doneBytes: number;
  readonly output: Uint8Array;
  readonly errors: Uint8Array;
  readonly completed: number;
  readonly failed: number;
  readonly tokens: number;
}

/**
 * Writes results and progress in one transaction, and ends the job if `end` is set. Throws LeaseLostError and
 * BlobsUnavailableError.
 */
export async function writeProgress(
  store: BatchDb,
  lease: Lease,
  progress: Progress,
  now: number,
  end?: 'complete' | 'cancel',
): Promise<void> {
  const { output, errors } = progress;
  await withObjects(store, splitBytes(output), (outputPieces) =>
    withObjects(store, splitBytes(errors), (errorPieces) =>
      insertProgress(store, lease, { ...progress, outputPieces, errorPieces }, now, end),
    ),
  );
}

async function insertProgress(
  { db }: BatchDb,
  lease: Lease,
  progress: Progress & Readonly<Record<'outputPieces' | 'errorPieces', Iterable<PieceColumns>>>,
  now: number,
  end: 'complete' | 'cancel' | undefined,
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const row = await leased(transaction, lease)
      .set((eb) => ({
        done_bytes: progress.doneBytes,
        completed: eb('completed', '+', progress.completed),
        failed: eb('failed', '+', progress.failed),
        tokens: eb('tokens', '+', progress.tokens),
        output_bytes: eb('output_bytes', '+', progress.output.length),
        error_bytes: eb('error_bytes', '+', progress.errors.length),
        tries: 0,
        ...(end && JOBS.ending(end, now)),
      }))
      .returning(['output_bytes', 'error_bytes'])
      .executeTakeFirst();
    if (!row) throw new LeaseLostError();
    const { jobId } = lease;
    const { output, errors, outputPieces, errorPieces } = progress;
    await appendPieces(transaction, { jobId, kind: 'output' }, row.output_bytes - output.length, outputPieces);
    await appendPieces(transaction, { jobId, kind: 'errors' }, row.error_bytes - errors.length, errorPieces);
  });
}

/** Removes partial input left behind by a dead worker, so that the file is downloaded again. */
export async function dropInput({ db }: BatchDb, lease: Lease): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const row = await leased(transaction, lease).set({ input_bytes: 0 }).returning('id').executeTakeFirst();
    if (!row) throw new LeaseLostError();
    const deleted = await transaction
      .deleteFrom('batch_pieces')
      .where('job_id', '=', lease.jobId)
      .where('kind', '=', 'input')
      .returning('object')
      .execute();
    await releaseObjects(transaction, deleted);
  });
}

/** Appends to the input. Throws LeaseLostError and BlobsUnavailableError. */
export async function appendInput(store: BatchDb, lease: Lease, bytes: Uint8Array): Promise<void> {
  await withObjects(store, splitBytes(bytes), (pieces) =>
    store.db.transaction().execute(async (transaction) => {
      const row = await leased(transaction, lease)
        .set((eb) => ({ input_bytes: eb('input_bytes', '+', bytes.length) }))
        .returning('input_bytes')
        .executeTakeFirst();
      if (!row) throw new LeaseLostError();
      await appendPieces(transaction, { jobId: lease.jobId, kind: 'input' }, row.input_bytes - bytes.length, pieces);
    }),
  );
}

/** Stores the line count, which marks the input as complete. */
export async function countInput({ db }: BatchDb, lease: Lease, total: number): Promise<void> {
  const row = await leased(db, lease).set({ total }).returning('id').executeTakeFirst();
  if (!row) throw new LeaseLostError();
}

export async function findJobToCleanUp({ db }: BatchDb): Promise<Pick<JobRow, 'id' | 'litter'> | undefined> {
  return db
    .selectFrom('batch_jobs')
    .select(['id', 'litter'])
    .where('litter', 'in', ['input', 'all'])
    .limit(1)
    .executeTakeFirst();
}

export async function markCleanedUp({ db }: BatchDb, { id, litter }: Pick<JobRow, 'id' | 'litter'>): Promise<void> {
  await db
    .updateTable('batch_jobs')
    .set({ litter: 'none' })
    .where('id', '=', id)
    .where('litter', '=', litter)
    .execute();
}

export async function findUncharged({ db }: BatchDb): Promise<JobRow | undefined> {
  return db.selectFrom('batch_jobs').selectAll().where('charge_due', '=', 1).limit(1).executeTakeFirst();
}

export async function markCharged({ db }: BatchDb, id: string): Promise<void> {
  await db.updateTable('batch_jobs').set({ charge_due: 0 }).where('id', '=', id).execute();
}

/** Leases a job whose webhook is due. No other process leases it before `until`. */
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

/** Schedules the next attempt. `at` is null if the webhook was delivered or abandoned. */
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
  inputFile: row.input_file,
  metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Job['metadata']),
});
