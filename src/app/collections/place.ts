/** Where collections are: each in a folder of the data folder, or in a schema of PostgreSQL. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { openPostgres } from '#storage/database/postgres.ts';

export interface CollectionsPlace {
  /** The folder that has a subfolder for each collection. */
  readonly dir: string;
  /** `postgres://…`. If set, the collections are there, and all servers share them. */
  readonly databaseUrl?: string | undefined;
}

/** The files of a collection, or its schema. */
export type CollectionPlace = { readonly folder: string } & (
  | { readonly url: string; readonly schema: string }
  | { readonly url?: undefined; readonly schema?: undefined }
);

export const collectionsDirOf = (dataDir: string): string => path.join(dataDir, 'collections');

/** A schema has a name of at most 63 characters: with this prefix, a name of 40 and the number of a shard. */
const SCHEMA_PREFIX = 'lectern_collection_';
/** Earlier versions permitted longer names. */
export const MAX_NAME = 63 - SCHEMA_PREFIX.length;
const INDEX_FILE = 'index.db';

export function placeOf({ dir, databaseUrl }: CollectionsPlace, name: string): CollectionPlace {
  const folder = path.join(dir, name);
  return databaseUrl === undefined ? { folder } : { folder, url: databaseUrl, schema: SCHEMA_PREFIX + name };
}

export const indexPlace = ({ folder, url, schema }: CollectionPlace) => ({
  file: path.join(folder, INDEX_FILE),
  url,
  schema,
});

export const hasFiles = ({ folder }: CollectionPlace): boolean => existsSync(path.join(folder, INDEX_FILE));

/** The names of all collections, sorted. Throws DatabaseUnavailableError. */
export async function collectionNames({ dir, databaseUrl }: CollectionsPlace): Promise<string[]> {
  if (databaseUrl === undefined) {
    const names = await readdir(dir).catch(() => []);
    return names.filter((name) => hasFiles(placeOf({ dir }, name))).sort();
  }
  const store = await openPostgres<unknown>(databaseUrl, { module: 'collections', migrations: [], maxConnections: 1 });
  try {
    const { rows } = await sql<{ name: string }>`
      SELECT nspname AS name FROM pg_namespace WHERE starts_with(nspname, ${SCHEMA_PREFIX})`.execute(store.db);
    return rows.map(({ name }) => name.slice(SCHEMA_PREFIX.length)).sort();
  } finally {
    await store.close();
  }
}
