/** All migrations of the module, in order. Append to the list; never change a released migration. */
import type { Migration } from '#storage/database/migrate.ts';
import { queueMigration } from '#storage/jobs/queue-name.ts';
import { batch } from './0001-batch.ts';
import { files } from './0003-files.ts';
import { objects } from './0004-objects.ts';

export const MIGRATIONS: readonly Migration[] = [batch, queueMigration('batch'), files, objects];
