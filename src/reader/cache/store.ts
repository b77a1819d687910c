/**
 * Kept snapshots on disk: a row for what is known of each, and files named by their content for the text and pictures,
 * so that equal ones are stored once. A file is written before its row and removed after it, so whatever a crash leaves
 * is either whole or nobody's. Calls never throw: a store that is broken has nothing and keeps nothing.
 */
import { createHash } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, brotliDecompressSync, constants } from 'node:zlib';
import { blobName, bytesOnDisk, createBlobs } from '#storage/blobs/blobs.ts';
import { isDamaged, openDatabase } from '#storage/database/sqlite.ts';
import type { Log } from '#telemetry/log.ts';
import type { Snapshot } from '../snapshot.ts';
import { createRows, MIGRATIONS, type Role } from './rows.ts';
import type { Captured, Copy, SnapshotFacts } from './rules.ts';

export interface CopyStore {
  /**
   * The newest copy of a place that `serves`, made at most `maxAgeMs` ago, with its pictures when they are wanted.
   * Undefined when there is none.
   */
  find(place: string, wanted: Wanted): Promise<Snapshot | undefined>;
  /** Replaces the copy of that place that was captured alike. */
  keep(place: string, snapshot: Snapshot, captured: Captured): Promise<void>;
  /** Removes what is older, and what is more, than it may be. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export interface Wanted {
  readonly serves: (copy: Copy) => boolean;
  readonly maxAgeMs: number;
  readonly pictures: boolean;
}

export interface CopyStoreOptions {
  readonly dir: string;
  /** What all copies together may take on disk. */
  readonly maxBytes: number;
  readonly keepMs: number;
  readonly clock: () => number;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** What the row of a copy takes beside its facts: ids, hashes and indexes. */
const ROW_BYTES = 1_024;
/** A page that says more than this about itself is not kept. */
const MAX_FACTS_CHARACTERS = 256 * 1024;
/** Shorter texts are unpacked at once: handing them to another thread takes longer. */
const SHORT_BYTES = 256 * 1024;
const MAX_NOTED_USES = 1_000;
const SWEPT_AT_ONCE = 200;
const QUIET_MS = 60_000;

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

interface Part {
  readonly role: Role;
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** What a row keeps as JSON. */
interface Kept {
  readonly snapshot: SnapshotFacts;
  readonly captured: Captured;
  /** Bytes of the text in UTF-8. */
  readonly textBytes: number;
}

/** Throws when the folder cannot be used. */
export async function openCopyStore({ dir, maxBytes, keepMs, clock, log }: CopyStoreOptions): Promise<CopyStore> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = path.join(dir, 'index.db');
  const database = await openDatabase(file, MIGRATIONS, { disposable: true, log });
  const rows = createRows(database);
  const blobs = createBlobs(path.join(dir, 'blobs'));
  const uses = new Map<string, number>();
  let broken = false;
  let closing = false;
  /** Whether rows were removed that the write-ahead log still shows. */
  let logHasRemoved = false;
  let warnedAt = Number.NEGATIVE_INFINITY;

  /** What changes files runs one after the other, so that no file is removed while another copy is about to name it. */
  let turn: Promise<unknown> = Promise.resolve();
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = turn.then(() => attempt(work));
    turn = done;
    return done;
  }

  async function attempt<Result>(work: () => Promise<Result> | Result): Promise<Result | undefined> {
    if (broken) return undefined;
    try {
      return await work();
    } catch (error) {
      await trouble(error);
      return undefined;
    }
  }

  /** A damaged index is put aside, to be made anew at the next start; anything else may be better at the next call. */
  async function trouble(error: unknown): Promise<void> {
    if (broken) return;
    if (isDamaged(error)) {
      broken = true;
      log?.warn({ err: error }, 'the index of kept copies is damaged: nothing is kept until the next start');
      database.close();
      await rename(file, `${file}.damaged`).catch(() => {});
    } else if (performance.now() - warnedAt > QUIET_MS) {
      warnedAt = performance.now();
      log?.warn({ err: error }, 'kept copies cannot be read or written');
    }
  }

  async function find(place: string, { serves, maxAgeMs, pictures }: Wanted): Promise<Snapshot | undefined> {
    const now = clock();
    for (const { id, made_at: madeAt, facts } of rows.at(place)) {
      // A clock that was set back makes copies of the future; they are as far off as those of the past.
      const ageMs = Math.abs(now - madeAt);
      if (ageMs > maxAgeMs || ageMs > keepMs) continue;
      const kept = JSON.parse(facts) as Kept;
      const hashes = rows.partsOf(id);
      const copy = {
        facts: kept.snapshot,
        screenshot: hashes.has('screenshot'),
        pageshot: hashes.has('pageshot'),
        captured: kept.captured,
      };
      if (!serves(copy)) continue;
      const content = await contentOf(hashes, kept.textBytes, pictures);
      if (!content) {
        await inTurn(() => drop(id, hashes));
        continue;
      }
      noteUse(id, now);
      return { ...kept.snapshot, ...content, cachedAt: madeAt };
    }
    return undefined;
  }

  /** Undefined when a part is not there, or is not what it was. */
  async function contentOf(hashes: ReadonlyMap<Role, string>, textBytes: number, pictures: boolean) {
    const read = async (role: Role) => {
      const hash = hashes.get(role);
      return hash === undefined ? undefined : ((await blobs.get(hash)) ?? null);
    };
    const packed = await read('text');
    const screenshot = pictures ? await read('screenshot') : undefined;
    const pageshot = pictures ? await read('pageshot') : undefined;
    if (!packed || screenshot === null || pageshot === null) return undefined;
    const bounds = { maxOutputLength: Math.max(textBytes, 1) };
    const text = textBytes <= SHORT_BYTES ? brotliDecompressSync(packed, bounds) : await decompress(packed, bounds);
    return { text: text.toString('utf8'), ...(screenshot && { screenshot }), ...(pageshot && { pageshot }) };
  }

