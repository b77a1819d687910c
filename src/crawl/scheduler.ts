/**
 * Decides which page of a crawl is read next, how many pages are read in parallel, and when the run ends. Hosts are
 * served round robin. A run that has to wait for long releases its lease so that other crawls can proceed. The
 * scheduler owns the state of the run.
 */
import { setMaxListeners } from 'node:events';
import type { Problem } from '#errors.ts';
import type { Frontier, WaitingPage } from './frontier.ts';
import { LONG_WAIT_MS, type PageResult, waitsForRedirect } from './page-job.ts';
import type { HostLimits, Politeness } from './politeness.ts';
import type { CrawlPlan } from './request.ts';
import type { JobRow } from './schema.ts';
import type { Progress } from './writer.ts';

/** How a run ended. */
export type RunEnd =
  | { readonly kind: 'completed' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly error: string }
  /** Other crawls are waiting for a worker, or no page can be read before `readyAt`. */
  | { readonly kind: 'later'; readonly readyAt: number };

export interface SchedulerOptions {
  /** The job at the start of the run. */
  readonly job: JobRow;
  readonly plan: Pick<CrawlPlan, 'starts' | 'limit' | 'concurrency'>;
  /** Ends the run immediately. Pages that are being read are left for the next run. */
  readonly signal: AbortSignal;
  /** Whether the run must end after the pages that are being read. */
  readonly cancelling: () => boolean;
  readonly frontier: Frontier;
  readonly politeness: Pick<Politeness, 'readyAt' | 'hasFreePage' | 'takePage' | 'releasePage' | 'onChange'>;
  readonly now: () => number;
  /** Whether another crawl is waiting for a worker. */
  readonly hasWaitingJobs: () => Promise<boolean>;
  readonly runPage: (page: WaitingPage, signal: AbortSignal) => Promise<PageResult>;
  /** Adds the URLs in the sitemaps to the frontier, batch by batch. */
  readonly addSitemaps: (job: JobRow, signal: AbortSignal) => AsyncIterable<Progress>;
  /** Marks the waiting pages of a host as failed. */
  readonly failHost: (host: string, failure: Problem) => Promise<JobRow>;
  /** Called after each change that is visible to followers of the crawl. */
  readonly onChange: () => void;
}

/** Duration of a run while other crawls are waiting, in milliseconds. */
const RUN_MS = 20_000;
/** How often the run checks again, in milliseconds. Slots used by other crawls become free at unknown times. */
const POLL_MS = 250;

