/** What is kept of searching: lists of results for a while, and how often each service was asked today. */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Database, openDatabase } from '#storage/database/sqlite.ts';
import type { Log } from '#telemetry/log.ts';
import type { Hit } from './hit.ts';

/** Contract, section 7. */
const FRESH_MS = 3_600_000;
const KEEP_MS = 7 * 86_400_000;
const MAX_LISTS = 20_000;
/** How many writes go by between two looks for what is too old. */
const SWEEP_EVERY = 500;

const MIGRATIONS = [
  `CREATE TABLE lists (key BLOB PRIMARY KEY, kept_at INTEGER NOT NULL, hits TEXT NOT NULL) WITHOUT ROWID;
   CREATE INDEX lists_by_age ON lists (kept_at);
   CREATE TABLE budgets (name TEXT PRIMARY KEY, day INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;`,
];

export interface CachedList {
  readonly hits: Hit[];
  /** In ms since 1970. */
  readonly keptAt: number;
}

export interface SearchStore {
  /** The list under a key: `fresh` within an hour, else as long as it is kept. */
  list(key: readonly unknown[], age: 'fresh' | 'any'): CachedList | undefined;
  keep(key: readonly unknown[], hits: readonly Hit[]): void;
  /** Notes a request to a service; false when it has had its number for the day (UTC), and is not to be asked. */
  take(name: string, perDay: number): boolean;
  close(): void;
}

export async function openSearchStore(
  dataDir: string,
  { log, now = Date.now }: { log?: Pick<Log, 'warn'> | undefined; now?: () => number } = {},
): Promise<SearchStore> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const database = await openDatabase(path.join(dataDir, 'search.db'), MIGRATIONS, { disposable: true, log });
  let writes = 0;
  /** A search can do without what is kept. */
  const spared =
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
    list: spared((key: readonly unknown[], age: 'fresh' | 'any') => {
      const row = database.get<{ kept_at: number; hits: string }>(
        'SELECT kept_at, hits FROM lists WHERE key = ?',
        hash(key),
      );
      if (!row || now() - row.kept_at > (age === 'fresh' ? FRESH_MS : KEEP_MS)) return undefined;
      return { hits: JSON.parse(row.hits) as Hit[], keptAt: row.kept_at };
    }, 'kept lists cannot be read'),
    keep: spared((key: readonly unknown[], hits: readonly Hit[]) => {
      if (!hits.length) return;
      database.run(
        'INSERT OR REPLACE INTO lists (key, kept_at, hits) VALUES (?, ?, ?)',
        hash(key),
        now(),
        JSON.stringify(hits),
      );
      if (++writes % SWEEP_EVERY === 1) sweep(database, now());
    }, 'a list cannot be kept'),
    take(name, perDay) {
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

/** Queries are not written down: a list lies under a hash of what was asked. */
const hash = (key: readonly unknown[]) => createHash('sha256').update(JSON.stringify(key)).digest();

function sweep(database: Database, now: number): void {
  database.run('DELETE FROM lists WHERE kept_at < ?', now - KEEP_MS);
  database.run(
    'DELETE FROM lists WHERE key IN (SELECT key FROM lists ORDER BY kept_at DESC LIMIT -1 OFFSET ?)',
    MAX_LISTS,
  );
}
