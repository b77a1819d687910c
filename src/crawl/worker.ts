/** Workers of one process: each takes the crawl whose turn it is, keeps its lease, and gives it back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { asProblem, Problem } from '#errors.ts';
import { DatabaseAway } from '#storage/database/away.ts';
import type { Log } from '#telemetry/log.ts';
import { endJob, keepLease, type Lease, LeaseLost, releaseJob, takeJob } from './store.ts';
import { type TurnTools, takeTurn } from './turn.ts';

export interface WorkerOptions extends TurnTools {
  /** Crawls worked on at once. */
  readonly jobs: number;
  /** How long a job rests when its worker dies. */
  readonly leaseMs: number;
  readonly log: Pick<Log, 'warn'>;
}

export interface Workers {
  /** There may be something to do. */
  wake(): void;
  /** A job is to end: whoever works on it here need not wait to be told. */
  cancel(jobId: string): void;
  /** A job has ended: what is worked on for it here is given up. */
  abandon(jobId: string): void;
  /** Leaves every job as it is written down. */
  close(): Promise<void>;
}

/** How often is looked for what others have brought. */
const LOOK_MS = 1_000;
const AWAY_PAUSE_MS = 1_000;
const PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;
/** Turns in a row that fail for the same job. */
const MAX_TRIES = 5;

interface Here {
  cancelling: boolean;
  /** Aborted when the lease is not ours any more. */
  readonly lost: AbortController;
}

export function startWorkers(options: WorkerOptions): Workers {
  const { store, leaseMs, log, now, onChange } = options;
  const closing = new AbortController();
  const here = new Map<string, Here>();
  let wake = new AbortController();

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) {
      const woken = wake.signal;
      try {
        const taken = await takeJob(store, now(), leaseMs);
        if (taken) {
          await work(taken);
          continue;
        }
      } catch (error) {
        log.warn({ err: error }, 'crawls cannot be worked on for the moment');
        await sleep(AWAY_PAUSE_MS, undefined, { signal: closing.signal }).catch(() => {});
        continue;
      }
      await sleep(LOOK_MS, undefined, { signal: AbortSignal.any([closing.signal, woken]) }).catch(() => {});
    }
  }

  async function work({ row, lease }: NonNullable<Awaited<ReturnType<typeof takeJob>>>): Promise<void> {
    const state: Here = { cancelling: row.cancelling === 1, lost: new AbortController() };
    const beats = keepAlive(lease, state);
    here.set(row.id, state);
    try {
      const signal = AbortSignal.any([closing.signal, state.lost.signal]);
      const end = await takeTurn({ row, lease, signal, cancelling: () => state.cancelling }, options);
      if (end.kind === 'later') await releaseJob(store, lease, { readyAt: end.readyAt, failed: false });
      else await endJob(store, lease, { state: end.kind, ...(end.kind === 'failed' && { error: end.error }) }, now());
    } catch (error) {
      await settle(error, lease, row.tries);
    } finally {
      here.delete(row.id);
      beats.end();
      onChange(row.id);
    }
  }

  /** What becomes of a job whose turn failed. */
  async function settle(error: unknown, lease: Lease, tries: number): Promise<void> {
    if (error instanceof LeaseLost) return;
    if (closing.signal.aborted) return releaseJob(store, lease, { readyAt: 0, failed: false });
    const isOwners = error instanceof Problem && error.code < 500;
    if (isOwners || (tries + 1 >= MAX_TRIES && !(error instanceof DatabaseAway))) {
      return endJob(store, lease, { state: 'failed', error: asProblem(error).message }, now());
    }
    log.warn({ err: error, job: lease.jobId }, 'a crawl waits');
    const waitMs = Math.min(LAST_PAUSE_MS, PAUSE_MS * 2 ** Math.min(tries, 10));
    return releaseJob(store, lease, { readyAt: now() + waitMs, failed: true });
  }

  /** Makes the lease longer in time, and sees whether it is still ours. */
  function keepAlive(lease: Lease, state: Here): { end(): void } {
    const beat = async () => {
      try {
        const { cancelling } = await keepLease(store, lease, now() + leaseMs);
        if (cancelling) state.cancelling = true;
      } catch (error) {
        // What cannot be reached now may be in time for the next beat; what is written later is bound to the lease.
        if (error instanceof LeaseLost) state.lost.abort(error);
      }
    };
    const timer = setInterval(beat, leaseMs / 4);
    return { end: () => clearInterval(timer) };
  }

  const loops = Array.from({ length: options.jobs }, loop);
  return {
    wake() {
      wake.abort();
      wake = new AbortController();
    },
    cancel(jobId) {
      const state = here.get(jobId);
      if (state) state.cancelling = true;
      onChange(jobId);
    },
    abandon: (jobId) => here.get(jobId)?.lost.abort(new LeaseLost()),
    async close() {
      closing.abort(new Error('the server is being stopped'));
      await Promise.all(loops);
    },
  };
}
