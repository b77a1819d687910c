/** The name of a module's queue in Redis, which is unique to a database. */
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

interface Tables {
  // The table name also contains the module name.
  queue: { id: string };
}

const tableOf = (module: string) => `${module}_queue` as 'queue';

/** Creates the random part of the name, once per database. */
export const queueMigration = (module: string): Migration => ({
  name: 'queue',
  async up(db) {
    await db.schema
      .createTable(tableOf(module))
      .addColumn('id', 'text', (column) => column.primaryKey())
      .execute();
    await db.insertInto(tableOf(module)).values({ id: randomUUID() }).execute();
  },
});

// biome-ignore lint/suspicious/noExplicitAny: accepts the schema of any module
export async function readQueueName(db: Kysely<any>, module: string): Promise<string> {
  const queue = (db as Kysely<Tables>).selectFrom(tableOf(module)).select('id');
  return `${module}-${(await queue.executeTakeFirstOrThrow()).id}`;
}
