/**
 * The index of cached copies: the copies, their parts, and the total size on disk. A blob is a file; several copies may
 * share one.
 */
import type { Database } from '#storage/database/sqlite.ts';

/** The part of a copy's content that is stored in a blob. */
export type PartRole = 'text' | 'screenshot' | 'pageshot';

interface Row {
  readonly id: string;
  readonly made_at: number;
  readonly facts: string;
}

export const MIGRATIONS = [
  `CREATE TABLE blobs (hash TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
   CREATE TABLE copies (
     id TEXT PRIMARY KEY,
     place TEXT NOT NULL,
     made_at INTEGER NOT NULL,
     used_at INTEGER NOT NULL,
     facts TEXT NOT NULL,
     bytes INTEGER NOT NULL
   );
   CREATE INDEX copies_by_place ON copies (place, made_at);
   CREATE INDEX copies_by_use ON copies (used_at);
   CREATE INDEX copies_by_age ON copies (made_at);
   CREATE TABLE parts (
     copy TEXT NOT NULL REFERENCES copies (id) ON DELETE CASCADE,
     role TEXT NOT NULL,
     hash TEXT NOT NULL REFERENCES blobs (hash),
     PRIMARY KEY (copy, role)
   ) WITHOUT ROWID;
   CREATE INDEX parts_by_hash ON parts (hash);
   CREATE TABLE total (bytes INTEGER NOT NULL);
   INSERT INTO total VALUES (0);
   CREATE TRIGGER blob_added AFTER INSERT ON blobs BEGIN UPDATE total SET bytes = bytes + new.bytes; END;
   CREATE TRIGGER blob_removed AFTER DELETE ON blobs BEGIN UPDATE total SET bytes = bytes - old.bytes; END;
   CREATE TRIGGER copy_added AFTER INSERT ON copies BEGIN UPDATE total SET bytes = bytes + new.bytes; END;
   CREATE TRIGGER copy_removed AFTER DELETE ON copies BEGIN UPDATE total SET bytes = bytes - old.bytes; END;`,
];

export type IndexQueries = ReturnType<typeof createIndexQueries>;

/** Each query has its own function. Call related queries inside one `transaction`. */
export function createIndexQueries(database: Database) {
  const ids = (found: readonly { id: string }[]) => found.map(({ id }) => id);
  return {
    copiesOf: (key: string) =>
      database.all<Row>('SELECT id, made_at, facts FROM copies WHERE place = ? ORDER BY made_at DESC, rowid DESC', key),
    partsOf: (id: string) =>
      new Map(
        database
          .all<{ role: PartRole; hash: string }>('SELECT role, hash FROM parts WHERE copy = ?', id)
          .map(({ role, hash }) => [role, hash]),
      ),
    hasBlob: (hash: string) => database.get('SELECT 1 FROM blobs WHERE hash = ?', hash) !== undefined,
    copiesNaming: (hash: string) =>
      ids(database.all<{ id: string }>('SELECT DISTINCT copy AS id FROM parts WHERE hash = ?', hash)),
    addBlob: (hash: string, bytes: number) =>
      database.run('INSERT INTO blobs VALUES (?, ?) ON CONFLICT DO NOTHING', hash, bytes),
    addCopy: (id: string, key: string, madeAt: number, facts: string, bytes: number) =>
      database.run('INSERT INTO copies VALUES (?, ?, ?, ?, ?, ?)', id, key, madeAt, madeAt, facts, bytes),
    addPart: (id: string, role: PartRole, hash: string) =>
      database.run('INSERT INTO parts VALUES (?, ?, ?)', id, role, hash),
    removeCopy: (id: string) => database.run('DELETE FROM copies WHERE id = ?', id),
    removeBlobIfUnused: (hash: string) =>
      database.run('DELETE FROM blobs WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM parts WHERE hash = ?1)', hash) > 0,
    setUsedAt: (id: string, usedAt: number) => database.run('UPDATE copies SET used_at = ? WHERE id = ?', usedAt, id),
    leastUsed: () => ids(database.all<{ id: string }>('SELECT id FROM copies ORDER BY used_at, rowid LIMIT 1')),
    madeOutside: (from: number, to: number, most: number) =>
      ids(
        database.all<{ id: string }>('SELECT id FROM copies WHERE made_at < ? OR made_at > ? LIMIT ?', from, to, most),
      ),
    total: () => database.get<{ bytes: number }>('SELECT bytes FROM total')!.bytes,
  };
}
