/** Turns at hosts, for servers that share the database; a file of SQLite is one server's, which keeps them in memory. */
import { sql } from 'kysely';
import type { Migration } from '#storage/database/migrate.ts';

export const hosts: Migration = {
  name: 'hosts',
  async up(db, dialect) {
    if (dialect !== 'postgres') return;
    // A crash empties such a table: a turn is a minute old at most, and no disk is waited for.
    await sql`CREATE UNLOGGED TABLE crawl_hosts (
      host TEXT PRIMARY KEY, next_at BIGINT NOT NULL, holders TEXT NOT NULL
    )`.execute(db);
    await sql`CREATE INDEX crawl_hosts_next_at ON crawl_hosts (next_at)`.execute(db);
  },
};
