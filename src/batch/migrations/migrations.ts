/** All migrations of the room, in their order. Add to the list; what was released is never changed. */
import type { Migration } from '#storage/database/migrate.ts';
import { queueMigration } from '#storage/jobs/queue-name.ts';
import { batch } from './0001-batch.ts';

export const MIGRATIONS: readonly Migration[] = [batch, queueMigration('batch')];
