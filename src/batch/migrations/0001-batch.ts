/** Tables for jobs, for the chunks of their input and results, and for the secret that signs links. */
import { sql } from 'kysely';
import type { Migration } from '#storage/database/migrate.ts';

export const batch: Migration = {
  name: 'batch',
  async up(db, dialect) {
    const bytes = dialect === 'sqlite' ? sql`blob` : sql`bytea`;
    await db.schema
      .createTable('batch_jobs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text')
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('options', 'text', (column) => column.notNull())
      .addColumn('input_url', 'text')
      .addColumn('base_url', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('error', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('completed_at', 'bigint')
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('total', 'integer')
      .addColumn('completed', 'integer', (column) => column.notNull())
      .addColumn('failed', 'integer', (column) => column.notNull())
      .addColumn('tokens', 'bigint', (column) => column.notNull())
      .addColumn('done_bytes', 'bigint', (column) => column.notNull())
      .addColumn('input_bytes', 'bigint', (column) => column.notNull())
      .addColumn('output_bytes', 'bigint', (column) => column.notNull())
      .addColumn('error_bytes', 'bigint', (column) => column.notNull())
      .addColumn('lease', 'text')
      .addColumn('lease_until', 'bigint', (column) => column.notNull())
      .addColumn('worked_at', 'bigint', (column) => column.notNull())
      .addColumn('ready_at', 'bigint', (column) => column.notNull())
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addColumn('cancelling', 'integer', (column) => column.notNull())
      .addColumn('webhook_url', 'text')
      .addColumn('webhook_at', 'bigint')
      .addColumn('webhook_tries', 'integer', (column) => column.notNull())
      .addColumn('charge_due', 'integer', (column) => column.notNull())
      .addColumn('litter', 'text', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('batch_jobs_owner').on('batch_jobs').columns(['owner', 'created_at', 'id']).execute();
    await db.schema.createIndex('batch_jobs_state').on('batch_jobs').columns(['state', 'worked_at']).execute();
    for (const column of ['webhook_at', 'charge_due', 'litter', 'expires_at']) {
      await db.schema.createIndex(`batch_jobs_${column}`).on('batch_jobs').column(column).execute();
    }
    await db.schema
      .createTable('batch_pieces')
      .addColumn('job_id', 'text', (column) => column.notNull().references('batch_jobs.id'))
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('start', 'bigint', (column) => column.notNull())
      .addColumn('bytes', bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('batch_pieces_key', ['job_id', 'kind', 'start'])
      .execute();
    await db.schema
      .createTable('batch_secrets')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
  },
};
