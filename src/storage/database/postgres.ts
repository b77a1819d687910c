/**
 * Kysely over PostgreSQL. While the server is unreachable or too slow, calls fail with DatabaseUnavailableError, and
 * connections recover automatically. An error on an idle connection does not end the process.
 */
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { migrate } from './migrate.ts';
import { inSchema, type Schema } from './schema.ts';
import type { Store, StoreOptions } from './store.ts';
import { DatabaseUnavailableError } from './unavailable.ts';

export interface PostgresOptions extends StoreOptions {
  readonly maxConnections?: number | undefined;
  /** Where the tables are. Default: in the first schema of the search path. */
  readonly schema?: Schema | undefined;
}

/** Timeouts for opening a connection and for running one statement. */
const CONNECT_MS = 3_000;
const STATEMENT_MS = 3_000;
const MAX_CONNECTIONS = 10;
/** While the server is unreachable, an idle process tests it in this interval, in milliseconds. */
const PROBE_MS = 5_000;
const APPLICATION = 'lectern';

/**
 * Opens a pool of connections to a `postgres://` URL. If the server is unreachable, startup continues: each call
 * retries, and the tables are created on the first connection. Throws if the server denies access (wrong password, no
 * such database) or if the tables come from a newer version. Error messages never contain the URL.
 */
export async function openPostgres<Tables>(url: string, options: PostgresOptions): Promise<Store<Tables>> {
  const { default: driver } = await import('pg');
  const pool = openPool(driver, url, {
    max: options.maxConnections ?? MAX_CONNECTIONS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS,
  });
  let healthy = false;
  let migrated = false;
  let recovering: Promise<void> | undefined;

  /**
   * After a failure, one caller tests the connection and all others wait for its result, so that no caller waits long.
   */
  const recover = async () => {
    const client = await pool.connect();
    try {
      await client.query('SELECT 1');
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
    if (!migrated) await migrateSeparately<Tables>(driver, url, options);
    migrated = true;
    healthy = true;
  };
  const ensureReady = (): Promise<void> => {
    recovering ??= recover().finally(() => {
      recovering = undefined;
    });
    return recovering;
  };
  /** Converts an error into the one to throw, and updates `healthy`. */
  const convertError = (error: unknown): unknown => {
    if (error instanceof DatabaseUnavailableError || !isUnavailable(error)) return error;
    healthy = false;
    probeLater();
    return new DatabaseUnavailableError(error);
  };

  let ending: Promise<void> | undefined;
  let probe: NodeJS.Timeout | undefined;
  /** Without calls, the database would be reported as unreachable for ever. */
  function probeLater(): void {
    if (ending) return;
    probe ??= setTimeout(async () => {
      probe = undefined;
      if (!healthy) await ensureReady().catch(probeLater);
    }, PROBE_MS).unref();
  }
  /** Closes the pool, with a timeout in case the server hangs. */
  const end = (): Promise<void> => {
    clearTimeout(probe);
    ending ??= Promise.race([pool.end(), new Promise<void>((resolve) => setTimeout(resolve, CONNECT_MS).unref())]);
    return ending;
  };
  const guardedPool: PostgresPool = {
    async connect() {
      try {
        if (!healthy) await ensureReady();
        return guard(await pool.connect(), convertError);
      } catch (error) {
        throw convertError(error);
      }
    },
    end,
  };
  const unqualified = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: guardedPool }) });
  const db = options.schema ? inSchema(unqualified, options.schema) : unqualified;
  const store: Store<Tables> = {
    db,
    dialect: 'postgres',
    get healthy() {
      return healthy;
    },
    async close() {
      await unqualified.destroy();
      // Kysely closes only a pool that has been used.
      await end();
    },
  };
  try {
    await ensureReady();
  } catch (error) {
    if (!isUnavailable(error) || isRefusal(error)) {
      await store.close();
      throw error;
    }
    options.log?.warn({ err: error }, 'the database cannot be reached: each call tries to reconnect');
    probeLater();
  }
  return store;
}

