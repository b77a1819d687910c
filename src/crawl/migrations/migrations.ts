/** All migrations of the room, in their order. Add to the list; what was released is never changed. */
import type { Migration } from '#storage/database/migrate.ts';
import { crawl } from './0001-crawl.ts';

export const MIGRATIONS: readonly Migration[] = [crawl];
