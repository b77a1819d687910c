/** Crawls for a dialect whose responses wait for the end. */
import type { CrawlJob, CrawlResult } from '#crawl/index.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import type { Page } from '#reader/index.ts';
import type { NativeCrawls } from './crawls.ts';
import type { GivenFields, NativeCall } from './native.ts';

/** The outcome of one URL, as in the native response. */
export interface CrawlOutcome {
  readonly event: CrawlResult['event'];
  readonly url: string;
  /** Number of links from the start URL. */
  readonly depth: number;
  /** Set for the event `page`. */
  readonly page?: Page;
  /** Set for the event `failed`. */
  readonly error?: { readonly name: string; readonly message: string };
}

export interface CrawlRun {
  /** The crawl in its last known state. */
  readonly job: CrawlJob;
  readonly outcomes: readonly CrawlOutcome[];
}

export interface CrawlEnd {
  readonly timeoutMs: number;
  /** Whether to cancel the crawl early. Called after each outcome. Default: never. */
  readonly isEnough?: (outcome: CrawlOutcome, job: CrawlJob) => boolean | Promise<boolean>;
}

/** Starts a crawl (`given` has the fields of `/crawl`), and follows it until the end, the time limit, or the disconnection of the caller. A crawl that has not ended is cancelled. */
export async function crawlNow(
  call: NativeCall,
  given: GivenFields,
  { timeoutMs, isEnough = () => false }: CrawlEnd,
  crawls: NativeCrawls,
): Promise<CrawlRun> {
  let job = await crawls.start(call, { fields: given, extras: {} });
  const signal = AbortSignal.any([disconnectSignal(call.reply), AbortSignal.timeout(timeoutMs)]);
  const outcomes: CrawlOutcome[] = [];
  let hasEnded = false;
  for await (const event of crawls.follow(job, 0, signal)) {
    if (event.kind === 'progress' || event.kind === 'done') job = event.job;
    hasEnded = event.kind === 'done';
    if (event.kind !== 'result') continue;
    const outcome: CrawlOutcome = { ...JSON.parse(event.body), event: event.event };
    outcomes.push(outcome);
    if (await isEnough(outcome, job)) break;
  }
  if (!hasEnded) await crawls.abandon(job);
  return { job, outcomes };
}
