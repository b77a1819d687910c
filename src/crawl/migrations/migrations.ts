/** All migrations of the module, in order. Append to the list; never change a released migration. */
import type { Migration } from '#storage/database/migrate.ts';
import { queueMigration } from '#storage/jobs/queue-name.ts';
import { crawl } from './0001-crawl.ts';
import { hosts } from './0002-hosts.ts';
import { reserves } from './0003-reserves.ts';
import { data } from './0004-data.ts';

export const MIGRATIONS: readonly Migration[] = [crawl, hosts, reserves, queueMigration('crawl'), data];
