/** The crawl workers of a process. Decides how a run ends, and what happens to a crawl after a failed run. */
import { asProblem, Problem } from '#errors.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import { type JobKind, startWorkers, type Workers, type WorkersOptions } from '#storage/jobs/workers.ts';
import { type RunTools, runCrawlJob } from './run.ts';
import type { RunEnd } from './scheduler.ts';
import type { JobRow } from './schema.ts';
import { JOBS } from './store.ts';

export interface CrawlWorkersOptions extends RunTools, Omit<WorkersOptions, 'pauseMs' | 'store'> {
  readonly now: () => number;
  /** Called at the end of each run. */
  readonly onRunEnd: () => void;
}

/** Back-off after the first failed run of a job, in milliseconds. */
const PAUSE_MS = 1_000;
/** Number of consecutive failed runs after which a job fails. */
const MAX_TRIES = 5;

const MOVE_OF = { completed: 'complete', failed: 'fail', cancelled: 'cancel' } as const satisfies Record<
  Exclude<RunEnd['kind'], 'later'>,
  string
>;

export function startCrawlWorkers(options: CrawlWorkersOptions): Workers {
  const { store, now, onChange, onRunEnd } = options;
  const kind: JobKind<JobRow> = {
    jobs: JOBS,
    async work(turn) {
      const end = await runCrawlJob(turn, options);
      if (end.kind === 'later') return end;
      const error = end.kind === 'failed' ? end.error : null;
      await JOBS.end(store, turn.lease, { move: MOVE_OF[end.kind], error }, now());
      return undefined;
    },
    async endFailed({ row, lease }, error) {
      const isCallersFault = error instanceof Problem && error.code < 500;
      if (!isCallersFault && (row.tries + 1 < MAX_TRIES || error instanceof DatabaseUnavailableError)) return false;
      await JOBS.end(store, lease, { move: 'fail', error: asProblem(error).message }, now());
      return true;
    },
    onRunEnd(jobId) {
      onRunEnd();
      onChange(jobId);
    },
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
