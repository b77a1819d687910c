/**
 * Queues charges in memory and writes them to the database in groups. While the database is unreachable, charges beyond
 * `maxWaiting`, and those left when the process ends, are saved to files.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Store } from '#storage/database/store.ts';
import type { Log } from '#telemetry/log.ts';
import { type Pending, readPending, savePending } from './pending.ts';
import type { Charge } from './records.ts';
import type { Tables } from './schema.ts';
import { writeCharges } from './usage-store.ts';

export interface ChargeQueueOptions {
  readonly store: Pick<Store<Tables>, 'db' | 'dialect'>;
  /** Folder of the files with saved charges. */
  readonly folder: string;
  /** Number of charges kept in memory; more are saved to a file. Default: 200,000. */
  readonly maxWaiting?: number | undefined;
  readonly log?: Pick<Log, 'info' | 'warn'> | undefined;
}

export interface ChargeQueue {
  add(charge: Charge): void;
  /** Resolves when everything is written. Rejects if a write fails; writing is still retried. */
  flush(): Promise<void>;
  /** Writes the remaining charges, or saves them to a file for the next start. */
  close(): Promise<void>;
}

/** Delay from a charge to its write, so that charges are written in groups. */
const WRITE_DELAY_MS = 50;
/** Charges per transaction: few enough that other transactions do not wait long. */
const GROUP_SIZE = 250;
/** The back-off doubles from the first to the longest. */
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;

/** Also loads the charges that an earlier process saved. */
export async function openChargeQueue(options: ChargeQueueOptions): Promise<ChargeQueue> {
  const { store, folder, maxWaiting = 200_000, log } = options;
  /** Charges not written yet. New charges are added to the last group. */
  const groups: Charge[][] = [];
  /** Files whose charges are in `groups`. */
  let loaded = await loadPending();
  /** Whether there are files whose charges are not in `groups`. */
  let hasSaved = false;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let backoffMs = 0;
  let closed = false;

  function add(charge: Charge): void {
    const last = groups.at(-1);
    if (last && last.length < GROUP_SIZE) last.push(charge);
    else groups.push([charge]);
  }

  async function loadPending(): Promise<Pending> {
    const pending = await readPending(folder, log);
    for (const charge of pending.charges) add(charge);
    return pending;
  }

  async function writeGroups(): Promise<void> {
    for (let group = groups.shift(); group; group = groups.shift()) {
      try {
        await writeCharges(store, group);
      } catch (error) {
        groups.unshift(group);
        throw error;
      }
      // SQLite writes synchronously, so this loop would otherwise block all requests.
      await yieldToEventLoop();
    }
    await loaded.remove();
  }

  async function writeAll(): Promise<void> {
    await writeGroups();
    while (hasSaved) {
      hasSaved = false;
      loaded = await loadPending();
      await writeGroups();
    }
  }

  /** Bounds the memory used during a long outage. The first group stays in memory for the next retry. */
  async function saveExcess(): Promise<void> {
    if (groups.length * GROUP_SIZE <= maxWaiting) return;
    const excess = groups.splice(1);
    hasSaved = true;
    try {
      await savePending(folder, excess.flat());
    } catch (error) {
      groups.splice(1, 0, ...excess);
      log?.warn({ err: error }, 'usage could not be saved to a file; it stays in memory');
    }
  }

  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll()
      .then(succeeded, failed)
      .finally(() => {
        writing = undefined;
        schedule();
      });
    return writing;
  }

  function succeeded(): void {
    if (backoffMs) log?.info('usage is written to the database again');
    backoffMs = 0;
  }

  async function failed(error: unknown): Promise<never> {
    if (!backoffMs) log?.warn({ err: error }, 'usage could not be written to the database; it is kept and retried');
    backoffMs = Math.min(LONGEST_BACKOFF_MS, backoffMs * 2 || FIRST_BACKOFF_MS);
    await saveExcess();
    throw error;
  }

  function schedule(): void {
    if (closed || timer || writing || !(groups.length || hasSaved)) return;
    timer = setTimeout(() => write().catch(() => {}), backoffMs || WRITE_DELAY_MS);
    timer.unref();
  }

  const flush = async (): Promise<void> => {
    while (writing || groups.length || hasSaved) await write();
  };

  async function close(): Promise<void> {
    closed = true;
    clearTimeout(timer);
    await writing?.catch(() => {});
    try {
      await flush();
    } catch (error) {
      log?.warn({ err: error }, 'usage could not be written; it is saved to a file for the next start');
      if (groups.length) await savePending(folder, groups.flat());
      await loaded.remove();
    }
  }

  schedule();
  return {
    add(charge) {
      add(charge);
      schedule();
    },
    flush,
    close,
  };
}
