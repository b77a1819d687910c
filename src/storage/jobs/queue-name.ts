/** The name under which servers of one database know their queue, and no other server does. */
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

interface Tables {
  // The module's name is in the table's.
  queue: { id: string };
}

const tableOf = (module: string) => `${module}_queue` as 'queue';

/** Makes the name, by chance and once. */
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

// biome-ignore lint/suspicious/noExplicitAny: rooms have tables of their own beside this one
export async function readQueueName(db: Kysely<any>, module: string): Promise<string> {
  const queue = (db as Kysely<Tables>).selectFrom(tableOf(module)).select('id');
  return `${module}-${(await queue.executeTakeFirstOrThrow()).id}`;
}
