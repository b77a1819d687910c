/** Migrates the tables of all modules: determines which migrations have already run, and runs the others. */
import path from 'node:path';
import { ACCOUNT_TABLES } from '#accounts/index.ts';
import { BATCH_TABLES } from '#batch/index.ts';
import { CLASSIFY_TABLES } from '#classify/index.ts';
import { KEPT_TABLES } from '#compat/kept/sql-kept-files.ts';
import type { Config } from '#config.ts';
import { CRAWL_TABLES } from '#crawl/index.ts';
import { CACHE_MODULE, SHARED_CACHE_MIGRATIONS } from '#reader/index.ts';
import { openIndexOf, POSTGRES_MIGRATIONS } from '#search/index.ts';
import { SHARED_FILES_MIGRATIONS, SHARED_FILES_MODULE } from '#storage/blobs/open.ts';
import { countAppliedMigrations, type ModuleTables, openStore } from '#storage/database/store.ts';
import { SHARED_TABLES } from '#storage/shared/sql.ts';

type Place = Pick<Config, 'dataDir' | 'databaseUrl' | 'indexMaxBytes'>;

/** Only for PostgreSQL. An index in a SQLite file is migrated when it is opened, because it can be rebuilt. */
const INDEX_TABLES: ModuleTables = {
  module: 'index',
  migrations: POSTGRES_MIGRATIONS,
  fileIn: (dataDir) => path.join(dataDir, 'index', 'index.db'),
};

/** Only for PostgreSQL. Without a database, the page cache, the pictures and the results of tasks are files. */
const SHARED_FILE_TABLES: readonly ModuleTables[] = [
  { module: SHARED_FILES_MODULE, migrations: SHARED_FILES_MIGRATIONS, fileIn: () => '' },
  { module: CACHE_MODULE, migrations: SHARED_CACHE_MIGRATIONS, fileIn: () => '' },
  KEPT_TABLES,
];

const tablesOf = ({ databaseUrl, indexMaxBytes }: Place): readonly ModuleTables[] => [
  ACCOUNT_TABLES,
  BATCH_TABLES,
  CRAWL_TABLES,
  CLASSIFY_TABLES,
  SHARED_TABLES,
  ...(databaseUrl ? SHARED_FILE_TABLES : []),
  ...(databaseUrl && indexMaxBytes > 0 ? [INDEX_TABLES] : []),
];

export interface MigrationState {
  readonly module: string;
  /** The number of migrations that the database has run. */
  readonly seen: number;
  /** The number of migrations in this version. */
  readonly known: number;
  /** The names of the migrations that still have to be run. */
  readonly due: readonly string[];
}

/** Changes nothing. Throws DatabaseUnavailableError if the database cannot be reached. */
export async function readMigrationStates(place: Place): Promise<MigrationState[]> {
  const states: MigrationState[] = [];
  for (const { module, migrations, fileIn } of tablesOf(place)) {
    const seen = await countAppliedMigrations({ url: place.databaseUrl, file: fileIn(place.dataDir) }, module);
    states.push({ module, seen, known: migrations.length, due: migrations.slice(seen).map(({ name }) => name) });
  }
  return states;
}

/**
 * Runs all pending migrations. Throws NewerSchemaError if the tables were migrated by a later version, and
 * DatabaseUnavailableError if the database cannot be reached.
 */
export async function migrateAll(place: Place): Promise<void> {
  for (const tables of tablesOf(place)) {
    if (tables.module === INDEX_TABLES.module) {
      // Opening the index creates everything that it needs besides tables.
      await (await openIndexOf({ ...place, indexUrl: undefined })).close();
      continue;
    }
    const store = await openStore({ url: place.databaseUrl, file: tables.fileIn(place.dataDir) }, tables);
    await store.close();
  }
}
