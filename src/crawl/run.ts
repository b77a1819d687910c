/**
 * A worker's turn at a crawl: pages are taken from the frontier while their hosts may be asked, read a few at a time, and
 * what became of each is written down. However it ends, what was written stays and the rest is for the next turn.
 */
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { type Problem, problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import { type GivenOptions, type Options, type Reader, resolve } from '#reader/index.ts';
import { type Lease, LeaseLostError } from '#storage/jobs/lease.ts';
import { addressOf } from './address.ts';
import type { Billing, Reserve } from './billing.ts';
import { createFilter, type Filter } from './filter.ts';
import { addFound, hostReadyAt, nextPages, startsWait, type WaitingPage, waitingHosts } from './frontier.ts';
import { believedCanonical, failHost, givenAt, type Outcome, postpone, settle } from './outcome.ts';
import type { Politeness } from './politeness.ts';
import { type Reading, readPage } from './read-page.ts';
import { AGENT, createRedirectChain, type RedirectChain, type RedirectRules } from './redirects.ts';
import type { CrawlPlan } from './request.ts';
import { type JobRow, RANK } from './schema.ts';
import { sitemapUrls } from './sitemaps.ts';
import { type CrawlDb, ofLease, othersWait } from './store.ts';

export interface RunTools {
  readonly store: CrawlDb;
  readonly reader: Reader;
  readonly robots: Robots;
  /** For sitemaps. */
  readonly fetch: GuardedFetch;
  readonly userAgent: string | undefined;
  readonly manners: Politeness;
  readonly purse: Billing;
  /** How long after each try that failed a page is tried again. */
  readonly retryMs: readonly number[];
  readonly now: () => number;
  /** Something of a job has changed. */
  readonly onChange: (jobId: string) => void;
}

export interface CrawlRun {
  readonly row: JobRow;
  readonly lease: Lease;
  /** Ends it at once; pages in work are left for the next turn. */
  readonly signal: AbortSignal;
  /** Whether the job is to end after the pages in work. */
  readonly cancelling: () => boolean;
}

/** How it ended. */
export type RunEnd =
  | { readonly kind: 'completed' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly error: string }
  /** Others have their turn, or nothing can be done before a time. */
  | { readonly kind: 'later'; readonly readyAt: number };

const TURN_MS = 20_000;
/** What takes longer is not waited for while the job is held. */
const LONG_WAIT_MS = 5_000;
const LOOK_MS = 250;
const MAX_CRAWL_DELAY_MS = 60_000;
/** This server has too much to do. */
const OURS_MS = 2_000;
/** A page whose host has no turn waits so long at least. */
const LATER_MS = 1_000;
/** How often a page is asked for that its host was too busy for. */
const MAX_BUSY_TRIES = 5;
/** Failures in a row that mean that a host is gone. */
const GONE_AFTER = 15;
/** How many addresses are kept for each that is to be read: enough to go on with, however many fail. */
const FOUND_FACTOR = 20;
const LEAST_FOUND = 1_000;

export const mostFound = ({ limit }: CrawlPlan): number => limit * FOUND_FACTOR + LEAST_FOUND;

/** Throws LeaseLost, the reason of the signal, or a failure of the database. */
export async function runCrawlJob(turn: CrawlRun, tools: RunTools): Promise<RunEnd> {
  return createTurn(turn, tools).run();
}

function createTurn({ row, lease, signal, cancelling }: CrawlRun, tools: RunTools) {
  const { store, manners, purse, now } = tools;
  const plan = JSON.parse(row.plan) as CrawlPlan;
  const options: Options = resolve(JSON.parse(row.options) as GivenOptions);
  const bounds = { mostFound: mostFound(plan) };
  const payer = row.account_id === null ? undefined : { owner: row.owner, account: row.account_id };
  const inWork = new Map<string, { readonly host: string; readonly work: Promise<void> }>();
  /** Hosts of which pages may wait, and when to look for them again. */
  const hosts = new Map<string, number>();
  /** Hosts that do not answer, whose pages are being ended. */
  const gone = new Set<string>();
  const leaving = new AbortController();
  const within = AbortSignal.any([signal, leaving.signal]);
  // One a page in work, which are bounded.
  setMaxListeners(0, within);
  let job = row;
  let bases = JSON.parse(row.bases) as readonly string[];
  let filter: Filter;
  let failure: unknown;
  /** Why the last page that failed did. */
  let lastFailure: Problem | undefined;
  let wake = () => {};

  const learn = (next: JobRow, found: readonly string[] = []) => {
    // Those that were written later know more.
    if (next.last_seq >= job.last_seq) job = next;
    for (const host of found) hosts.set(host, 0);
  };

  async function run(): Promise<RunEnd> {
    filter = await createFilter(plan, () => bases);
    for (const host of await waitingHosts(store.db, row.id)) hosts.set(host, 0);
    const stop = manners.onChange(() => wake());
    const stirred = () => wake();
    within.addEventListener('abort', stirred);
    try {
      return await work();
    } finally {
      stop();
      within.removeEventListener('abort', stirred);
      leaving.abort(new Error('the turn is over'));
      await Promise.all([...inWork.values()].map((one) => one.work));
    }
  }

  async function work(): Promise<RunEnd> {
    let until = now() + TURN_MS;
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (now() >= until && !(await othersWait(store, now()))) until = now() + TURN_MS;
      if (!cancelling() && !within.aborted && job.read < plan.limit && now() < until) await startAll();
      if (failure !== undefined) throw failure;
      if (inWork.size === 0) {
        if (cancelling()) return { kind: 'cancelled' };
        if (job.read >= plan.limit || (hosts.size === 0 && !job.sitemaps_due)) return ended();
        if (now() >= until) return { kind: 'later', readyAt: 0 };
        const readyAt = nextAt();
        if (readyAt - now() > LONG_WAIT_MS) return { kind: 'later', readyAt };
      }
      await rest(woken);
    }
  }

  /** A crawl of which nothing could be read has failed. */
  function ended(): RunEnd {
    const { done, failed } = job;
    if (done > 0 || failed === 0 || failed < plan.starts.length) return { kind: 'completed' };
    return { kind: 'failed', error: lastFailure?.message ?? 'No page could be read' };
  }

  const rules = { atOnce: plan.concurrency };
  /** How long a page waits for the turn of a host that it leads to. */
  const patienceMs = Math.min(LONG_WAIT_MS, (options.timeoutMs ?? Number.POSITIVE_INFINITY) / 2);

  /** When a page may be read at the earliest, as far as is known. */
  function nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const [host, at] of hosts) next = Math.min(next, Math.max(at, manners.readyAt(host, rules)));
    // What another crawl reads of the host ends at a time that nobody knows.
    return Number.isFinite(next) ? next : now() + LOOK_MS;
  }

  async function rest(woken: Promise<void>): Promise<void> {
    const waitMs = Math.min(Math.max(nextAt() - now(), 1), LOOK_MS);
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    if (within.aborted) wake();
    await Promise.race([woken, over]).finally(() => clearTimeout(timer));
    if (failure === undefined) within.throwIfAborted();
  }

  async function startAll(): Promise<void> {
    if (job.sitemaps_due && !(await startsWait(store.db, row.id))) await readSitemaps();
    for (let started = true; started; ) {
      started = false;
      // One of each host at a time, so that all get on.
      for (const host of [...hosts.keys()]) {
        if (job.read + inWork.size >= plan.limit || cancelling() || within.aborted || !manners.hasPlace()) return;
        if ((await startOne(host)) === 'started') started = true;
      }
    }
  }

  async function startOne(host: string): Promise<'started' | 'later'> {
    const at = now();
    if (gone.has(host) || Math.max(hosts.get(host) ?? 0, manners.readyAt(host, rules)) > at) return 'later';
    // What is settled while the database is asked may still be told as waiting.
    const working = new Set(inWork.keys());
    const ofHost = [...inWork.values()].filter((one) => one.host === host).length;
    const pages = await nextPages(store.db, row.id, host, at, ofHost + 1);
    const page = pages.find(({ key }) => !working.has(key));
    if (!page) {
      if (ofHost > 0) return 'later';
      const readyAt = await hostReadyAt(store.db, row.id, host);
      if (readyAt === undefined) hosts.delete(host);
      else hosts.set(host, readyAt);
      return 'later';
    }
    // The host that a page leads to has not been asked yet by the one before.
    if (isLed(page) && ofHost > 0) return 'later';
    // Another crawl may have been faster.
    if (manners.readyAt(host, rules) > now() || !manners.hasPlace()) return 'later';
    manners.begin();
    const work = one(page)
      .catch((error: unknown) => {
        failure ??= error;
        leaving.abort(error);
      })
      .finally(() => {
        inWork.delete(page.key);
        wake();
      });
    inWork.set(page.key, { host, work });
    return 'started';
  }

  /**
   * Reads a page, and writes down what became of it, before the next one of its host is taken: it may say that the next
   * one is the same.
   */
  async function one(page: WaitingPage): Promise<void> {
    const way = createRedirectChain(addressOf(page.url)!, wayOf(page), tools, within);
    try {
      // Another server may have been faster. What waits for the host that it leads to waits for its own as well.
      if ((await way.begin(isLed(page) ? patienceMs : 0)) === undefined) await readOn(page, way);
    } finally {
      await way.end();
      manners.end();
    }
  }

  async function readOn(page: WaitingPage, way: RedirectChain): Promise<void> {
    let reading: Reading | undefined;
    let reserve: Reserve;
    const startedAt = now();
    try {
      if (payer) reserve = await purse.reserve(payer);
      reading = await readPage(
        { url: page.url, options, obeys: plan.robots, account: payer?.account, way, signal: within },
        tools,
      );
      const unreached = heard(page, reading, way);
      await write(page, reading, reserve, unreached);
      const final = reading.kind === 'page' ? reading.rendition.pageLinks.url : undefined;
      if (reading.kind === 'failed' && reading.ours) await way.end(OURS_MS);
      else if (wasAsked(reading)) await way.end('usual', final);
    } finally {
      // What is paid for is noted when it is written down.
      if (payer && reading?.kind !== 'page') noteUnpaid(reserve, reading, startedAt);
    }
  }

  const wasAsked = (reading: Reading): boolean =>
    (reading.kind !== 'forbidden' || reading.to !== undefined) && !(reading.kind === 'failed' && reading.ours);

  /** How often in a row the page's own host was not reached. */
  function heard({ host }: WaitingPage, reading: Reading, way: RedirectChain): number {
    if (way.host === undefined) return 0;
    const failed = reading.kind === 'failed' ? reading : undefined;
    const reached = wasAsked(reading) ? (failed?.reached ?? true) : undefined;
    const { unreached } = manners.heard(way.host, { busy: failed?.busy, reached });
    return way.host === host ? unreached : 0;
  }

  const wayOf = ({ rank }: WaitingPage): RedirectRules => ({
    ...rules,
    obeys: plan.robots,
    isStart: rank === RANK.start,
    allows: (url) => filter.allows(url),
    known: (key) => givenAt(store.db, row.id, key),
    delayMs: pauseAfter,
    mostMs: patienceMs,
  });

  /** The pause after an address was asked. */
  async function pauseAfter(url: string): Promise<number> {
    if (!plan.robots) return plan.delayMs;
    const seconds = (await tools.robots.rules(url, { signal: within })).crawlDelayS(AGENT) ?? 0;
    return Math.max(plan.delayMs, Math.min(seconds * 1000, MAX_CRAWL_DELAY_MS));
  }

  async function write(page: WaitingPage, reading: Reading, reserve: Reserve, unreached: number): Promise<void> {
    const at = now();
    if (reading.kind === 'later') {
      // It is asked for again just before, so that it waits there when the turn comes: one of those that wait for that host,
      // or all would ask their own each time.
      const readyAt = Math.max(at + LATER_MS, reading.readyAt - patienceMs / 2);
      return putOff({ ...page, host: reading.host, tries: page.tries - 1 }, readyAt, page.rank);
    }
    if (reading.kind === 'failed' && reading.passing) {
      const pauseMs = pauseOf(page, reading);
      if (pauseMs !== undefined && unreached < GONE_AFTER) {
        const tries = reading.ours ? page.tries - 1 : page.tries;
        return putOff({ ...page, tries }, at + pauseMs, rankOf(page, reading));
      }
    }
    if (reading.kind === 'failed') lastFailure = reading.failure;
    const outcome = await outcomeOf(page, reading);
    const settled = await settle(store, lease, page, outcome, { ...bounds, now: at, reserve });
    learn(settled.job, settled.hosts);
    if (outcome.kind === 'page' && !settled.isGiven) noteUnpaid(reserve, reading, at);
    tools.onChange(row.id);
    if (unreached < GONE_AFTER || reading.kind !== 'failed') return;
    if (gone.has(page.host)) return;
    gone.add(page.host);
    const message = `The host does not answer: ${reading.failure.message}`;
    await failHost(store, lease, page.host, problem('AssertionFailureError', { message }), learn);
    gone.delete(page.host);
    tools.onChange(row.id);
  }

  async function putOff(page: WaitingPage, readyAt: number, rank: number): Promise<void> {
    await postpone(store, lease, page, { readyAt, rank });
    if (!hosts.has(page.host)) hosts.set(page.host, readyAt);
  }

  /** How long a page rests before it is tried again; undefined when it was tried often enough. */
  function pauseOf({ tries }: WaitingPage, { busy, ours }: Extract<Reading, { kind: 'failed' }>): number | undefined {
    if (ours) return OURS_MS;
    // The host itself rests.
    if (busy) return tries < MAX_BUSY_TRIES ? 0 : undefined;
    return tools.retryMs[tries];
  }

  /** Where the caller starts comes first however often it is tried; others wait behind those not tried yet. */
  const rankOf = ({ rank }: WaitingPage, { busy, ours }: Extract<Reading, { kind: 'failed' }>) =>
    rank === RANK.start || busy || ours ? rank : RANK.retry;

  async function outcomeOf(page: WaitingPage, reading: Exclude<Reading, { kind: 'later' }>): Promise<Outcome> {
    if (reading.kind === 'known') return { ...reading, read: true };
    if (reading.kind === 'elsewhere') return { kind: 'skipped', reason: 'scope', to: reading.to, read: true };
    if (reading.kind === 'forbidden') {
      const { to } = reading;
      return { kind: 'skipped', reason: 'robots', ...(to !== undefined && { to }), read: to !== undefined };
    }
    if (reading.kind === 'failed') return { ...reading, read: true };
    const { rendition, content, ms } = reading;
    const { pageLinks } = rendition;
    const own = addressOf(page.url)!;
    const final = addressOf(pageLinks.url) ?? own;
    const moved = final.key !== own.key && page.rank === RANK.start ? movedBases(page.url, final.url) : undefined;
    if (moved) bases = moved;
    else if (final.key !== own.key && !filter.allows(final.url)) {
      return { kind: 'skipped', reason: 'scope', to: final.url, read: true };
    }
    const follows = !(plan.robots && pageLinks.nofollow);
    return {
      kind: 'page',
      page: rendition.page,
      tokens: rendition.tokens,
      model: options.modelFormat ?? '',
      ms,
      final,
      canonical: believedCanonical(rendition.page.metadata?.['lectern:canonicalUrl'], final),
      content,
      found: follows ? await filter.links(pageLinks.links, { rank: RANK.link, depth: page.depth + 1 }) : [],
      bases: moved,
    };
  }

  /** The scope lies around where a start leads. */
  const movedBases = (from: string, to: string): readonly string[] => bases.map((base) => (base === from ? to : base));

  /** A read that failed, or that gave what had been given before, is noted and costs nothing. */
  function noteUnpaid(reserve: Reserve, reading: Reading | undefined, startedAt: number): void {
    if (!payer || reserve === undefined) return;
    const status = reading?.kind === 'failed' ? reading.failure.code : reading ? 200 : CLIENT_GONE;
    const times = { at: startedAt, ms: Math.max(0, now() - startedAt) };
    purse.note({ id: `${row.id}.${randomUUID()}`, ...payer, ...times, model: '', tokens: 0, status }, reserve);
  }

  async function readSitemaps(): Promise<void> {
    const sitemapRules = { ...rules, obeys: plan.robots, delayMs: pauseAfter, starts: bases };
    for await (const urls of sitemapUrls(sitemapRules, tools, within)) {
      for (let from = 0; from < urls.length; from += SITEMAP_ROWS) {
        await add(await filter.found(urls.slice(from, from + SITEMAP_ROWS), { rank: RANK.sitemap, depth: 1 }));
        if (cancelling()) return;
        // A database in this process answers without waiting.
        await othersTurn();
      }
      if (job.found >= bounds.mostFound) break;
    }
    learnSitemaps(await ofLease(store.db, lease).set({ sitemaps_due: 0 }).returningAll().executeTakeFirst());
  }

  async function add(found: Parameters<typeof addFound>[2]): Promise<void> {
    if (!found.length) return;
    await store.db.transaction().execute(async (transaction) => {
      const at = await ofLease(transaction, lease).set({ worked_at: now() }).returning('found').executeTakeFirst();
      if (!at) throw new LeaseLostError();
      const added = await addFound(transaction, row.id, found, { found: at.found, most: bounds.mostFound });
      const changed = ofLease(transaction, lease).set({ found: at.found + added.length });
      learnSitemaps(await changed.returningAll().executeTakeFirst(), added);
    });
    tools.onChange(row.id);
  }

  function learnSitemaps(next: JobRow | undefined, added: readonly string[] = []): void {
    if (!next) throw new LeaseLostError();
    learn(next, [...new Set(added)]);
  }

  return { run };
}

/** Whether a page waits for a host that its own leads to. */
const isLed = ({ url, host }: WaitingPage): boolean => new URL(url).host !== host;

const SITEMAP_ROWS = 200;
/** Nobody waited for the answer any more (nginx's convention). */
const CLIENT_GONE = 499;
