/**
 * Reads one page of a crawl: acquires a slot of its host, reads the page, and writes its outcome to the database. It
 * does not change the state of the run, but returns everything that the scheduler needs to know.
 */
import { randomUUID } from 'node:crypto';
import { type Problem, problem } from '#errors.ts';
import type { Robots } from '#net/robots/robots.ts';
import type { Options, Reader } from '#reader/index.ts';
import type { Billing, Reservation } from './billing.ts';
import { trustedCanonical } from './duplicates.ts';
import type { Filter } from './filter.ts';
import type { WaitingPage } from './frontier.ts';
import { normalizeUrl } from './normalize-url.ts';
import type { Outcome } from './outcome.ts';
import type { Politeness } from './politeness.ts';
import { type FailedRead, type ReadResult, readPage } from './read-page.ts';
import { createRedirectChain, type RedirectChain, type RedirectRules, ROBOTS_AGENT } from './redirects.ts';
import type { CrawlPlan } from './request.ts';
import { RANK } from './schema.ts';
import type { Progress, Writer } from './writer.ts';

/** Values shared by all pages of a run. */
export interface PageContext {
  readonly jobId: string;
  readonly plan: CrawlPlan;
  readonly options: Options;
  /** `undefined` on a server without keys. */
  readonly payer: { readonly owner: string; readonly account: string } | undefined;
  readonly filter: Filter;
  readonly writer: Pick<Writer, 'writeOutcome' | 'postpone' | 'findDuplicate'>;
  readonly reader: Reader;
  readonly robots: Robots;
  readonly politeness: Politeness;
  readonly billing: Pick<Billing, 'reserve' | 'note'>;
  /** Delays before each retry of a page, in milliseconds. */
  readonly retryMs: readonly number[];
  readonly now: () => number;
}

export type PageResult =
  /** Another server is using the host's slot. The page continues to wait. */
  | { readonly kind: 'not-started' }
  /** The page waits until `readyAt`, under `host`. */
  | { readonly kind: 'postponed'; readonly host: string; readonly readyAt: number }
  | {
      readonly kind: 'written';
      readonly progress: Progress;
      /** Why the page failed, if it did. */
      readonly failure?: Problem;
      /** Set if the page's host no longer responds, so that its other pages fail too. */
      readonly hostFailure?: Problem;
    };

/** Maximum wait for a host's slot while the worker has the job's lease. */
export const LONG_WAIT_MS = 5_000;
const MAX_CRAWL_DELAY_MS = 60_000;
/** Pause if this server is overloaded, in milliseconds. */
const OVERLOAD_PAUSE_MS = 2_000;
/** Minimum wait for a page that redirects to a host without a free slot. */
const MIN_POSTPONE_MS = 1_000;
/** Maximum number of retries of a page because its host was busy. */
const MAX_BUSY_TRIES = 5;
/** Number of consecutive failures to reach a host after which its remaining pages are failed. */
const MAX_UNREACHED = 15;
/** Status for a read that was aborted ("client closed request" in nginx). */
const CLIENT_CLOSED_REQUEST = 499;

/** Throws LeaseLostError, the signal's reason, a Problem from billing, or a database failure. */
export async function runPageJob(page: WaitingPage, context: PageContext, signal: AbortSignal): Promise<PageResult> {
  const rules = redirectRules(page, context, signal);
  const chain = createRedirectChain(normalizeUrl(page.url)!, rules, context, signal);
  try {
    // A page that waits for its redirect target's host also waits for its own host.
    const readyAt = await chain.begin(waitsForRedirect(page) ? rules.maxWaitMs : 0);
    return readyAt === undefined ? await readAndWrite(page, chain, context, signal) : { kind: 'not-started' };
  } finally {
    await chain.end();
  }
}

/** Whether a page is waiting for a slot of the host that it redirects to. */
export const waitsForRedirect = ({ url, host }: WaitingPage): boolean => new URL(url).host !== host;

/** How long a redirect may wait for a slot of its target's host. */
const redirectWaitMs = ({ timeoutMs = Number.POSITIVE_INFINITY }: Options): number =>
  Math.min(LONG_WAIT_MS, timeoutMs / 2);

