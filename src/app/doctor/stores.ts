/** Checks whether the account, job and rate-limit stores respond and are writable. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { ACCOUNT_TABLES } from '#accounts/index.ts';
import { readMigrationStates } from '#app/migrations.ts';
import { BATCH_TABLES } from '#batch/index.ts';
import type { Config } from '#config.ts';
import { CRAWL_TABLES } from '#crawl/index.ts';
import { openCounters } from '#storage/counters/open.ts';
import { openDatabase } from '#storage/database/sqlite.ts';
import { broken, type Check, type CheckResult, ok, warning } from './finding.ts';

export const storeChecks = (config: Config): Check[] => [
  { group: 'Stores', name: 'SQLite', run: () => checkSqlite(config) },
  { group: 'Stores', name: 'Tables', run: () => checkTables(config) },
  ...(config.databaseUrl ? [] : [{ group: 'Stores' as const, name: 'Locks', run: () => checkLocks(config) }]),
  { group: 'Stores', name: 'Limits', run: () => checkLimits(config) },
];

/** Tests a new database file in the data folder, because some network disks allow writing but not locking. */
async function checkSqlite({ dataDir }: Config): Promise<CheckResult> {
  const file = path.join(dataDir, `doctor-${randomUUID()}.db`);
  try {
    const database = await openDatabase(file, ['CREATE TABLE probe (value INTEGER NOT NULL)']);
    try {
      database.run('INSERT INTO probe (value) VALUES (?)', 1);
      const row = database.get<{ value: number }>('SELECT value FROM probe');
      return row?.value === 1 ? ok('can be read and written') : broken('does not store written data', SQLITE_ADVICE);
    } finally {
      database.close();
    }
  } catch (error) {
    return broken((error as Error).message, SQLITE_ADVICE);
  } finally {
    await Promise.all(['', '-wal', '-shm'].map((suffix) => rm(`${file}${suffix}`, { force: true }).catch(() => {})));
  }
}

const SQLITE_ADVICE =
  'Set LECTERN_DATA_DIR to a folder on a local disk: SQLite does not work on most network file systems';

/** Whether each existing file can be locked for writing. A running server holds a lock only briefly. */
async function checkLocks({ dataDir }: Config): Promise<CheckResult> {
  const held: string[] = [];
  for (const { module, fileIn } of [ACCOUNT_TABLES, BATCH_TABLES, CRAWL_TABLES]) {
    const file = fileIn(dataDir);
    if (!existsSync(file)) continue;
    try {
      const database = await openDatabase(file, []);
      try {
        database.run('BEGIN IMMEDIATE');
        database.run('ROLLBACK');
      } finally {
        database.close();
      }
    } catch (error) {
      held.push(`${module}: ${(error as Error).message}`);
    }
  }
  if (!held.length) return ok('no database file is locked');
  return broken(
    held.join(', '),
    'Another program has locked or damaged the file. End that program (often a backup or copy), or restore the file',
  );
}

async function checkTables(config: Config): Promise<CheckResult> {
  const where = config.databaseUrl ? 'PostgreSQL' : 'SQLite';
  try {
    const states = await readMigrationStates(config);
    const later = states.filter(({ seen, known }) => seen > known).map(({ module }) => module);
    if (later.length)
      return broken(
        `${where}: tables of ${later.join(', ')} are from a later version`,
        'Run the version of Lectern that created them, or a newer one',
      );
    const due = states.filter(({ seen, known }) => seen > 0 && seen < known).map(({ module }) => module);
    if (due.length)
      return warning(
        `${where}: tables of ${due.join(', ')} are from an earlier version`,
        'Run `lectern migrate`, or start the server, which migrates them too',
      );
    return ok(
      states.every(({ seen }) => seen === 0) ? `${where}: created when the server starts` : `${where}: up to date`,
    );
  } catch (error) {
    return broken(
      `${where} does not respond: ${(error as Error).message}`,
      config.databaseUrl ? 'Check LECTERN_DATABASE_URL, and that its user may use the database' : SQLITE_ADVICE,
    );
  }
}

/** Takes two units from a limit of one, in the server's store. The second one must be refused. */
async function checkLimits({ limitStore: store, redisUrl, databaseUrl, dataDir }: Config): Promise<CheckResult> {
  const kind = store ?? (redisUrl ? 'redis' : databaseUrl ? 'database' : 'memory');
  const file = path.join(dataDir, 'limits.db');
  try {
    const counters = await openCounters({ store, redisUrl, databaseUrl, file });
    try {
      const window = { bucket: `doctor:${randomUUID()}`, limit: 1, amount: 1 };
      const first = await counters.take({ windows: [window] });
      const second = await counters.take({ windows: [window] });
      if (first.ok && !second.ok) return ok(`${kind}: counts`);
      return broken(
        `${kind}: does not count`,
        'Requests are not limited. Check that LECTERN_LIMIT_STORE and its URL name one store, used by all servers',
      );
    } finally {
      await counters.close();
    }
  } catch (error) {
    return broken(
      `${kind} does not respond: ${(error as Error).message}`,
      'Check LECTERN_REDIS_URL or LECTERN_DATABASE_URL',
    );
  }
}
