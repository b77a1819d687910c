/** All migrations of the module, in order. Append to the list; never change a released migration. */
import type { Migration } from '#storage/database/migrate.ts';
import { classifiers } from './0001-classifiers.ts';

export const MIGRATIONS: readonly Migration[] = [classifiers];
