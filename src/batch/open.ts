/**
 * The batch module: accepts jobs, stores them in its database, maintains them, and runs them if this process has
 * workers.
 */
import path from 'node:path';
import type { ModelRuntime, Registry } from '#models/index.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Blobs } from '#storage/blobs/blobs.ts';
import { type ModuleTables, openStore, type Store } from '#storage/database/store.ts';
import { createJobAccess, newJobId } from '#storage/jobs/access.ts';
import { openJobNotifications } from '#storage/jobs/open-notifications.ts';
import type { OnJobRun, Workers } from '#storage/jobs/workers.ts';
import type { Log } from '#telemetry/log.ts';
import { createFiles, type Files, type StoredFile } from './files.ts';
import { inlineInput } from './input.ts';
import type { Job } from './job.ts';
import { namesOf } from './line.ts';
import { createLinks, type FileKind, type Links, linkSecret } from './links.ts';
import { startBatchMaintenance } from './maintenance.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import type { BatchDb } from './objects.ts';
import { readLog } from './pieces.ts';
import type { FailureOf, ServedEmbedding } from './run-line.ts';
import type { Tables } from './schema.ts';
import { insertJob, JOBS, jobOf, type NewJob } from './store.ts';
import { RETRY_MS } from './webhook.ts';
import { startBatchWorkers } from './worker.ts';

export const BATCH_TABLES: ModuleTables = {
  module: 'batch',
  migrations: MIGRATIONS,
  fileIn: (dataDir) => path.join(dataDir, 'batch', 'batch.db'),
};

export interface BatchModuleOptions {
  readonly dataDir: string;
  /** Connection URL `postgres://…`, shared by several servers and workers. Default: SQLite. */
  readonly databaseUrl?: string | undefined;
  /** Stores large inputs, results and files, shared by the servers of the database. Default: the database. */
  readonly bucket?: Blobs | undefined;
  /** Connection URL `redis://…`, if job notifications use Redis. */
  readonly redisUrl?: string | undefined;
  readonly registry: Registry;
  readonly models: ModelRuntime;
  /** Fetches URLs chosen by callers. */
  readonly fetch: GuardedFetch;
  /** Maps a line's failure to the code and message shown to callers. */
  readonly failureOf: FailureOf;
  /** Charges a finished job. Must be idempotent, because it may be called more than once for the same job. */
  readonly charge: (job: Job) => Promise<void>;
  /** Number of jobs that this process runs concurrently; 0 if other processes run them. */
  readonly jobs: number;
  readonly onRun?: OnJobRun | undefined;
  readonly log: Pick<Log, 'warn'>;
  /** How long a job remains leased after its worker has died. */
  readonly leaseMs?: number;
  /** How long a job and its files are retained after its creation. */
  readonly keepMs?: number;
  /** Pause after a job's first failed run. It doubles with each further failure. */
  readonly pauseMs?: number;
  /** Delays between the attempts of a webhook delivery. */
  readonly webhookRetryMs?: readonly number[];
  readonly now?: () => number;
}

/** A validated submission. */
export interface Submission
  extends Pick<NewJob, 'owner' | 'account' | 'options' | 'baseUrl' | 'webhookUrl' | 'metadata'> {
  readonly model: ServedEmbedding;
  /** Parsed lines, the URL of a file that contains lines, or an uploaded file. */
  readonly input: readonly unknown[] | string | StoredFile;
}

export interface BatchFile {
  readonly bytes: number;
  /**
   * Reads a range of bytes. Throws if the job expires in the meantime. Throws BlobsUnavailableError, and a problem that
   * names the job if a part of the file is missing or damaged.
   */
  read(from: number, to: number): AsyncIterable<Uint8Array>;
}

