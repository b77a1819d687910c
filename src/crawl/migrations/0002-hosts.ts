/** Host slots, for servers that share PostgreSQL. A server with SQLite stores them in memory. */
import { sql } from 'kysely';
import type { Migration } from '#storage/database/migrate.ts';

export const hosts: Migration = {
  name: 'hosts',
  async up(db, dialect) {
    if (dialect !== 'postgres') return;
    // UNLOGGED, so that writes do not wait for the disk. A crash empties the table, which is harmless because slots are
    // short-lived.
    await sql`CREATE UNLOGGED TABLE crawl_hosts (
      host TEXT PRIMARY KEY, next_at BIGINT NOT NULL, holders TEXT NOT NULL
    )`.execute(db);
    await sql`CREATE INDEX crawl_hosts_next_at ON crawl_hosts (next_at)`.execute(db);
  },
};
