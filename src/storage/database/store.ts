/**
 * The database of a module: one typed Kysely over SQLite or PostgreSQL, with all migrations applied. Times are stored
 * as integers (milliseconds since 1970) and booleans as 0 and 1, so that rows look the same in both.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Kysely } from 'kysely';
import type { Log } from '#telemetry/log.ts';
import type { Migration } from './migrate.ts';
import { countAppliedInPostgres, openPostgres } from './postgres.ts';
import { openDatabase } from './sqlite.ts';
import { openSqlite } from './sqlite-store.ts';

export type DialectName = 'sqlite' | 'postgres';

export interface Store<Schema> {
  /**
   * Calls reject with DatabaseUnavailableError within about three seconds if the database is unreachable. A SQLite
   * transaction blocks all other calls until it ends, so transactions should be short.
   */
  readonly db: Kysely<Schema>;
  readonly dialect: DialectName;
  /**
   * Whether the last request to the database succeeded. An unreachable PostgreSQL is tested every few seconds, so that an
   * idle process notices its return.
   */
  readonly healthy: boolean;
  /** Closes the database. A second call does nothing. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Owner of the tables: modules that share a database number their migrations separately. */
  readonly module: string;
  /** Pending migrations run once and in order: append to the list, and never change a released migration. */
  readonly migrations: readonly Migration[];
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** The tables of a module, for commands that inspect or migrate databases without opening the module. */
export interface ModuleTables {
  readonly module: string;
  readonly migrations: readonly Migration[];
  /** Path of the module's SQLite file in the data folder. */
  readonly fileIn: (dataDir: string) => string;
}

/** Returns the number of migrations applied for a module; 0 if there is no database yet. Only reads. */
export async function countAppliedMigrations(
  place: { readonly url?: string | undefined; readonly file: string },
  module: string,
): Promise<number> {
  if (place.url) return countAppliedInPostgres(place.url, module);
  if (!existsSync(place.file)) return 0;
  const database = await openDatabase(place.file, []);
  try {
    if (!database.get("SELECT 1 AS there FROM sqlite_master WHERE name = 'migrations'")) return 0;
    return database.get<{ seen: number }>('SELECT count(*) AS seen FROM migrations WHERE room = ?', module)!.seen;
  } finally {
    database.close();
  }
}

/** Opens PostgreSQL if `url` is set, otherwise a SQLite file in a folder that is created with mode 0700. */
export async function openStore<Schema>(
  place: { readonly url?: string | undefined; readonly file: string },
  options: StoreOptions,
): Promise<Store<Schema>> {
  if (place.url) return openPostgres<Schema>(place.url, options);
  await mkdir(path.dirname(place.file), { recursive: true, mode: 0o700 });
  return openSqlite<Schema>(place.file, options);
}
