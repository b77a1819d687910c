/**
 * The cached copies: rows in the index, and blobs for texts and pictures, so that equal content is stored only once. A
 * blob is written before the rows that refer to it and removed after them. After a crash, therefore, all copies are
 * complete; at worst, some unreferenced blobs remain. All functions may throw; `write` and the functions that remove
 * must not overlap.
 */
import { bytesOnDisk, type FileBlobs } from '#storage/blobs/files.ts';
import type { Database } from '#storage/database/sqlite.ts';
import type { Snapshot } from '../snapshot.ts';
import { readContent } from './content.ts';
import { copyIdOf, copyOf, type PackedCopy, packCopy, type RowFacts } from './copy-row.ts';
import type { CopyQuery } from './copy-store.ts';
import { createIndexQueries, type PartRole } from './index-queries.ts';
import { createRemoval } from './removal.ts';
import { type Captured, isFresh } from './rules.ts';
import { createUses } from './uses.ts';

export interface CopiesOptions {
  readonly database: Database;
  readonly blobs: FileBlobs;
  /** Maximum size of all copies on disk, in bytes. */
  readonly maxBytes: number;
  /** Copies are removed after this time, in milliseconds. */
  readonly keepMs: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** A copy whose content has not been read yet. */
interface StoredCopy {
  readonly id: string;
  readonly madeAt: number;
  readonly hashes: ReadonlyMap<PartRole, string>;
  readonly row: RowFacts;
}

/** A snapshot to be stored under a key. */
export interface NewCopy {
  readonly key: string;
  readonly snapshot: Snapshot;
  readonly captured: Captured;
  /** When the snapshot was captured, in milliseconds since 1970. */
  readonly madeAt: number;
}

/** Number of expired copies removed in one step. */
const EXPIRED_BATCH = 200;

export function createCopies({ database, blobs, maxBytes, keepMs, clock }: CopiesOptions) {
  const rows = createIndexQueries(database);
  const uses = createUses(database, rows);
  const removal = createRemoval({ database, blobs, rows, uses });

  /** The copies under a key that may be returned, newest first. */
  function* find(key: string, { serves, maxAgeMs }: CopyQuery): Generator<StoredCopy> {
    const now = clock();
    for (const { id, made_at: madeAt, facts } of rows.copiesOf(key)) {
      // If the clock was set back, copies may have dates in the future, so the absolute age is used.
      const ageMs = Math.abs(now - madeAt);
      if (!isFresh(ageMs, { maxAgeMs, keepMs })) continue;
      const row = JSON.parse(facts) as RowFacts;
      const hashes = rows.partsOf(id);
      if (serves(copyOf(row, hashes))) yield { id, madeAt, hashes, row };
    }
  }

  /** Reads a copy and records its use; undefined if a part is missing or damaged. */
  async function read({ id, madeAt, hashes, row }: StoredCopy, pictures: boolean): Promise<Snapshot | undefined> {
    const now = clock();
    const content = await readContent(blobs, { hashes, textBytes: row.textBytes }, pictures);
    if (!content) return undefined;
    uses.note(id, now);
    return { ...row.snapshot, ...content, cachedAt: madeAt };
  }

  /**
   * Writes copies in one transaction, except those that exceed a limit by themselves. Each replaces the copy of the same
   * page captured in the same way, also an earlier one of the list. Evicts the least recently used copies beyond
   * `maxBytes`.
   */
  async function write(copies: readonly NewCopy[]): Promise<void> {
    const latest = new Map(copies.map((copy) => [copyIdOf(copy.key, copy.snapshot, copy.captured), copy]));
    const packed: (PackedCopy & NewCopy)[] = [];
    const failures: unknown[] = [];
    for (const copy of latest.values()) {
      try {
        const one = await pack(copy);
        if (one) packed.push({ ...copy, ...one });
      } catch (error) {
        // A full disk may still have room for a smaller copy.
        failures.push(error);
      }
    }
    const unused = database.transaction(() => {
      const replaced = removal.removeRows(packed.map(({ id }) => id));
      for (const { id, key, madeAt, json, rowBytes, parts } of packed) {
        for (const { hash, bytes } of parts) rows.addBlob(hash, bytesOnDisk(bytes.length));
        rows.addCopy(id, key, madeAt, json, rowBytes);
        for (const { role, hash } of parts) rows.addPart(id, role, hash);
      }
      return [...replaced, ...removal.evictRows(maxBytes)];
    });
    await removal.removeBlobs(unused);
    if (failures.length > 0) throw failures[0];
  }

  /** Writes the blobs of a copy; `undefined` if it exceeds a limit by itself. */
  async function pack({ key, snapshot, captured }: NewCopy): Promise<PackedCopy | undefined> {
    const packed = await packCopy(key, snapshot, captured);
    if (!packed) return undefined;
    const { parts, rowBytes } = packed;
    if (parts.reduce((sum, { bytes }) => sum + bytesOnDisk(bytes.length), rowBytes) > maxBytes) return undefined;
    for (const { hash, bytes } of parts) if (!rows.hasBlob(hash)) await blobs.put(hash, bytes);
    return packed;
  }

  return {
    find,
    read,
    writeUses: uses.write,
    write,
    removeDamaged: removal.removeDamaged,
    /** Removes one copy if the copies exceed `maxBytes` in total. Returns false if they do not. */
    removeExcess: () => removal.removeSome(() => (rows.total() > maxBytes ? rows.leastUsed() : [])),
    /** Removes some copies older than `keepMs`. Returns false if there are none. */
    removeExpired: () => removal.removeSome(() => rows.madeOutside(clock() - keepMs, clock() + keepMs, EXPIRED_BATCH)),
    /** Removes blobs that have no row because of a crash, one folder per step. */
    removeOrphans: () => blobs.removeAllExcept((name) => rows.hasBlob(name)),
    purgeLog: removal.purgeLog,
  };
}
