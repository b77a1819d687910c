/** Whether there is room to write: by what the system says is free, and by writing. A quota shows only by the second. */
import { randomUUID } from 'node:crypto';
import { rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '#telemetry/log.ts';

export interface Place {
  /** As people are told of it: `data folder`. */
  readonly name: string;
  readonly folder: string;
}

export interface DiskWatch {
  /** The names of places that are full, as they were at most a second ago. */
  full(): Promise<readonly string[]>;
  close(): void;
}

export interface DiskWatchOptions {
  readonly places: readonly Place[];
  /** A place with less than this is full. */
  readonly leastFreeBytes: number;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/** As much as SQLite and a temporary file begin with. */
const PROBE = Buffer.alloc(64 * 1024);
const FRESH_MS = 1_000;
/** The log tells of a full disk also when nobody asks. */
const WATCH_MS = 30_000;

export function watchDisk({ places, leastFreeBytes, log }: DiskWatchOptions): DiskWatch {
  let known: { readonly names: Promise<readonly string[]>; readonly at: number } | undefined;
  let told = '';

  async function look(): Promise<readonly string[]> {
    const checked = await Promise.all(
      places.map(async (place) => ((await isFull(place, leastFreeBytes)) ? [place.name] : [])),
    );
    const names = checked.flat();
    const now = names.join(', ');
    if (now && now !== told) log.warn({ places: names }, 'the disk is full: nothing is kept, and files cannot be read');
    if (!now && told) log.info({}, 'there is room on the disk again');
    told = now;
    return names;
  }

  function full(): Promise<readonly string[]> {
    if (known && performance.now() - known.at < FRESH_MS) return known.names;
    known = { names: look(), at: performance.now() };
    return known.names;
  }

  const timer = setInterval(() => void full(), WATCH_MS);
  timer.unref();
  return { full, close: () => clearInterval(timer) };
}

/** Undefined where the system does not tell. */
export async function freeBytes(folder: string): Promise<number | undefined> {
  const facts = await statfs(folder).catch(() => undefined);
  return facts && facts.bavail * facts.bsize;
}

async function isFull({ folder }: Place, leastFreeBytes: number): Promise<boolean> {
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
