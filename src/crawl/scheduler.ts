/**
 * Decides which page of a crawl is read next, how many are read at once, and when the run ends. Hosts take turns, and a
 * run that waits long gives up its lease so that other crawls proceed. Owns the state of the run.
 */
import { setMaxListeners } from 'node:events';
import type { Problem } from '#errors.ts';
import type { Frontier, WaitingPage } from './frontier.ts';
import { LONG_WAIT_MS, type PageResult, waitsForRedirect } from './page-job.ts';
import type { Politeness } from './politeness.ts';
import type { CrawlPlan } from './request.ts';
import type { JobRow } from './schema.ts';
import type { Progress } from './writer.ts';

/** How a run ended. */
export type RunEnd =
  | { readonly kind: 'completed' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly error: string }
  /** Other crawls wait for a worker, or nothing can be read before `readyAt`. */
  | { readonly kind: 'later'; readonly readyAt: number };

export interface SchedulerOptions {
  /** The job at the beginning of the run. */
  readonly job: JobRow;
  readonly plan: Pick<CrawlPlan, 'starts' | 'limit' | 'concurrency'>;
  /** Ends the run at once; pages being read stay for the next run. */
  readonly signal: AbortSignal;
  /** Whether the run is to end after the pages being read. */
  readonly cancelling: () => boolean;
  readonly frontier: Frontier;
  readonly politeness: Pick<Politeness, 'readyAt' | 'hasFreePage' | 'takePage' | 'releasePage' | 'onChange'>;
  readonly now: () => number;
  /** Whether another crawl waits for a worker. */
  readonly hasWaitingJobs: () => Promise<boolean>;
  readonly runPage: (page: WaitingPage, signal: AbortSignal) => Promise<PageResult>;
  /** Adds the URLs of the sitemaps to the frontier, batch by batch. */
  readonly addSitemaps: (job: JobRow, signal: AbortSignal) => AsyncIterable<Progress>;
  /** Fails the waiting pages of a host. */
  readonly failHost: (host: string, failure: Problem) => Promise<JobRow>;
  /** Called after each change that followers of the crawl can see. */
  readonly onChange: () => void;
}

export interface Scheduler {
  /** Throws the reason of the signal, or what a page job throws. */
  run(): Promise<RunEnd>;
}

