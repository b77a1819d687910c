/** The tables of all rooms: what the databases have seen of them, and bringing them to this version. */
import path from 'node:path';
import { ACCOUNT_TABLES } from '#accounts/index.ts';
import { BATCH_TABLES } from '#batch/index.ts';
import type { Config } from '#config.ts';
import { CRAWL_TABLES } from '#crawl/index.ts';
import { openIndexOf, POSTGRES_MIGRATIONS } from '#search/index.ts';
import { type ModuleTables, openStore, seenMigrations } from '#storage/database/store.ts';

type Place = Pick<Config, 'dataDir' | 'databaseUrl' | 'indexMaxBytes'>;

/** The index in a SQLite file brings its tables to this version by itself; it is a copy that can be made anew. */
const INDEX_TABLES: ModuleTables = {
  room: 'index',
  migrations: POSTGRES_MIGRATIONS,
  fileIn: (dataDir) => path.join(dataDir, 'index', 'index.db'),
};

const tablesOf = ({ databaseUrl, indexMaxBytes }: Place): readonly ModuleTables[] => [
  ACCOUNT_TABLES,
  BATCH_TABLES,
  CRAWL_TABLES,
  ...(databaseUrl && indexMaxBytes > 0 ? [INDEX_TABLES] : []),
];

export interface MigrationState {
  readonly room: string;
  /** How many migrations the database has seen. */
  readonly seen: number;
  readonly known: number;
  /** What is to be run, by its name. */
  readonly due: readonly string[];
}

/** Changes nothing. DatabaseAway when the database cannot be reached. */
export async function migrationState(place: Place): Promise<MigrationState[]> {
  const states: MigrationState[] = [];
  for (const { room, migrations, fileIn } of tablesOf(place)) {
    const seen = await seenMigrations({ url: place.databaseUrl, file: fileIn(place.dataDir) }, room);
    states.push({ room, seen, known: migrations.length, due: migrations.slice(seen).map(({ name }) => name) });
  }
  return states;
}

/** Runs what is due. Throws LaterVersion for tables of a later version, DatabaseAway when there is no database. */
export async function migrateAll(place: Place): Promise<void> {
  for (const tables of tablesOf(place)) {
    if (tables.room === INDEX_TABLES.room) {
      // It has more to make than tables.
      await (await openIndexOf(place)).close();
      continue;
    }
    const store = await openStore({ url: place.databaseUrl, file: tables.fileIn(place.dataDir) }, tables);
    await store.close();
  }
}
