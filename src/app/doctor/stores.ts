/** Where accounts, jobs and limits are kept: whether it answers, and can be written. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { ACCOUNT_TABLES } from '#accounts/index.ts';
import { migrationState } from '#app/migrations.ts';
import { BATCH_TABLES } from '#batch/index.ts';
import type { Config } from '#config.ts';
import { CRAWL_TABLES } from '#crawl/index.ts';
import { openCounters } from '#storage/counters/open.ts';
import { openDatabase } from '#storage/database/sqlite.ts';
import { broken, type Check, type Found, ok, warning } from './finding.ts';

export const storeChecks = (config: Config): Check[] => [
  { group: 'Stores', name: 'SQLite', run: () => sqlite(config) },
  { group: 'Stores', name: 'Tables', run: () => tables(config) },
  ...(config.databaseUrl ? [] : [{ group: 'Stores' as const, name: 'Locks', run: () => locks(config) }]),
  { group: 'Stores', name: 'Limits', run: () => limits(config) },
];

/** A file of its own, in the folder where the others lie: some kinds of network disks can be written and not locked. */
async function sqlite({ dataDir }: Config): Promise<Found> {
  const file = path.join(dataDir, `doctor-${randomUUID()}.db`);
  try {
    const database = await openDatabase(file, ['CREATE TABLE probe (value INTEGER NOT NULL)']);
    try {
      database.run('INSERT INTO probe (value) VALUES (?)', 1);
      const row = database.get<{ value: number }>('SELECT value FROM probe');
      return row?.value === 1 ? ok('opens, can be written') : broken('does not keep what is written', ADVICE);
    } finally {
      database.close();
    }
  } catch (error) {
    return broken((error as Error).message, ADVICE);
  } finally {
    await Promise.all(['', '-wal', '-shm'].map((suffix) => rm(`${file}${suffix}`, { force: true }).catch(() => {})));
  }
}

const ADVICE = 'The data folder must lie on a disk of this machine: SQLite cannot be used over most network disks';

/** Whether each file that is there can be written: a server beside this one holds a lock for moments only. */
async function locks({ dataDir }: Config): Promise<Found> {
  const held: string[] = [];
  for (const { room: module, fileIn } of [ACCOUNT_TABLES, BATCH_TABLES, CRAWL_TABLES]) {
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
  if (!held.length) return ok('none is held');
  return broken(
    held.join(', '),
    'Another program holds or has damaged the file: end it (a copy or a backup that has it open), or restore it',
  );
}

async function tables(config: Config): Promise<Found> {
  const where = config.databaseUrl ? 'PostgreSQL' : 'SQLite';
  try {
    const states = await migrationState(config);
    const later = states.filter(({ seen, known }) => seen > known).map(({ room }) => room);
    if (later.length)
      return broken(
        `${where}: ${later.join(', ')} are of a later version`,
        'Take the version that made them, or a newer one',
      );
    const due = states.filter(({ seen, known }) => seen > 0 && seen < known).map(({ room }) => room);
    if (due.length)
      return warning(
        `${where}: ${due.join(', ')} are of an earlier version`,
        'They are brought to this one by `lectern migrate`, or when the server starts',
      );
    return ok(
      states.every(({ seen }) => seen === 0) ? `${where}: made when the server starts` : `${where}: of this version`,
    );
  } catch (error) {
    return broken(
      `${where} does not answer: ${(error as Error).message}`,
      config.databaseUrl ? 'LECTERN_DATABASE_URL must lead to a database that this user may use' : ADVICE,
    );
  }
}

/** Two of one: the second must be refused, in the store that the server counts in. */
async function limits({ limitStore: store, redisUrl, databaseUrl, dataDir }: Config): Promise<Found> {
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
        'Two servers may be counting under one address: see LECTERN_LIMIT_STORE',
      );
    } finally {
      await counters.close();
    }
  } catch (error) {
    return broken(
      `${kind} does not answer: ${(error as Error).message}`,
      'LECTERN_REDIS_URL, or LECTERN_DATABASE_URL, must lead to it',
    );
  }
}