  function noteUse(id: string, now: number): void {
    uses.set(id, now);
    if (uses.size > MAX_NOTED_USES) writeUses();
  }

  /** Uses are noted in memory and written now and then: a row a hit would cost more than the hit. */
  function writeUses(): void {
    database.transaction(() => {
      for (const [id, usedAt] of uses) rows.used(id, usedAt);
    });
    uses.clear();
  }

  async function keep(place: string, snapshot: Snapshot, captured: Captured, madeAt: number): Promise<void> {
    const { text, screenshot, pageshot, cachedAt: _, stale: __, ...facts } = snapshot;
    const raw = Buffer.from(text);
    const json = JSON.stringify({ snapshot: facts, captured, textBytes: raw.length } satisfies Kept);
    const packed = await compress(raw, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
    const parts = partsOf({ text: packed, screenshot, pageshot });
    const rowBytes = ROW_BYTES + json.length;
    const size = parts.reduce((sum, { bytes }) => sum + bytesOnDisk(bytes.length), rowBytes);
    if (json.length > MAX_FACTS_CHARACTERS || size > maxBytes) return;
    for (const { hash, bytes } of parts) if (!rows.hasBlob(hash)) await blobs.put(hash, bytes);
    const id = idOf(place, snapshot, captured);
    const orphans = database.transaction(() => {
      const freed = remove([id]);
      for (const { hash, bytes } of parts) rows.addBlob(hash, bytesOnDisk(bytes.length));
      rows.addCopy(id, place, madeAt, json, rowBytes);
      for (const { role, hash } of parts) rows.addPart(id, role, hash);
      return [...freed, ...makeRoom()];
    });
    await removeFiles(orphans);
  }

  /** The hashes that nothing names any more, once the least recently used copies are gone that are too many. */
  function makeRoom(): string[] {
    if (rows.total() <= maxBytes) return [];
    writeUses();
    const freed: string[] = [];
    for (let least = rows.leastUsed(); least.length > 0 && rows.total() > maxBytes; least = rows.leastUsed()) {
      freed.push(...remove(least));
    }
    return freed;
  }

  /** Removes rows, and gives the hashes that nothing names any more. To be called in a transaction. */
  function remove(ids: readonly string[]): string[] {
    const freed: string[] = [];
    for (const id of ids) {
      const hashes = new Set(rows.partsOf(id).values());
      if (rows.removeCopy(id)) logHasRemoved = true;
      uses.delete(id);
      for (const hash of hashes) if (rows.removeBlobIfUnused(hash)) freed.push(hash);
    }
    return freed;
  }

  /** A hash may have been freed and named again in one transaction. */
  async function removeFiles(hashes: readonly string[]): Promise<void> {
    for (const hash of hashes) if (!rows.hasBlob(hash)) await blobs.remove(hash);
  }

  /** A copy whose content is spoilt, and all others that name the same content. */
  async function drop(id: string, hashes: ReadonlyMap<Role, string>): Promise<void> {
    const spoilt: string[] = [];
    for (const hash of hashes.values()) if (!(await blobs.get(hash))) spoilt.push(hash);
    const freed = database.transaction(() => remove([id, ...spoilt.flatMap((hash) => rows.copiesNaming(hash))]));
    await removeFiles(freed);
  }

  async function sweep(): Promise<void> {
    await inTurn(async () => writeUses());
    // The bound may be lower than it was at the last start.
    await littleByLittle(() => (rows.total() > maxBytes ? rows.leastUsed() : []));
    await littleByLittle(() => rows.outside(clock() - keepMs, clock() + keepMs, SWEPT_AT_ONCE));
    if (!logHasRemoved) return;
    await inTurn(async () => {
      database.checkpoint();
      logHasRemoved = false;
    });
  }

  /** Removes until there is nothing more to remove, and lets others have their turn in between. */
  async function littleByLittle(next: () => string[]): Promise<void> {
    let more = true;
    while (more && !closing && !broken) {
      more = false;
      await inTurn(async () => {
        const ids = next();
        if (ids.length === 0) return;
        await removeFiles(database.transaction(() => remove(ids)));
        more = true;
      });
    }
  }

  /** Files that a crash left without a row. */
  async function removeOrphans(): Promise<void> {
    const removals = blobs.removeAllExcept((name) => rows.hasBlob(name));
    let more = true;
    while (more && !closing && !broken) {
      more = false;
      await inTurn(async () => {
        more = !(await removals.next()).done;
      });
    }
  }

  const tidying = removeOrphans().then(sweep);

  return {
    find: (place, wanted) => attempt(() => find(place, wanted)),
    keep(place, snapshot, captured) {
      const madeAt = clock();
      return inTurn(() => keep(place, snapshot, captured, madeAt));
    },
    sweep,
    async close() {
      closing = true;
      await tidying;
      await inTurn(async () => writeUses());
      broken = true;
      database.close();
    },
  };
}

/** Copies that were captured alike replace each other; one with pictures is not replaced by one without. */
function idOf(place: string, { screenshot, pageshot }: Snapshot, { engine, patience }: Captured): string {
  const kind = [place, engine, patience, screenshot !== undefined, pageshot !== undefined];
  return createHash('sha256').update(JSON.stringify(kind)).digest('hex');
}

function partsOf(content: Record<Role, Uint8Array | undefined>): Part[] {
  return (Object.entries(content) as [Role, Uint8Array | undefined][]).flatMap(([role, bytes]) =>
    bytes ? [{ role, hash: blobName(bytes), bytes }] : [],
  );
}
