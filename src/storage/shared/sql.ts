/** Shared values in SQLite, for the processes of one machine, or in PostgreSQL, for any number of servers. */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { Log } from '#telemetry/log.ts';
import type { Migration } from '../database/migrate.ts';
import { isDamaged, moveAside } from '../database/sqlite.ts';
import { type ModuleTables, openStore, type Store } from '../database/store.ts';
import { DatabaseUnavailableError } from '../database/unavailable.ts';
import { type SharedStore, SharedUnavailableError, type SharedValues, type Space, SWEEP_EVERY } from './values.ts';

interface Tables {
  shared_values: { space: string; name: string; value: string; expires_at: number };
}

const MIGRATIONS: readonly Migration[] = [
  {
    name: 'shared values',
    async up(db) {
      await sql`CREATE TABLE shared_values (
        space TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, expires_at BIGINT NOT NULL,
        PRIMARY KEY (space, name)
      )`.execute(db);
      await sql`CREATE INDEX shared_values_by_expiry ON shared_values (space, expires_at)`.execute(db);
    },
  },
];

export const SHARED_TABLES: ModuleTables = {
  module: 'shared',
  migrations: MIGRATIONS,
  fileIn: (dataDir) => `${dataDir}/shared.db`,
};

export interface SqlValuesOptions {
  /** Current time in milliseconds, used instead of the store's time in tests. */
  readonly clock?: (() => number) | undefined;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** A damaged SQLite file is replaced, because its contents can be collected again. */
export async function openSqlValues(
  place: { readonly url?: string | undefined; readonly file: string },
  { clock, log }: SqlValuesOptions = {},
): Promise<SharedStore> {
  const open = () => openStore<Tables>(place, { ...SHARED_TABLES, log });
  const store = await open().catch(async (error: unknown) => {
    if (place.url || !isDamaged(error)) throw error;
    log?.warn({ err: error, file: place.file }, 'the database is damaged; creating a new one');
    await moveAside(place.file);
    return open();
  });
  return {
    space: (space) => createSpace(store, space, clock),
    get healthy() {
      return store.healthy;
    },
    close: () => store.close(),
  };
}

function createSpace(store: Store<Tables>, { name: space, maxValues }: Space, clock?: () => number): SharedValues {
  const { db, dialect } = store;
  const isPostgres = dialect === 'postgres';
  const now = (): RawBuilder<number> =>
    isPostgres && !clock
      ? sql<number>`floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`
      : sql<number>`${sql.val((clock ?? Date.now)())}${isPostgres ? sql`::bigint` : sql``}`;
  let writes = 0;

  async function put(on: Kysely<Tables> | Transaction<Tables>, name: string, value: string, keepMs: number) {
    await on
      .insertInto('shared_values')
      .values({ space, name, value, expires_at: sql<number>`${now()} + ${Math.ceil(keepMs)}` })
      .onConflict((conflict) =>
        conflict.columns(['space', 'name']).doUpdateSet((eb) => ({
          value: eb.ref('excluded.value'),
          expires_at: eb.ref('excluded.expires_at'),
        })),
      )
      .execute();
  }

  async function sweepSometimes(): Promise<void> {
    writes += 1;
    if (writes % SWEEP_EVERY !== 1) return;
    const own = db.deleteFrom('shared_values').where('space', '=', space);
    await own.where('expires_at', '<=', now()).execute();
    const surplus = db.selectFrom('shared_values').select('name').where('space', '=', space);
    const oldest = surplus.orderBy('expires_at', 'desc').offset(maxValues);
    await own.where('name', 'in', isPostgres ? oldest : oldest.limit(-1)).execute();
  }

  return {
    get: (names) =>
      orUnavailable(async () => {
        if (!names.length) return [];
        const rows = await db
          .selectFrom('shared_values')
          .select(['name', 'value'])
          .where('space', '=', space)
          .where('name', 'in', names)
          .where('expires_at', '>', now())
          .execute();
        const found = new Map(rows.map(({ name, value }) => [name, value]));
        return names.map((name) => found.get(name));
      }),
    set: (name, value, keepMs) =>
      orUnavailable(async () => {
        await put(db, name, value, keepMs);
        await sweepSometimes();
      }),
    async update(name, change) {
      const { value, result } = await orUnavailable(() =>
        db.transaction().execute(async (transaction) => {
          // A row that does not exist yet cannot be locked. A SQLite transaction locks the whole file.
          if (isPostgres) {
            await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${space} ${name}`}, 0))`.execute(transaction);
          }
          const { rows } = await sql<{ value: string | null; now_ms: number }>`
            SELECT (SELECT value FROM shared_values
              WHERE space = ${space} AND name = ${name} AND expires_at > ${now()}) AS value, ${now()} AS now_ms
          `.execute(transaction);
          const { value: current, now_ms } = rows[0]!;
          const changed = change(current ?? undefined, Number(now_ms));
          if (changed.value !== undefined) await put(transaction, name, changed.value, changed.keepMs ?? 0);
          return changed;
        }),
      );
      if (value !== undefined) await orUnavailable(sweepSometimes);
      return result;
    },
    remove: (name) =>
      orUnavailable(async () => {
        await db.deleteFrom('shared_values').where('space', '=', space).where('name', '=', name).execute();
      }),
  };
}

async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DatabaseUnavailableError ? new SharedUnavailableError(error) : error;
  }
}
