/** Performs many calls of `take` in one transaction: lock, read, compute, write. */
import type { Transaction } from 'kysely';
import type { Store } from '../database/store.ts';
import type { Lease, Take, TakeResult } from './counters.ts';
import {
  addLeases,
  type CounterTables,
  countLeases,
  insertEmptyRows,
  leaseRowName,
  lockRows,
  removeLeases,
  writeWindows,
} from './sql-tables.ts';
import { takeFrom, Window } from './window.ts';

export interface Batch {
  readonly takes: readonly Take[];
  readonly settles: readonly { readonly bucket: string; readonly slot: number; readonly change: number }[];
  readonly releases: readonly Lease[];
}

export interface BatchTools {
  /** Current time in milliseconds since 1970, used instead of the store's time. */
  readonly clock: (() => number) | undefined;
  /** Creates the id of a new lease. */
  newLeaseId(): string;
}

/** Maximum number of attempts for a transaction that finds rows missing or conflicts with another transaction. */
const MAX_ATTEMPTS = 8;

/** Applies changes and releases first, then the calls of `take`. Returns the results in the order of the calls. */
export async function runBatch(store: Store<CounterTables>, batch: Batch, tools: BatchTools): Promise<TakeResult[]> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await store.db.transaction().execute((transaction) => compute(transaction, store.dialect, batch, tools));
    } catch (error) {
      if (attempts === MAX_ATTEMPTS || !(error instanceof MissingRowsError || isRetryable(error))) throw error;
      if (error instanceof MissingRowsError) await insertEmptyRows(store.db, error.names);
    }
  }
}

async function compute(
  db: Transaction<CounterTables>,
  dialect: Store<unknown>['dialect'],
  { takes, settles, releases }: Batch,
  { clock, newLeaseId }: BatchTools,
): Promise<TakeResult[]> {
  const leased = distinct(takes.flatMap(({ lease }) => (lease ? [lease.bucket] : [])));
  const windowed = [...takes.flatMap(({ windows }) => windows), ...settles].map(({ bucket }) => bucket);
  const names = distinct([...windowed, ...leased.map(leaseRowName)]);
  const locked = await lockRows(db, dialect, names);
  const missing = dialect === 'postgres' ? names.filter((name) => !locked.pairs.has(name)) : [];
  if (missing.length) throw new MissingRowsError(missing);
  const nowMs = clock?.() ?? locked.nowMs;

  await removeLeases(
    db,
    dialect,
    releases.map(({ id }) => id),
  );
  const held = await countLeases(db, dialect, leased, nowMs);
  const granted: Lease[] = [];
  const windows = new Map<string, Window>();
  const state = {
    window(bucket: string): Window {
      let window = windows.get(bucket);
      if (!window) {
        window = new Window(JSON.parse(locked.pairs.get(bucket) ?? '[]') as number[]);
        windows.set(bucket, window);
      }
      return window;
    },
    held: (bucket: string) => held.get(bucket) ?? 0,
    grant({ bucket }: { bucket: string }): Lease {
      const lease = { bucket, id: newLeaseId() };
      held.set(bucket, (held.get(bucket) ?? 0) + 1);
      granted.push(lease);
      return lease;
    },
  };
  for (const { bucket, slot, change } of settles) state.window(bucket).change(slot, change, nowMs);
  const taken = takes.map((take) => takeFrom(state, take, nowMs));
  await writeWindows(db, windows, locked.pairs);
  await addLeases(db, granted, nowMs);
  return taken;
}

const distinct = (names: readonly string[]): string[] => [...new Set(names)].sort();

/** Missing rows cannot be locked. They are inserted before the next attempt, in the same order in all processes. */
class MissingRowsError extends Error {
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    super('counter rows are missing');
    this.names = names;
  }
}

/** Whether a retry can succeed: serialization failure (40001) or deadlock (40P01). */
const isRetryable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === '40001' || error.code === '40P01');