function openPool(driver: typeof pg, url: string, limits: pg.PoolConfig): pg.Pool {
  const config: pg.PoolConfig = {
    connectionString: url,
    application_name: APPLICATION,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    types: { getTypeParser: createTypeParser(driver) as pg.CustomTypesConfig['getTypeParser'] },
    ...limits,
  };
  checkUrl(driver, config);
  const pool = new driver.Pool(config);
  // Without listeners, the error of a broken connection would end the process. The next call detects the error anyway.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Rejects an invalid URL at startup. The message does not contain its password. */
function checkUrl(driver: typeof pg, config: pg.PoolConfig): void {
  if (!/^postgres(?:ql)?:\/\//.test(config.connectionString ?? '')) {
    throw new Error('the database URL must start with postgres://');
  }
  try {
    new driver.Client(config);
  } catch (error) {
    throw new Error(`the database URL is invalid: ${(error as Error).message}`);
  }
}

/**
 * Parses bigint, and numeric (the type of a sum of bigints), as numbers, as SQLite does. Throws for integers beyond
 * 2^53.
 */
function createTypeParser(driver: typeof pg) {
  const { builtins } = driver.types;
  return (type: number, format?: 'text' | 'binary') =>
    type === builtins.INT8 || type === builtins.NUMERIC ? toNumber : driver.types.getTypeParser(type, format as 'text');
}

function toNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`${text} is too large for a number`);
  return value;
}

/** Number of migrations applied for a module. Only reads. Throws DatabaseUnavailableError. */
export async function countAppliedInPostgres(url: string, module: string): Promise<number> {
  const { default: driver } = await import('pg');
  const pool = openPool(driver, url, { max: 1 });
  try {
    const { rows } = await pool.query("SELECT to_regclass('migrations') IS NOT NULL AS there");
    if (!rows[0].there) return 0;
    const counted = await pool.query('SELECT count(*) AS seen FROM migrations WHERE room = $1', [module]);
    return Number(counted.rows[0].seen);
  } catch (error) {
    throw isUnavailable(error) ? new DatabaseUnavailableError(error) : error;
  } finally {
    await pool.end();
  }
}

/** Number of connections of servers and workers to the database. Only reads. Throws DatabaseUnavailableError. */
export async function countLecternConnections(url: string): Promise<number> {
  const { default: driver } = await import('pg');
  const pool = openPool(driver, url, { max: 1 });
  try {
    const { rows } = await pool.query(
      `SELECT count(*) AS open FROM pg_stat_activity
       WHERE application_name = $1 AND datname = current_database() AND pid <> pg_backend_pid()`,
      [APPLICATION],
    );
    return Number(rows[0].open);
  } catch (error) {
    throw isUnavailable(error) ? new DatabaseUnavailableError(error) : error;
  } finally {
    await pool.end();
  }
}

/** Runs migrations on a separate connection without statement timeouts. */
async function migrateSeparately<Tables>(
  driver: typeof pg,
  url: string,
  { module, migrations, schema }: PostgresOptions,
): Promise<void> {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(driver, url, { max: 1 }) }) });
  try {
    await migrate(db, 'postgres', module, migrations, schema?.name);
  } finally {
    await db.destroy();
  }
}

/** Stops using a connection after a failure, because a late result could be mistaken for that of the next query. */
function guard(client: pg.PoolClient, convertError: (error: unknown) => unknown): PostgresPoolClient {
  let broken: DatabaseUnavailableError | undefined;
  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (broken) throw broken;
    try {
      return await client.query(sql, parameters as unknown[]);
    } catch (error) {
      const failure = convertError(error);
      if (failure instanceof DatabaseUnavailableError) broken = failure;
      throw failure;
    }
  };
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: () => client.release(broken !== undefined),
  };
}

/**
 * SQLSTATEs of connection failures and operator intervention:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const UNAVAILABLE_STATES = /^(?:08(?!P01)|28|3D|53|57P|58|57014$|25006$)/;
/** PgBouncer ends a connection with this state if it cannot reach PostgreSQL. PostgreSQL reports faulty queries with it. */
const PROXY_STATE = '08P01';
const UNAVAILABLE_MESSAGES =
  /^(?:connection terminated|timeout |query read timeout|client (?:was closed|has encountered))/i;

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return false;
  const code = 'code' in error ? String(error.code) : undefined;
  if ('severity' in error)
    return UNAVAILABLE_STATES.test(code ?? '') || (code === PROXY_STATE && error.severity === 'FATAL');
  // System errors have a code. An AggregateError means that connecting to every IP address of the host failed.
  return code !== undefined || error instanceof AggregateError || UNAVAILABLE_MESSAGES.test(error.message);
}

/** Whether a retry is useless: access denied (28) or no such database (3D). */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && 'code' in error && /^(?:28|3D)/.test(String(error.code));
