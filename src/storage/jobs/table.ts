/**
 * The table of one kind of job: one function per query. A worker holds a lease with a random token, and all its changes
 * require that token. So a worker that was presumed dead can change nothing.
 */
import { randomUUID } from 'node:crypto';
import {
  type Expression,
  type Kysely,
  sql,
  type Transaction,
  type UpdateQueryBuilder,
  type UpdateResult,
} from 'kysely';
import { problem } from '#errors.ts';
import type { Store } from '#storage/database/store.ts';
import { type Lease, LeaseLostError } from './lease.ts';
import { type JobState, MOVES, UNFINISHED } from './states.ts';

/** Columns common to all kinds of jobs. Times are milliseconds since 1970. */
export interface JobColumns {
  id: string;
  /** Only this key may see the job. A server without keys has one owner for all. */
  owner: string;
  state: JobState;
  /** Reason of the failure. */
  error: string | null;
  created_at: number;
  completed_at: number | null;
  expires_at: number;
  /** Token of the current lease. */
  lease: string | null;
  lease_until: number;
  /** Time of the last run: the job that has waited longest runs next. */
  worked_at: number;
  /** Earliest time of the next run. */
  ready_at: number;
  /** Consecutive failed runs. */
  tries: number;
  /** 1 if cancellation was requested while a worker had the job. */
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

type Changes<Row> = { readonly [Name in keyof Row]?: Row[Name] | Expression<Row[Name]> };

export interface JobTableOptions<Row> {
  readonly name: string;
  /** Name of these jobs in messages, such as `crawls`. */
  readonly plural: string;
  /** Additional columns to change whenever a job ends. */
  ending(now: number): Changes<Row>;
  /** Columns that mark the data of an expired job for removal. */
  readonly expired: Partial<Row>;
  /** Columns of an expired job that needs no more work, so that its row can be deleted. */
  readonly removable: Partial<Row>;
}

export interface Taken<Row> {
  readonly row: Row;
  readonly lease: Lease;
}

export interface Release {
  /** Earliest time of the next run, in milliseconds since 1970. */
  readonly readyAt: number;
  /** Result of the run. An aborted run does not count as a failure. */
  readonly outcome: 'done' | 'failed' | 'aborted';
}

/** Maximum number of unfinished jobs per owner. */
const MAX_UNFINISHED = 10;

// biome-ignore lint/suspicious/noExplicitAny: accepts the schema of any module
export type AnyStore = Pick<Store<any>, 'db' | 'dialect'>;
type AnyDb = AnyStore['db'];

/** Stands for the table of any kind. */
interface Tables {
  jobs: JobColumns;
}

/** Restricts an update to the worker that holds the lease. */
export function boundToLease<Query>(update: Query, { jobId, token }: Lease): Query {
  const typed = update as UpdateQueryBuilder<Tables, 'jobs', 'jobs', UpdateResult>;
  const bound = typed.where('id', '=', jobId).where('lease', '=', token).where('state', '=', MOVES.take.to);
  return bound as unknown as Query;
}

export type JobTable<Row extends JobColumns> = ReturnType<typeof jobTable<Row>>;

export function jobTable<Row extends JobColumns>({ name, plural, expired, removable, ...kind }: JobTableOptions<Row>) {
  // The table name is known only at run time. Row guarantees that the table has these columns.
  const table = name as 'jobs';
  const of = (db: AnyDb): Kysely<Tables> => db as Kysely<Tables>;
  const rows = (found: JobColumns[]): Row[] => found as Row[];
  const ending = (state: JobState, now: number) =>
    ({ state, completed_at: now, lease: null, ...kind.ending(now) }) as Partial<JobColumns>;

  /** Jobs that can be taken now, longest wait first. */
  const takeable = (db: AnyDb, now: number) =>
    of(db)
      .selectFrom(table)
      .select('id')
      .where('state', 'in', MOVES.take.from)
      .where('ready_at', '<=', now)
      .where('expires_at', '>', now)
      .where((eb) => eb.or([eb('lease', 'is', null), eb('lease_until', '<=', now)]))
      .orderBy('worked_at')
      .orderBy('created_at');

  return {
    plural,

    /**
     * Inserts a job and runs `also` in the same transaction. Throws ResourceLimitExceededError if the owner has too
     * many unfinished jobs.
     */
    async insert<All>(
      { db, dialect }: Pick<Store<All>, 'db' | 'dialect'>,
      row: Row,
      also: (transaction: Transaction<All>) => Promise<void>,
    ): Promise<void> {
      await db.transaction().execute(async (transaction) => {
        // SQLite transactions are exclusive. In PostgreSQL, this lock serializes inserts of one owner.
        if (dialect === 'postgres')
          await sql`SELECT pg_advisory_xact_lock(hashtext(${row.owner}))`.execute(transaction);
        const { unfinished } = await of(transaction)
          .selectFrom(table)
          .select((eb) => eb.fn.countAll<number>().as('unfinished'))
          .where('owner', '=', row.owner)
          .where('state', 'in', UNFINISHED)
          .where('expires_at', '>', row.created_at)
          .executeTakeFirstOrThrow();
        if (unfinished >= MAX_UNFINISHED) {
          const message = `Resource limit exceeded for the plan: ${unfinished} of ${MAX_UNFINISHED} ${plural} are unfinished`;
          throw problem('ResourceLimitExceededError', { message });
        }
        await of(transaction).insertInto(table).values(row).execute();
        await also(transaction);
      });
    },

    async find({ db }: AnyStore, id: string): Promise<Row | undefined> {
      return rows(await of(db).selectFrom(table).selectAll().where('id', '=', id).execute())[0];
    },

    /** Newest first. */
    async list({ db }: AnyStore, owner: string, limit: number): Promise<Row[]> {
      const found = of(db).selectFrom(table).selectAll().where('owner', '=', owner);
      return rows(await found.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute());
    },

    /** Number of jobs in each state. */
    async counts({ db }: AnyStore): Promise<ReadonlyMap<string, number>> {
      const found = await of(db)
        .selectFrom(table)
        .select(({ fn }) => ['state', fn.countAll<number>().as('jobs')])
        .groupBy('state')
        .execute();
      return new Map(found.map(({ state, jobs }) => [state, Number(jobs)]));
    },

    /**
     * Cancels a job at once if no worker has it. Otherwise sets a flag, and the worker ends the job after the work in
     * progress. Does nothing if the job has ended.
     */
    async requestCancel({ db }: AnyStore, id: string, now: number): Promise<void> {
      await of(db)
        .transaction()
        .execute(async (transaction) => {
          const job = transaction.updateTable(table).where('id', '=', id).where('state', 'in', MOVES.cancel.from);
          const idle = await job
            .set(ending(MOVES.cancel.to, now))
            .where((eb) => eb.or([eb('lease', 'is', null), eb('lease_until', '<=', now)]))
            .executeTakeFirst();
          if (!idle.numUpdatedRows) await job.set({ cancelling: 1 }).execute();
        });
    },

    /** Cancels the job even if a worker has it. Later changes by that worker have no effect. */
    async cancelNow({ db }: AnyStore, id: string, now: number): Promise<void> {
      const job = of(db).updateTable(table).where('id', '=', id).where('state', 'in', MOVES.cancel.from);
      await job.set(ending(MOVES.cancel.to, now)).execute();
    },

    /** Leases the next ready job, or the one with this id if it is ready; `undefined` if there is none. */
    async take(
      { db, dialect }: AnyStore,
      { now, leaseMs, id }: { readonly now: number; readonly leaseMs: number; readonly id?: string | undefined },
    ): Promise<Taken<Row> | undefined> {
      return of(db)
        .transaction()
        .execute(async (transaction) => {
          const any = takeable(transaction, now).limit(1);
          const next = id === undefined ? any : any.where('id', '=', id);
          const found = await (dialect === 'postgres' ? next.forUpdate().skipLocked() : next).executeTakeFirst();
          if (!found) return undefined;
          const token = randomUUID();
          const row = await transaction
            .updateTable(table)
            .set({ state: MOVES.take.to, lease: token, lease_until: now + leaseMs, worked_at: now })
            .where('id', '=', found.id)
            .returningAll()
            .executeTakeFirstOrThrow();
          return { row: row as Row, lease: { jobId: row.id, token } };
        });
    },

    /** Ids of jobs that can be taken now, longest wait first. */
    async waiting({ db }: AnyStore, now: number, limit: number): Promise<string[]> {
      const found = await takeable(db, now).limit(limit).execute();
      return found.map(({ id }) => id);
    },

    /** Extends the lease and returns whether cancellation was requested. Throws LeaseLostError. */
    async renewLease({ db }: AnyStore, lease: Lease, until: number): Promise<{ readonly cancelling: boolean }> {
      const update = boundToLease(of(db).updateTable(table), lease).set({ lease_until: until });
      const row = await update.returning('cancelling').executeTakeFirst();
      if (!row) throw new LeaseLostError();
      return { cancelling: row.cancelling === 1 };
    },

    /** Gives up the lease; `false` if it was already lost. */
    async release({ db }: AnyStore, lease: Lease, { readyAt, outcome }: Release): Promise<boolean> {
      const released = await boundToLease(of(db).updateTable(table), lease)
        .set((eb) => ({
          lease: null,
          ready_at: readyAt,
          ...(outcome !== 'aborted' && { tries: outcome === 'failed' ? eb('tries', '+', 1) : 0 }),
        }))
        .executeTakeFirst();
      return released.numUpdatedRows > 0n;
    },

    /** Columns that end a job, for an update bound to its lease. */
    ending: (move: 'complete' | 'fail' | 'cancel', now: number) => ending(MOVES[move].to, now) as Changes<Row>,

    /** Ends a job; `error` is the reason of a failure. */
    async end(
      { db }: AnyStore,
      lease: Lease,
      { move, error = null }: { readonly move: 'complete' | 'fail' | 'cancel'; readonly error?: string | null },
      now: number,
    ): Promise<void> {
      const ended = boundToLease(of(db).updateTable(table), lease);
      await ended.set({ ...ending(MOVES[move].to, now), error }).execute();
    },

    /** Expires jobs that are due, finished or not, and marks their data for removal. */
    async expire({ db }: AnyStore, now: number, id?: string): Promise<void> {
      const due = (move: 'lapse' | 'expire') => {
        const jobs = of(db).updateTable(table).where('expires_at', '<=', now).where('state', 'in', MOVES[move].from);
        return id === undefined ? jobs : jobs.where('id', '=', id);
      };
      await due('lapse')
        .set({ ...ending(MOVES.lapse.to, now), ...expired })
        .execute();
      await due('expire')
        .set({ state: MOVES.expire.to, ...expired })
        .execute();
    },

    /** Deletes the rows of expired jobs created before `before`, once no cleanup remains. */
    async forget({ db }: AnyStore, before: number): Promise<void> {
      let old = of(db).deleteFrom(table).where('created_at', '<', before).where('state', '=', MOVES.expire.to);
      for (const [column, value] of Object.entries(removable)) old = old.where(column as 'id', '=', value as string);
      await old.execute();
    },
  };
}
