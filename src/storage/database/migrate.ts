/** Tables change by numbered migrations: each runs once and in order, however many processes start at the same time. */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { DialectName } from './store.ts';

export interface Migration {
  /** What it does, for people; the place in the list is its number. */
  readonly name: string;
  // The tables are those of that time, not those that the types of today describe.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  up(db: Kysely<any>, dialect: DialectName): Promise<void>;
}

/** The database has seen migrations that this program does not know. */
export class NewerSchemaError extends Error {
  override readonly name = 'LaterVersion';
}

interface Schema {
  migrations: { room: string; number: number; name: string; ran_at: number };
}

/** Any number of our own; PostgreSQL's advisory locks are named by numbers. */
const LOCK = 7_305_804;

/** Runs what is new, in one transaction: all of it or nothing. Throws LaterVersion. */
export async function migrate(
  // biome-ignore lint/suspicious/noExplicitAny: whatever the room's schema, the one of this file is what is touched
  db: Kysely<any>,
  dialect: DialectName,
  module: string,
  migrations: readonly Migration[],
): Promise<void> {
  await db.transaction().execute(async (transaction: Transaction<Schema>) => {
    // SQLite's transactions lock the whole file already.
    if (dialect === 'postgres') await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(transaction);
    await sql`CREATE TABLE IF NOT EXISTS migrations (
      room TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, ran_at BIGINT NOT NULL,
      PRIMARY KEY (room, number)
    )`.execute(transaction);
    const seen = await transaction
      .selectFrom('migrations')
      .select('number')
      .where('room', '=', module)
      .orderBy('number')
      .execute();
    if (seen.length > migrations.length) {
      throw new NewerSchemaError(
        `the tables of ${room} are of version ${seen.length}, this program knows ${migrations.length}: it is too old for them`,
      );
    }
    for (const [at, migration] of migrations.entries()) {
      if (at < seen.length) continue;
      await migration.up(transaction, dialect);
      await transaction
        .insertInto('migrations')
        .values({ room: module, number: at + 1, name: migration.name, ran_at: Date.now() })
        .execute();
    }
  });
}
