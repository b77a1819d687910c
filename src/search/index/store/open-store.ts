/** Opens the store of an index: OpenSearch, PostgreSQL or a SQLite file. */
import type { Log } from '#telemetry/log.ts';
import type { IndexStore } from './index-store.ts';
import { openPostgresIndex } from './postgres-index.ts';
import { openSqliteIndex } from './sqlite-index.ts';

export interface IndexPlace {
  /** `postgres://…` or `opensearch+https://…`. */
  readonly url?: string | undefined;
  /** Path of the SQLite file, used without `url`. */
  readonly file: string;
  /** The schema for the tables, in PostgreSQL. */
  readonly schema?: string | undefined;
}

export async function openIndexStore({ url, file, schema }: IndexPlace, log?: Pick<Log, 'warn'>): Promise<IndexStore> {
  if (url === undefined) return openSqliteIndex(file, log);
  if (!url.startsWith('opensearch+')) return openPostgresIndex(url, log, { schema });
  const { openOpenSearchIndex } = await import('./opensearch/opensearch-index.ts');
  return openOpenSearchIndex(url, log);
}
