/**
 * Queues charges in memory and in the journal, and writes them to the database in groups. While the database is
 * unreachable, charges beyond `maxWaiting` are saved to files. Charges that are left when the process ends are saved to
 * files as well. Those of killed processes that used the same folder are loaded from their journals.
 */
import type { Store } from '#storage/database/store.ts';
import type { Log } from '#telemetry/log.ts';
import { openChargeGroups } from './charge-groups.ts';
import { openChargeJournal } from './charge-journal.ts';
import type { Charge } from './records.ts';
import type { Tables } from './schema.ts';

export interface ChargeQueueOptions {
  readonly store: Pick<Store<Tables>, 'db' | 'dialect'>;
  /** Folder of the files that contain saved charges. */
  readonly folder: string;
  /** Maximum number of charges in memory; the rest are saved to a file. Default: 200,000. */
  readonly maxWaiting?: number | undefined;
  readonly log?: Pick<Log, 'info' | 'warn'> | undefined;
}

export interface ChargeQueue {
  /** Writes the charge to the journal only. Without `written`, at once; otherwise at the end of the tick. */
  journal(charge: Charge, written?: () => void): void;
  add(charge: Charge): void;
  /** Resolves when everything has been written. Rejects on a failure; the write is retried nevertheless. */
  flush(): Promise<void>;
  /** Writes the remaining charges, or saves them to a file for the next start. */
  close(): Promise<void>;
}

/** Delay between a charge and its write, in milliseconds, so that charges can be written in groups. */
const WRITE_DELAY_MS = 50;
/** The back-off starts at the first value and doubles up to the maximum. */
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;
/** Interval between searches for journals of killed processes, in milliseconds. */
const SEARCH_MS = 60_000;

/** Opens the queue, and loads the charges saved by an earlier process. */
export async function openChargeQueue(options: ChargeQueueOptions): Promise<ChargeQueue> {
  const { log } = options;
  const journal = openChargeJournal(options);
  const groups = await openChargeGroups(options, journal);
  const searching = setInterval(async () => {
    // A search that fails is repeated.
    await groups.findAbandoned().catch(() => {});
    schedule();
  }, SEARCH_MS).unref();
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let backoffMs = 0;
  let closed = false;

  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= groups
      .writeAll()
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
    await groups.saveExcess();
    throw error;
  }

  function schedule(): void {
    if (closed || timer || writing || !groups.hasWaiting()) return;
    timer = setTimeout(() => write().catch(() => {}), backoffMs || WRITE_DELAY_MS);
    timer.unref();
  }

  const flush = async (): Promise<void> => {
    while (writing || groups.hasWaiting()) await write();
  };

  async function close(): Promise<void> {
    closed = true;
    clearTimeout(timer);
    clearInterval(searching);
    await writing?.catch(() => {});
    try {
      await flush();
    } catch (error) {
      log?.warn({ err: error }, 'usage could not be written; it is saved to a file for the next start');
      await groups.saveAll();
    } finally {
      journal.close();
    }
  }

  schedule();
  return {
    journal(charge, written) {
      journal.write(charge, written);
      if (!written) journal.flush();
    },
    add(charge) {
      journal.write(charge);
      groups.add(charge);
      schedule();
    },
    flush,
    close,
  };
}
