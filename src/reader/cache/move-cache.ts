/**
 * Moves cached copies between the folder of a server and the cache that several servers share. Content is stored under
 * its hash, so a move that was stopped can be repeated. Copies whose content is missing or too large stay behind.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Blobs } from '#storage/blobs/blobs.ts';
import { bytesOnDisk, createFileBlobs } from '#storage/blobs/files.ts';
import { type Database, openDatabase } from '#storage/database/sqlite.ts';
import { openStore, type Store } from '#storage/database/store.ts';
import { MIGRATIONS, type PartRole } from './index-queries.ts';
import { addCopy, announceBlobs } from './shared/rows.ts';
import { CACHE_MODULE, SHARED_MIGRATIONS, type SharedCacheTables } from './shared/tables.ts';

/** The cache folder of a server, or the database of several with their store of blobs. */
export type CachePlace = { readonly dir: string } | { readonly databaseUrl: string; readonly blobs: Blobs };

export interface MovedCache {
  readonly copies: number;
  readonly leftBehind: number;
}

interface StoredCopy {
  readonly id: string;
  readonly place: string;
  readonly made_at: number;
  readonly used_at: number;
  readonly facts: string;
  readonly bytes: number;
  readonly parts: readonly { readonly role: PartRole; readonly hash: string }[];
}

interface MovableCache {
  readonly blobs: Blobs;
  /** Copies with an id above `after`, in order of id. */
  read(after: string, limit: number): Promise<StoredCopy[]>;
  /** Returns false if the copy cannot be stored. */
  write(copy: StoredCopy, contents: ReadonlyMap<string, Uint8Array>): Promise<boolean>;
  close(): Promise<void>;
}

const COPIES_AT_ONCE = 50;

/** Returns `undefined` if the source has no cache. */
export async function moveCache(
  from: CachePlace,
  to: CachePlace,
  onProgress?: (copies: number) => void,
): Promise<MovedCache | undefined> {
  if ('dir' in from && !existsSync(indexFile(from.dir))) return undefined;
  const [source, target] = [await open(from), await open(to)];
  let copies = 0;
  let leftBehind = 0;
  try {
    for (let after = ''; ; ) {
      const some = await source.read(after, COPIES_AT_ONCE);
      if (some.length === 0) return { copies, leftBehind };
      for (const copy of some) {
        const contents = await contentsOf(copy, source.blobs, target.blobs.maxBytes);
        if (contents && (await target.write(copy, contents))) copies += 1;
        else leftBehind += 1;
      }
      after = some.at(-1)!.id;
      onProgress?.(copies);
    }
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

/** The contents by their hashes, in their order; `undefined` if one is missing or too large. */
async function contentsOf(
  { parts }: StoredCopy,
  blobs: Blobs,
  maxBytes: number,
): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
  const contents = new Map<string, Uint8Array>();
  for (const hash of [...new Set(parts.map((part) => part.hash))].sort()) {
    const bytes = await blobs.get(hash);
    if (!bytes || bytes.length > maxBytes) return undefined;
    contents.set(hash, bytes);
  }
  return contents;
}

const indexFile = (dir: string) => path.join(dir, 'index.db');

const open = (place: CachePlace): Promise<MovableCache> =>
  'dir' in place ? openLocal(place.dir) : openShared(place.databaseUrl, place.blobs);

async function openLocal(dir: string): Promise<MovableCache> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const database: Database = await openDatabase(indexFile(dir), MIGRATIONS);
  const blobs = createFileBlobs(path.join(dir, 'blobs'));
  return {
    blobs,
    async read(after, limit) {
      const copies = database.all<Omit<StoredCopy, 'parts'>>(
        'SELECT id, place, made_at, used_at, facts, bytes FROM copies WHERE id > ? ORDER BY id LIMIT ?',
        ...[after, limit],
      );
      const partsOf = (id: string) =>
        database.all<StoredCopy['parts'][number]>('SELECT role, hash FROM parts WHERE copy = ?', id);
      return copies.map((copy) => ({ ...copy, parts: partsOf(copy.id) }));
    },
    async write({ id, place, made_at, used_at, facts, bytes, parts }, contents) {
      for (const [hash, content] of contents) await blobs.put(hash, content);
      database.transaction(() => {
        for (const [hash, content] of contents) {
          database.run('INSERT OR IGNORE INTO blobs (hash, bytes) VALUES (?, ?)', hash, bytesOnDisk(content.length));
        }
        database.run('DELETE FROM parts WHERE copy = ?', id);
        database.run('DELETE FROM copies WHERE id = ?', id);
        database.run('INSERT INTO copies VALUES (?, ?, ?, ?, ?, ?)', id, place, made_at, used_at, facts, bytes);
        for (const { role, hash } of parts) database.run('INSERT INTO parts VALUES (?, ?, ?)', id, role, hash);
      });
      return true;
    },
    async close() {
      database.close();
    },
  };
}

async function openShared(databaseUrl: string, blobs: Blobs): Promise<MovableCache> {
  const store: Store<SharedCacheTables> = await openStore<SharedCacheTables>(
    { url: databaseUrl, file: '' },
    { module: CACHE_MODULE, migrations: SHARED_MIGRATIONS },
  );
  const { db } = store;
  return {
    blobs,
    async read(after, limit) {
      const found = db.selectFrom('cache_copies').selectAll().where('id', '>', after).orderBy('id').limit(limit);
      const copies = await found.execute();
      if (copies.length === 0) return [];
      const ids = copies.map(({ id }) => id);
      const parts = await db.selectFrom('cache_parts').selectAll().where('copy', 'in', ids).execute();
      return copies.map((copy) => ({ ...copy, parts: parts.filter((part) => part.copy === copy.id) }));
    },
    async write({ id, place, made_at, used_at, facts, bytes, parts }, contents) {
      const sizes = [...contents].map(([hash, content]) => ({ hash, bytes: content.length }));
      const missing = await announceBlobs(db, sizes);
      if (!missing) return false;
      for (const hash of missing) await blobs.put(hash, contents.get(hash)!);
      const isAdded = await addCopy(db, { id, key: place, madeAt: made_at, facts, bytes, parts });
      await db.updateTable('cache_copies').set({ used_at }).where('id', '=', id).execute();
      return isAdded;
    },
    close: () => store.close(),
  };
}
