/**
 * Stores cached copies in a folder, for one server: writes copies that wait together, removes old copies in the background, and handles
 * failures. Calls never throw, and a damaged store neither finds nor stores copies.
 */
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { createFileBlobs } from '#storage/blobs/files.ts';
import { withRecentBlobs } from '#storage/blobs/recent.ts';
import { isDamaged, openDatabase } from '#storage/database/sqlite.ts';
import type { Log } from '#telemetry/log.ts';
import type { Snapshot } from '../snapshot.ts';
import { type CopiesOptions, createCopies, type NewCopy } from './copies.ts';
import type { CopyQuery, CopyStore } from './copy-store.ts';
import { MIGRATIONS } from './index-queries.ts';

export interface CopyStoreOptions extends Pick<CopiesOptions, 'maxBytes' | 'keepMs' | 'clock'> {
  readonly dir: string;
  /** Maximum size of the recently used content in memory, in bytes. Default: 0. */
  readonly recentBytes?: number | undefined;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** Minimum time between two warnings about failures. */
const WARNING_INTERVAL_MS = 60_000;

/** Throws if the folder cannot be used. */
export async function openLocalCopyStore({ dir, recentBytes, log, ...limits }: CopyStoreOptions): Promise<CopyStore> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = path.join(dir, 'index.db');
  const database = await openDatabase(file, MIGRATIONS, { disposable: true, log });
  const files = createFileBlobs(path.join(dir, 'blobs'));
  const blobs = { ...withRecentBlobs(files, recentBytes), removeAllExcept: files.removeAllExcept };
  const copies = createCopies({ database, blobs, ...limits });
  /** True once the index is damaged or the store is closed: the database must not be used any more. */
  let unusable = false;
  let closing = false;
  let warnedAt = Number.NEGATIVE_INFINITY;

  /** The result of `work`, or undefined if it fails or the store is unusable. */
  async function attempt<Result>(work: () => Promise<Result> | Result): Promise<Result | undefined> {
    if (unusable) return undefined;
    try {
      return await work();
    } catch (error) {
      await handleFailure(error);
      return undefined;
    }
  }

  /** Moves a damaged index aside, so that the next start creates a new one. Other failures may be temporary. */
  async function handleFailure(error: unknown): Promise<void> {
    if (unusable) return;
    if (isDamaged(error)) {
      unusable = true;
      log?.warn({ err: error }, 'the index of the page cache is damaged: pages are not cached until the next start');
      database.close();
      await rename(file, `${file}.damaged`).catch(() => {});
    } else if (performance.now() - warnedAt > WARNING_INTERVAL_MS) {
      warnedAt = performance.now();
      log?.warn({ err: error }, 'cached copies cannot be read or written');
    }
  }

  /** Changes run one after the other, so that no blob is removed while another change is about to use it. */
  let lastChange: Promise<unknown> = Promise.resolve();
  function serialize<Result>(change: () => Promise<Result> | Result): Promise<Result | undefined> {
    const done = lastChange.then(() => attempt(change));
    lastChange = done;
    return done;
  }

  let waiting: NewCopy[] = [];
  let nextWrite: Promise<void> | undefined;

  /** Writes what waits by then. It begins after the reads have gone on to rendering, which does not need the copies. */
  async function writeWaiting(): Promise<void> {
    await setImmediate();
    const batch = waiting;
    waiting = [];
    nextWrite = undefined;
    await copies.write(batch);
  }

  async function find(key: string, wanted: CopyQuery): Promise<Snapshot | undefined> {
    for (const copy of copies.find(key, wanted)) {
      const snapshot = await copies.read(copy, wanted.pictures);
      if (snapshot) return snapshot;
      await serialize(() => copies.removeDamaged(copy.id, copy.hashes));
    }
    return undefined;
  }

  /** Repeats a step until it returns false or the store closes. Other changes can run between two steps. */
  async function repeat(step: () => Promise<boolean>): Promise<void> {
    let more: boolean | undefined = true;
    while (more && !closing && !unusable) more = await serialize(step);
  }

  async function sweep(): Promise<void> {
    await serialize(copies.writeUses);
    // The maximum size may be lower than at the last start.
    await repeat(copies.removeExcess);
    await repeat(copies.removeExpired);
    await serialize(copies.purgeLog);
  }

  async function removeOrphans(): Promise<void> {
    const steps = copies.removeOrphans();
    await repeat(async () => !(await steps.next()).done);
  }

  const cleanup = removeOrphans().then(sweep);

  return {
    find: (key, wanted) => attempt(() => find(key, wanted)),
    put(key, snapshot, captured) {
      waiting.push({ key, snapshot, captured, madeAt: limits.clock() });
      nextWrite ??= serialize(writeWaiting);
      return nextWrite;
    },
    sweep,
    get healthy() {
      return !unusable;
    },
    async close() {
      closing = true;
      await cleanup;
      await serialize(copies.writeUses);
      unusable = true;
      database.close();
    },
  };
}
