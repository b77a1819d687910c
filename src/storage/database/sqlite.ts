/**
 * A SQLite database in one file. Uses node:sqlite if Node provides it, else a package with the same interface. Calls
 * are synchronous, so they should be short.
 */
import { rename, rm } from 'node:fs/promises';
import type { Log } from '#telemetry/log.ts';

export type SqlValue = string | number | bigint | null | Uint8Array;

export interface Database {
  /** Returns the first row, if any. Throws for integers beyond 2^53. */
  get<Row extends object>(sql: string, ...values: SqlValue[]): Row | undefined;
  all<Row extends object>(sql: string, ...values: SqlValue[]): Row[];
  /** Returns the number of changed rows. */
  run(sql: string, ...values: SqlValue[]): number;
  /** Runs any statement. `changes` is set only for statements that change rows. */
  execute(sql: string, ...values: SqlValue[]): { rows: unknown[]; changes?: number };
  /** Runs `work` atomically, as part of the outer transaction if there is one. `work` must be synchronous. */
  transaction<Result>(work: () => Result): Result;
  /** Empties the write-ahead log, which may still contain deleted rows. */
  checkpoint(): void;
  /** Closes the database. A second call does nothing. */
  close(): void;
}

export interface DatabaseOptions {
  /**
   * Whether the content can be rebuilt. If so, a file that is damaged or from a newer version is renamed to
   * `<file>.damaged`, where it remains until the next start, and a new database is created.
   */
  readonly disposable?: boolean;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** How long a call waits while another process writes, in milliseconds. */
const BUSY_MS = 2_000;
/**
 * Maximum number of cached statements. Lists of values with varying lengths would otherwise create ever more
 * statements.
 */
const MAX_STATEMENTS = 500;
const CHANGING = /^\s*(?:insert|update|delete|replace)\b/i;
const RETURNING_ROWS = /^\s*(?:select|with|values|pragma|explain)\b|\breturning\b/i;

/**
 * Opens or creates the database; `:memory:` is never written to disk. Runs pending migrations, each once and in order:
 * append to the list, and never change a released migration. Throws if the file cannot be opened or is damaged (see
 * isDamaged).
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
    log?.warn(
      { err: error, file },
      'the database is damaged or too new; creating a new one (its contents can be rebuilt)',
    );
    await moveAside(file);
    return open(Sqlite, file, migrations);
  }
}

/** Whether the error means that the file itself is damaged, so that every call will fail. */
export function isDamaged(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
  // The low byte is the primary result code: https://sqlite.org/rescode.html
  if ((code & 0xff) === SQLITE_CORRUPT || (code & 0xff) === SQLITE_NOTADB) return true;
  return error instanceof Error && DAMAGED_MESSAGES.includes(error.message);
}

/** The package does not set the code of every error. These are the texts of sqlite3_errstr for the two codes. */
const DAMAGED_MESSAGES = ['database disk image is malformed', 'file is not a database'];

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
const MEMORY = ':memory:';

class NewerSchemaError extends Error {}

/** The members of both SQLite packages that are used here. */
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

/** Node's built-in SQLite, without its warning that it is experimental: the interface used here is stable. */
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
  const prepare = (sql: string): Statement => {
    const cached = statements.get(sql);
    if (cached) return cached;
    const statement = connection.prepare(sql);
    if (statements.size >= MAX_STATEMENTS) statements.clear();
    statements.set(sql, statement);
    return statement;
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
      // A full disk may already have caused a rollback. The original error is reported.
      try {
        connection.exec('ROLLBACK');
      } catch {}
      throw error;
    } finally {
      inTransaction = false;
    }
  }

  return {
    get: <Row>(sql: string, ...values: SqlValue[]) => prepare(sql).get(...values) as Row | undefined,
    all: <Row>(sql: string, ...values: SqlValue[]) => prepare(sql).all(...values) as Row[],
    run: (sql, ...values) => Number(prepare(sql).run(...values).changes),
    execute(sql, ...values) {
      const changing = CHANGING.test(sql);
      if (!RETURNING_ROWS.test(sql)) {
        const { changes } = prepare(sql).run(...values);
        return { rows: [], ...(changing && { changes: Number(changes) }) };
      }
      const rows = prepare(sql).all(...values);
      if (!changing) return { rows };
      return { rows, changes: (prepare('SELECT changes() AS count').get() as { count: number }).count };
    },
    transaction,
    checkpoint: () => connection.exec('PRAGMA wal_checkpoint(TRUNCATE)'),
    close() {
      if (closed) return;
      closed = true;
      // The package for Node 20 does not close the file until its statements are garbage collected, so empty the log
      // here.
      try {
        connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch {}
      connection.close();
    },
  };
}

function migrate(database: Database, connection: Connection, migrations: readonly string[]): void {
  const readVersion = createVersionReader(connection);
  if (readVersion() === migrations.length) return;
  database.transaction(() => {
    // The version is read again, because another process may have run the migrations in the meantime.
    const version = readVersion();
    if (version > migrations.length) {
      throw new NewerSchemaError(
        `the database has version ${version}, this program supports ${migrations.length}: use a newer version of Lectern`,
      );
    }
    for (const migration of migrations.slice(version)) connection.exec(migration);
    connection.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

/**
 * Reads the version without a prepared statement, which would leave the file open until it is garbage collected. If the
 * file is renamed in the meantime, closing it would delete the log of the new file, because SQLite deletes the log by
 * name.
 */
function createVersionReader(connection: Connection): () => number {
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

/** Renames a damaged database so that a new one can be created. The database must be closed. */
export async function moveAside(file: string): Promise<void> {
  await rename(file, damagedFileOf(file));
  for (const suffix of ['-wal', '-shm']) await rm(file + suffix, { force: true });
}
