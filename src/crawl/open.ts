/** Opens the crawl module with its database: submits crawls, finds and follows them, and runs workers if configured. */
import path from 'node:path';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import type { GivenOptions, Reader } from '#reader/index.ts';
import { type ModuleTables, openStore, type Store } from '#storage/database/store.ts';
import { createJobAccess, newJobId } from '#storage/jobs/access.ts';
import { openJobNotifications } from '#storage/jobs/open-notifications.ts';
import type { OnJobRun, Workers } from '#storage/jobs/workers.ts';
import type { Log } from '#telemetry/log.ts';
import type { Billing } from './billing.ts';
import { type CrawlResult, createFollower, type FollowEvent, type ResultSelection, readResults } from './follow.ts';
import type { CrawlJob } from './job.ts';
import { startCrawlMaintenance } from './maintenance.ts';
import { type MapRequest, mapSite, type SiteMap } from './map-site.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import { createPoliteness } from './politeness.ts';
import type { CrawlExtras, CrawlLimits, GivenCrawl } from './request.ts';
import { resolvePlan } from './resolve-plan.ts';
import type { Tables } from './schema.ts';
import { createSharedPoliteness, type PolitenessTables } from './shared-politeness.ts';
import { insertJob, JOBS, jobOf } from './store.ts';
import { startCrawlWorkers } from './worker.ts';

export interface CrawlModuleOptions {
  readonly dataDir: string;
  /** Connection URL `postgres://…`, if several servers share the database. Default: SQLite. */
  readonly databaseUrl?: string | undefined;
  /** Connection URL `redis://…`, if jobs are announced through Redis. */
  readonly redisUrl?: string | undefined;
  readonly reader: Reader;
  readonly robots: Robots;
  /** Used to fetch sitemaps. */
  readonly fetch: GuardedFetch;
  /** User-Agent header of requests for sitemaps. */
  readonly userAgent?: string | undefined;
  readonly billing: Billing;
  readonly limits: CrawlLimits;
  /** Number of crawls that this process runs in parallel; 0 if other processes run them. */
  readonly jobs: number;
  /** Number of pages that this process reads in parallel, across all crawls. */
  readonly maxPagesAtOnce: number;
  /** How long a crawl and its results are retained after submission. */
  readonly keepMs: number;
  readonly onRun?: OnJobRun | undefined;
  readonly log: Pick<Log, 'warn'>;
  /** Duration of a worker's lease. If the worker dies, another one continues after this time. */
  readonly leaseMs?: number;
  /** Delays before each retry of a page, in milliseconds. */
  readonly retryMs?: readonly number[];
  readonly now?: () => number;
}

export interface CrawlSubmission {
  readonly owner: string;
  readonly account: string | null;
  readonly given: GivenCrawl;
  /** Validated options for each read. */
  readonly options: GivenOptions;
  readonly extras?: CrawlExtras | undefined;
  /** JSON to store with the job. It is kept when the job ends. */
  readonly data?: unknown;
  /** A key by which a repeated request is recognized: it gets the job that the first one started. */
  readonly requestKey?: string | undefined;
  /** How long requests are recognized, in milliseconds. */
  readonly repeatMs?: number | undefined;
}

