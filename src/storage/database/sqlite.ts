/**
 * A SQLite database in one file: node:sqlite where Node has it, else the package with the same interface. A store is a
 * list of migrations and one function a query. Calls are synchronous, so keep them short.
 */
import { rename, rm } from 'node:fs/promises';
import type { Log } from '#telemetry/log.ts';

export type SqlValue = string | number | bigint | null | Uint8Array;

export interface Database {
  /** The first row, or undefined when there is none. Integers beyond 2^53 are errors. */
  get<Row extends object>(sql: string, ...values: SqlValue[]): Row | undefined;
  all<Row extends object>(sql: string, ...values: SqlValue[]): Row[];
  /** How many rows were changed. */
  run(sql: string, ...values: SqlValue[]): number;
  /** Any statement: the rows it gives, and how many it changed when it is one that changes rows. */
  execute(sql: string, ...values: SqlValue[]): { rows: unknown[]; changes?: number };
  /** All of it or nothing; inside another transaction it is part of that one. `work` must not wait for anything. */
  transaction<Result>(work: () => Result): Result;
  /** Empties the write-ahead log, in which deleted rows could still be read. */
  checkpoint(): void;
  /** A second call does nothing. */
  close(): void;
}

export interface DatabaseOptions {
  /**
   * What is kept can be made again: a damaged file, or one of a later version, is moved aside to `<file>.damaged` until
   * the next start, and a new one made.
   */
  readonly disposable?: boolean;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** How long a call waits for another process that writes. */
const BUSY_MS = 2_000;
/** How many prepared statements are kept; lists of values in them make ever new ones. */
const MAX_STATEMENTS = 500;
const CHANGING = /^\s*(?:insert|update|delete|replace)\b/i;
const GIVING_ROWS = /^\s*(?:select|with|values|pragma|explain)\b|\breturning\b/i;

/**
 * Opens or makes the database; `:memory:` is one that is never on disk. The migrations that it has not seen yet are run,
 * each once and in order: add to the list, never change what was released. Throws when the file cannot be opened or is
 * damaged (isDamaged tells which).
 */
export async function openDatabase(
  file: string,
  migrations: readonly string[],
  { disposable = false, log }: DatabaseOptions = {},
): Promise<Database> {
  const Sqlite = await loadSqlite();
  try {
    const opened = open(Sqlite, file, migrations);
    if (disposable && file !== MEMORY) await rm(damagedFileOf(file), { force: true });
    return opened;
  } catch (error) {
    if (!disposable || file === MEMORY || !(isDamaged(error) || error instanceof NewerSchemaError)) throw error;
    log?.warn({ err: error }, 'a database of copies is damaged: it is made anew');
    await moveAside(file);
    return open(Sqlite, file, migrations);
  }
}

/** Whether a failure says that the file itself is broken, so that no call will ever succeed. */
export function isDamaged(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
  // The low byte is the primary code: https://sqlite.org/rescode.html
  return (code & 0xff) === SQLITE_CORRUPT || (code & 0xff) === SQLITE_NOTADB;
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
const MEMORY = ':memory:';

class NewerSchemaError extends Error {}

/** As much as is used of either SQLite. */
interface Statement {
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
  run(...values: SqlValue[]): { changes: number | bigint };
}
interface Connection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  function(name: string, implementation: (value: number) => null): void;
  close(): void;
}
type Sqlite = new (file: string) => Connection;

let loading: Promise<Sqlite> | undefined;
const loadSqlite = (): Promise<Sqlite> => {
  loading ??= (async () => loadBuiltInSqlite() ?? ((await import('@photostructure/sqlite')).DatabaseSync as Sqlite))();
  return loading;
};

/** Node's own SQLite, without the warning that it is experimental: the interface used here is the settled part. */
function loadBuiltInSqlite(): Sqlite | undefined {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!/SQLite/.test(String(warning))) emitWarning(warning, ...rest);
  }) as typeof emitWarning;
  try {
    return (process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as { DatabaseSync: Sqlite } | undefined)
      ?.DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function open(Sqlite: Sqlite, file: string, migrations: readonly string[]): Database {
  const connection = new Sqlite(file);
  try {
    connection.exec(`
      PRAGMA busy_timeout = ${BUSY_MS};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA secure_delete = ON;
      PRAGMA foreign_keys = ON;
    `);
    const database = wrap(connection);
    migrate(database, connection, migrations);
    return database;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function wrap(connection: Connection): Database {
  const statements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    const known = statements.get(sql);
    if (known) return known;
    const made = connection.prepare(sql);
    if (statements.size >= MAX_STATEMENTS) statements.clear();
    statements.set(sql, made);
    return made;
  };
  let inTransaction = false;
  let closed = false;

  function transaction<Result>(work: () => Result): Result {
    if (inTransaction) return work();
    connection.exec('BEGIN IMMEDIATE');
    inTransaction = true;
    try {
      const result = work();
      connection.exec('COMMIT');
      return result;
    } catch (error) {
      // A full disk may have rolled it back already; the first failure is the one to tell.
      try {
        connection.exec('ROLLBACK');
      } catch {}
      throw error;
    } finally {
      inTransaction = false;
    }
  }

  return {
    get: <Row>(sql: string, ...values: SqlValue[]) => prepared(sql).get(...values) as Row | undefined,
    all: <Row>(sql: string, ...values: SqlValue[]) => prepared(sql).all(...values) as Row[],
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    execute(sql, ...values) {
      const changing = CHANGING.test(sql);
      if (!GIVING_ROWS.test(sql)) {
        const { changes } = prepared(sql).run(...values);
        return { rows: [], ...(changing && { changes: Number(changes) }) };
      }
      const rows = prepared(sql).all(...values);
      if (!changing) return { rows };
      return { rows, changes: (prepared('SELECT changes() AS count').get() as { count: number }).count };
    },
    transaction,
    checkpoint: () => connection.exec('PRAGMA wal_checkpoint(TRUNCATE)'),
    close() {
      if (closed) return;
      closed = true;
      // The package for Node 20 keeps the file open until its statements are collected, so the log is not left to it.
      try {
        connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch {}
      connection.close();
    },
  };
}

function migrate(database: Database, connection: Connection, migrations: readonly string[]): void {
  const versionOf = versionReader(connection);
  if (versionOf() === migrations.length) return;
  database.transaction(() => {
    // Read again: another process may have been quicker.
    const version = versionOf();
    if (version > migrations.length) {
      throw new NewerSchemaError(`the database is of version ${version}, this program knows ${migrations.length}`);
    }
    for (const migration of migrations.slice(version)) connection.exec(migration);
    connection.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

/**
 * Reads the version without a statement: one that JavaScript holds would keep a file open that is about to be moved
 * aside, and its log, removed by name at the end, would be that of the new file.
 */
function versionReader(connection: Connection): () => number {
  let version = 0;
  connection.function('note_version', (value) => {
    version = value;
    return null;
  });
  return () => {
    connection.exec('SELECT note_version(user_version) FROM pragma_user_version');
    return version;
  };
}

const damagedFileOf = (file: string) => `${file}.damaged`;

/** Makes room for a new file in the place of one that is damaged, which is closed. */
export async function moveAside(file: string): Promise<void> {
  await rename(file, damagedFileOf(file));
  for (const suffix of ['-wal', '-shm']) await rm(file + suffix, { force: true });
}
