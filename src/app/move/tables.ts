/** The tables that move between a data folder and PostgreSQL, parents first, each with its primary key. */
import { ACCOUNT_TABLES } from '#accounts/index.ts';
import { BATCH_TABLES } from '#batch/index.ts';
import { CLASSIFY_TABLES } from '#classify/index.ts';
import { CRAWL_TABLES } from '#crawl/index.ts';
import type { ModuleTables } from '#storage/database/store.ts';
import { SHARED_TABLES } from '#storage/shared/sql.ts';

export interface MovedTable {
  readonly name: string;
  readonly key: readonly string[];
  /** Whether its rows are pieces, whose content may be in a bucket. */
  readonly hasPieces?: boolean;
}

export interface MovedModule {
  readonly tables: ModuleTables;
  readonly moved: readonly MovedTable[];
}

const table = (name: string, ...key: string[]): MovedTable => ({ name, key });

export const MOVED: readonly MovedModule[] = [
  {
    tables: ACCOUNT_TABLES,
    moved: [
      table('accounts', 'id'),
      table('api_keys', 'id'),
      table('holds', 'id'),
      table('usage_details', 'id'),
      table('usage_sums', 'day', 'account_id', 'key_id', 'face', 'endpoint', 'model'),
    ],
  },
  {
    tables: BATCH_TABLES,
    moved: [
      table('batch_jobs', 'id'),
      { ...table('batch_pieces', 'job_id', 'kind', 'start'), hasPieces: true },
      table('batch_secrets', 'name'),
      table('batch_files', 'id'),
      { ...table('batch_file_pieces', 'file_id', 'start'), hasPieces: true },
    ],
  },
  {
    tables: CRAWL_TABLES,
    moved: [
      table('crawl_jobs', 'id'),
      table('crawl_pages', 'job_id', 'key'),
      table('crawl_results', 'job_id', 'seq'),
      table('crawl_kinds', 'job_id', 'kind'),
      table('crawl_charges', 'id'),
    ],
  },
  {
    tables: CLASSIFY_TABLES,
    moved: [table('classifiers', 'id'), table('classifier_samples', 'classifier_id', 'start')],
  },
  { tables: SHARED_TABLES, moved: [table('shared_values', 'space', 'name')] },
];

/**
 * Tables that do not move: the installation's secret is a file in a data folder, the politeness state of hosts is only
 * in PostgreSQL and short-lived, each database has its own queue in Redis, and objects that nothing refers to stay with
 * their database.
 */
export const UNMOVED: readonly string[] = [
  ...['installation', 'crawl_hosts', 'batch_queue', 'crawl_queue', 'batch_objects', 'migrations'],
];
