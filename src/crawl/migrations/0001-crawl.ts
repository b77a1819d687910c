/** Jobs, their URLs and results. */
import type { Migration } from '#storage/database/migrate.ts';

export const crawl: Migration = {
  name: 'crawl',
  async up(db) {
    let jobs = db.schema
      .createTable('crawl_jobs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text')
      .addColumn('error', 'text')
      .addColumn('lease', 'text')
      .addColumn('completed_at', 'bigint');
    for (const name of ['owner', 'plan', 'options', 'bases', 'state']) {
      jobs = jobs.addColumn(name, 'text', (column) => column.notNull());
    }
    for (const name of ['created_at', 'expires_at', 'lease_until', 'worked_at', 'ready_at', 'tokens']) {
      jobs = jobs.addColumn(name, 'bigint', (column) => column.notNull());
    }
    for (const name of [
      'sitemaps_due',
      'found',
      'done',
      'failed',
      'skipped',
      'read',
      'last_seq',
      'tries',
      'cancelling',
      'litter',
    ]) {
      jobs = jobs.addColumn(name, 'integer', (column) => column.notNull());
    }
    await jobs.execute();
    await db.schema.createIndex('crawl_jobs_owner').on('crawl_jobs').columns(['owner', 'created_at', 'id']).execute();
    await db.schema.createIndex('crawl_jobs_state').on('crawl_jobs').columns(['state', 'worked_at']).execute();
    for (const name of ['expires_at', 'litter']) {
      await db.schema.createIndex(`crawl_jobs_${name}`).on('crawl_jobs').column(name).execute();
    }
    await db.schema
      .createTable('crawl_pages')
      .addColumn('job_id', 'text', (column) => column.notNull().references('crawl_jobs.id'))
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('host', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('rank', 'integer', (column) => column.notNull())
      .addColumn('depth', 'integer', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addColumn('ready_at', 'bigint', (column) => column.notNull())
      .addColumn('content', 'text')
      .addColumn('canonical', 'text')
      .addColumn('duplicate_of', 'text')
      .addPrimaryKeyConstraint('crawl_pages_key', ['job_id', 'key'])
      .execute();
    const order = ['job_id', 'host', 'state', 'rank', 'depth', 'position'];
    await db.schema.createIndex('crawl_pages_order').on('crawl_pages').columns(order).execute();
    for (const name of ['content', 'canonical']) {
      await db.schema.createIndex(`crawl_pages_${name}`).on('crawl_pages').columns(['job_id', name]).execute();
    }
    await db.schema
      .createTable('crawl_results')
      .addColumn('job_id', 'text', (column) => column.notNull().references('crawl_jobs.id'))
      .addColumn('seq', 'integer', (column) => column.notNull())
      .addColumn('event', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('crawl_results_key', ['job_id', 'seq'])
      .execute();
    await db.schema
      .createTable('crawl_kinds')
      .addColumn('job_id', 'text', (column) => column.notNull().references('crawl_jobs.id'))
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('count', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('crawl_kinds_key', ['job_id', 'kind'])
      .execute();
    await db.schema
      .createTable('crawl_charges')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('job_id', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('tokens', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('ms', 'integer', (column) => column.notNull())
      .execute();
  },
};