/** Calls reject with DatabaseUnavailableError if the database is unreachable. */
export interface BatchModule {
  /** Throws ResourceLimitExceededError if the owner has ten unfinished jobs, and BlobsUnavailableError. */
  submit(submission: Submission): Promise<Job>;
  find(id: string): Promise<Job | undefined>;
  /** Lists jobs, newest first; with `after`, those that are older than that job. */
  list(owner: string, limit: number, after?: string): Promise<Job[]>;
  /** Cancels the job and returns it in its final state. If the job had already ended, that state is unchanged. */
  cancel(job: Job): Promise<Job>;
  file(job: Job, kind: FileKind): BatchFile;
  readonly links: Links;
  readonly files: Files;
  /** Number of stored jobs in each state. */
  counts(): Promise<ReadonlyMap<string, number>>;
  /** Whether the last database call succeeded. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

const LEASE_MS = 10_000;
/** Interval between maintenance runs, in lease periods, unless an event in this process triggers a run earlier. */
const REST_LEASES = 3;
const PAUSE_MS = 1_000;
const KEEP_MS = 86_400_000;
const REMEMBER_MS = 30 * 86_400_000;

export async function openBatch(options: BatchModuleOptions): Promise<BatchModule> {
  const { dataDir, databaseUrl, log } = options;
  const store = await openStore<Tables>(
    { url: databaseUrl, file: BATCH_TABLES.fileIn(dataDir) },
    { ...BATCH_TABLES, log },
  );
  try {
    return await createModule(store, options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function createModule(database: Store<Tables>, options: BatchModuleOptions): Promise<BatchModule> {
  const {
    leaseMs = LEASE_MS,
    keepMs = KEEP_MS,
    pauseMs = PAUSE_MS,
    webhookRetryMs = RETRY_MS,
    now = Date.now,
    jobs: slots,
    redisUrl,
    bucket,
    log,
  } = options;
  const { db, dialect } = database;
  const store: BatchDb = { db, dialect, objects: bucket && { bucket, now } };
  const files = createFiles(store, now);
  const links = createLinks(await linkSecret(db));
  const notifications = openJobNotifications(db, {
    redisUrl,
    module: BATCH_TABLES.module,
    receives: slots > 0,
    log,
  });
  let workers: Workers | undefined;
  const chores = startBatchMaintenance({
    ...options,
    ...{ store, links, now, webhookRetryMs },
    rememberMs: REMEMBER_MS,
    busy: () => workers?.busy() ?? false,
    restMs: REST_LEASES * leaseMs,
  });
  if (slots) {
    workers = startBatchWorkers({
      ...options,
      slots,
      store,
      files,
      leaseMs,
      pauseMs,
      now,
      notifications,
      onEnd: chores.wake,
    });
  }
  const { find, list, cancel } = createJobAccess({ store, jobs: JOBS, jobOf, workers, now, onExpired: chores.wake });

  return {
    async submit({ model, input, ...given }) {
      const createdAt = now();
      const job: NewJob = {
        ...given,
        id: newJobId('batch', createdAt),
        model: model.name,
        inputUrl: typeof input === 'string' ? input : null,
        inputFile: isUpload(input) ? input.id : null,
        createdAt,
        expiresAt: createdAt + keepMs,
      };
      const isModel = namesOf(model.name, model.row.id, model.row.hub);
      const isStored = typeof input === 'string' || isUpload(input);
      const row = await insertJob(store, job, isStored ? undefined : inlineInput(input, isModel));
      notifications?.announce(row.id, 0);
      workers?.wake();
      return jobOf(row);
    },
    find,
    list,
    async cancel(job) {
      const done = await cancel(job);
      chores.wake();
      return done;
    },
    file: (job, kind) => ({
      bytes: kind === 'output' ? job.outputBytes : job.errorBytes,
      read: (from, to) => readLog(store, { jobId: job.id, kind }, from, to),
    }),
    links,
    files,
    counts: () => JOBS.counts(store),
    get healthy() {
      return database.healthy;
    },
    async close() {
      await workers?.close();
      await notifications?.close();
      await chores.close();
      await database.close();
    },
  };
}

const isUpload = (input: Submission['input']): input is StoredFile => typeof input === 'object' && 'bytes' in input;