/** Calls reject with DatabaseUnavailableError if the database is unreachable. */
export interface CrawlModule {
  /** Throws ParamValidationError, or ResourceLimitExceededError if the owner has ten unfinished crawls. */
  submit(submission: CrawlSubmission): Promise<CrawlJob>;
  find(id: string): Promise<CrawlJob | undefined>;
  /** Lists crawls, newest first. */
  list(owner: string, limit: number): Promise<CrawlJob[]>;
  /** Resolves once the crawl has ended. A crawl that has already ended remains unchanged. */
  cancel(job: CrawlJob): Promise<CrawlJob>;
  /** Cancels the crawl immediately and aborts the pages being read. Used if the caller has disconnected. */
  abandon(job: CrawlJob): Promise<void>;
  /** Yields the existing results in the order of their numbers. */
  results(job: CrawlJob, selection?: ResultSelection): AsyncIterable<CrawlResult>;
  /** Yields results as they are written, and progress events, until the crawl has ended. */
  follow(job: CrawlJob, after: number, signal: AbortSignal): AsyncIterable<FollowEvent>;
  /**
   * Lists the URLs of a site without a job: those in its sitemaps and the links of its start page. Throws
   * ParamValidationError, or the problem of the start page if nothing else was found.
   */
  map(request: MapRequest): Promise<SiteMap>;
  readonly limits: CrawlLimits;
  /** Number of crawls by state. */
  counts(): Promise<ReadonlyMap<string, number>>;
  /** Whether the last database call succeeded. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

const LEASE_MS = 10_000;
/** Interval between maintenance runs while this process is idle, in lease periods. */
const IDLE_LEASES = 3;
const RETRY_MS: readonly number[] = [5_000, 30_000];
/** How long the row of an expired crawl is retained. */
const REMEMBER_MS = 30 * 86_400_000;

export const CRAWL_TABLES: ModuleTables = {
  module: 'crawl',
  migrations: MIGRATIONS,
  fileIn: (dataDir) => path.join(dataDir, 'crawl', 'crawl.db'),
};

export async function openCrawl(options: CrawlModuleOptions): Promise<CrawlModule> {
  const { dataDir, databaseUrl, log } = options;
  const store = await openStore<Tables>(
    { url: databaseUrl, file: CRAWL_TABLES.fileIn(dataDir) },
    { ...CRAWL_TABLES, log },
  );
  return createModule(store, options);
}

function createModule(store: Store<Tables>, options: CrawlModuleOptions): CrawlModule {
  const {
    leaseMs = LEASE_MS,
    retryMs = RETRY_MS,
    now = Date.now,
    jobs,
    maxPagesAtOnce,
    keepMs,
    billing,
    log,
  } = options;
  const { redisUrl } = options;
  const follower = createFollower(store);
  const notifications = openJobNotifications(store.db, {
    redisUrl,
    module: CRAWL_TABLES.module,
    receives: jobs > 0,
    log,
  });
  // Several servers can share PostgreSQL, but not a SQLite file.
  const isShared = store.dialect === 'postgres';
  const sharedPoliteness = isShared
    ? createSharedPoliteness((store as Store<unknown> as Store<PolitenessTables>).db, log)
    : undefined;
  const politeness = createPoliteness(maxPagesAtOnce, now, sharedPoliteness);
  let workers: Workers | undefined;
  const maintenance = startCrawlMaintenance({
    ...{ store, billing, now, log },
    rememberMs: Math.max(REMEMBER_MS, keepMs),
    busy: () => workers?.busy() ?? false,
    restMs: IDLE_LEASES * leaseMs,
  });
  if (jobs) {
    workers = startCrawlWorkers({
      ...{ store, billing, retryMs, now, leaseMs, log, notifications },
      slots: jobs,
      onRun: options.onRun,
      reader: options.reader,
      robots: options.robots,
      fetch: options.fetch,
      userAgent: options.userAgent,
      politeness,
      onChange: follower.notify,
      onRunEnd: maintenance.wake,
    });
  }
  const { find, list, cancel } = createJobAccess({
    store,
    jobs: JOBS,
    jobOf,
    workers,
    now,
    onExpired: maintenance.wake,
  });

  return {
    async submit({ given, extras, ...submission }) {
      const { plan, starts } = await resolvePlan(given, options.limits, extras);
      const createdAt = now();
      const id = newJobId('crawl', createdAt);
      const job = { ...submission, id, plan, starts, createdAt, expiresAt: createdAt + keepMs };
      const inserted = await insertJob(store, job);
      if (inserted === id) {
        notifications?.announce(id, 0);
        workers?.wake();
      }
      return (await find(inserted))!;
    },
    find,
    list,
    map: (request) => mapSite(request, { ...options, politeness }),
    limits: options.limits,
    counts: () => JOBS.counts(store),
    async cancel(job) {
      const done = await cancel(job);
      follower.notify(job.id);
      return done;
    },
    async abandon({ id }) {
      await JOBS.cancelNow(store, id, now());
      workers?.abandon(id);
      follower.notify(id);
    },
    results: (job, selection) => readResults(store, job.id, selection),
    follow: (job, after, signal) => follower.follow({ job, after, signal, find }),
    get healthy() {
      return store.healthy;
    },
    async close() {
      await workers?.close();
      await sharedPoliteness?.close();
      await notifications?.close();
      await maintenance.close();
      await store.close();
    },
  };
}
