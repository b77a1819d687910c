/**
 * Queues charges in memory and writes them to the database in groups. While the database is unreachable, charges beyond
 * `maxWaiting`, and those left when the process ends, are saved to files.
 */
import type { Store } from '#storage/database/store.ts';
import type { Log } from '#telemetry/log.ts';
import { openChargeGroups } from './charge-groups.ts';
import type { Charge } from './records.ts';
import type { Tables } from './schema.ts';

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
  /** Resolves when everything is written. Rejects on a failure; writing is still retried. */
  flush(): Promise<void>;
  /** Writes the remaining charges, or saves them to a file for the next start. */
  close(): Promise<void>;
}

/** Delay from a charge to its write, so that charges are written in groups. */
const WRITE_DELAY_MS = 50;
/** The back-off doubles from the first value up to the maximum. */
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;

/** Opens the queue, and loads the charges that an earlier process saved. */
export async function openChargeQueue(options: ChargeQueueOptions): Promise<ChargeQueue> {
  const { log } = options;
  const groups = await openChargeGroups(options);
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
    await writing?.catch(() => {});
    try {
      await flush();
    } catch (error) {
      log?.warn({ err: error }, 'usage could not be written; it is saved to a file for the next start');
      await groups.saveAll();
    }
  }

  schedule();
  return {
    add(charge) {
      groups.add(charge);
      schedule();
    },
    flush,
    close,
  };
}
