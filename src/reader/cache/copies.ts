/**
 * The cached copies themselves: rows in the index, and blobs for texts and pictures, so that equal content is stored
 * once. A blob is written before the rows that name it and removed after them. So a crash leaves complete copies, and
 * at most blobs that no row names. All functions may throw; `write` and the functions that remove must not overlap.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, brotliDecompressSync, constants } from 'node:zlib';
import { type Blobs, blobName, bytesOnDisk } from '#storage/blobs/blobs.ts';
import type { Database } from '#storage/database/sqlite.ts';
import type { Snapshot } from '../snapshot.ts';
import { createRows, type Role } from './rows.ts';
import type { Captured, Copy, SnapshotFacts } from './rules.ts';

/** Which copies of a page may be returned. */
export interface Wanted {
  readonly serves: (copy: Copy) => boolean;
  /** Maximum age, in milliseconds. */
  readonly maxAgeMs: number;
  /** Whether to read the pictures of the copy too. */
  readonly pictures: boolean;
}

export interface CopiesTools {
  readonly database: Database;
  readonly blobs: Blobs;
  /** Maximum size of all copies on disk, in bytes. */
  readonly maxBytes: number;
  /** Copies are removed after this time, in milliseconds. */
  readonly keepMs: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** A copy whose content is not read yet. */
interface StoredCopy {
  readonly id: string;
  readonly madeAt: number;
  readonly hashes: ReadonlyMap<Role, string>;
  readonly row: RowFacts;
}

/** The JSON in a row. */
interface RowFacts {
  readonly snapshot: SnapshotFacts;
  readonly captured: Captured;
  /** Size of the text in UTF-8, in bytes. */
  readonly textBytes: number;
}

interface Part {
  readonly role: Role;
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** Estimated size of a row without its facts: ids, hashes and indexes. */
const ROW_BYTES = 1_024;
/** Pages with longer facts, such as huge metadata, are not cached. */
const MAX_FACTS_CHARACTERS = 256 * 1024;
/** Texts up to this size are decompressed in this thread: passing them to another thread takes longer. */
const SHORT_BYTES = 256 * 1024;
/** Maximum number of uses noted in memory before they are written. */
const MAX_NOTED_USES = 1_000;
/** Number of expired copies removed in one step. */
const EXPIRED_BATCH = 200;

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

export function createCopies({ database, blobs, maxBytes, keepMs, clock }: CopiesTools) {
  const rows = createRows(database);
  /** When copies were last used. Written in batches: a write for each hit would cost more than the hit. */
  const uses = new Map<string, number>();
  /** Whether the write-ahead log still contains rows that were removed. */
  let logHasRemoved = false;

  /** The copies under a key that may be returned, newest first. */
  function* find(key: string, { serves, maxAgeMs }: Wanted): Generator<StoredCopy> {
    const now = clock();
    for (const { id, made_at: madeAt, facts } of rows.copiesOf(key)) {
      // If the clock was set back, copies may be dated in the future, so the absolute distance is used.
      const ageMs = Math.abs(now - madeAt);
      if (ageMs > maxAgeMs || ageMs > keepMs) continue;
      const row = JSON.parse(facts) as RowFacts;
      const hashes = rows.partsOf(id);
      const copy = {
        facts: row.snapshot,
        screenshot: hashes.has('screenshot'),
        pageshot: hashes.has('pageshot'),
        captured: row.captured,
      };
      if (serves(copy)) yield { id, madeAt, hashes, row };
    }
  }

  /** Reads a copy and notes its use; undefined if a part is missing or damaged. */
  async function read({ id, madeAt, hashes, row }: StoredCopy, pictures: boolean): Promise<Snapshot | undefined> {
    const now = clock();
    const content = await readContent(hashes, row.textBytes, pictures);
    if (!content) return undefined;
    uses.set(id, now);
    if (uses.size > MAX_NOTED_USES) writeUses();
    return { ...row.snapshot, ...content, cachedAt: madeAt };
  }

  async function readContent(hashes: ReadonlyMap<Role, string>, textBytes: number, pictures: boolean) {
    // `undefined`: the copy has no such part; `null`: the part is missing or damaged.
    const readPart = async (role: Role) => {
      const hash = hashes.get(role);
      return hash === undefined ? undefined : ((await blobs.get(hash)) ?? null);
    };
    const packed = await readPart('text');
    const screenshot = pictures ? await readPart('screenshot') : undefined;
    const pageshot = pictures ? await readPart('pageshot') : undefined;
    if (!packed || screenshot === null || pageshot === null) return undefined;
    const bounds = { maxOutputLength: Math.max(textBytes, 1) };
    const text = textBytes <= SHORT_BYTES ? brotliDecompressSync(packed, bounds) : await decompress(packed, bounds);
    return { text: text.toString('utf8'), ...(screenshot && { screenshot }), ...(pageshot && { pageshot }) };
  }

  function writeUses(): void {
    database.transaction(() => {
      for (const [id, usedAt] of uses) rows.setUsedAt(id, usedAt);
    });
    uses.clear();
  }

  /**
   * Writes a copy, unless it alone exceeds a limit. It replaces the copy of the same page that was captured the same
   * way. Evicts the least recently used copies beyond `maxBytes`.
   */
  async function write(key: string, snapshot: Snapshot, captured: Captured, madeAt: number): Promise<void> {
    const { text, screenshot, pageshot, cachedAt: _, stale: __, ...facts } = snapshot;
    const raw = Buffer.from(text);
    const json = JSON.stringify({ snapshot: facts, captured, textBytes: raw.length } satisfies RowFacts);
    const packed = await compress(raw, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
    const parts = partsOf({ text: packed, screenshot, pageshot });
    const rowBytes = ROW_BYTES + json.length;
    const size = parts.reduce((sum, { bytes }) => sum + bytesOnDisk(bytes.length), rowBytes);
    if (json.length > MAX_FACTS_CHARACTERS || size > maxBytes) return;
    for (const { hash, bytes } of parts) if (!rows.hasBlob(hash)) await blobs.put(hash, bytes);
    const id = idOf(key, snapshot, captured);
    const unused = database.transaction(() => {
      const replaced = removeRows([id]);
      for (const { hash, bytes } of parts) rows.addBlob(hash, bytesOnDisk(bytes.length));
      rows.addCopy(id, key, madeAt, json, rowBytes);
      for (const { role, hash } of parts) rows.addPart(id, role, hash);
      return [...replaced, ...evictRows()];
    });
    await removeBlobs(unused);
  }

  /** Removes the rows of the least recently used copies beyond `maxBytes`. Returns the hashes that became unused. */
  function evictRows(): string[] {
    if (rows.total() <= maxBytes) return [];
    writeUses();
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
      uses.delete(id);
      for (const hash of hashes) if (rows.removeBlobIfUnused(hash)) unused.push(hash);
    }
    return unused;
  }

  /** Removes blobs, except those that the same transaction used again. */
  async function removeBlobs(hashes: readonly string[]): Promise<void> {
    for (const hash of hashes) if (!rows.hasBlob(hash)) await blobs.remove(hash);
  }

  /** Removes a copy with damaged content, and all other copies with the same damaged content. */
  async function removeDamaged({ id, hashes }: StoredCopy): Promise<void> {
    const damaged: string[] = [];
    for (const hash of hashes.values()) if (!(await blobs.get(hash))) damaged.push(hash);
    const unused = database.transaction(() => removeRows([id, ...damaged.flatMap((hash) => rows.copiesNaming(hash))]));
    await removeBlobs(unused);
  }

  /** Removes some of the copies listed. Returns false if there were none. */
  async function removeSome(list: () => string[]): Promise<boolean> {
    const ids = list();
    if (ids.length === 0) return false;
    await removeBlobs(database.transaction(() => removeRows(ids)));
    return true;
  }

  return {
    find,
    read,
    writeUses,
    write,
    removeDamaged,
    /** Removes one copy if all together exceed `maxBytes`. Returns false if they do not. */
    removeExcess: () => removeSome(() => (rows.total() > maxBytes ? rows.leastUsed() : [])),
    /** Removes some copies older than `keepMs`. Returns false if there are none. */
    removeExpired: () => removeSome(() => rows.madeOutside(clock() - keepMs, clock() + keepMs, EXPIRED_BATCH)),
    /** Removes blobs that a crash left without a row, one folder at each step. */
    removeOrphans: () => blobs.removeAllExcept((name) => rows.hasBlob(name)),
    /** Deletes removed rows from the write-ahead log too. */
    purgeLog() {
      if (!logHasRemoved) return;
      database.checkpoint();
      logHasRemoved = false;
    },
  };
}

/** Copies with the same id replace each other. A copy without pictures does not replace one with them. */
function idOf(key: string, { screenshot, pageshot }: Snapshot, { engine, patience }: Captured): string {
  const kind = [key, engine, patience, screenshot !== undefined, pageshot !== undefined];
  return createHash('sha256').update(JSON.stringify(kind)).digest('hex');
}

function partsOf(content: Record<Role, Uint8Array | undefined>): Part[] {
  return (Object.entries(content) as [Role, Uint8Array | undefined][]).flatMap(([role, bytes]) =>
    bytes ? [{ role, hash: blobName(bytes), bytes }] : [],
  );
}
