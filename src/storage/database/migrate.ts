/** Numbered table migrations. Each runs once and in order, even if several processes start at the same time. */
import { type Kysely, sql, type Transaction } from 'kysely';
import { enterSchema } from './schema.ts';
import type { DialectName } from './store.ts';

export interface Migration {
  /** A description for people. The migration's number is its position in the list. */
  readonly name: string;
  // Tables at the time of the migration differ from today's types.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  up(db: Kysely<any>, dialect: DialectName): Promise<void>;
}

/** The database has migrations that this version does not know. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
}

interface Schema {
  migrations: { room: string; number: number; name: string; ran_at: number };
}

/** Arbitrary id of the advisory lock in PostgreSQL. */
const ADVISORY_LOCK_ID = 7_305_804;

/**
 * Applies new migrations in one transaction. With `schema`, the tables are in this schema of PostgreSQL, together with the
 * list of their migrations. Throws NewerSchemaError.
 */
export async function migrate(
  // biome-ignore lint/suspicious/noExplicitAny: accepts the schema of any module and uses only the table of this file
  db: Kysely<any>,
  dialect: DialectName,
  module: string,
  migrations: readonly Migration[],
  schema?: string,
): Promise<void> {
  await db.transaction().execute(async (transaction: Transaction<Schema>) => {
    // A SQLite transaction already locks the whole file.
    if (dialect === 'postgres') await sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCK_ID})`.execute(transaction);
    if (schema !== undefined) await enterSchema(transaction, schema);
    await sql`CREATE TABLE IF NOT EXISTS migrations (
      room TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, ran_at BIGINT NOT NULL,
      PRIMARY KEY (room, number)
    )`.execute(transaction);
    const applied = await transaction
      .selectFrom('migrations')
      .select('number')
      .where('room', '=', module)
      .orderBy('number')
      .execute();
    if (applied.length > migrations.length) {
      throw new NewerSchemaError(
        `the tables of ${module} have version ${applied.length}, this program supports ${migrations.length}: use a newer version of Lectern`,
      );
    }
    for (const [at, migration] of migrations.entries()) {
      if (at < applied.length) continue;
      await migration.up(transaction, dialect);
      await transaction
        .insertInto('migrations')
        .values({ room: module, number: at + 1, name: migration.name, ran_at: Date.now() })
        .execute();
    }
  });
}
