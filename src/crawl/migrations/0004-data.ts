/** What APIs of other products store with a job, and the key of the request that started it. */
import type { Migration } from '#storage/database/migrate.ts';

export const data: Migration = {
  name: 'data',
  async up(db) {
    for (const name of ['data', 'request_key']) {
      await db.schema.alterTable('crawl_jobs').addColumn(name, 'text').execute();
    }
    await db.schema.createIndex('crawl_jobs_request_key').on('crawl_jobs').columns(['owner', 'request_key']).execute();
  },
};
