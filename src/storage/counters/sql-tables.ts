/** The tables of the counters, with one function per query. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Migration } from '../database/migrate.ts';
import type { DialectName } from '../database/store.ts';
import { LEASE_MS, type Lease, WINDOW_MS } from './counters.ts';
import type { Window } from './window.ts';

export interface CounterTables {
  /**
   * `pairs` is a JSON list of alternating slots and amounts. Rows for leases have no amounts; they serve only as locks.
   */
  counter_windows: { bucket: string; pairs: string; ends_at: number };
  counter_leases: { id: string; bucket: string; ends_at: number };
}

export const MIGRATIONS: readonly Migration[] = [
  {
    name: 'counters',
    async up(db, dialect) {
      // Unlogged tables avoid waiting for the disk. A crash empties them, which loses at most one minute of counts.
      const table = dialect === 'postgres' ? sql`UNLOGGED TABLE` : sql`TABLE`;
      await sql`CREATE ${table} counter_windows (
        bucket TEXT PRIMARY KEY, pairs TEXT NOT NULL, ends_at BIGINT NOT NULL
      )`.execute(db);
      await sql`CREATE ${table} counter_leases (
        id TEXT PRIMARY KEY, bucket TEXT NOT NULL, ends_at BIGINT NOT NULL
      )`.execute(db);
      await sql`CREATE INDEX counter_leases_by_bucket ON counter_leases (bucket, ends_at)`.execute(db);
    },
  },
];

/** Name of the row in counter_windows that is locked to acquire leases of a bucket. */
export const leaseRowName = (bucket: string): string => `lease ${bucket}`;

const NOW_MS = sql<number>`floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/**
 * Tests whether `column` is one of `values`. All values are passed as one parameter, so that the statement can be
 * cached.
 */
const isOneOf = (dialect: DialectName, column: string, values: readonly string[]): RawBuilder<boolean> =>
  dialect === 'postgres'
    ? sql<boolean>`${sql.ref(column)} = ANY(${values})`
    : sql<boolean>`${sql.ref(column)} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`;

export interface LockedRows {
  readonly pairs: ReadonlyMap<string, string>;
  /** The store's time after all rows have been locked. */
  readonly nowMs: number;
}

/** Locks rows in the order of their names, which prevents deadlocks. Returns the existing rows. */
export async function lockRows(
  db: Kysely<CounterTables>,
  dialect: DialectName,
  names: readonly string[],
): Promise<LockedRows> {
  // A SQLite transaction locks everything. PostgreSQL reads the clock for each row after locking the row.
  const query =
    dialect === 'postgres'
      ? sql<{ bucket: string; pairs: string; now_ms: number }>`
          WITH locked AS MATERIALIZED (
            SELECT bucket, pairs FROM counter_windows WHERE ${isOneOf(dialect, 'bucket', names)}
            ORDER BY bucket COLLATE "C" FOR UPDATE
          )
          SELECT bucket, pairs, ${NOW_MS} AS now_ms FROM locked`
      : sql<{ bucket: string; pairs: string; now_ms: number }>`
          SELECT bucket, pairs, 0 AS now_ms FROM counter_windows WHERE ${isOneOf(dialect, 'bucket', names)}`;
  const { rows } = await query.execute(db);
  const nowMs = dialect === 'postgres' ? rows.reduce((latest, { now_ms }) => Math.max(latest, now_ms), 0) : Date.now();
  return { pairs: new Map(rows.map(({ bucket, pairs }) => [bucket, pairs])), nowMs };
}

/** Inserts empty rows so that they can be locked, and leaves existing rows unchanged. For PostgreSQL. */
export async function insertEmptyRows(db: Kysely<CounterTables>, names: readonly string[]): Promise<void> {
  await db
    .insertInto('counter_windows')
    // The expiry is in the future, so that the rows are not deleted before they are used.
    .values(names.map((bucket) => ({ bucket, pairs: '[]', ends_at: sql<number>`${NOW_MS} + ${2 * WINDOW_MS}` })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function writeWindows(
  db: Kysely<CounterTables>,
  windows: ReadonlyMap<string, Window>,
  before: ReadonlyMap<string, string>,
): Promise<void> {
  const rows = [...windows]
    .map(([bucket, window]) => ({ bucket, pairs: JSON.stringify(window.pairs), ends_at: window.endsAtMs }))
    .filter(({ bucket, pairs }) => pairs !== (before.get(bucket) ?? '[]'));
  if (!rows.length) return;
  await db
    .insertInto('counter_windows')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('bucket').doUpdateSet({ pairs: sql`excluded.pairs`, ends_at: sql`excluded.ends_at` }),
    )
    .execute();
}

/** Number of active leases in each bucket. */
export async function countLeases(
  db: Kysely<CounterTables>,
  dialect: DialectName,
  buckets: readonly string[],
  nowMs: number,
): Promise<Map<string, number>> {
  if (!buckets.length) return new Map();
  const rows = await db
    .selectFrom('counter_leases')
    .select(({ fn }) => ['bucket', fn.countAll<number>().as('held')])
    .where(isOneOf(dialect, 'bucket', buckets))
    .where('ends_at', '>', nowMs)
    .groupBy('bucket')
    .execute();
  return new Map(rows.map(({ bucket, held }) => [bucket, held]));
}

export async function addLeases(db: Kysely<CounterTables>, leases: readonly Lease[], nowMs: number): Promise<void> {
  if (!leases.length) return;
  const ends_at = nowMs + LEASE_MS;
  await db
    .insertInto('counter_leases')
    .values(leases.map(({ id, bucket }) => ({ id, bucket, ends_at })))
    .execute();
}

export async function removeLeases(
  db: Kysely<CounterTables>,
  dialect: DialectName,
  ids: readonly string[],
): Promise<void> {
  if (ids.length)
    await db
      .deleteFrom('counter_leases')
      .where(isOneOf(dialect, 'id', ids))
      .execute();
}

/** Renews leases and deletes expired rows, except rows that another process has locked. */
export async function renewAndSweep(
  db: Kysely<CounterTables>,
  dialect: DialectName,
  held: readonly string[],
  clock: (() => number) | undefined,
): Promise<void> {
  const now = clock || dialect === 'sqlite' ? sql<number>`CAST(${(clock ?? Date.now)()} AS BIGINT)` : NOW_MS;
  if (held.length) {
    await db
      .updateTable('counter_leases')
      .set({ ends_at: sql`${now} + ${LEASE_MS}` })
      .where(isOneOf(dialect, 'id', held))
      .where('ends_at', '>', now)
      .execute();
  }
  const skipLocked = dialect === 'postgres' ? sql`FOR UPDATE SKIP LOCKED` : sql``;
  await sql`DELETE FROM counter_leases WHERE id IN (
    SELECT id FROM counter_leases WHERE ends_at <= ${now} ${skipLocked})`.execute(db);
  await sql`DELETE FROM counter_windows WHERE bucket IN (
    SELECT bucket FROM counter_windows WHERE ends_at <= ${now} - ${WINDOW_MS} ${skipLocked})`.execute(db);
}
