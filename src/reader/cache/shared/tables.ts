/**
 * The tables of a page cache that several servers share, in PostgreSQL. A row of `cache_blobs` is written before its
 * content and removed after it, so that no content is ever without a row:
 *
 * - `stored` is 1 once the content is known to be complete;
 * - `unused_since` is set while no copy refers to the row;
 * - `removing_until` is set once a server began to remove the content. No copy may refer to the row any more. Until then,
 *   other servers leave the removal to that server.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Migration } from '#storage/database/migrate.ts';
import type { PartRole } from '../index-queries.ts';

export interface SharedCacheTables {
  cache_blobs: {
    hash: string;
    bytes: number;
    stored: number;
    unused_since: number | null;
    removing_until: number | null;
  };
  cache_copies: {
    id: string;
    place: string;
    made_at: number;
    used_at: number;
    facts: string;
    bytes: number;
  };
  cache_parts: { copy: string; role: PartRole; hash: string };
  cache_leases: { name: string; owner: string; ends_at: number };
}

/** Name of the module in the table of migrations. */
export const CACHE_MODULE = 'cache';

export const SHARED_MIGRATIONS: readonly Migration[] = [
  {
    name: 'cache',
    async up(db) {
      await sql`CREATE TABLE cache_blobs (
        hash TEXT PRIMARY KEY, bytes BIGINT NOT NULL, stored INTEGER NOT NULL DEFAULT 0,
        unused_since BIGINT, removing_until BIGINT
      )`.execute(db);
      await sql`CREATE INDEX cache_blobs_unused ON cache_blobs (unused_since) WHERE unused_since IS NOT NULL`.execute(
        db,
      );
      await sql`CREATE TABLE cache_copies (
        id TEXT PRIMARY KEY, place TEXT NOT NULL, made_at BIGINT NOT NULL, used_at BIGINT NOT NULL,
        facts TEXT NOT NULL, bytes BIGINT NOT NULL
      )`.execute(db);
      await sql`CREATE INDEX cache_copies_by_place ON cache_copies (place, made_at)`.execute(db);
      await sql`CREATE INDEX cache_copies_by_use ON cache_copies (used_at)`.execute(db);
      await sql`CREATE INDEX cache_copies_by_age ON cache_copies (made_at)`.execute(db);
      await sql`CREATE TABLE cache_parts (
        copy TEXT NOT NULL REFERENCES cache_copies (id) ON DELETE CASCADE,
        role TEXT NOT NULL,
        hash TEXT NOT NULL REFERENCES cache_blobs (hash),
        PRIMARY KEY (copy, role)
      )`.execute(db);
      await sql`CREATE INDEX cache_parts_by_hash ON cache_parts (hash)`.execute(db);
      await sql`CREATE UNLOGGED TABLE cache_leases (
        name TEXT PRIMARY KEY, owner TEXT NOT NULL, ends_at BIGINT NOT NULL
      )`.execute(db);
    },
  },
];

/** The time of the database in milliseconds since 1970, because the clocks of the servers may differ. */
export const NOW_MS: RawBuilder<number> = sql<number>`floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;
