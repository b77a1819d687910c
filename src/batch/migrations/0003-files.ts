/** Tables for uploaded files, and the columns of jobs whose input is such a file. */
import { sql } from 'kysely';
import type { Migration } from '#storage/database/migrate.ts';

export const files: Migration = {
  name: 'files',
  async up(db, dialect) {
    const bytes = dialect === 'sqlite' ? sql`blob` : sql`bytea`;
    await db.schema.alterTable('batch_jobs').addColumn('input_file', 'text').execute();
    await db.schema.alterTable('batch_jobs').addColumn('metadata', 'text').execute();
    await db.schema
      .createTable('batch_files')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('purpose', 'text', (column) => column.notNull())
      .addColumn('media_type', 'text')
      .addColumn('secret', 'text', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('batch_files_owner').on('batch_files').columns(['owner', 'id']).execute();
    await db.schema.createIndex('batch_files_expires_at').on('batch_files').column('expires_at').execute();
    await db.schema
      .createTable('batch_file_pieces')
      .addColumn('file_id', 'text', (column) => column.notNull().references('batch_files.id').onDelete('cascade'))
      .addColumn('start', 'bigint', (column) => column.notNull())
      .addColumn('bytes', bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('batch_file_pieces_key', ['file_id', 'start'])
      .execute();
  },
};