function redirectRules({ rank }: WaitingPage, context: PageContext, signal: AbortSignal): RedirectRules {
  const { plan, options, filter, writer, robots } = context;
  return {
    maxAtOnce: plan.concurrency,
    obeysRobots: plan.robots,
    isStart: rank === RANK.start,
    allows: filter.allows,
    findDuplicate: writer.findDuplicate,
    delayMs: createDelay(plan, robots, signal),
    maxWaitMs: redirectWaitMs(options),
  };
}

/**
 * How long to wait after a request to a host: the plan's delay, or the Crawl-delay in its robots.txt if that is longer.
 */
export function createDelay(plan: CrawlPlan, robots: Robots, signal: AbortSignal): RedirectRules['delayMs'] {
  return async (url) => {
    if (!plan.robots) return plan.delayMs;
    const seconds = (await robots.rules(url, { signal })).crawlDelayS(ROBOTS_AGENT) ?? 0;
    return Math.max(plan.delayMs, Math.min(seconds * 1000, MAX_CRAWL_DELAY_MS));
  };
}

/**
 * The outcome is written before the slot is released, because the host's next page may turn out to be a duplicate of
 * this one.
 */
async function readAndWrite(
  page: WaitingPage,
  chain: RedirectChain,
  context: PageContext,
  signal: AbortSignal,
): Promise<PageResult> {
  const { plan, options, payer, billing, now } = context;
  const startedAt = now();
  let read: ReadResult | undefined;
  let reservation: Reservation;
  try {
    if (payer) reservation = await billing.reserve(payer);
    const request = {
      url: page.url,
      options,
      obeysRobots: plan.robots,
      account: payer?.account,
      details: plan.details,
    };
    read = await readPage({ ...request, chain, signal }, context);
    const unreached = reportToHost(page, read, chain, context);
    const result = await write(page, { read, reservation, unreached }, context);
    if (read.kind === 'failed' && read.isOverloaded) await chain.end(OVERLOAD_PAUSE_MS);
    else if (wasRequested(read)) {
      await chain.end('usual', read.kind === 'page' ? read.rendition.pageLinks.url : undefined);
    }
    return result;
  } finally {
    // A page that was read is charged when its outcome is written.
    if (read?.kind !== 'page') noteFreeRead({ read, reservation, startedAt }, context);
  }
}

/** Whether the host received a request. */
const wasRequested = (read: ReadResult): boolean =>
  (read.kind !== 'forbidden' || read.to !== undefined) && !(read.kind === 'failed' && read.isOverloaded);

/**
 * Reports to the limiter how the host responded. Returns the number of consecutive failures to reach the page's own
 * host.
 */
function reportToHost(
  { host }: WaitingPage,
  read: ReadResult,
  chain: RedirectChain,
  { politeness }: PageContext,
): number {
  if (chain.host === undefined) return 0;
  const failed = read.kind === 'failed' ? read : undefined;
  const isReached = wasRequested(read) ? (failed?.isReached ?? true) : undefined;
  const { unreached } = politeness.report(chain.host, { busy: failed?.busy, isReached });
  return chain.host === host ? unreached : 0;
}

interface FinishedRead {
  readonly read: ReadResult;
  readonly reservation: Reservation;
  /** The number of consecutive failures to reach the page's own host. */
  readonly unreached: number;
}

