/** Reads the results of a crawl in the order in which they were written, and waits for new ones. */
import { type CrawlJob, isFinal } from './job.ts';
import type { Tables } from './schema.ts';
import type { CrawlDb } from './store.ts';

export interface CrawlResult {
  readonly seq: number;
  readonly event: Tables['crawl_results']['event'];
  /** JSON on a single line. */
  readonly body: string;
}

export type FollowEvent =
  | ({ readonly kind: 'result' } & CrawlResult)
  | { readonly kind: 'progress' | 'done'; readonly job: CrawlJob }
  /** Sent when nothing has happened for QUIET_MS, to keep the connection open. */
  | { readonly kind: 'quiet' };

/** Number of results read from the database at once; each result may be megabytes long. */
const READ_AT_ONCE = 8;
/** How often to check for results written by another process, in milliseconds. */
const POLL_MS = 1_000;
/** Minimum time between two progress events, in milliseconds. */
const PROGRESS_MS = 1_000;
const QUIET_MS = 15_000;

export interface ResultSelection {
  /** Only results with higher numbers; 0 by default. */
  readonly after?: number;
  /** Only these kinds of results; all by default. */
  readonly events?: readonly CrawlResult['event'][];
  /** Number of these results to skip. */
  readonly skip?: number;
}

/** Yields the existing results in the order of their numbers. */
export async function* readResults(
  { db }: CrawlDb,
  jobId: string,
  { after = 0, events, skip = 0 }: ResultSelection = {},
): AsyncGenerator<CrawlResult> {
  const chosen = db.selectFrom('crawl_results').select(['seq', 'event', 'body']).where('job_id', '=', jobId);
  const results = events ? chosen.where('event', 'in', events) : chosen;
  for (let last = after, offset = skip; ; offset = 0) {
    const next = results.where('seq', '>', last).orderBy('seq').limit(READ_AT_ONCE);
    const rows = await (offset > 0 ? next.offset(offset) : next).execute();
    yield* rows;
    if (rows.length < READ_AT_ONCE) return;
    last = rows.at(-1)!.seq;
  }
}

interface FollowOptions {
  /** As the caller has seen it last. Unless it is final, its state is the first event of a stream from the start. */
  readonly job: CrawlJob;
  readonly after: number;
  readonly signal: AbortSignal;
  find(id: string): Promise<CrawlJob | undefined>;
}

const progressOf = ({ state, found, done, failed, skipped }: CrawlJob): string =>
  JSON.stringify([state, found, done, failed, skipped]);

export function createFollower(store: CrawlDb) {
  const waiting = new Map<string, Set<() => void>>();

  /** Notifies the followers of a job. */
  function notify(jobId: string): void {
    for (const wake of waiting.get(jobId) ?? []) wake();
  }

  /** Waits until the job may have changed. */
  async function waitForChange(jobId: string, signal: AbortSignal): Promise<void> {
    const wakers = waiting.get(jobId) ?? new Set();
    waiting.set(jobId, wakers);
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        wakers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, POLL_MS);
      wakers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
    if (!wakers.size && waiting.get(jobId) === wakers) waiting.delete(jobId);
  }

  async function* follow({ job: seen, after, signal, find }: FollowOptions): AsyncGenerator<FollowEvent> {
    const { id } = seen;
    let last = after;
    let lastProgress = '';
    let progressAt = Number.NEGATIVE_INFINITY;
    let lastEventAt = performance.now();
    // A short crawl may end before its state is read again.
    if (after === 0 && !isFinal(seen.state)) {
      lastProgress = progressOf(seen);
      progressAt = lastEventAt;
      yield { kind: 'progress', job: seen };
    }
    while (!signal.aborted) {
      // The state is read before the results, so that a final state is never reported before the last result.
      const job = await find(id);
      if (!job) return;
      const state = progressOf(job);
      const at = performance.now();
      if (state !== lastProgress && at - progressAt >= PROGRESS_MS && !isFinal(job.state)) {
        lastProgress = state;
        progressAt = at;
        lastEventAt = at;
        yield { kind: 'progress', job };
      }
      for await (const result of readResults(store, id, { after: last })) {
        last = result.seq;
        lastEventAt = performance.now();
        yield { kind: 'result', ...result };
        if (signal.aborted) return;
      }
      if (isFinal(job.state)) {
        yield { kind: 'done', job };
        return;
      }
      if (performance.now() - lastEventAt >= QUIET_MS) {
        lastEventAt = performance.now();
        yield { kind: 'quiet' };
      }
      await waitForChange(id, signal);
    }
  }

  return { notify, follow };
}
