/** The name under which servers of one database know their queue, and no other server does. */
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

interface Tables {
  // The room's name is in the table's.
  queue: { id: string };
}

const tableOf = (room: string) => `${room}_queue` as 'queue';

/** Makes the name, by chance and once. */
export const queueMigration = (room: string): Migration => ({
  name: 'queue',
  async up(db) {
    await db.schema
      .createTable(tableOf(room))
      .addColumn('id', 'text', (column) => column.primaryKey())
      .execute();
    await db.insertInto(tableOf(room)).values({ id: randomUUID() }).execute();
  },
});

// biome-ignore lint/suspicious/noExplicitAny: rooms have tables of their own beside this one
export async function queueName(db: Kysely<any>, room: string): Promise<string> {
  const queue = (db as Kysely<Tables>).selectFrom(tableOf(room)).select('id');
  return `${room}-${(await queue.executeTakeFirstOrThrow()).id}`;
}
