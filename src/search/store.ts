/** The search database: cached lists of hits, and each provider's number of requests per day. */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Database, openDatabase } from '#storage/database/sqlite.ts';
import type { Log } from '#telemetry/log.ts';
import type { Hit } from './hit.ts';

/**
 * Maximum age of a fresh list, and of a list that is used if no provider responds (docs/reference/wire/search.md,
 * Cache).
 */
const FRESH_MS = 3_600_000;
const KEEP_MS = 7 * 86_400_000;
const MAX_LISTS = 20_000;
/** Number of writes between two clean-ups. */
const SWEEP_EVERY = 500;

const MIGRATIONS = [
  `CREATE TABLE lists (key BLOB PRIMARY KEY, kept_at INTEGER NOT NULL, hits TEXT NOT NULL) WITHOUT ROWID;
   CREATE INDEX lists_by_age ON lists (kept_at);
   CREATE TABLE budgets (name TEXT PRIMARY KEY, day INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;`,
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
    close: () => database.close(),
  };
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
