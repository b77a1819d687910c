/**
 * The table of one kind of job, with one function per query. A worker has a lease with a random token, and all its
 * changes require that token. A worker that is presumed dead therefore cannot change anything.
 */
import { endQueries } from './end-queries.ts';
import { leaseQueries } from './lease-queries.ts';
import { type Changes, createQueryContext } from './query-context.ts';
import { recordQueries } from './record-queries.ts';
import type { JobState } from './states.ts';

/** Columns common to all kinds of jobs. Times are milliseconds since 1970. */
export interface JobColumns {
  id: string;
  /** Only this key may access the job. On a server without keys, all jobs have the same owner. */
  owner: string;
  state: JobState;
  /** Reason for the failure. */
  error: string | null;
  created_at: number;
  completed_at: number | null;
  expires_at: number;
  /** Token of the current lease. */
  lease: string | null;
  lease_until: number;
  /** Time of the last run. The job that has waited longest runs next. */
  worked_at: number;
  /** Earliest time of the next run. */
  ready_at: number;
  /** Consecutive failed runs. */
  tries: number;
  /** 1 if cancellation was requested while a worker was processing the job. */
  cancelling: number;
}

/** Initial values of the columns of a new job. */
export const NEW_JOB_COLUMNS = {
  state: 'pending',
  error: null,
  completed_at: null,
  lease: null,
  lease_until: 0,
  worked_at: 0,
  ready_at: 0,
  tries: 0,
  cancelling: 0,
} as const satisfies Partial<JobColumns>;

export interface JobTableOptions<Row> {
  readonly name: string;
  /** Name of these jobs in messages, such as `crawls`. */
  readonly plural: string;
  /** Additional columns to set whenever a job ends. */
  ending(now: number): Changes<Row>;
  /** Columns that mark the data of an expired job for removal. */
  readonly expired: Partial<Row>;
  /** Columns of an expired job that needs no more processing, so that its row can be deleted. */
  readonly removable: Partial<Row>;
}

export type JobTable<Row extends JobColumns> = ReturnType<typeof jobTable<Row>>;

export function jobTable<Row extends JobColumns>(options: JobTableOptions<Row>) {
  const context = createQueryContext(options);
  return {
    plural: options.plural,
    ...recordQueries(context),
    ...leaseQueries(context),
    ...endQueries(context),
  };
}
