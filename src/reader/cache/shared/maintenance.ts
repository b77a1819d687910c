/**
 * Removes copies of the shared cache: those that are too old, the least recently used ones beyond the maximum size, and
 * blobs that no copy refers to. One server at a time does it; the others skip it.
 */
import type { Kysely } from 'kysely';
import { mapConcurrently } from '#concurrency/map-concurrently.ts';
import type { Blobs } from '#storage/blobs/blobs.ts';
import type { Leases } from './leases.ts';
import { chooseRemovals, leastUsed, madeOutside, removeBlobRows, removeCopies, totalBytes } from './rows.ts';
import type { SharedCacheTables } from './tables.ts';

export interface MaintenanceOptions {
  readonly db: Kysely<SharedCacheTables>;
  readonly blobs: Blobs;
  readonly leases: Leases;
  /** Maximum size of all copies, in bytes. */
  readonly maxBytes: number;
  /** Copies are removed after this time, in milliseconds. */
  readonly keepMs: number;
  /**
   * How long a blob without copies is spared, in milliseconds: longer than a server takes from the start of an upload
   * until its copy is in the index.
   */
  readonly unusedMs: number;
  readonly clock: () => number;
}

const LEASE = 'sweep';
const STEP = 100;
/** Time within which a server removes the blobs that it chose, in milliseconds. */
const REMOVING_MS = 120_000;
const REMOVALS_AT_ONCE = 8;

/** Returns false if another server is at it. */
export async function maintain(options: MaintenanceOptions): Promise<boolean> {
  const { leases } = options;
  if (!(await leases.take(LEASE))) return false;
  try {
    await removeExpired(options);
    await removeExcess(options);
    await removeUnusedBlobs(options);
    await leases.removeForgotten();
    return true;
  } finally {
    await leases.give(LEASE);
  }
}

async function removeExpired({ db, keepMs, clock }: MaintenanceOptions): Promise<void> {
  for (;;) {
    const ids = await madeOutside(db, clock() - keepMs, clock() + keepMs, STEP);
    if (ids.length === 0) return;
    await removeCopies(db, ids);
  }
}

async function removeExcess({ db, maxBytes }: MaintenanceOptions): Promise<void> {
  for (let excess = (await totalBytes(db)) - maxBytes; excess > 0; excess = (await totalBytes(db)) - maxBytes) {
    const chosen: string[] = [];
    for (const { id, bytes, blobBytes } of await leastUsed(db, STEP)) {
      if (excess <= 0) break;
      chosen.push(id);
      excess -= bytes + (blobBytes ?? 0);
    }
    if (chosen.length === 0) return;
    await removeCopies(db, chosen);
  }
}

async function removeUnusedBlobs({ db, blobs, unusedMs }: MaintenanceOptions): Promise<void> {
  for (;;) {
    const chosen = await chooseRemovals(db, { unusedMs, removingMs: REMOVING_MS, most: STEP });
    const removed: string[] = [];
    const signal = new AbortController().signal;
    await mapConcurrently(chosen, { atOnce: REMOVALS_AT_ONCE, signal }, async (hash) => {
      await blobs.remove(hash).then(
        () => removed.push(hash),
        // The row remains, so that a later run tries again.
        () => {},
      );
    });
    await removeBlobRows(db, removed);
    if (removed.length < STEP) return;
  }
}
