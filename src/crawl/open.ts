/** The room with its database: crawls are taken in, looked after, worked on where there are workers, and followed. */
import path from 'node:path';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import type { GivenOptions, Reader } from '#reader/index.ts';
import { type ModuleTables, openStore, type Store } from '#storage/database/store.ts';
import { jobDesk, newJobId } from '#storage/jobs/access.ts';
import { openJobNotifications } from '#storage/jobs/open-notifications.ts';
import type { Workers } from '#storage/jobs/workers.ts';
import type { Log } from '#telemetry/log.ts';
import type { Billing } from './billing.ts';
import { startCrawlChores } from './chores.ts';
import { createFollowing, type FollowEvent, type Outcome, outcomesOf } from './follow.ts';
import type { CrawlJob } from './job.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import { planOf } from './plan.ts';
import { createPoliteness } from './politeness.ts';
import type { CrawlLimits, GivenCrawl } from './request.ts';
import type { Tables } from './schema.ts';
import { createSharedPoliteness, type PolitenessTables } from './shared-politeness.ts';
import { insertJob, JOBS, jobOf } from './store.ts';
import { startCrawlWorkers } from './worker.ts';

export interface CrawlModuleOptions {
  readonly dataDir: string;
  /** `postgres://…`, shared by several servers; SQLite without one. */
  readonly databaseUrl?: string | undefined;
  /** `redis://…`, where turns go through Redis. */
  readonly redisUrl?: string | undefined;
  readonly reader: Reader;
  readonly robots: Robots;
  /** The way out to addresses that callers chose. */
  readonly fetch: GuardedFetch;
  /** Who asks for sitemaps. */
  readonly userAgent?: string | undefined;
  readonly purse: Billing;
  readonly limits: CrawlLimits;
  /** Crawls that this process works on at once; none where others do. */
  readonly jobs: number;
  /** Pages that this process reads at once for crawls. */
  readonly pagesAtOnce: number;
  /** How long a crawl and its pages are kept from its beginning on. */
  readonly keepMs: number;
  readonly log: Pick<Log, 'warn'>;
  /** How long a crawl rests when its worker dies. */
  readonly leaseMs?: number;
  /** How long after each try that failed a page is tried again. */
  readonly retryMs?: readonly number[];
  readonly now?: () => number;
}

/** What is asked for. */
export interface Submission {
  readonly owner: string;
  readonly account: string | null;
  readonly asked: GivenCrawl;
  /** Options of each read, checked. */
  readonly options: GivenOptions;
}

/** Calls reject with DatabaseAway when the database cannot be reached. */
export interface CrawlModule {
  /** ParamValidationError for what cannot be done; ResourceLimitExceededError for an owner with ten crawls under way. */
  submit(submission: Submission): Promise<CrawlJob>;
  find(id: string): Promise<CrawlJob | undefined>;
  /** Newest first. */
  list(owner: string, limit: number): Promise<CrawlJob[]>;
  /** The crawl when it has ended: cancelled, or as it had ended before. */
  cancel(job: CrawlJob): Promise<CrawlJob>;
  /** Cancels it for a caller who has gone: its pages in work are given up too. */
  abandon(job: CrawlJob): Promise<void>;
  /** What became of addresses behind a number, as far as it is known now. */
  outcomes(job: CrawlJob, after: number): AsyncIterable<Outcome>;
  /** The same as it becomes known, with the state of the crawl in between, until it has ended. */
  follow(job: CrawlJob, after: number, signal: AbortSignal): AsyncIterable<FollowEvent>;
  /** How many crawls there are in each state. */
  counts(): Promise<ReadonlyMap<string, number>>;
  /** Whether the database answered last time. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

const LEASE_MS = 10_000;
/** How many leases pass until chores are seen to that no event here asks for. */
const REST_LEASES = 3;
const RETRY_MS: readonly number[] = [5_000, 30_000];
const REMEMBER_MS = 30 * 86_400_000;

export const CRAWL_TABLES: ModuleTables = {
  room: 'crawl',
  migrations: MIGRATIONS,
  fileIn: (dataDir) => path.join(dataDir, 'crawl', 'crawl.db'),
};

export async function openCrawl(options: CrawlModuleOptions): Promise<CrawlModule> {
  const { dataDir, databaseUrl, log } = options;
  const store = await openStore<Tables>(
    { url: databaseUrl, file: CRAWL_TABLES.fileIn(dataDir) },
    { ...CRAWL_TABLES, log },
  );
  return furnish(store, options);
}

function furnish(store: Store<Tables>, options: CrawlModuleOptions): CrawlModule {
  const { leaseMs = LEASE_MS, retryMs = RETRY_MS, now = Date.now, jobs, pagesAtOnce, keepMs, purse, log } = options;
  const { redisUrl } = options;
  const following = createFollowing(store);
  const turns = openJobNotifications(store.db, { redisUrl, room: CRAWL_TABLES.room, takes: jobs > 0, log });
  // A file of SQLite is one server's.
  const isShared = jobs > 0 && store.dialect === 'postgres';
  const hostTurns = isShared
    ? createSharedPoliteness((store as Store<unknown> as Store<PolitenessTables>).db, log)
    : undefined;
  let workers: Workers | undefined;
  const chores = startCrawlChores({
    ...{ store, purse, now, log },
    rememberMs: Math.max(REMEMBER_MS, keepMs),
    busy: () => workers?.busy() ?? false,
    restMs: REST_LEASES * leaseMs,
  });
  if (jobs) {
    workers = startCrawlWorkers({
      ...{ store, purse, retryMs, now, leaseMs, log, turns },
      slots: jobs,
      reader: options.reader,
      robots: options.robots,
      fetch: options.fetch,
      userAgent: options.userAgent,
      manners: createPoliteness(pagesAtOnce, now, hostTurns),
      onChange: following.changed,
      onTurn: chores.wake,
    });
  }
  const { find, list, cancel } = jobDesk({ store, jobs: JOBS, jobOf, workers, now, onExpired: chores.wake });

  return {
    async submit({ asked, ...given }) {
      const { plan, starts } = await planOf(asked, options.limits);
      const createdAt = now();
      const id = newJobId('crawl', createdAt);
      const row = await insertJob(store, { ...given, id, plan, starts, createdAt, expiresAt: createdAt + keepMs });
      turns?.announce(id, 0);
      workers?.wake();
      return jobOf(row);
    },
    find,
    list,
    counts: () => JOBS.counts(store),
    async cancel(job) {
      const done = await cancel(job);
      following.changed(job.id);
      return done;
    },
    async abandon({ id }) {
      await JOBS.cancelNow(store, id, now());
      workers?.abandon(id);
      following.changed(id);
    },
    outcomes: (job, after) => outcomesOf(store, job.id, after),
    follow: (job, after, signal) => following.follow({ id: job.id, after, signal, find }),
    get healthy() {
      return store.healthy;
    },
    async close() {
      await workers?.close();
      await hostTurns?.close();
      await turns?.close();
      await chores.close();
      await store.close();
    },
  };
}
