/** Batch jobs as the workers of a process take them: which turns there are, and what becomes of a turn that failed. */
import { asProblem } from '#errors.ts';
import { DatabaseAway } from '#storage/database/away.ts';
import { type JobKind, startWorkers, type Workers, type WorkersOptions } from '#storage/jobs/workers.ts';
import type { JobRow } from './schema.ts';
import { failJob, keepLease, releaseJob, takeJob } from './store.ts';
import { Hopeless, NotNow, type TurnTools, takeTurn } from './turn.ts';

export interface BatchWorkersOptions extends TurnTools, WorkersOptions {
  readonly log: WorkersOptions['log'];
  readonly now: () => number;
  /** Called when a job has ended, perhaps. */
  readonly onEnd: () => void;
}

const TURN_MS = 10_000;
/** Turns in a row that fail for the same job, unless what it needs is only busy for the moment. */
const MAX_TRIES = 5;

/** Whether it will pass: the model, or the database, is away or has too much to do. */
const isBusy = (error: unknown): boolean =>
  error instanceof DatabaseAway ||
  (error instanceof NotNow && (error.problem.code === 503 || error.problem.code === 504));

export function startBatchWorkers(options: BatchWorkersOptions): Workers {
  const { store, leaseMs, now, onEnd } = options;
  const kind: JobKind<JobRow> = {
    name: 'batch jobs',
    take: () => takeJob(store, now(), leaseMs),
    keep: (lease) => keepLease(store, lease, now() + leaseMs),
    release: (lease, how) => releaseJob(store, lease, how),
    async work(turn) {
      await takeTurn({ ...turn, until: now() + TURN_MS }, options);
      await releaseJob(store, turn.lease, { readyAt: 0, failed: false });
    },
    async endFailed({ row, lease }, error) {
      if (error instanceof Hopeless) {
        await failJob(store, lease, error.message, now());
        return true;
      }
      if (row.tries + 1 < MAX_TRIES || isBusy(error)) return false;
      const { message } = error instanceof NotNow ? error.problem : asProblem(error);
      await failJob(store, lease, message, now());
      return true;
    },
    onTurn: onEnd,
  };
  return startWorkers(kind, options);
}
