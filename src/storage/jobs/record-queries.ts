/** Inserts, finds, lists and counts jobs. */
import { sql, type Transaction } from 'kysely';
import { problem } from '#errors.ts';
import type { Store } from '#storage/database/store.ts';
import type { AnyStore, QueryContext } from './query-context.ts';
import { UNFINISHED } from './states.ts';
import type { JobColumns } from './table.ts';

/** Maximum number of unfinished jobs per owner. */
const MAX_UNFINISHED = 10;

export function recordQueries<Row extends JobColumns>({ table, plural, jobsIn, rows }: QueryContext<Row>) {
  return {
    /**
     * Inserts a job and runs `also` in the same transaction. Throws ResourceLimitExceededError if the owner has too
     * many unfinished jobs. If `findKnown` finds a job, inserts nothing and returns its id; no other job of the owner is
     * inserted in the meantime.
     */
    async insert<All>(
      { db, dialect }: Pick<Store<All>, 'db' | 'dialect'>,
      row: Row,
      also: (transaction: Transaction<All>) => Promise<void>,
      findKnown?: (transaction: Transaction<All>) => Promise<string | undefined>,
    ): Promise<string> {
      return db.transaction().execute(async (transaction) => {
        // SQLite transactions are exclusive. In PostgreSQL, this lock serializes inserts for one owner.
        if (dialect === 'postgres')
          await sql`SELECT pg_advisory_xact_lock(hashtext(${row.owner}))`.execute(transaction);
        const known = await findKnown?.(transaction);
        if (known !== undefined) return known;
        const { unfinished } = await jobsIn(transaction)
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
        await jobsIn(transaction).insertInto(table).values(row).execute();
        await also(transaction);
        return row.id;
      });
    },

    async find({ db }: AnyStore, id: string): Promise<Row | undefined> {
      return rows(await jobsIn(db).selectFrom(table).selectAll().where('id', '=', id).execute())[0];
    },

    /** Lists jobs, newest first; with `after`, those that are older than that job. */
    async list({ db }: AnyStore, owner: string, limit: number, after?: string): Promise<Row[]> {
      let found = jobsIn(db).selectFrom(table).selectAll().where('owner', '=', owner);
      // Ids sort by creation time.
      if (after !== undefined) found = found.where('id', '<', after);
      return rows(await found.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute());
    },

    /** Number of jobs in each state. */
    async counts({ db }: AnyStore): Promise<ReadonlyMap<string, number>> {
      const found = await jobsIn(db)
        .selectFrom(table)
        .select(({ fn }) => ['state', fn.countAll<number>().as('jobs')])
        .groupBy('state')
        .execute();
      return new Map(found.map(({ state, jobs }) => [state, Number(jobs)]));
    },
  };
}
