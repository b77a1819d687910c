/**
 * The parts shared by all queries for one kind of job: the table, the condition for jobs that can be leased, and the
 * columns of an ended job.
 */
import type { Expression, Kysely } from 'kysely';
import type { Store } from '#storage/database/store.ts';
import { type JobState, TRANSITIONS } from './states.ts';
import type { JobColumns, JobTableOptions } from './table.ts';

export type Changes<Row> = { readonly [Name in keyof Row]?: Row[Name] | Expression<Row[Name]> };

// biome-ignore lint/suspicious/noExplicitAny: accepts the schema of any module
export type AnyStore = Pick<Store<any>, 'db' | 'dialect'>;
export type AnyDb = AnyStore['db'];

/** A table type that represents the table of any kind of job. */
export interface Tables {
  jobs: JobColumns;
}

export type QueryContext<Row extends JobColumns> = ReturnType<typeof createQueryContext<Row>>;

export function createQueryContext<Row extends JobColumns>(options: JobTableOptions<Row>) {
  const { name, plural, expired, removable } = options;
  // The table name is known only at run time. Row guarantees that the table has these columns.
  const table = name as 'jobs';
  const jobsIn = (db: AnyDb): Kysely<Tables> => db as Kysely<Tables>;
  return {
    table,
    plural,
    expired,
    removable,
    jobsIn,
    rows: (found: JobColumns[]): Row[] => found as Row[],

    /** Columns to set when a job ends in this state. */
    ending: (state: JobState, now: number) =>
      ({ state, completed_at: now, lease: null, ...options.ending(now) }) as Partial<JobColumns>,

    /** Jobs that can be leased now. The job that has waited longest comes first. */
    takeable: (db: AnyDb, now: number) =>
      jobsIn(db)
        .selectFrom(table)
        .select('id')
        .where('state', 'in', TRANSITIONS.take.from)
        .where('ready_at', '<=', now)
        .where('expires_at', '>', now)
        .where((eb) => eb.or([eb('lease', 'is', null), eb('lease_until', '<=', now)]))
        .orderBy('worked_at')
        .orderBy('created_at'),
  };
}
