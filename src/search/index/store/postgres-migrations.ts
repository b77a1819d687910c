/** Tables of the index in PostgreSQL. */
import { sql } from 'kysely';
import type { Migration } from '#storage/database/migrate.ts';
import { ONLY_ALL, OPERATOR } from '../owners.ts';

export const POSTGRES_MIGRATIONS: readonly Migration[] = [
  {
    name: 'the local index',
    async up(db) {
      await sql`CREATE TABLE index_pages (
        id BIGSERIAL PRIMARY KEY, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL, path TEXT NOT NULL, ext TEXT NOT NULL,
        title TEXT NOT NULL, description TEXT NOT NULL, site_name TEXT NOT NULL, language TEXT NOT NULL,
        published_at BIGINT, indexed_at BIGINT NOT NULL, hash TEXT NOT NULL UNIQUE, bytes BIGINT NOT NULL
      )`.execute(db);
      await sql`CREATE INDEX index_pages_by_host ON index_pages (host text_pattern_ops)`.execute(db);
      await sql`CREATE INDEX index_pages_by_age ON index_pages (indexed_at, id)`.execute(db);
      await sql`CREATE TABLE index_passages (
        id BIGSERIAL PRIMARY KEY, page BIGINT NOT NULL REFERENCES index_pages (id) ON DELETE CASCADE,
        heading TEXT NOT NULL, text TEXT NOT NULL, start_at INTEGER NOT NULL, end_at INTEGER NOT NULL,
        terms TSVECTOR NOT NULL
      )`.execute(db);
      await sql`CREATE INDEX index_passages_by_page ON index_passages (page)`.execute(db);
      await sql`CREATE INDEX index_passages_by_terms ON index_passages USING gin (terms)`.execute(db);
      await sql`CREATE TABLE index_vectors (
        seq BIGSERIAL PRIMARY KEY, passage BIGINT NOT NULL UNIQUE REFERENCES index_passages (id) ON DELETE CASCADE,
        model TEXT NOT NULL, code BYTEA NOT NULL
      )`.execute(db);
    },
  },
  {
    name: 'owners of pages in the local index',
    async up(db) {
      await sql`ALTER TABLE index_pages RENAME COLUMN url TO key`.execute(db);
      await sql`ALTER TABLE index_pages ADD COLUMN url TEXT NOT NULL DEFAULT '',
        ADD COLUMN owner TEXT NOT NULL DEFAULT ${sql.lit(ONLY_ALL)}`.execute(db);
      // The URLs under which existing pages were read are unknown. Files were added by the operator.
      await sql`UPDATE index_pages SET url = key,
        owner = CASE WHEN key LIKE 'file:%' THEN ${OPERATOR} ELSE ${ONLY_ALL} END`.execute(db);
      await sql`CREATE INDEX index_pages_by_url ON index_pages (url)`.execute(db);
      await sql`CREATE INDEX index_pages_by_owner ON index_pages (owner)`.execute(db);
    },
  },
  {
    name: 'search of frequent words in the local index',
    async up(db) {
      // Ranking reads the terms of thousands of passages, which takes several times as long if they are compressed.
      // This keeps rows as they are up to almost the size of a page of the database.
      await sql`ALTER TABLE index_passages SET (toast_tuple_target = 8160)`.execute(db);
      await sql`CREATE INDEX index_passages_by_titles ON index_passages
        USING gin (ts_filter(terms, '{a,b}'))`.execute(db);
      await sql`CREATE INDEX index_pages_by_language ON index_pages (language)`.execute(db);
    },
  },
  {
    name: 'short waits for additions to the local index',
    async up(db) {
      // A GIN index collects new entries in a list, which one of the additions merges into the index while it waits.
      // Merging the default of 4 MB into a large index can take longer than the time limit of a statement.
      for (const index of ['index_passages_by_terms', 'index_passages_by_titles'])
        await sql`ALTER INDEX ${sql.id(index)} SET (gin_pending_list_limit = 512)`.execute(db);
    },
  },
];
