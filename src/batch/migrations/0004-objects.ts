/** Pieces as objects of a bucket: the columns that refer to them, and the table of objects that no piece refers to. */
import type { Migration } from '#storage/database/migrate.ts';

export const objects: Migration = {
  name: 'objects',
  async up(db) {
    for (const table of ['batch_pieces', 'batch_file_pieces']) {
      await db.schema.alterTable(table).addColumn('object', 'text').execute();
      await db.schema.alterTable(table).addColumn('length', 'integer').execute();
    }
    await db.schema
      .createTable('batch_objects')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .addColumn('removing', 'integer', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('batch_objects_due_at').on('batch_objects').column('due_at').execute();
  },
};
