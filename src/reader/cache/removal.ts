/**
 * Removes copies: their rows in a transaction, then the blobs that are no longer referenced by any row. `copies.ts`
 * selects the expired and the excess copies, `store.ts` calls it at intervals (`sweep`).
 */
import type { Blobs } from '#storage/blobs/blobs.ts';
import type { Database } from '#storage/database/sqlite.ts';
import type { IndexQueries, PartRole } from './index-queries.ts';
import type { Uses } from './uses.ts';

export interface RemovalTools {
  readonly database: Database;
  readonly blobs: Blobs;
  readonly rows: IndexQueries;
  readonly uses: Uses;
}

export function createRemoval({ database, blobs, rows, uses }: RemovalTools) {
  /** Whether the write-ahead log still contains rows that were removed. */
  let logHasRemoved = false;

  /** Removes the rows of the least recently used copies beyond `maxBytes`. Returns the hashes that became unused. */
  function evictRows(maxBytes: number): string[] {
    if (rows.total() <= maxBytes) return [];
    uses.write();
    const unused: string[] = [];
    for (let least = rows.leastUsed(); least.length > 0 && rows.total() > maxBytes; least = rows.leastUsed()) {
      unused.push(...removeRows(least));
    }
    return unused;
  }

  /** Removes the rows of copies. Returns the hashes that became unused. Call it in a transaction. */
  function removeRows(ids: readonly string[]): string[] {
    const unused: string[] = [];
    for (const id of ids) {
      const hashes = new Set(rows.partsOf(id).values());
      if (rows.removeCopy(id)) logHasRemoved = true;
      uses.forget(id);
      for (const hash of hashes) if (rows.removeBlobIfUnused(hash)) unused.push(hash);
    }
    return unused;
  }

  /** Removes blobs, except those that the same transaction reused. */
  async function removeBlobs(hashes: readonly string[]): Promise<void> {
    for (const hash of hashes) if (!rows.hasBlob(hash)) await blobs.remove(hash);
  }

  /** Removes a copy with corrupt content, and all other copies that share this content. */
  async function removeDamaged(id: string, hashes: ReadonlyMap<PartRole, string>): Promise<void> {
    const damaged: string[] = [];
    for (const hash of hashes.values()) if (!(await blobs.get(hash))) damaged.push(hash);
    const unused = database.transaction(() => removeRows([id, ...damaged.flatMap((hash) => rows.copiesNaming(hash))]));
    await removeBlobs(unused);
  }

  /** Removes some of the listed copies. Returns false if there were none. */
  async function removeSome(list: () => string[]): Promise<boolean> {
    const ids = list();
    if (ids.length === 0) return false;
    await removeBlobs(database.transaction(() => removeRows(ids)));
    return true;
  }

  return {
    evictRows,
    removeRows,
    removeBlobs,
    removeDamaged,
    removeSome,
    /** Deletes removed rows from the write-ahead log too. */
    purgeLog() {
      if (!logHasRemoved) return;
      database.checkpoint();
      logHasRemoved = false;
    },
  };
}
