/** Crawls as the workers of a process take them: how a turn ends, and what becomes of one that failed. */
import { asProblem, Problem } from '#errors.ts';
import { DatabaseAway } from '#storage/database/away.ts';
import { type JobKind, startWorkers, type Workers, type WorkersOptions } from '#storage/jobs/workers.ts';
import type { JobRow } from './schema.ts';
import { endJob, keepLease, releaseJob, takeJob } from './store.ts';
import { type TurnTools, takeTurn } from './turn.ts';

export interface CrawlWorkersOptions extends TurnTools, Omit<WorkersOptions, 'pauseMs'> {
  readonly log: WorkersOptions['log'];
  readonly now: () => number;
}

const PAUSE_MS = 1_000;
/** Turns in a row that fail for the same job. */
const MAX_TRIES = 5;

export function startCrawlWorkers(options: CrawlWorkersOptions): Workers {
  const { store, leaseMs, now, onChange } = options;
  const kind: JobKind<JobRow> = {
    name: 'crawls',
    take: () => takeJob(store, now(), leaseMs),
    keep: (lease) => keepLease(store, lease, now() + leaseMs),
    release: (lease, how) => releaseJob(store, lease, how),
    async work(turn) {
      const { lease } = turn;
      const end = await takeTurn(turn, options);
      if (end.kind === 'later') return releaseJob(store, lease, { readyAt: end.readyAt, failed: false });
      return endJob(store, lease, { state: end.kind, ...(end.kind === 'failed' && { error: end.error }) }, now());
    },
    async endFailed({ row, lease }, error) {
      const isOwners = error instanceof Problem && error.code < 500;
      if (!isOwners && (row.tries + 1 < MAX_TRIES || error instanceof DatabaseAway)) return false;
      await endJob(store, lease, { state: 'failed', error: asProblem(error).message }, now());
      return true;
    },
    onTurn: onChange,
  };
  const workers = startWorkers(kind, { ...options, pauseMs: PAUSE_MS });
  return {
    ...workers,
    cancel(jobId) {
      workers.cancel(jobId);
      onChange(jobId);
    },
  };
}
