/**
 * What requests cost. Charges are noted at once and written soon after, in groups; while the database is away they wait
 * in memory, and in a file from the end of one process to the start of the next. Each counts once, however often it is
 * written.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '#storage/database/store.ts';
import type { Log } from '#telemetry/log.ts';
import { keepPending, type Pending, readPending } from './pending.ts';
import type { Charge, Usage } from './records.ts';
import type { Tables } from './schema.ts';
import { deleteEndedHolds, deleteOldDetails, insertHold, sumUsage, writeCharges } from './usage-store.ts';

export interface UsageOptions {
  readonly store: Pick<Store<Tables>, 'db' | 'dialect'>;
  /** Where charges wait that could not be written before the end. */
  readonly folder: string;
  /** How long single requests are kept; the sums by day stay. */
  readonly keepDays?: number;
  /** How many charges wait in memory; what is more goes into files until the database is back. */
  readonly maxWaiting?: number;
  readonly log?: Pick<Log, 'info' | 'warn'> | undefined;
  readonly now?: () => number;
}

/** How late a charge is written. */
const WRITE_MS = 50;
/** Charges a transaction: few enough that others hardly wait for its end. */
const GROUP = 250;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** The first time soon: a server may be started anew each day. */
const FIRST_PRUNE_MS = 60_000;
const PRUNE_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MAX_NAME = 200;

/** Takes up what an earlier process left behind. */
export async function openUsage(options: UsageOptions): Promise<Usage> {
  const { store, folder, keepDays = 90, maxWaiting = 200_000, log, now = Date.now } = options;
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
    await taken.forget();
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
      await keepPending(folder, aside.flat());
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

  async function prune(): Promise<void> {
    await deleteEndedHolds(store, now());
    while (!closed && (await deleteOldDetails(store, now() - keepDays * DAY_MS))) await turn();
  }

  function pruneAfter(ms: number): NodeJS.Timeout {
    return setTimeout(async () => {
      // What is not pruned now is pruned an hour later.
      await prune().catch(() => {});
      if (!closed) pruning = pruneAfter(PRUNE_MS);
    }, ms).unref();
  }
  let pruning = pruneAfter(FIRST_PRUNE_MS);
  schedule();

  return {
    hold: (accountId, { wanted, least }) =>
      insertHold(store, accountId, { wanted: whole(wanted), least: whole(least) }, now()),
    charge(charge) {
      add(cleaned(charge));
      schedule();
    },
    flush,
    sums: (query) => sumUsage(store, query),
    prune,
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(pruning);
      clearTimeout(timer);
      await writing?.catch(() => {});
      try {
        await flush();
      } catch (error) {
        log?.warn({ err: error }, 'usage could not be written: it is kept for the next start');
        if (groups.length) await keepPending(folder, groups.flat());
        await taken.forget();
      }
    },
  };
}

const whole = (tokens: number) => Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.ceil(tokens) || 0));

/** No database may ever refuse a charge, or all behind it would wait for good. */
function cleaned(charge: Charge): Charge {
  return {
    ...charge,
    face: name(charge.face),
    endpoint: name(charge.endpoint),
    model: name(charge.model),
    tokens: whole(charge.tokens),
    durationMs: whole(charge.durationMs),
  };
}

const name = (text: string) =>
  text.length > MAX_NAME || text.includes('\0') ? text.replaceAll('\0', '').slice(0, MAX_NAME) : text;
