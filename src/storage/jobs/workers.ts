/**
 * Workers of one process over durable jobs: each takes the job whose turn it is, keeps its lease for as long as it works
 * on it, and gives it back. What kind of job it is, and what becomes of one whose turn failed, its room says.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#telemetry/log.ts';
import { type Lease, LeaseLostError } from './lease.ts';
import type { JobNotifications } from './notifications.ts';
import type { AnyStore, JobColumns, JobTable, Release, Taken } from './table.ts';

/** A turn of a job. */
export interface JobRun<Row> extends Taken<Row> {
  /** Aborted when the lease is lost, and when the process stops. */
  readonly signal: AbortSignal;
  readonly cancelling: () => boolean;
}

export interface JobKind<Row extends JobColumns> {
  readonly jobs: JobTable<Row>;
  /** Works on a job for a while; when it may be taken again, in milliseconds since 1970, if it has not ended. */
  work(turn: JobRun<Row>): Promise<{ readonly readyAt: number } | undefined>;
  /** Ends a job whose turn failed when there is no use in another; false when there is. */
  endFailed(taken: Taken<Row>, error: unknown): Promise<boolean>;
  /** A turn is over, and with it perhaps the job. */
  onRunEnd(jobId: string): void;
}

export interface WorkersOptions {
  readonly store: AnyStore;
  /** Jobs worked on at once. */
  readonly slots: number;
  /** How long a job rests when its worker dies. */
  readonly leaseMs: number;
  /** How long a job waits after its first turn that failed; each further one doubles it. */
  readonly pauseMs: number;
  readonly now: () => number;
  readonly log: Pick<Log, 'warn'>;
  /** Brings the ids of jobs whose turn it is; without one, or while it is away, they are looked for in the database. */
  readonly notifications?: JobNotifications | undefined;
}

export interface Workers {
  /** Whether a job is worked on here. */
  busy(): boolean;
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
/** Jobs that are announced again at once, because nobody has taken them. */
const MAX_AGAIN = 1_000;
const AWAY_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;

interface Here {
  readonly lease: Lease;
  /** When it ends, in milliseconds since 1970. */
  until: number;
  cancelling: boolean;
  /** Aborted when the lease is not ours any more. */
  readonly lost: AbortController;
}

export function startWorkers<Row extends JobColumns>(kind: JobKind<Row>, options: WorkersOptions): Workers {
  const { jobs } = kind;
  const { store, slots, leaseMs, pauseMs, now, log, notifications } = options;
  const closing = new AbortController();
  const here = new Map<string, Here>();
  const working = new Set<Promise<void>>();
  let wake = new AbortController();
  let lookAt = 0;

  const pause = (ms: number, ...signals: AbortSignal[]) =>
    sleep(ms, undefined, { signal: AbortSignal.any([closing.signal, ...signals]) }).catch(() => {});
  const warn = (err: unknown) => log.warn({ err }, `${jobs.plural} cannot be worked on for the moment`);

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) {
      if (working.size >= slots) {
        await Promise.race(working);
        continue;
      }
      const woken = wake.signal;
      try {
        // A process that stood still for a while would take its own jobs from itself.
        await Promise.all([...here.values()].filter(({ until }) => until <= now()).map(beat));
        const isCarried = notifications?.healthy ?? false;
        const taken = isCarried ? await takeCarried() : await takeAny();
        if (taken) start(taken);
        else if (!isCarried) await pause(LOOK_MS, woken);
      } catch (error) {
        warn(error);
        await pause(AWAY_PAUSE_MS);
      }
    }
    await Promise.all(working);
  }

  async function takeAny(): Promise<Taken<Row> | undefined> {
    // What was not announced while nobody could hear it is found when somebody can.
    lookAt = 0;
    return jobs.take(store, { now: now(), leaseMs });
  }

  /** Waits for an id, and takes that job if it may be taken still. */
  async function takeCarried(): Promise<Taken<Row> | undefined> {
    if (now() >= lookAt) {
      for (const id of await jobs.waiting(store, now(), MAX_AGAIN)) notifications!.announce(id, 0);
      // A job whose worker has died can be taken after the time of a lease: there is nothing to be found sooner.
      lookAt = now() + leaseMs;
    }
    const id = await notifications!.next(closing.signal);
    return id === undefined ? undefined : jobs.take(store, { now: now(), leaseMs, id });
  }

  function start(taken: Taken<Row>): void {
    const turn = work(taken)
      .catch(warn)
      .finally(() => {
        working.delete(turn);
        wakeUp();
      });
    working.add(turn);
  }

  async function work(taken: Taken<Row>): Promise<void> {
    const { row, lease } = taken;
    const { lease_until: until, cancelling } = row;
    const state: Here = { lease, until, cancelling: cancelling === 1, lost: new AbortController() };
    const beats = setInterval(beat, leaseMs / 4, state);
    here.set(row.id, state);
    try {
      const signal = AbortSignal.any([closing.signal, state.lost.signal]);
      const later = await kind.work({ row, lease, signal, cancelling: () => state.cancelling });
      if (later) await giveBack(lease, { ...later, outcome: 'done' });
    } catch (error) {
      await settle(error, taken);
    } finally {
      if (here.get(row.id) === state) here.delete(row.id);
      clearInterval(beats);
      kind.onRunEnd(row.id);
    }
  }

  /** What becomes of a job whose turn failed. */
  async function settle(error: unknown, taken: Taken<Row>): Promise<void> {
    const { row, lease } = taken;
    if (error instanceof LeaseLostError) return;
    if (closing.signal.aborted) return giveBack(lease, { readyAt: 0, outcome: 'broken off' });
    if (await kind.endFailed(taken, error)) return;
    log.warn({ err: error, job: row.id }, `one of the ${jobs.plural} waits`);
    const waitMs = Math.min(LAST_PAUSE_MS, pauseMs * 2 ** Math.min(row.tries, 10));
    await giveBack(lease, { readyAt: now() + waitMs, outcome: 'failed' });
  }

  async function giveBack(lease: Lease, release: Release): Promise<void> {
    const isGiven = await jobs.release(store, lease, release);
    if (isGiven) notifications?.announce(lease.jobId, release.readyAt - now());
  }

  /** Makes the lease longer in time, and sees whether it is still ours. */
  async function beat(state: Here): Promise<void> {
    const until = now() + leaseMs;
    try {
      const { cancelling } = await jobs.renewLease(store, state.lease, until);
      state.until = until;
      if (cancelling) state.cancelling = true;
    } catch (error) {
      // What cannot be reached now may be in time for the next beat; what is written later is bound to the lease.
      if (error instanceof LeaseLostError) state.lost.abort(error);
    }
  }

  function wakeUp(): void {
    wake.abort();
    wake = new AbortController();
  }

  const looping = loop();
  return {
    busy: () => working.size > 0,
    wake: wakeUp,
    cancel(jobId) {
      const state = here.get(jobId);
      if (state) state.cancelling = true;
    },
    abandon: (jobId) => here.get(jobId)?.lost.abort(new LeaseLostError()),
    async close() {
      closing.abort(new Error('the server is being stopped'));
      await looping;
    },
  };
}
