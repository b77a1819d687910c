/** Crawls for a dialect whose responses wait for the end: the crawl is submitted as by the crawl endpoint. */
import { ownerOf } from '#api/crawl/crawl.ts';
import { readCrawl } from '#api/crawl/request.ts';
import { orUnavailable } from '#api/unavailable.ts';
import type { CrawlJob, CrawlResult } from '#crawl/index.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import type { Page } from '#reader/index.ts';
import type { GivenFields, NativeCall, NativeParts } from './native.ts';

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

/** Submits a crawl. `given` has the fields of `/crawl`. */
export function startCrawl(call: NativeCall, given: GivenFields, parts: NativeParts): Promise<CrawlJob> {
  const { request, admission } = call;
  const { asked, options } = readCrawl(request, admission, parts, given);
  return orUnavailable(parts.crawls.submit({ given: asked, options, ...ownerOf(admission.caller) }));
}

/** Crawls until the end, the time limit, or the disconnection of the caller. A crawl that has not ended is cancelled. */
export async function crawlNow(
  call: NativeCall,
  given: GivenFields,
  { timeoutMs, isEnough = () => false }: CrawlEnd,
  parts: NativeParts,
): Promise<CrawlRun> {
  const { crawls } = parts;
  let job = await startCrawl(call, given, parts);
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
