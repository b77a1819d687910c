/** Stores the billing reservation of a read in the same row as its charge. */
import type { Migration } from '#storage/database/migrate.ts';

export const reserves: Migration = {
  name: 'reserves',
  async up(db) {
    await db.schema.alterTable('crawl_charges').addColumn('reserve', 'text').execute();
  },
};
