/**
 * Counters in a database: a SQLite file that processes of one machine share, or PostgreSQL. Takes that wait are sent
 * together, so that a thousand at once are a few transactions.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '#telemetry/log.ts';
import { openStore } from '../database/store.ts';
import { DatabaseUnavailableError } from '../database/unavailable.ts';
import { type Counters, CountersUnavailableError, LEASE_MS, type Take, type Taken } from './counters.ts';
import { type Batch, runBatch } from './sql-batch.ts';
import { type CounterTables, renewAndSweep, MIGRATIONS } from './sql-tables.ts';

export interface SqlCountersOptions {
  /** Milliseconds since 1970, in place of the store's own time: for tests. */
  readonly clock?: (() => number) | undefined;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** What one transaction takes together. */
const MAX_BATCH = 256;
/** What nobody waits for goes along with the next take, or alone after so long. */
const ALONE_MS = 10;

interface WaitingTake {
  readonly take: Take;
  resolve(taken: Taken): void;
  reject(error: unknown): void;
}

/** PostgreSQL where an address is given, else SQLite in a file. Throws as openStore does. */
export async function openSqlCounters(
  place: { readonly url?: string | undefined; readonly file: string },
  { clock, log }: SqlCountersOptions = {},
): Promise<Counters> {
  const store = await openStore<CounterTables>(place, { module: 'counters', migrations: MIGRATIONS, log });
  const owner = randomUUID();
  const held = new Set<string>();
  let made = 0;
  const tools = {
    clock,
    newLeaseId() {
      made += 1;
      return `${owner}:${made}`;
    },
  };

  const takes: WaitingTake[] = [];
  let settles: Batch['settles'][number][] = [];
  let releases: Batch['releases'][number][] = [];
  let working: Promise<void> | undefined;
  let alone: NodeJS.Timeout | undefined;
  const work = async () => {
    clearTimeout(alone);
    alone = undefined;
    // What comes in the same turn goes along.
    await undefined;
    while (takes.length || settles.length || releases.length) {
      const some = takes.splice(0, MAX_BATCH);
      const batch = { takes: some.map(({ take }) => take), settles, releases };
      settles = [];
      releases = [];
      try {
        const taken = await runBatch(store, batch, tools);
        for (const [at, answer] of taken.entries()) {
          if (answer.ok && answer.lease) held.add(answer.lease.id);
          some[at]!.resolve(answer);
        }
      } catch (error) {
        // Those who came meanwhile would wait as long for the same.
        const failed = error instanceof DatabaseUnavailableError ? [...some, ...takes.splice(0)] : some;
        for (const { reject } of failed) reject(failureFor(error));
      }
    }
    working = undefined;
  };
  const start = () => {
    working ??= work();
  };
  const startSoon = () => {
    if (!working) alone ??= setTimeout(start, ALONE_MS);
  };

  let upkeep = Promise.resolve();
  const renewing = setInterval(() => {
    upkeep = renewAndSweep(store.db, store.dialect, [...held], clock).catch((error) => {
      log?.warn({ err: error }, 'leases could not be renewed: it is tried again');
    });
  }, LEASE_MS / 3);
  renewing.unref();

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
      clearInterval(renewing);
      start();
      while (working) await working;
      await upkeep;
      await store.close();
    },
  };
}

const failureFor = (error: unknown): unknown =>
  error instanceof DatabaseUnavailableError
    ? new CountersUnavailableError('the store of limits cannot be reached', { cause: error })
    : error;