/** One run of a crawl. `run` may be called once. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #limits: HostLimits;
  readonly #stopping = new AbortController();
  readonly #signal: AbortSignal;
  #job: JobRow;
  readonly #running = new Map<string, { readonly host: string; readonly work: Promise<void> }>();
  /** Hosts that may have waiting pages, with the time at which to check them again. */
  readonly #hosts = new Map<string, number>();
  /** Hosts whose waiting pages are being marked as failed. */
  readonly #failingHosts = new Set<string>();
  /** The first error thrown by a page job. */
  #error: unknown;
  #lastFailure: Problem | undefined;
  #wake = () => {};

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#limits = { maxAtOnce: options.plan.concurrency };
    this.#signal = AbortSignal.any([options.signal, this.#stopping.signal]);
    // Every page that is being read adds a listener; their number is limited elsewhere.
    setMaxListeners(0, this.#signal);
    this.#job = options.job;
  }

  /** Reads pages until the run ends. Throws the signal's reason, or the error of a page job. */
  async run(): Promise<RunEnd> {
    const { frontier, politeness } = this.#options;
    for (const host of await frontier.hosts()) this.#hosts.set(host, 0);
    const wake = () => this.#wake();
    const unsubscribe = politeness.onChange(wake);
    this.#signal.addEventListener('abort', wake);
    try {
      return await this.#loop();
    } finally {
      unsubscribe();
      this.#signal.removeEventListener('abort', wake);
      this.#stopping.abort(new Error('the run is over'));
      await Promise.all([...this.#running.values()].map(({ work }) => work));
    }
  }

  async #loop(): Promise<RunEnd> {
    const { now, hasWaitingJobs } = this.#options;
    let until = now() + RUN_MS;
    for (;;) {
      // The wait is set up first, so that changes during the checks below are not missed.
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      if (now() >= until && !(await hasWaitingJobs())) until = now() + RUN_MS;
      if (!this.#isStopping() && !this.#isAtLimit() && now() < until) await this.#startPages();
      if (this.#error !== undefined) throw this.#error;
      const end = this.#running.size === 0 ? this.#endOfRun(until) : undefined;
      if (end) return end;
      await this.#wait(woken);
    }
  }

  #isStopping(): boolean {
    return this.#options.cancelling() || this.#signal.aborted;
  }

  #isAtLimit(): boolean {
    return this.#job.read >= this.#options.plan.limit;
  }

  /** How the run ends if no page is being read; `undefined` if it continues. */
  #endOfRun(until: number): RunEnd | undefined {
    const { cancelling, now } = this.#options;
    if (cancelling()) return { kind: 'cancelled' };
    if (this.#isAtLimit() || (this.#hosts.size === 0 && !this.#job.sitemaps_due)) return this.#endOfCrawl();
    if (now() >= until) return { kind: 'later', readyAt: 0 };
    const readyAt = this.#nextReadyAt();
    return readyAt - now() > LONG_WAIT_MS ? { kind: 'later', readyAt } : undefined;
  }

  /** A crawl has failed if all start URLs failed and no page was read. */
  #endOfCrawl(): RunEnd {
    const { done, failed } = this.#job;
    if (done > 0 || failed === 0 || failed < this.#options.plan.starts.length) return { kind: 'completed' };
    return { kind: 'failed', error: this.#lastFailure?.message ?? 'No page could be read' };
  }

  /** The earliest known time at which a page may be read. */
  #nextReadyAt(): number {
    const { politeness, now } = this.#options;
    let next = Number.POSITIVE_INFINITY;
    for (const [host, at] of this.#hosts) next = Math.min(next, Math.max(at, politeness.readyAt(host, this.#limits)));
    return Number.isFinite(next) ? next : now() + POLL_MS;
  }

  async #wait(woken: Promise<void>): Promise<void> {
    const waitMs = Math.min(Math.max(this.#nextReadyAt() - this.#options.now(), 1), POLL_MS);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    if (this.#signal.aborted) this.#wake();
    await Promise.race([woken, timeout]).finally(() => clearTimeout(timer));
    if (this.#error === undefined) this.#signal.throwIfAborted();
  }

  async #startPages(): Promise<void> {
    const { plan, frontier, politeness, addSitemaps } = this.#options;
    if (this.#job.sitemaps_due && !(await frontier.hasWaitingStarts())) {
      for await (const progress of addSitemaps(this.#job, this.#signal)) this.#advance(progress);
    }
    for (let started = true; started; ) {
      started = false;
      // One page of each host per round, so that all hosts make progress.
      for (const host of [...this.#hosts.keys()]) {
        const isFull = this.#job.read + this.#running.size >= plan.limit || !politeness.hasFreePage();
        if (isFull || this.#isStopping()) return;
        if (await this.#startPage(host)) started = true;
      }
    }
  }

  async #startPage(host: string): Promise<boolean> {
    const { frontier, politeness, now } = this.#options;
    const at = now();
    if (this.#failingHosts.has(host) || (this.#hosts.get(host) ?? 0) > at || !this.#isReady(host, at)) return false;
    // Copied before the query, because a page that finishes during the query may still be listed as waiting.
    const runningKeys = new Set(this.#running.keys());
    const runningOfHost = [...this.#running.values()].filter((one) => one.host === host).length;
    const pages = await frontier.nextPages(host, at, runningOfHost + 1);
    const page = pages.find(({ key }) => !runningKeys.has(key));
    if (!page) {
      if (runningOfHost === 0) await this.#updateHost(host);
      return false;
    }
    // The preceding page has not reached the host of the redirect yet.
    if (waitsForRedirect(page) && runningOfHost > 0) return false;
    // Another crawl may have taken the slot during the query.
    if (!this.#isReady(host, now()) || !politeness.hasFreePage()) return false;
    politeness.takePage();
    const work = this.#runPage(page)
      .catch((reason: unknown) => {
        this.#error ??= reason;
        this.#stopping.abort(reason);
      })
      .finally(() => {
        politeness.releasePage();
        this.#running.delete(page.key);
        this.#wake();
      });
    this.#running.set(page.key, { host, work });
    return true;
  }

  #isReady(host: string, at: number): boolean {
    return this.#options.politeness.readyAt(host, this.#limits) <= at;
  }

  async #updateHost(host: string): Promise<void> {
    const readyAt = await this.#options.frontier.readyAt(host);
    if (readyAt === undefined) this.#hosts.delete(host);
    else this.#hosts.set(host, readyAt);
  }

  async #runPage(page: WaitingPage): Promise<void> {
    const { runPage, failHost } = this.#options;
    const result = await runPage(page, this.#signal);
    if (result.kind === 'postponed' && !this.#hosts.has(result.host)) this.#hosts.set(result.host, result.readyAt);
    if (result.kind !== 'written') return;
    const { progress, failure, hostFailure } = result;
    if (failure) this.#lastFailure = failure;
    this.#advance(progress);
    if (!hostFailure || this.#failingHosts.has(page.host)) return;
    this.#failingHosts.add(page.host);
    this.#advance({ job: await failHost(page.host, hostFailure), hosts: [] });
    this.#failingHosts.delete(page.host);
  }

  #advance(progress: Progress): void {
    // Concurrent writes may complete in a different order.
    if (progress.job.last_seq >= this.#job.last_seq) this.#job = progress.job;
    for (const host of progress.hosts) this.#hosts.set(host, 0);
    this.#options.onChange();
  }
}
