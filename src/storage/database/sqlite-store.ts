/** Kysely over SQLite: one synchronous connection, handed to one at a time. */
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
 * Opens or makes the database file, readable by its owner only; `:memory:` is one that is never on disk. Throws when the
 * file cannot be opened, is damaged (isDamaged) or of a later version (LaterVersion).
 */
export async function openSqlite<Schema>(file: string, options: StoreOptions): Promise<Store<Schema>> {
  // SQLite gives its log and index the rights of the file.
  if (file !== ':memory:') await (await open(file, 'a', 0o600)).close();
  const database = await openDatabase(file, []);
  // The rest of the wait for another process is spent without holding up everybody in this one.
  database.execute(`PRAGMA busy_timeout = ${BLOCKED_MS}`);
  let healthy = true;
  const turns = createWriteQueue();
  const connection = connect(database, (answered) => {
    healthy = answered;
  });
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection, turns) });
  let closing: Promise<void> | undefined;
  const close = async () => {
    await turns.take();
    database.close();
    turns.give();
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

function connect(database: Database, heard: (answered: boolean) => void): DatabaseConnection {
  const executeQuery = async <Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> => {
    try {
      const { rows, changes } = await whenFree(() => database.execute(sql, ...parameters.map(toSqlValue)));
      heard(true);
      return { rows: rows as Row[], ...(changes !== undefined && { numAffectedRows: BigInt(changes) }) };
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      heard(false);
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

/** How long a call waits for another process that writes, and how much of it at a time nothing else is done. */
const BUSY_MS = 2_000;
const BLOCKED_MS = 10;
const LONGEST_PAUSE_MS = 20;
const BUSY = 5;

/** A statement that found the file locked has done nothing, so it may be run again. */
async function whenFree<Result>(run: () => Result): Promise<Result> {
  const until = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return run();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
      // By chance, so that processes which wait for each other do not keep in step.
      await sleep(Math.random() * LONGEST_PAUSE_MS);
    }
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  ('errcode' in error ? (Number(error.errcode) & 0xff) === BUSY : /\blocked$/.test(error.message));

/** Held by another process, or the disk is away, full or closed to us; https://sqlite.org/rescode.html */
const AWAY_CODES = new Set([5, 6, 8, 10, 13, 14]);
/** The package for Node 20 gives no code when a statement that reads fails. */
const AWAY_MESSAGES = /\blocked$|readonly database$|^disk I\/O error|is full$|^unable to open database/;

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('errcode' in error) return AWAY_CODES.has(Number(error.errcode) & 0xff);
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' && AWAY_MESSAGES.test(error.message);
}

function sqliteDialect(connection: DatabaseConnection, turns: WriteQueue): Dialect {
  const run = (sql: string) => async (on: DatabaseConnection) => {
    await on.executeQuery(CompiledQuery.raw(sql));
  };
  const driver: Driver = {
    init: async () => {},
    async acquireConnection() {
      await turns.take();
      return connection;
    },
    releaseConnection: async () => turns.give(),
    // One that reads first and writes later would fail when another process wrote in between.
    beginTransaction: run('BEGIN IMMEDIATE'),
    commitTransaction: run('COMMIT'),
    async rollbackTransaction(on) {
      // A full disk may have rolled it back already; the first failure is the one to tell.
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

interface WriteQueue {
  take(): Promise<void>;
  give(): void;
}

/** A lock that those who wait get in the order of their coming. */
function createWriteQueue(): WriteQueue {
  const waiting: (() => void)[] = [];
  let taken = false;
  let first = 0;
  return {
    async take() {
      if (taken) await new Promise<void>((resolve) => waiting.push(resolve));
      taken = true;
    },
    give() {
      const next = waiting[first];
      if (next) {
        first += 1;
        next();
      } else {
        waiting.length = 0;
        first = 0;
        taken = false;
      }
    },
  };
}
