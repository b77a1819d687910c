/**
 * Blobs as rows of a table in PostgreSQL, for several servers without an S3 store. The table is unlogged: writing it
 * costs no more than the bytes themselves, and a crash of PostgreSQL empties it. So it suits only content that can be
 * made again.
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from '../database/migrate.ts';
import { type Blobs, blobName } from './blobs.ts';

export interface BlobTables {
  blobs: { name: string; bytes: Uint8Array };
}

/** A larger value would take a connection too long. */
const MAX_BYTES = 8 * 1024 * 1024;

export const BLOB_MIGRATION: Migration = {
  name: 'blobs',
  async up(db) {
    await sql`CREATE UNLOGGED TABLE blobs (name TEXT PRIMARY KEY, bytes BYTEA NOT NULL)`.execute(db);
    // The content is compressed already.
    await sql`ALTER TABLE blobs ALTER COLUMN bytes SET STORAGE EXTERNAL`.execute(db);
  },
};

export function createPostgresBlobs(db: Kysely<BlobTables>): Blobs {
  return {
    maxBytes: MAX_BYTES,
    async put(name, bytes) {
      if (bytes.length > MAX_BYTES)
        throw new RangeError(`a blob of ${bytes.length} bytes is too large for the database`);
      await db
        .insertInto('blobs')
        .values({ name, bytes: Buffer.from(bytes) })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ bytes: sql`excluded.bytes` }))
        .execute();
    },
    async get(name) {
      const row = await db.selectFrom('blobs').select('bytes').where('name', '=', name).executeTakeFirst();
      return row && blobName(row.bytes) === name ? row.bytes : undefined;
    },
    async remove(name) {
      await db.deleteFrom('blobs').where('name', '=', name).execute();
    },
  };
}
