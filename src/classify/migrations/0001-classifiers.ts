/** Tables of trained classifiers and of the samples that they were trained with. */
import { sql } from 'kysely';
import type { Migration } from '#storage/database/migrate.ts';

export const classifiers: Migration = {
  name: 'classifiers',
  async up(db, dialect) {
    const bytes = dialect === 'sqlite' ? sql`blob` : sql`bytea`;
    await db.schema
      .createTable('classifiers')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('access', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('labels', 'text', (column) => column.notNull())
      .addColumn('dimensions', 'integer', (column) => column.notNull())
      .addColumn('weights', bytes, (column) => column.notNull())
      .addColumn('samples', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_number', 'integer', (column) => column.notNull())
      .addColumn('used_at', 'bigint')
      .addColumn('used_number', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('classifiers_owner').on('classifiers').columns(['owner', 'id']).execute();
    await db.schema
      .createTable('classifier_samples')
      .addColumn('classifier_id', 'text', (column) => column.notNull().references('classifiers.id'))
      .addColumn('start', 'integer', (column) => column.notNull())
      .addColumn('labels', 'text', (column) => column.notNull())
      .addColumn('vectors', bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('classifier_samples_key', ['classifier_id', 'start'])
      .execute();
  },
};
