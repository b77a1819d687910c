/**
 * The job workers of one process. Each worker leases the job that has waited longest, renews the lease during the run,
 * and releases it afterwards. The module for the kind of job does the work and decides how failures end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#telemetry/log.ts';
import { createActiveRuns } from './active-runs.ts';
import { createJobSource } from './job-source.ts';
import { type Lease, LeaseLostError } from './lease.ts';
import type { LeasedJob, Release } from './lease-queries.ts';
import type { JobNotifications } from './notifications.ts';
import type { AnyStore } from './query-context.ts';
import type { JobColumns, JobTable } from './table.ts';

/** One run of a job under one lease. */
export interface JobRun<Row> extends LeasedJob<Row> {
  /** Aborted when the lease is lost or the process shuts down. */
  readonly signal: AbortSignal;
  readonly cancelling: () => boolean;
}

export interface JobKind<Row extends JobColumns> {
  readonly jobs: JobTable<Row>;
  /**
   * Works on a job for a while. If the job has not ended, returns the time at which it will be ready again, in
   * milliseconds since 1970.
   */
  work(run: JobRun<Row>): Promise<{ readonly readyAt: number } | undefined>;
  /** Ends a job after a failed run, or returns false if the run is to be retried. */
  endFailed(taken: LeasedJob<Row>, error: unknown): Promise<boolean>;
  /** Called after each run, whether or not the job has ended. */
  onRunEnd(jobId: string): void;
}

export interface WorkersOptions {
  readonly store: AnyStore;
  /** Number of concurrent runs. */
  readonly slots: number;
  /** Lease period, in milliseconds: how long a job remains blocked if its worker dies. */
  readonly leaseMs: number;
  /** Pause after the first failed run, in milliseconds. Each further failure doubles it. */
  readonly pauseMs: number;
  readonly now: () => number;
  readonly log: Pick<Log, 'warn'>;
  /** Delivers the ids of ready jobs. Without notifications, or while they are unhealthy, workers poll the database. */
  readonly notifications?: JobNotifications | undefined;
  readonly onRun?: OnJobRun | undefined;
}

/** Called after each run with its duration. A run that was `aborted` is repeated by this or another process. */
export type OnJobRun = (outcome: 'done' | 'failed' | 'aborted', ms: number) => void;

export interface Workers {
  /** Whether a job is running in this process. */
  busy(): boolean;
  /** Polls immediately, because a job may be ready. */
  wake(): void;
  /** Notifies a worker in this process immediately that its job is cancelled. */
  cancel(jobId: string): void;
  /** Must be called when a job has ended; aborts its run in this process. */
  abandon(jobId: string): void;
  /** Aborts all runs and releases their jobs. */
  close(): Promise<void>;
}

/** Interval at which the database is polled without notifications, in milliseconds. */
const POLL_MS = 1_000;
const ERROR_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

export function startWorkers<Row extends JobColumns>(kind: JobKind<Row>, options: WorkersOptions): Workers {
  const { jobs } = kind;
  const { store, slots, leaseMs, pauseMs, now, log, notifications } = options;
  const closing = new AbortController();
  const active = createActiveRuns({ jobs, store, leaseMs, now });
  const source = createJobSource({ jobs, store, leaseMs, now, notifications });
  const running = new Set<Promise<void>>();
  let wake = new AbortController();

  const pause = (ms: number, ...signals: AbortSignal[]) =>
    sleep(ms, undefined, { signal: AbortSignal.any([closing.signal, ...signals]) }).catch(() => {});
  const warn = (err: unknown) => log.warn({ err }, `${jobs.plural} cannot be processed now: retrying`);

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) {
      if (running.size >= slots) {
        await Promise.race(running);
        continue;
      }
      const woken = wake.signal;
      try {
        // Leases are renewed first. After a long suspension, this process would otherwise lease its own jobs again.
        await active.renewExpired();
        const isNotified = source.isNotified();
        const taken = await source.take(closing.signal);
        if (taken) start(taken);
        else if (!isNotified) await pause(POLL_MS, woken);
      } catch (error) {
        warn(error);
        await pause(ERROR_PAUSE_MS);
      }
    }
    await Promise.all(running);
  }

  function start(taken: LeasedJob<Row>): void {
    const run = work(taken)
      .catch(warn)
      .finally(() => {
        running.delete(run);
        wakeUp();
      });
    running.add(run);
  }

  async function work(taken: LeasedJob<Row>): Promise<void> {
    const { row, lease } = taken;
    const { run, end } = active.begin(taken);
    const startedAt = performance.now();
    let outcome: Parameters<OnJobRun>[0] = 'done';
    try {
      const signal = AbortSignal.any([closing.signal, run.lost.signal]);
      const later = await kind.work({ row, lease, signal, cancelling: () => run.cancelling });
      if (later) await release(lease, { ...later, outcome: 'done' });
    } catch (error) {
      outcome = closing.signal.aborted || error instanceof LeaseLostError ? 'aborted' : 'failed';
      await settle(error, taken);
    } finally {
      end();
      options.onRun?.(outcome, performance.now() - startedAt);
      kind.onRunEnd(row.id);
    }
  }

  /** Handles a failed run: ends the job, or schedules a retry. */
  async function settle(error: unknown, taken: LeasedJob<Row>): Promise<void> {
    const { row, lease } = taken;
    if (error instanceof LeaseLostError) return;
    if (closing.signal.aborted) return release(lease, { readyAt: 0, outcome: 'aborted' });
    if (await kind.endFailed(taken, error)) return;
    log.warn({ err: error, job: row.id }, `${jobs.plural}: a run failed and will be retried`);
    const waitMs = Math.min(MAX_PAUSE_MS, pauseMs * 2 ** Math.min(row.tries, 10));
    await release(lease, { readyAt: now() + waitMs, outcome: 'failed' });
  }

  async function release(lease: Lease, released: Release): Promise<void> {
    const wasHeld = await jobs.release(store, lease, released);
    if (wasHeld) notifications?.announce(lease.jobId, released.readyAt - now());
  }

  function wakeUp(): void {
    wake.abort();
    wake = new AbortController();
  }

  const looping = loop();
  return {
    busy: () => running.size > 0,
    wake: wakeUp,
    cancel: active.cancel,
    abandon: active.abandon,
    async close() {
      closing.abort(new Error('the server is shutting down'));
      await looping;
    },
  };
}
