/**
 * Counters in PostgreSQL, or in a SQLite file shared by the processes on one machine. Waiting calls are batched, so a
 * thousand concurrent calls need only a few transactions.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '#telemetry/log.ts';
import { openStore } from '../database/store.ts';
import { DatabaseUnavailableError } from '../database/unavailable.ts';
import { type Counters, CountersUnavailableError, LEASE_MS, type Take, type TakeResult } from './counters.ts';
import { type Batch, runBatch } from './sql-batch.ts';
import { type CounterTables, MIGRATIONS, renewAndSweep } from './sql-tables.ts';

export interface SqlCountersOptions {
  /** Current time in milliseconds since 1970, used instead of the store's time in tests. */
  readonly clock?: (() => number) | undefined;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** Maximum number of calls in one transaction. */
const MAX_BATCH = 256;
/** Changes and releases are sent with the next call of `take`, or on their own after this delay. */
const FLUSH_DELAY_MS = 10;

interface WaitingTake {
  readonly take: Take;
  resolve(taken: TakeResult): void;
  reject(error: unknown): void;
}

/** Uses PostgreSQL if `url` is set, else the SQLite file. Throws the same errors as openStore. */
export async function openSqlCounters(
  place: { readonly url?: string | undefined; readonly file: string },
  { clock, log }: SqlCountersOptions = {},
): Promise<Counters> {
  const store = await openStore<CounterTables>(place, { module: 'counters', migrations: MIGRATIONS, log });
  const owner = randomUUID();
  const held = new Set<string>();
  let leaseCount = 0;
  const tools = {
    clock,
    newLeaseId() {
      leaseCount += 1;
      return `${owner}:${leaseCount}`;
    },
  };

  const takes: WaitingTake[] = [];
  let settles: Batch['settles'][number][] = [];
  let releases: Batch['releases'][number][] = [];
  let flushing: Promise<void> | undefined;
  let flushTimer: NodeJS.Timeout | undefined;
  const flush = async () => {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    // Waits for a microtask, so that simultaneous calls share a transaction.
    await undefined;
    while (takes.length || settles.length || releases.length) {
      const chunk = takes.splice(0, MAX_BATCH);
      const batch = { takes: chunk.map(({ take }) => take), settles, releases };
      settles = [];
      releases = [];
      try {
        const taken = await runBatch(store, batch, tools);
        for (const [at, answer] of taken.entries()) {
          if (answer.ok && answer.lease) held.add(answer.lease.id);
          chunk[at]!.resolve(answer);
        }
      } catch (error) {
        // Calls that were queued in the meantime would time out as well.
        const failed = error instanceof DatabaseUnavailableError ? [...chunk, ...takes.splice(0)] : chunk;
        for (const { reject } of failed) reject(failureFor(error));
      }
    }
    flushing = undefined;
  };
  const start = () => {
    flushing ??= flush();
  };
  const startSoon = () => {
    if (!flushing) flushTimer ??= setTimeout(start, FLUSH_DELAY_MS);
  };

  let renewal = Promise.resolve();
  const renewalTimer = setInterval(() => {
    renewal = renewAndSweep(store.db, store.dialect, [...held], clock).catch((error) => {
      log?.warn({ err: error }, 'leases could not be renewed: retrying');
    });
  }, LEASE_MS / 3);
  renewalTimer.unref();

  return {
    take: (take) =>
      new Promise((resolve, reject) => {
        takes.push({ take, resolve, reject });
        start();
      }),
    settle(bucket, slot, change) {
      settles.push({ bucket, slot, change });
      startSoon();
    },
    release(lease) {
      held.delete(lease.id);
      releases.push(lease);
      startSoon();
    },
    get healthy() {
      return store.healthy;
    },
    async close() {
      clearInterval(renewalTimer);
      start();
      while (flushing) await flushing;
      await renewal;
      await store.close();
    },
  };
}

const failureFor = (error: unknown): unknown =>
  error instanceof DatabaseUnavailableError
    ? new CountersUnavailableError('the rate-limit store cannot be reached', { cause: error })
    : error;
