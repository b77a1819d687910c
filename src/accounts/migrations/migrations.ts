/** All migrations of the accounts module, in order. Append to the list; never change a released migration. */
import type { Migration } from '#storage/database/migrate.ts';
import { accounts } from './0001-accounts.ts';

export const MIGRATIONS: readonly Migration[] = [accounts];
