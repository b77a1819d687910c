/** Cancels and expires jobs, and deletes the rows of expired ones. */
import type { AnyStore, QueryContext } from './query-context.ts';
import { TRANSITIONS } from './states.ts';
import type { JobColumns } from './table.ts';

export function endQueries<Row extends JobColumns>(context: QueryContext<Row>) {
  const { table, expired, removable, jobsIn, ending } = context;
  return {
    /**
     * Cancels a job immediately if no worker is processing it. Otherwise sets a flag, and the worker ends the job after
     * the work in progress. Does nothing if the job has ended.
     */
    async requestCancel({ db }: AnyStore, id: string, now: number): Promise<void> {
      await jobsIn(db)
        .transaction()
        .execute(async (transaction) => {
          const job = transaction.updateTable(table).where('id', '=', id).where('state', 'in', TRANSITIONS.cancel.from);
          const idle = await job
            .set(ending(TRANSITIONS.cancel.to, now))
            .where((eb) => eb.or([eb('lease', 'is', null), eb('lease_until', '<=', now)]))
            .executeTakeFirst();
          if (!idle.numUpdatedRows) await job.set({ cancelling: 1 }).execute();
        });
    },

    /** Cancels the job even if a worker is processing it. Later changes by that worker have no effect. */
    async cancelNow({ db }: AnyStore, id: string, now: number): Promise<void> {
      const job = jobsIn(db).updateTable(table).where('id', '=', id).where('state', 'in', TRANSITIONS.cancel.from);
      await job.set(ending(TRANSITIONS.cancel.to, now)).execute();
    },

    /** Expires jobs past their expiry time, whether finished or not, and marks their data for removal. */
    async expire({ db }: AnyStore, now: number, id?: string): Promise<void> {
      const due = (move: 'lapse' | 'expire') => {
        const jobs = jobsIn(db)
          .updateTable(table)
          .where('expires_at', '<=', now)
          .where('state', 'in', TRANSITIONS[move].from);
        return id === undefined ? jobs : jobs.where('id', '=', id);
      };
      await due('lapse')
        .set({ ...ending(TRANSITIONS.lapse.to, now), ...expired })
        .execute();
      await due('expire')
        .set({ state: TRANSITIONS.expire.to, ...expired })
        .execute();
    },

    /** Deletes the rows of expired jobs that were created before `before` and whose cleanup is complete. */
    async forget({ db }: AnyStore, before: number): Promise<void> {
      let old = jobsIn(db)
        .deleteFrom(table)
        .where('created_at', '<', before)
        .where('state', '=', TRANSITIONS.expire.to);
      for (const [column, value] of Object.entries(removable)) old = old.where(column as 'id', '=', value as string);
      await old.execute();
    },
  };
}
