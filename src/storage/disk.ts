/**
 * Detects full disks by the reported free space and by a test write, because only a write reveals that a quota is
 * exceeded.
 */
import { randomUUID } from 'node:crypto';
import { rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '#telemetry/log.ts';

export interface WatchedFolder {
  /** Name shown to users, such as `data folder`. */
  readonly name: string;
  readonly folder: string;
}

export interface DiskWatch {
  /** Returns the names of the folders on full disks. The result may be up to a second old. */
  full(): Promise<readonly string[]>;
  close(): void;
}

export interface DiskWatchOptions {
  readonly places: readonly WatchedFolder[];
  /** A folder with less free space than this counts as full, in bytes. */
  readonly minFreeBytes: number;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/** Content of the test write. Its size is roughly what SQLite or a temporary file needs initially. */
const PROBE = Buffer.alloc(64 * 1024);
const FRESH_MS = 1_000;
/** How often the disk is checked, in milliseconds, so that a full disk is logged even without requests. */
const WATCH_MS = 30_000;

export function watchDisk({ places, minFreeBytes, log }: DiskWatchOptions): DiskWatch {
  let latest: { readonly names: Promise<readonly string[]>; readonly at: number } | undefined;
  let reported = '';

  async function check(): Promise<readonly string[]> {
    const checked = await Promise.all(
      places.map(async (place) => ((await isFull(place, minFreeBytes)) ? [place.name] : [])),
    );
    const names = checked.flat();
    const now = names.join(', ');
    if (now && now !== reported)
      log.warn({ places: names }, 'the disk is full: pages are not cached, and documents cannot be converted');
    if (!now && reported) log.info({}, 'the disk has free space again');
    reported = now;
    return names;
  }

  function full(): Promise<readonly string[]> {
    if (latest && performance.now() - latest.at < FRESH_MS) return latest.names;
    latest = { names: check(), at: performance.now() };
    return latest.names;
  }

  const timer = setInterval(() => void full(), WATCH_MS);
  timer.unref();
  return { full, close: () => clearInterval(timer) };
}

/** Returns the free bytes on a folder's disk; `undefined` if the system does not report them. */
export async function freeBytes(folder: string): Promise<number | undefined> {
  const facts = await statfs(folder).catch(() => undefined);
  return facts && facts.bavail * facts.bsize;
}

async function isFull({ folder }: WatchedFolder, leastFreeBytes: number): Promise<boolean> {
  const free = await freeBytes(folder);
  if (free !== undefined && free < leastFreeBytes) return true;
  const file = path.join(folder, `probe-${randomUUID()}`);
  try {
    await writeFile(file, PROBE, { flag: 'wx', mode: 0o600 });
    return false;
  } catch {
    return true;
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}
