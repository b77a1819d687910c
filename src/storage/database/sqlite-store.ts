/** Kysely over SQLite: one synchronous connection, used by one query or transaction at a time. */
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { migrate } from './migrate.ts';
import { type Database, openDatabase, type SqlValue } from './sqlite.ts';
import type { Store, StoreOptions } from './store.ts';
import { DatabaseUnavailableError } from './unavailable.ts';

/**
 * Opens or creates the database file with mode 0600; `:memory:` is never written to disk. Throws if the file cannot be
 * opened, is damaged (see isDamaged) or contains tables from a newer version (NewerSchemaError).
 */
export async function openSqlite<Schema>(file: string, options: StoreOptions): Promise<Store<Schema>> {
  // SQLite's write-ahead log and its index file get the same mode as this file.
  if (file !== ':memory:') await (await open(file, 'a', 0o600)).close();
  const database = await openDatabase(file, []);
  // SQLite blocks only briefly while another process writes. retryWhileBusy waits longer, asynchronously.
  database.execute(`PRAGMA busy_timeout = ${BLOCKED_MS}`);
  let healthy = true;
  const lock = createLock();
  const connection = connect(database, (isHealthy) => {
    healthy = isHealthy;
  });
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection, lock) });
  let closing: Promise<void> | undefined;
  const close = async () => {
    await lock.acquire();
    database.close();
    lock.release();
    await db.destroy();
  };
  try {
    await migrate(db, 'sqlite', options.module, options.migrations);
  } catch (error) {
    database.close();
    throw error;
  }
  return {
    db,
    dialect: 'sqlite',
    get healthy() {
      return healthy;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function connect(database: Database, setHealthy: (isHealthy: boolean) => void): DatabaseConnection {
  const executeQuery = async <Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> => {
    try {
      const { rows, changes } = await retryWhileBusy(() => database.execute(sql, ...parameters.map(toSqlValue)));
      setHealthy(true);
      return { rows: rows as Row[], ...(changes !== undefined && { numAffectedRows: BigInt(changes) }) };
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      setHealthy(false);
      throw new DatabaseUnavailableError(error);
    }
  };
  return {
    executeQuery,
    async *streamQuery<Row>(query: CompiledQuery) {
      yield await executeQuery<Row>(query);
    },
  };
}

const toSqlValue = (value: unknown): SqlValue => (typeof value === 'boolean' ? Number(value) : (value as SqlValue));

/** How long a call waits while another process writes. */
const BUSY_MS = 2_000;
/** How long SQLite may block the event loop in each attempt. */
const BLOCKED_MS = 10;
const MAX_PAUSE_MS = 20;
const SQLITE_BUSY = 5;

/** If a statement fails because the file is locked, it has changed nothing, so it can be retried. */
async function retryWhileBusy<Result>(run: () => Result): Promise<Result> {
  const until = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return run();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
      // The pause is random, so that competing processes do not retry at the same time.
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  ('errcode' in error ? (Number(error.errcode) & 0xff) === SQLITE_BUSY : /\blocked$/.test(error.message));

/**
 * The file is locked by another process, or the disk is missing, full or not accessible:
 * https://sqlite.org/rescode.html
 */
const UNAVAILABLE_CODES = new Set([5, 6, 8, 10, 13, 14]);
/** The package for Node 20 sets no code if a statement that only reads fails. */
const UNAVAILABLE_MESSAGES = /\blocked$|readonly database$|^disk I\/O error|is full$|^unable to open database/;

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('errcode' in error) return UNAVAILABLE_CODES.has(Number(error.errcode) & 0xff);
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' && UNAVAILABLE_MESSAGES.test(error.message);
}

function sqliteDialect(connection: DatabaseConnection, lock: Lock): Dialect {
  const run = (sql: string) => async (on: DatabaseConnection) => {
    await on.executeQuery(CompiledQuery.raw(sql));
  };
  const driver: Driver = {
    init: async () => {},
    async acquireConnection() {
      await lock.acquire();
      return connection;
    },
    releaseConnection: async () => lock.release(),
    // A deferred transaction would fail at its first write if another process had written since its first read.
    beginTransaction: run('BEGIN IMMEDIATE'),
    commitTransaction: run('COMMIT'),
    async rollbackTransaction(on) {
      // A full disk may already have caused a rollback. The original error is reported.
      await run('ROLLBACK')(on).catch(() => {});
    },
    savepoint: async (on, name) => run(`SAVEPOINT ${quoted(name)}`)(on),
    rollbackToSavepoint: async (on, name) => run(`ROLLBACK TO ${quoted(name)}`)(on),
    releaseSavepoint: async (on, name) => run(`RELEASE ${quoted(name)}`)(on),
    destroy: async () => {},
  };
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

interface Lock {
  acquire(): Promise<void>;
  release(): void;
}

/** A lock that is granted in the order of requests. */
function createLock(): Lock {
  const waiting: (() => void)[] = [];
  let held = false;
  let first = 0;
  return {
    async acquire() {
      if (held) await new Promise<void>((resolve) => waiting.push(resolve));
      held = true;
    },
    release() {
      const next = waiting[first];
      if (next) {
        first += 1;
        next();
      } else {
        waiting.length = 0;
        first = 0;
        held = false;
      }
    },
  };
}
