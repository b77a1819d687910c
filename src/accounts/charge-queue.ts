/**
 * Charges on their way into the database: noted at once, written soon after and in groups. While the database is away
 * they wait in memory, and in files when they are too many or the process ends.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '#storage/database/store.ts';
import type { Log } from '#telemetry/log.ts';
import { type Pending, readPending, savePending } from './pending.ts';
import type { Charge } from './records.ts';
import type { Tables } from './schema.ts';
import { writeCharges } from './usage-store.ts';

export interface ChargeQueueOptions {
  readonly store: Pick<Store<Tables>, 'db' | 'dialect'>;
  /** Where charges wait that cannot be written and are too many for memory, or left at the end. */
  readonly folder: string;
  /** How many charges wait in memory. */
  readonly maxWaiting?: number | undefined;
  readonly log?: Pick<Log, 'info' | 'warn'> | undefined;
}

export interface ChargeQueue {
  add(charge: Charge): void;
  /** Waits until everything is written, or rejects; what could not be written is tried again all the same. */
  flush(): Promise<void>;
  /** Writes what is left, or keeps it in a file for the next start. */
  close(): Promise<void>;
}

/** How late a charge is written. */
const WRITE_MS = 50;
/** Charges a transaction: few enough that others hardly wait for its end. */
const GROUP = 250;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Takes up what an earlier process left behind. */
export async function openChargeQueue(options: ChargeQueueOptions): Promise<ChargeQueue> {
  const { store, folder, maxWaiting = 200_000, log } = options;
  /** What is not written yet; the last group takes what comes. */
  const groups: Charge[][] = [];
  /** Files whose charges are among them. */
  let taken = await takeUp();
  /** There are files whose charges are not. */
  let isAside = false;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = 0;
  let closed = false;

  function add(charge: Charge): void {
    const last = groups.at(-1);
    if (last && last.length < GROUP) last.push(charge);
    else groups.push([charge]);
  }

  async function takeUp(): Promise<Pending> {
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
      // A database in this process answers without waiting: others must have their turn.
      await turn();
    }
    await taken.remove();
  }

  async function writeAll(): Promise<void> {
    await writeGroups();
    while (isAside) {
      isAside = false;
      taken = await takeUp();
      await writeGroups();
    }
  }

  /** So that a database which is away for long does not cost all memory. One group stays, to try it with. */
  async function putAside(): Promise<void> {
    if (groups.length * GROUP <= maxWaiting) return;
    const aside = groups.splice(1);
    isAside = true;
    try {
      await savePending(folder, aside.flat());
    } catch (error) {
      groups.splice(1, 0, ...aside);
      log?.warn({ err: error }, 'usage cannot be put aside');
    }
  }

  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll()
      .then(healed, failed)
      .finally(() => {
        writing = undefined;
        schedule();
      });
    return writing;
  }

  function healed(): void {
    if (pauseMs) log?.info('usage is written again');
    pauseMs = 0;
  }

  async function failed(error: unknown): Promise<never> {
    if (!pauseMs) log?.warn({ err: error }, 'usage cannot be written: it is kept and tried again');
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 || FIRST_PAUSE_MS);
    await putAside();
    throw error;
  }

  function schedule(): void {
    if (closed || timer || writing || !(groups.length || isAside)) return;
    timer = setTimeout(() => write().catch(() => {}), pauseMs || WRITE_MS);
    timer.unref();
  }

  const flush = async (): Promise<void> => {
    while (writing || groups.length || isAside) await write();
  };

  async function close(): Promise<void> {
    closed = true;
    clearTimeout(timer);
    await writing?.catch(() => {});
    try {
      await flush();
    } catch (error) {
      log?.warn({ err: error }, 'usage could not be written: it is kept for the next start');
      if (groups.length) await savePending(folder, groups.flat());
      await taken.remove();
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
