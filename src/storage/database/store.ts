/**
 * The database of a room: one typed Kysely over SQLite or PostgreSQL, with the room's tables made and up to date. Times
 * are kept as integers (milliseconds since 1970), switches as 0 and 1, so that rows read the same from either.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Kysely } from 'kysely';
import type { Log } from '#telemetry/log.ts';
import type { Migration } from './migrate.ts';
import { openPostgres, countAppliedInPostgres } from './postgres.ts';
import { openDatabase } from './sqlite.ts';
import { openSqlite } from './sqlite-store.ts';

export type DialectName = 'sqlite' | 'postgres';

export interface Store<Schema> {
  /**
   * Calls reject with DatabaseAway, within about three seconds, when the database cannot be reached. Transactions of
   * SQLite are exclusive: everything else waits for their end, so they hold nothing up.
   */
  readonly db: Kysely<Schema>;
  readonly dialect: DialectName;
  /** Whether the database answered last time. */
  readonly healthy: boolean;
  /** A second call does nothing. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Whose tables these are: rooms that share a database number their migrations apart. */
  readonly module: string;
  /** Those not run yet are run, each once and in order: add to the list, never change what was released. */
  readonly migrations: readonly Migration[];
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** The tables of a room, for those who look after databases without opening rooms. */
export interface ModuleTables {
  readonly module: string;
  readonly migrations: readonly Migration[];
  /** Its SQLite file in the data folder. */
  readonly fileIn: (dataDir: string) => string;
}

/** How many of a room's migrations the database has seen: none where there is no database yet. Nothing is changed. */
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

/** PostgreSQL where an address is given, else SQLite in a file, in a folder that its owner alone may enter. */
export async function openStore<Schema>(
  place: { readonly url?: string | undefined; readonly file: string },
  options: StoreOptions,
): Promise<Store<Schema>> {
  if (place.url) return openPostgres<Schema>(place.url, options);
  await mkdir(path.dirname(place.file), { recursive: true, mode: 0o700 });
  return openSqlite<Schema>(place.file, options);
}