async function write(
  page: WaitingPage,
  { read, reservation, unreached }: FinishedRead,
  context: PageContext,
): Promise<PageResult> {
  const { options, writer, now } = context;
  const at = now();
  if (read.kind === 'host-not-ready') {
    // The page is scheduled again shortly before the slot is free. One page of this host then waits there, and the other
    // pages do not request their own hosts each time.
    const readyAt = Math.max(at + MIN_POSTPONE_MS, read.readyAt - redirectWaitMs(options) / 2);
    await writer.postpone({ ...page, host: read.host, tries: page.tries - 1 }, { readyAt, rank: page.rank });
    return { kind: 'postponed', host: read.host, readyAt };
  }
  const delayMs = read.kind === 'failed' && unreached < MAX_UNREACHED ? retryDelayMs(page, read, context) : undefined;
  if (read.kind === 'failed' && delayMs !== undefined) {
    const tries = read.isOverloaded ? page.tries - 1 : page.tries;
    const readyAt = at + delayMs;
    await writer.postpone({ ...page, tries }, { readyAt, rank: retryRank(page, read) });
    return { kind: 'postponed', host: page.host, readyAt };
  }
  const outcome = await outcomeOf(page, read, context);
  const { isDelivered, ...progress } = await writer.writeOutcome(page, outcome, reservation);
  if (outcome.kind === 'page' && !isDelivered) noteFreeRead({ read, reservation, startedAt: at }, context);
  if (read.kind !== 'failed') return { kind: 'written', progress };
  const { failure } = read;
  if (unreached < MAX_UNREACHED) return { kind: 'written', progress, failure };
  const message = `The host does not respond: ${failure.message}`;
  return { kind: 'written', progress, failure, hostFailure: problem('AssertionFailureError', { message }) };
}

/** How long a page waits before its retry; `undefined` if it is not retried. */
function retryDelayMs({ tries }: WaitingPage, read: FailedRead, { retryMs }: PageContext): number | undefined {
  if (!read.isTransient) return undefined;
  if (read.isOverloaded) return OVERLOAD_PAUSE_MS;
  // The host itself has a back-off.
  if (read.busy) return tries < MAX_BUSY_TRIES ? 0 : undefined;
  return retryMs[tries];
}

/** A start URL retains its rank. Other pages are retried after the pages that have not been tried yet. */
const retryRank = ({ rank }: WaitingPage, { busy, isOverloaded }: FailedRead) =>
  rank === RANK.start || busy || isOverloaded ? rank : RANK.retry;

async function outcomeOf(
  page: WaitingPage,
  read: Exclude<ReadResult, { kind: 'host-not-ready' }>,
  { plan, options, filter }: PageContext,
): Promise<Outcome> {
  if (read.kind === 'duplicate' || read.kind === 'failed') return { ...read, read: true };
  if (read.kind === 'out-of-scope') return { kind: 'skipped', reason: 'scope', to: read.to, read: true };
  if (read.kind === 'forbidden') {
    const { to } = read;
    return { kind: 'skipped', reason: 'robots', ...(to !== undefined && { to }), read: to !== undefined };
  }
  const { rendition, content, ms } = read;
  const { pageLinks } = rendition;
  const own = normalizeUrl(page.url)!;
  const final = normalizeUrl(pageLinks.url) ?? own;
  const isRedirected = final.key !== own.key;
  // If a start URL redirects, the scope changes to the target.
  const bases = isRedirected && page.rank === RANK.start ? filter.moveBase(page.url, final.url) : undefined;
  if (isRedirected && !bases && !filter.allows(final.url)) {
    return { kind: 'skipped', reason: 'scope', to: final.url, read: true };
  }
  const followsLinks = !(plan.robots && pageLinks.nofollow);
  return {
    kind: 'page',
    page: rendition.page,
    details: rendition.details,
    tokens: rendition.tokens,
    model: options.modelFormat ?? '',
    ms,
    final,
    canonical: trustedCanonical(rendition.page.metadata?.['lectern:canonicalUrl'], final),
    content,
    found: followsLinks ? await filter.keepLinks(pageLinks.links, { rank: RANK.link, depth: page.depth + 1 }) : [],
    bases,
  };
}

interface FreeRead {
  readonly read: ReadResult | undefined;
  readonly reservation: Reservation;
  readonly startedAt: number;
}

/** Releases the reservation of a read that failed or found a duplicate. The read is recorded and costs nothing. */
function noteFreeRead({ read, reservation, startedAt }: FreeRead, { jobId, payer, billing, now }: PageContext): void {
  if (!payer || reservation === undefined) return;
  const status = read?.kind === 'failed' ? read.failure.code : read ? 200 : CLIENT_CLOSED_REQUEST;
  const times = { at: startedAt, ms: Math.max(0, now() - startedAt) };
  billing.note({ id: `${jobId}.${randomUUID()}`, ...payer, ...times, model: '', tokens: 0, status }, reservation);
}
