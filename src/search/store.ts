/**
 * The search database: cached lists of hits, and for each provider the requests that its limits count, and the end of
 * its pause. Limits and pauses therefore survive restarts.
 */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Database, openDatabase } from '#storage/database/sqlite.ts';
import type { Log } from '#telemetry/log.ts';
import type { Hit } from './hit.ts';
import type { RateLimit } from './provider.ts';

/**
 * Maximum age of a fresh list, and of a list that is used if no provider responds (docs/reference/wire/search.md,
 * Cache).
 */
const FRESH_MS = 3_600_000;
const KEEP_MS = 7 * 86_400_000;
const MAX_LISTS = 20_000;
/** Number of writes between two clean-ups. */
const SWEEP_EVERY = 500;

export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE lists (key BLOB PRIMARY KEY, kept_at INTEGER NOT NULL, hits TEXT NOT NULL) WITHOUT ROWID;
   CREATE INDEX lists_by_age ON lists (kept_at);
   CREATE TABLE budgets (name TEXT PRIMARY KEY, day INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;`,
  `CREATE TABLE requests (operator TEXT NOT NULL, sent_at INTEGER NOT NULL);
   CREATE INDEX requests_by_time ON requests (operator, sent_at);
   CREATE TABLE pauses (operator TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;`,
];

export interface CachedList {
  readonly hits: Hit[];
  /** In ms since 1970. */
  readonly storedAt: number;
}

export interface SearchStore {
  /** Returns the cached list for a key: with `fresh`, only a list up to an hour old, otherwise a list of any age. */
  read(key: readonly unknown[], age: 'fresh' | 'any'): CachedList | undefined;
  write(key: readonly unknown[], hits: readonly Hit[]): void;
  /** Counts a request to a provider. Returns false if the daily budget (UTC) is exhausted. */
  takeBudget(name: string, perDay: number): boolean;
  /**
   * Counts `count` requests to an operator if none of its limits is exceeded, and returns 0. Otherwise returns the time
   * until they are possible, in ms. Limits apply to any period of their length.
   */
  takeRequests(operator: string, limits: readonly RateLimit[], count: number): number;
  /** Sends no requests to an operator until this time, in ms since 1970. An earlier end is ignored. */
  pause(operator: string, until: number): void;
  /** The end of the pause; 0 if there was none. */
  pausedUntil(operator: string): number;
  close(): void;
}

export async function openSearchStore(
  dataDir: string,
  { log, now = Date.now }: { log?: Pick<Log, 'warn'> | undefined; now?: () => number } = {},
): Promise<SearchStore> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const database = await openDatabase(path.join(dataDir, 'search.db'), MIGRATIONS, { disposable: true, log });
  let writes = 0;
  /** Logs failures instead of throwing them, because search works without its cache. */
  const tolerant =
    <Given extends unknown[], Got>(work: (...given: Given) => Got, message: string) =>
    (...given: Given): Got | undefined => {
      try {
        return work(...given);
      } catch (error) {
        log?.warn({ err: error }, message);
        return undefined;
      }
    };
  return {
    read: tolerant((key: readonly unknown[], age: 'fresh' | 'any') => {
      const row = database.get<{ kept_at: number; hits: string }>(
        'SELECT kept_at, hits FROM lists WHERE key = ?',
        hash(key),
      );
      if (!row || now() - row.kept_at > (age === 'fresh' ? FRESH_MS : KEEP_MS)) return undefined;
      return { hits: JSON.parse(row.hits) as Hit[], storedAt: row.kept_at };
    }, 'cached result lists cannot be read'),
    write: tolerant((key: readonly unknown[], hits: readonly Hit[]) => {
      if (!hits.length) return;
      database.run(
        'INSERT OR REPLACE INTO lists (key, kept_at, hits) VALUES (?, ?, ?)',
        hash(key),
        now(),
        JSON.stringify(hits),
      );
      if (++writes % SWEEP_EVERY === 1) removeOld(database, now());
    }, 'a result list cannot be cached'),
    takeBudget(name, perDay) {
      const day = Math.floor(now() / 86_400_000);
      return database.transaction(() => {
        const row = database.get<{ day: number; used: number }>('SELECT day, used FROM budgets WHERE name = ?', name);
        const used = row?.day === day ? row.used : 0;
        if (used >= perDay) return false;
        database.run('INSERT OR REPLACE INTO budgets (name, day, used) VALUES (?, ?, ?)', name, day, used + 1);
        return true;
      });
    },
    takeRequests: (operator, limits, count) =>
      database.transaction(() => takeRequests(database, { operator, limits, count, now: now() })),
    pause(operator, until) {
      database.run(
        'INSERT INTO pauses (operator, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = max(until, excluded.until)',
        operator,
        Math.ceil(until),
      );
    },
    pausedUntil: (operator) =>
      database.get<{ until: number }>('SELECT until FROM pauses WHERE operator = ?', operator)?.until ?? 0,
    close: () => database.close(),
  };
}

interface Taking {
  readonly operator: string;
  readonly limits: readonly RateLimit[];
  readonly count: number;
  readonly now: number;
}

function takeRequests(database: Database, { operator, limits, count, now }: Taking): number {
  const longest = Math.max(0, ...limits.map(({ seconds }) => seconds));
  // A clock that was set back must not block an operator for longer than its limits.
  database.run(
    'DELETE FROM requests WHERE operator = ? AND (sent_at <= ? OR sent_at > ?)',
    operator,
    now - longest * 1_000,
    now,
  );
  let waitMs = 0;
  for (const { requests, seconds } of limits) {
    // The oldest request that must leave the period before these can be sent.
    const blocking = database.get<{ sent_at: number }>(
      'SELECT sent_at FROM requests WHERE operator = ? AND sent_at > ? ORDER BY sent_at DESC LIMIT 1 OFFSET ?',
      operator,
      now - seconds * 1_000,
      Math.max(0, requests - count),
    );
    if (blocking) waitMs = Math.max(waitMs, blocking.sent_at + seconds * 1_000 - now);
  }
  if (waitMs > 0) return waitMs;
  for (let number = 0; number < count; number++)
    database.run('INSERT INTO requests (operator, sent_at) VALUES (?, ?)', operator, now);
  return 0;
}

/** Queries are private, so lists are stored under a hash of the key. */
const hash = (key: readonly unknown[]) => createHash('sha256').update(JSON.stringify(key)).digest();

function removeOld(database: Database, now: number): void {
  database.run('DELETE FROM lists WHERE kept_at < ?', now - KEEP_MS);
  database.run(
    'DELETE FROM lists WHERE key IN (SELECT key FROM lists ORDER BY kept_at DESC LIMIT -1 OFFSET ?)',
    MAX_LISTS,
  );
}
