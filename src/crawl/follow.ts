/** What became of a crawl's addresses, in the order of its becoming known, and as it becomes known. */
import { type CrawlJob, isFinal } from './job.ts';
import type { Tables } from './schema.ts';
import type { CrawlDb } from './store.ts';

export interface Outcome {
  readonly seq: number;
  readonly event: Tables['crawl_results']['event'];
  /** JSON on one line. */
  readonly body: string;
}

export type FollowEvent =
  | ({ readonly kind: 'outcome' } & Outcome)
  | { readonly kind: 'progress' | 'done'; readonly job: CrawlJob }
  /** Nothing has happened for a while. */
  | { readonly kind: 'quiet' };

/** Each may be megabytes long. */
const READ_AT_ONCE = 8;
/** How often is looked for what another process has written. */
const LOOK_MS = 1_000;
const PROGRESS_MS = 1_000;
const QUIET_MS = 15_000;

/** Those behind a number that are there now. */
export async function* outcomesOf({ db }: CrawlDb, jobId: string, after: number): AsyncGenerator<Outcome> {
  for (let last = after; ; ) {
    const rows = await db
      .selectFrom('crawl_results')
      .select(['seq', 'event', 'body'])
      .where('job_id', '=', jobId)
      .where('seq', '>', last)
      .orderBy('seq')
      .limit(READ_AT_ONCE)
      .execute();
    yield* rows;
    if (rows.length < READ_AT_ONCE) return;
    last = rows.at(-1)!.seq;
  }
}

interface Followed {
  readonly id: string;
  readonly after: number;
  readonly signal: AbortSignal;
  find(id: string): Promise<CrawlJob | undefined>;
}

export function createFollowing(store: CrawlDb) {
  const waiting = new Map<string, Set<() => void>>();

  function changed(jobId: string): void {
    for (const wake of waiting.get(jobId) ?? []) wake();
  }

  /** Waits until something of the job may have changed. */
  async function change(jobId: string, signal: AbortSignal): Promise<void> {
    const wakers = waiting.get(jobId) ?? new Set();
    waiting.set(jobId, wakers);
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        wakers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, LOOK_MS);
      wakers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
    if (!wakers.size && waiting.get(jobId) === wakers) waiting.delete(jobId);
  }

  async function* follow({ id, after, signal, find }: Followed): AsyncGenerator<FollowEvent> {
    let last = after;
    let told = '';
    let toldAt = 0;
    let heardAt = performance.now();
    while (!signal.aborted) {
      // Before the outcomes are looked for: what is written later comes in the next round.
      const job = await find(id);
      if (!job) return;
      const state = JSON.stringify([job.state, job.found, job.done, job.failed, job.skipped]);
      const at = performance.now();
      if (state !== told && at - toldAt >= PROGRESS_MS && !isFinal(job.state)) {
        told = state;
        toldAt = at;
        heardAt = at;
        yield { kind: 'progress', job };
      }
      for await (const outcome of outcomesOf(store, id, last)) {
        last = outcome.seq;
        heardAt = performance.now();
        yield { kind: 'outcome', ...outcome };
        if (signal.aborted) return;
      }
      if (isFinal(job.state)) {
        yield { kind: 'done', job };
        return;
      }
      if (performance.now() - heardAt >= QUIET_MS) {
        heardAt = performance.now();
        yield { kind: 'quiet' };
      }
      await change(id, signal);
    }
  }

  return { changed, follow };
}
