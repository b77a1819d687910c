/** The batch workers of this process. Determines how long a run lasts, and what happens after a failed run. */
import { asProblem } from '#errors.ts';
import { BlobsUnavailableError } from '#storage/blobs/blobs.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import type { Lease } from '#storage/jobs/lease.ts';
import { type JobKind, startWorkers, type Workers, type WorkersOptions } from '#storage/jobs/workers.ts';
import { NonRetryableError, RetryLaterError } from './errors.ts';
import { type RunTools, runBatchJob } from './run.ts';
import type { JobRow } from './schema.ts';
import { JOBS } from './store.ts';

export interface BatchWorkersOptions extends RunTools, Omit<WorkersOptions, 'store'> {
  readonly now: () => number;
  /** Called when a job may have ended. */
  readonly onEnd: () => void;
}

const RUN_MS = 10_000;
/** Number of consecutive failed runs after which a job fails, unless the failure is temporary. */
const MAX_TRIES = 5;

/** Whether the failure is temporary: the model, the database or the bucket is unavailable or overloaded. */
const isBusy = (error: unknown): boolean =>
  error instanceof DatabaseUnavailableError ||
  error instanceof BlobsUnavailableError ||
  (error instanceof RetryLaterError && (error.problem.code === 503 || error.problem.code === 504));

export function startBatchWorkers(options: BatchWorkersOptions): Workers {
  const { store, now, onEnd } = options;
  const fail = async (lease: Lease, error: string) => {
    await JOBS.end(store, lease, { move: 'fail', error }, now());
    return true;
  };
  const kind: JobKind<JobRow> = {
    jobs: JOBS,
    async work(run) {
      await runBatchJob({ ...run, until: now() + RUN_MS }, options);
      return { readyAt: 0 };
    },
    async endFailed({ row, lease }, error) {
      if (error instanceof NonRetryableError) return fail(lease, error.message);
      if (row.tries + 1 < MAX_TRIES || isBusy(error)) return false;
      return fail(lease, (error instanceof RetryLaterError ? error.problem : asProblem(error)).message);
    },
    onRunEnd: onEnd,
  };
  return startWorkers(kind, options);
}
