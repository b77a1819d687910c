/** The table of pictures that every server can serve. A row is written before its blob and removed after it. */
import { sql } from 'kysely';
import type { Migration } from './database/migrate.ts';

export interface PictureTables {
  pictures: {
    name: string;
    /** Name of the blob. */
    hash: string;
    bytes: number;
    made_at: number;
    /** Set while a server removes the picture. */
    removing_until: number | null;
  };
}

export const PICTURES_MIGRATION: Migration = {
  name: 'pictures',
  async up(db) {
    await sql`CREATE TABLE pictures (
      name TEXT PRIMARY KEY, hash TEXT NOT NULL, bytes BIGINT NOT NULL, made_at BIGINT NOT NULL, removing_until BIGINT
    )`.execute(db);
    await sql`CREATE INDEX pictures_by_age ON pictures (made_at)`.execute(db);
  },
};
