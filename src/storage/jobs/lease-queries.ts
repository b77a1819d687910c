/** The queries that a worker runs: acquiring, renewing and releasing the lease of a job, and ending the job. */
import { randomUUID } from 'node:crypto';
import type { UpdateQueryBuilder, UpdateResult } from 'kysely';
import { type Lease, LeaseLostError } from './lease.ts';
import type { AnyStore, Changes, QueryContext, Tables } from './query-context.ts';
import { TRANSITIONS } from './states.ts';
import type { JobColumns } from './table.ts';

export interface LeasedJob<Row> {
  readonly row: Row;
  readonly lease: Lease;
}

export interface Release {
  /** Earliest time of the next run, in milliseconds since 1970. */
  readonly readyAt: number;
  /** Outcome of the run. An aborted run does not count as a failure. */
  readonly outcome: 'done' | 'failed' | 'aborted';
}

/** Restricts an update to the worker that holds the lease. */
export function boundToLease<Query>(update: Query, { jobId, token }: Lease): Query {
  const typed = update as UpdateQueryBuilder<Tables, 'jobs', 'jobs', UpdateResult>;
  const bound = typed.where('id', '=', jobId).where('lease', '=', token).where('state', '=', TRANSITIONS.take.to);
  return bound as unknown as Query;
}

export function leaseQueries<Row extends JobColumns>({ table, jobsIn, ending, takeable }: QueryContext<Row>) {
  return {
    /** Leases the next ready job, or the one with this id if it is ready; `undefined` if there is none. */
    async take(
      { db, dialect }: AnyStore,
      { now, leaseMs, id }: { readonly now: number; readonly leaseMs: number; readonly id?: string | undefined },
    ): Promise<LeasedJob<Row> | undefined> {
      return jobsIn(db)
        .transaction()
        .execute(async (transaction) => {
          const any = takeable(transaction, now).limit(1);
          const next = id === undefined ? any : any.where('id', '=', id);
          const found = await (dialect === 'postgres' ? next.forUpdate().skipLocked() : next).executeTakeFirst();
          if (!found) return undefined;
          const token = randomUUID();
          const row = await transaction
            .updateTable(table)
            .set({ state: TRANSITIONS.take.to, lease: token, lease_until: now + leaseMs, worked_at: now })
            .where('id', '=', found.id)
            .returningAll()
            .executeTakeFirstOrThrow();
          return { row: row as Row, lease: { jobId: row.id, token } };
        });
    },

    /** Ids of jobs that can be leased now. The job that has waited longest comes first. */
    async waiting({ db }: AnyStore, now: number, limit: number): Promise<string[]> {
      const found = await takeable(db, now).limit(limit).execute();
      return found.map(({ id }) => id);
    },

    /** Extends the lease and returns whether cancellation was requested. Throws LeaseLostError. */
    async renewLease({ db }: AnyStore, lease: Lease, until: number): Promise<{ readonly cancelling: boolean }> {
      const update = boundToLease(jobsIn(db).updateTable(table), lease).set({ lease_until: until });
      const row = await update.returning('cancelling').executeTakeFirst();
      if (!row) throw new LeaseLostError();
      return { cancelling: row.cancelling === 1 };
    },

    /** Releases the lease. Returns `false` if it was already lost. */
    async release({ db }: AnyStore, lease: Lease, { readyAt, outcome }: Release): Promise<boolean> {
      const released = await boundToLease(jobsIn(db).updateTable(table), lease)
        .set((eb) => ({
          lease: null,
          ready_at: readyAt,
          ...(outcome !== 'aborted' && { tries: outcome === 'failed' ? eb('tries', '+', 1) : 0 }),
        }))
        .executeTakeFirst();
      return released.numUpdatedRows > 0n;
    },

    /** Columns to set when a job ends, for an update bound to its lease. */
    ending: (move: 'complete' | 'fail' | 'cancel', now: number) => ending(TRANSITIONS[move].to, now) as Changes<Row>,

    /** Ends a job; `error` is the reason for a failure. */
    async end(
      { db }: AnyStore,
      lease: Lease,
      { move, error = null }: { readonly move: 'complete' | 'fail' | 'cancel'; readonly error?: string | null },
      now: number,
    ): Promise<void> {
      const ended = boundToLease(jobsIn(db).updateTable(table), lease);
      await ended.set({ ...ending(TRANSITIONS[move].to, now), error }).execute();
    },
  };
}
