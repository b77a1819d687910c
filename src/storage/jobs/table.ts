/**
 * Jobs of one kind in their table, one function a query. Whoever works on a job has a lease with a word of its own; what
 * it changes is bound to that word, so that one that was taken for dead can spoil nothing.
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

/** What the tables of all kinds have. Times are milliseconds since 1970. */
export interface JobColumns {
  id: string;
  /** Who alone may see it: a key, or everybody of a server without keys. */
  owner: string;
  state: JobState;
  /** Why it failed. */
  error: string | null;
  created_at: number;
  completed_at: number | null;
  expires_at: number;
  /** A worker's word of its own; every change it makes is bound to it. */
  lease: string | null;
  lease_until: number;
  /** Jobs take turns by the time of their last. */
  worked_at: number;
  /** Not taken before. */
  ready_at: number;
  /** Turns in a row that failed. */
  tries: number;
  /** 1 when its end was asked for while a worker had it. */
  cancelling: number;
}

/** The columns of a job that nobody has worked on. */
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
  /** What its jobs are called: `crawls`. */
  readonly plural: string;
  /** What every end of a job changes beside what all kinds have. */
  ending(now: number): Changes<Row>;
  /** Marks a job as one whose belongings are to be removed. */
  readonly expired: Partial<Row>;
  /** What a job has that nothing is left to be done for. */
  readonly removable: Partial<Row>;
}

export interface Taken<Row> {
  readonly row: Row;
  readonly lease: Lease;
}

export interface Release {
  /** Not to be taken again before, in milliseconds since 1970. */
  readonly readyAt: number;
  /** What became of the turn; one that was broken off says nothing of the job. */
  readonly outcome: 'done' | 'failed' | 'broken off';
}

/** Unfinished jobs that one owner may have. */
const MAX_UNFINISHED = 10;

// biome-ignore lint/suspicious/noExplicitAny: rooms have tables of their own beside this one
export type AnyStore = Pick<Store<any>, 'db' | 'dialect'>;
type AnyDb = AnyStore['db'];

/** The table of one kind among others. */
interface Tables {
  jobs: JobColumns;
}

/** Changes of the worker that has the lease, and nobody else's. */
export function boundToLease<Query>(update: Query, { jobId, token }: Lease): Query {
  const narrowed = update as UpdateQueryBuilder<Tables, 'jobs', 'jobs', UpdateResult>;
  const bound = narrowed.where('id', '=', jobId).where('lease', '=', token).where('state', '=', MOVES.take.to);
  return bound as unknown as Query;
}

export type JobTable<Row extends JobColumns> = ReturnType<typeof jobTable<Row>>;

export function jobTable<Row extends JobColumns>({ name, plural, expired, removable, ...kind }: JobTableOptions<Row>) {
  // The name of the table is known when it is run; that it has these columns is what Row says.
  const table = name as 'jobs';
  const of = (db: AnyDb): Kysely<Tables> => db as Kysely<Tables>;
  const rows = (found: JobColumns[]): Row[] => found as Row[];
  const ending = (state: JobState, now: number) =>
    ({ state, completed_at: now, lease: null, ...kind.ending(now) }) as Partial<JobColumns>;

  /** Jobs that somebody may take now, those first that have waited longest. */
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
     * Takes a job in, with what else is written in the same transaction. ResourceLimitExceededError when its owner has too
     * many that are not done.
     */
    async insert<All>(
      { db, dialect }: Pick<Store<All>, 'db' | 'dialect'>,
      row: Row,
      also: (transaction: Transaction<All>) => Promise<void>,
    ): Promise<void> {
      await db.transaction().execute(async (transaction) => {
        // SQLite's transactions are exclusive; in PostgreSQL those of one owner queue up here.
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
          const message = `Resource limit exceeded for the plan: ${unfinished} of ${MAX_UNFINISHED} ${plural} are not done yet`;
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

    /** How many jobs are in each state. */
    async counts({ db }: AnyStore): Promise<ReadonlyMap<string, number>> {
      const found = await of(db)
        .selectFrom(table)
        .select(({ fn }) => ['state', fn.countAll<number>().as('jobs')])
        .groupBy('state')
        .execute();
      return new Map(found.map(({ state, jobs }) => [state, Number(jobs)]));
    },

    /**
     * Ends a job that nobody works on; to one that somebody does it is said, and it ends after what is in work. A job that
     * has ended stays as it is.
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

    /** Ends it whoever works on it: what that one brings later is of no effect. */
    async cancelNow({ db }: AnyStore, id: string, now: number): Promise<void> {
      const job = of(db).updateTable(table).where('id', '=', id).where('state', 'in', MOVES.cancel.from);
      await job.set(ending(MOVES.cancel.to, now)).execute();
    },

    /** The job whose turn it is, or that one if it may be taken, with a lease; undefined when there is nothing to do. */
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

    /** Jobs that wait for somebody to work on them, those first that have waited longest. */
    async waiting({ db }: AnyStore, now: number, limit: number): Promise<string[]> {
      const found = await takeable(db, now).limit(limit).execute();
      return found.map(({ id }) => id);
    },

    /** Makes the lease longer; whether the job is to be cancelled. Throws LeaseLost. */
    async renewLease({ db }: AnyStore, lease: Lease, until: number): Promise<{ readonly cancelling: boolean }> {
      const kept = boundToLease(of(db).updateTable(table), lease).set({ lease_until: until });
      const row = await kept.returning('cancelling').executeTakeFirst();
      if (!row) throw new LeaseLostError();
      return { cancelling: row.cancelling === 1 };
    },

    /** Gives a job back; whether it was still the worker's to give. */
    async release({ db }: AnyStore, lease: Lease, { readyAt, outcome }: Release): Promise<boolean> {
      const released = await boundToLease(of(db).updateTable(table), lease)
        .set((eb) => ({
          lease: null,
          ready_at: readyAt,
          ...(outcome !== 'broken off' && { tries: outcome === 'failed' ? eb('tries', '+', 1) : 0 }),
        }))
        .executeTakeFirst();
      return released.numUpdatedRows > 0n;
    },

    /** Sets the state where the move is legal, as part of what the worker writes. */
    ending: (move: 'complete' | 'fail' | 'cancel', now: number) => ending(MOVES[move].to, now) as Changes<Row>,

    /** Ends a job; `error` says why it failed. */
    async end(
      { db }: AnyStore,
      lease: Lease,
      { move, error = null }: { readonly move: 'complete' | 'fail' | 'cancel'; readonly error?: string | null },
      now: number,
    ): Promise<void> {
      const ended = boundToLease(of(db).updateTable(table), lease);
      await ended.set({ ...ending(MOVES[move].to, now), error }).execute();
    },

    /** Ends jobs whose time is over, and marks what they and those that had ended have left. */
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

    /** Forgets expired jobs that were made before a time, and that nothing is left to be done for. */
    async forget({ db }: AnyStore, before: number): Promise<void> {
      let old = of(db).deleteFrom(table).where('created_at', '<', before).where('state', '=', MOVES.expire.to);
      for (const [column, value] of Object.entries(removable)) old = old.where(column as 'id', '=', value as string);
      await old.execute();
    },
  };
}
