/**
 * Workers of one process over durable jobs: each takes the job whose turn it is, keeps its lease for as long as it works
 * on it, and gives it back. What kind of job it is, and what becomes of one whose turn failed, its room says.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#telemetry/log.ts';

/** Whoever works on a job has a word of its own; what it changes is bound to that word. */
export interface Lease {
  readonly jobId: string;
  readonly word: string;
}

/** Another worker has the job now, or it has ended. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** What every kind of job has, as it is kept. */
export interface LeasedRow {
  readonly id: string;
  /** 1 when it is to end. */
  readonly cancelling: number;
  /** Turns in a row that failed. */
  readonly tries: number;
}

export interface Taken<Row> {
  readonly row: Row;
  readonly lease: Lease;
}

/** A turn of a job. */
export interface Turn<Row> extends Taken<Row> {
  /** Aborted when the lease is lost, and when the process stops. */
  readonly signal: AbortSignal;
  readonly cancelling: () => boolean;
}

export interface JobKind<Row extends LeasedRow> {
  /** What jobs of this kind are called in the log: `crawls`. */
  readonly name: string;
  take(): Promise<Taken<Row> | undefined>;
  /** Makes the lease longer; whether the job is to be cancelled. Throws LeaseLost. */
  keep(lease: Lease): Promise<{ readonly cancelling: boolean }>;
  /** Gives a job back, not to be taken again before a time. */
  release(lease: Lease, how: { readonly readyAt: number; readonly failed: boolean }): Promise<void>;
  /** Works on a job for a while, and gives it back or ends it. */
  work(turn: Turn<Row>): Promise<void>;
  /** Ends a job whose turn failed when there is no use in another; false when there is. */
  endFailed(taken: Taken<Row>, error: unknown): Promise<boolean>;
  /** A turn is over, and with it perhaps the job. */
  onTurn(jobId: string): void;
}

export interface WorkersOptions {
  /** Jobs worked on at once. */
  readonly jobs: number;
  /** How long a job rests when its worker dies. */
  readonly leaseMs: number;
  /** How long a job waits after its first turn that failed; each further one doubles it. */
  readonly pauseMs: number;
  readonly now: () => number;
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
const LAST_PAUSE_MS = 60_000;

interface Here {
  cancelling: boolean;
  /** Aborted when the lease is not ours any more. */
  readonly lost: AbortController;
}

export function startWorkers<Row extends LeasedRow>(kind: JobKind<Row>, options: WorkersOptions): Workers {
  const { leaseMs, pauseMs, now, log } = options;
  const closing = new AbortController();
  const here = new Map<string, Here>();
  let wake = new AbortController();

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) {
      const woken = wake.signal;
      try {
        const taken = await kind.take();
        if (taken) {
          await work(taken);
          continue;
        }
      } catch (error) {
        log.warn({ err: error }, `${kind.name} cannot be worked on for the moment`);
        await sleep(AWAY_PAUSE_MS, undefined, { signal: closing.signal }).catch(() => {});
        continue;
      }
      await sleep(LOOK_MS, undefined, { signal: AbortSignal.any([closing.signal, woken]) }).catch(() => {});
    }
  }

  async function work(taken: Taken<Row>): Promise<void> {
    const { row, lease } = taken;
    const state: Here = { cancelling: row.cancelling === 1, lost: new AbortController() };
    const beats = setInterval(beat, leaseMs / 4, lease, state);
    here.set(row.id, state);
    try {
      const signal = AbortSignal.any([closing.signal, state.lost.signal]);
      await kind.work({ row, lease, signal, cancelling: () => state.cancelling });
    } catch (error) {
      await settle(error, taken);
    } finally {
      here.delete(row.id);
      clearInterval(beats);
      kind.onTurn(row.id);
    }
  }

  /** What becomes of a job whose turn failed. */
  async function settle(error: unknown, taken: Taken<Row>): Promise<void> {
    const { row, lease } = taken;
    if (error instanceof LeaseLost) return;
    if (closing.signal.aborted) return kind.release(lease, { readyAt: 0, failed: false });
    if (await kind.endFailed(taken, error)) return;
    log.warn({ err: error, job: row.id }, `one of the ${kind.name} waits`);
    const waitMs = Math.min(LAST_PAUSE_MS, pauseMs * 2 ** Math.min(row.tries, 10));
    await kind.release(lease, { readyAt: now() + waitMs, failed: true });
  }

  /** Makes the lease longer in time, and sees whether it is still ours. */
  async function beat(lease: Lease, state: Here): Promise<void> {
    try {
      const { cancelling } = await kind.keep(lease);
      if (cancelling) state.cancelling = true;
    } catch (error) {
      // What cannot be reached now may be in time for the next beat; what is written later is bound to the lease.
      if (error instanceof LeaseLost) state.lost.abort(error);
    }
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
    },
    abandon: (jobId) => here.get(jobId)?.lost.abort(new LeaseLost()),
    async close() {
      closing.abort(new Error('the server is being stopped'));
      await Promise.all(loops);
    },
  };
}