/** How long a run lasts while other crawls wait. */
const RUN_MS = 20_000;
/** How often the run looks again: slots taken by other crawls become free at an unknown time. */
const POLL_MS = 250;

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { plan, cancelling, frontier, politeness, now } = options;
  const limits = { maxAtOnce: plan.concurrency };
  const stopping = new AbortController();
  const signal = AbortSignal.any([options.signal, stopping.signal]);
  // Every page being read listens to it, and their number is bounded.
  setMaxListeners(0, signal);
  let job = options.job;
  const running = new Map<string, { readonly host: string; readonly work: Promise<void> }>();
  /** Hosts that may have waiting pages, and when to look for them again. */
  const hosts = new Map<string, number>();
  /** Hosts whose waiting pages are being failed. */
  const failingHosts = new Set<string>();
  /** What a page job threw first. */
  let error: unknown;
  let lastFailure: Problem | undefined;
  let wake = () => {};

  async function run(): Promise<RunEnd> {
    for (const host of await frontier.hosts()) hosts.set(host, 0);
    const unsubscribe = politeness.onChange(() => wake());
    const onAbort = () => wake();
    signal.addEventListener('abort', onAbort);
    try {
      return await loop();
    } finally {
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
      stopping.abort(new Error('the run is over'));
      await Promise.all([...running.values()].map(({ work }) => work));
    }
  }

  async function loop(): Promise<RunEnd> {
    let until = now() + RUN_MS;
    for (;;) {
      // Set up first, so that a change during the checks below is not missed.
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (now() >= until && !(await options.hasWaitingJobs())) until = now() + RUN_MS;
      if (!cancelling() && !signal.aborted && job.read < plan.limit && now() < until) await startPages();
      if (error !== undefined) throw error;
      const end = running.size === 0 ? endOfRun(until) : undefined;
      if (end) return end;
      await wait(woken);
    }
  }

  /** How the run ends once no page is being read; `undefined` if it goes on. */
  function endOfRun(until: number): RunEnd | undefined {
    if (cancelling()) return { kind: 'cancelled' };
    if (job.read >= plan.limit || (hosts.size === 0 && !job.sitemaps_due)) return endOfCrawl();
    if (now() >= until) return { kind: 'later', readyAt: 0 };
    const readyAt = nextReadyAt();
    return readyAt - now() > LONG_WAIT_MS ? { kind: 'later', readyAt } : undefined;
  }

  /** A crawl whose starts all failed, and of which no page was read, has failed. */
  function endOfCrawl(): RunEnd {
    const { done, failed } = job;
    if (done > 0 || failed === 0 || failed < plan.starts.length) return { kind: 'completed' };
    return { kind: 'failed', error: lastFailure?.message ?? 'No page could be read' };
  }

  /** When a page may be read at the earliest, as far as is known. */
  function nextReadyAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const [host, at] of hosts) next = Math.min(next, Math.max(at, politeness.readyAt(host, limits)));
    return Number.isFinite(next) ? next : now() + POLL_MS;
  }

  async function wait(woken: Promise<void>): Promise<void> {
    const waitMs = Math.min(Math.max(nextReadyAt() - now(), 1), POLL_MS);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    if (signal.aborted) wake();
    await Promise.race([woken, timeout]).finally(() => clearTimeout(timer));
    if (error === undefined) signal.throwIfAborted();
  }

  async function startPages(): Promise<void> {
    if (job.sitemaps_due && !(await frontier.hasWaitingStarts())) {
      for await (const progress of options.addSitemaps(job, signal)) advance(progress);
    }
    for (let started = true; started; ) {
      started = false;
      // One page of each host per round, so that all hosts proceed.
      for (const host of [...hosts.keys()]) {
        if (job.read + running.size >= plan.limit || cancelling() || signal.aborted || !politeness.hasFreePage())
          return;
        if (await startPage(host)) started = true;
      }
    }
  }

  const isReady = (host: string, at: number) => politeness.readyAt(host, limits) <= at;

  async function startPage(host: string): Promise<boolean> {
    const at = now();
    if (failingHosts.has(host) || (hosts.get(host) ?? 0) > at || !isReady(host, at)) return false;
    // Copied first: a page that ends during the query may still be listed as waiting.
    const runningKeys = new Set(running.keys());
    const runningOfHost = [...running.values()].filter((one) => one.host === host).length;
    const pages = await frontier.nextPages(host, at, runningOfHost + 1);
    const page = pages.find(({ key }) => !runningKeys.has(key));
    if (!page) {
      if (runningOfHost === 0) await updateHost(host);
      return false;
    }
    // The page before it has not reached the host of the redirect yet.
    if (waitsForRedirect(page) && runningOfHost > 0) return false;
    // Another crawl may have taken the slot during the query.
    if (!isReady(host, now()) || !politeness.hasFreePage()) return false;
    politeness.takePage();
    const work = runOne(page)
      .catch((reason: unknown) => {
        error ??= reason;
        stopping.abort(reason);
      })
      .finally(() => {
        politeness.releasePage();
        running.delete(page.key);
        wake();
      });
    running.set(page.key, { host, work });
    return true;
  }

  async function updateHost(host: string): Promise<void> {
    const readyAt = await frontier.readyAt(host);
    if (readyAt === undefined) hosts.delete(host);
    else hosts.set(host, readyAt);
  }

  async function runOne(page: WaitingPage): Promise<void> {
    const result = await options.runPage(page, signal);
    if (result.kind === 'postponed' && !hosts.has(result.host)) hosts.set(result.host, result.readyAt);
    if (result.kind !== 'written') return;
    const { progress, failure, hostFailure } = result;
    if (failure) lastFailure = failure;
    advance(progress);
    if (!hostFailure || failingHosts.has(page.host)) return;
    failingHosts.add(page.host);
    advance({ job: await options.failHost(page.host, hostFailure), hosts: [] });
    failingHosts.delete(page.host);
  }

  function advance(progress: Progress): void {
    // Concurrent writes may return in another order than they were made.
    if (progress.job.last_seq >= job.last_seq) job = progress.job;
    for (const host of progress.hosts) hosts.set(host, 0);
    options.onChange();
  }

  return { run };
}
