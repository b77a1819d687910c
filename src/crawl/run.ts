/**
 * A worker's run of a crawl: connects the scheduler, the page jobs and the writer. No matter why a run ends, everything
 * that it has written is preserved, and the next run continues from there.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import { type GivenOptions, type Reader, resolve } from '#reader/index.ts';
import type { Lease } from '#storage/jobs/lease.ts';
import type { Billing } from './billing.ts';
import { createFilter } from './filter.ts';
import { createFrontier } from './frontier.ts';
import { createDelay, type PageContext, runPageJob } from './page-job.ts';
import type { Politeness } from './politeness.ts';
import type { CrawlPlan } from './request.ts';
import { type RunEnd, Scheduler } from './scheduler.ts';
import { type JobRow, RANK } from './schema.ts';
import { type SitemapTools, sitemapUrls } from './sitemaps.ts';
import { type CrawlDb, hasWaitingJobs } from './store.ts';
import { createWriter, type Progress, type Writer } from './writer.ts';

export interface RunTools {
  readonly store: CrawlDb;
  readonly reader: Reader;
  readonly robots: Robots;
  /** Used for sitemaps. */
  readonly fetch: GuardedFetch;
  readonly userAgent: string | undefined;
  readonly politeness: Politeness;
  readonly billing: Billing;
  /** Delays before each retry of a page, in milliseconds. */
  readonly retryMs: readonly number[];
  readonly now: () => number;
  /** Called when a job has changed. */
  readonly onChange: (jobId: string) => void;
}

export interface CrawlRun {
  readonly row: JobRow;
  readonly lease: Lease;
  /** Ends the run immediately. Pages that are being read are left for the next run. */
  readonly signal: AbortSignal;
  /** Whether the run must end after the pages that are being read. */
  readonly cancelling: () => boolean;
}

/**
 * The frontier contains at most FOUND_FACTOR URLs for each page to read, plus MIN_FOUND. This is enough even if many
 * pages fail.
 */
const FOUND_FACTOR = 20;
const MIN_FOUND = 1_000;
const SITEMAP_URLS_AT_ONCE = 200;

/** Throws LeaseLostError, the signal's reason, a Problem from billing, or a database failure. */
export async function runCrawlJob(run: CrawlRun, tools: RunTools): Promise<RunEnd> {
  const { row, lease, signal, cancelling } = run;
  const { store, politeness, now } = tools;
  const plan = JSON.parse(row.plan) as CrawlPlan;
  const maxFound = plan.limit * FOUND_FACTOR + MIN_FOUND;
  const filter = await createFilter(plan, JSON.parse(row.bases) as readonly string[]);
  const writer = createWriter({ store, lease, maxFound, keepsDuplicates: plan.keepsDuplicates ?? false, now });
  const pages: PageContext = {
    ...tools,
    jobId: row.id,
    plan,
    options: resolve(JSON.parse(row.options) as GivenOptions),
    payer: row.account_id === null ? undefined : { owner: row.owner, account: row.account_id },
    filter,
    writer,
  };
  const scheduler = new Scheduler({
    job: row,
    ...{ plan, signal, cancelling, politeness, now },
    frontier: createFrontier(store.db, row.id),
    hasWaitingJobs: () => hasWaitingJobs(store, now()),
    runPage: (page, pageSignal) => runPageJob(page, pages, pageSignal),
    addSitemaps: (job, runSignal) => addSitemaps(job, { ...pages, ...tools, writer, maxFound, cancelling }, runSignal),
    failHost: writer.failHost,
    onChange: () => tools.onChange(row.id),
  });
  return scheduler.run();
}

interface SitemapContext extends Pick<PageContext, 'plan' | 'filter'>, SitemapTools {
  readonly writer: Pick<Writer, 'addUrls' | 'endSitemaps'>;
  readonly maxFound: number;
  readonly cancelling: () => boolean;
}

/** Adds the URLs in the sitemaps to the frontier until it is full or the crawl is cancelled. */
async function* addSitemaps(job: JobRow, context: SitemapContext, signal: AbortSignal): AsyncGenerator<Progress> {
  const { plan, filter, writer, robots, maxFound, cancelling } = context;
  const rules = {
    maxAtOnce: plan.concurrency,
    obeysRobots: plan.robots,
    delayMs: createDelay(plan, robots, signal),
    starts: filter.bases,
  };
  let { found } = job;
  for await (const urls of sitemapUrls(rules, context, signal)) {
    for (let from = 0; from < urls.length; from += SITEMAP_URLS_AT_ONCE) {
      const some = urls.slice(from, from + SITEMAP_URLS_AT_ONCE);
      const accepted = await filter.keepUrls(some, { rank: RANK.sitemap, depth: 1 });
      if (accepted.length) {
        const progress = await writer.addUrls(accepted);
        found = progress.job.found;
        yield progress;
      }
      if (cancelling()) return;
      // A database in this process returns results without yielding to the event loop.
      await yieldToEventLoop();
    }
    if (found >= maxFound) break;
  }
  yield { job: await writer.endSitemaps(), hosts: [] };
}
