/**
 * Kysely over PostgreSQL. A server that is away, slow beyond measure or back again is nothing that callers have to know
 * more of than DatabaseAway: connections are made anew by themselves, and no failure of one that idles ends the process.
 */
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { migrate } from './migrate.ts';
import type { Store, StoreOptions } from './store.ts';
import { DatabaseUnavailableError } from './unavailable.ts';

export interface PostgresOptions extends StoreOptions {
  readonly maxConnections?: number | undefined;
}

/** How long may pass until there is a connection, and until a statement has its answer. */
const CONNECT_MS = 3_000;
const ANSWER_MS = 3_000;
const MAX_CONNECTIONS = 10;

/**
 * Opens a pool of connections to a `postgres://` address. A server that is away does not hold the start up: it is
 * tried at each call, and the tables are made when it is there. Throws when it refuses us (a wrong password, no such
 * database) and for tables of a later version; no message has the address in it.
 */
export async function openPostgres<Schema>(url: string, options: PostgresOptions): Promise<Store<Schema>> {
  const { default: driver } = await import('pg');
  const pool = openPool(driver, url, {
    max: options.maxConnections ?? MAX_CONNECTIONS,
    statement_timeout: ANSWER_MS,
    query_timeout: ANSWER_MS,
  });
  let healthy = false;
  let migrated = false;
  let recovering: Promise<void> | undefined;

  /** After a failure one caller knocks and all others wait for what it hears, so that nobody waits for long. */
  const recover = async () => {
    const client = await pool.connect();
    try {
      await client.query('SELECT 1');
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
    if (!migrated) await migrateAlone<Schema>(driver, url, options);
    migrated = true;
    healthy = true;
  };
  const ready = (): Promise<void> => {
    recovering ??= recover().finally(() => {
      recovering = undefined;
    });
    return recovering;
  };
  /** The failure to throw. */
  const heard = (error: unknown): unknown => {
    if (error instanceof DatabaseUnavailableError || !isUnavailable(error)) return error;
    healthy = false;
    return new DatabaseUnavailableError(error);
  };

  let ending: Promise<void> | undefined;
  /** A server that hangs does not hold up our end. */
  const end = (): Promise<void> => {
    ending ??= Promise.race([pool.end(), new Promise<void>((resolve) => setTimeout(resolve, CONNECT_MS).unref())]);
    return ending;
  };
  const guarded: PostgresPool = {
    async connect() {
      try {
        if (!healthy) await ready();
        return guard(await pool.connect(), heard);
      } catch (error) {
        throw heard(error);
      }
    },
    end,
  };
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: guarded }) });
  const store: Store<Schema> = {
    db,
    dialect: 'postgres',
    get healthy() {
      return healthy;
    },
    async close() {
      await db.destroy();
      // Kysely ends only what was used.
      await end();
    },
  };
  try {
    await ready();
  } catch (error) {
    if (!isUnavailable(error) || isRefusal(error)) {
      await store.close();
      throw error;
    }
    options.log?.warn({ err: error }, 'the database cannot be reached: it is tried again at each call');
  }
  return store;
}

function openPool(driver: typeof pg, url: string, limits: pg.PoolConfig): pg.Pool {
  const config: pg.PoolConfig = {
    connectionString: url,
    application_name: 'lectern',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    types: { getTypeParser: typeParser(driver) as pg.CustomTypesConfig['getTypeParser'] },
    ...limits,
  };
  check(driver, config);
  const pool = new driver.Pool(config);
  // A connection that breaks says so to its listeners, and without one it would end the process; the next call notices.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** An address that cannot be read is refused at the start, and its password is not in what is said. */
function check(driver: typeof pg, config: pg.PoolConfig): void {
  if (!/^postgres(?:ql)?:\/\//.test(config.connectionString ?? '')) {
    throw new Error('the address of the database must begin with postgres://');
  }
  try {
    new driver.Client(config);
  } catch (error) {
    throw new Error(`the address of the database cannot be used: ${(error as Error).message}`);
  }
}

/** bigint and numeric (which sums of bigint are) are numbers, as from SQLite; whole ones beyond 2^53 are errors. */
function typeParser(driver: typeof pg) {
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

/** How many migrations of a room the database has seen; nothing is changed. DatabaseAway when it cannot be reached. */
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

/** Migrations may take their time, alone on a connection. */
async function migrateAlone<Schema>(driver: typeof pg, url: string, { module, migrations }: StoreOptions): Promise<void> {
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: openPool(driver, url, { max: 1 }) }) });
  try {
    await migrate(db, 'postgres', module, migrations);
  } finally {
    await db.destroy();
  }
}

/** A connection that failed once answers nothing more and is not used again: an answer could still be on its way. */
function guard(client: pg.PoolClient, heard: (error: unknown) => unknown): PostgresPoolClient {
  let broken: DatabaseUnavailableError | undefined;
  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (broken) throw broken;
    try {
      return await client.query(sql, parameters as unknown[]);
    } catch (error) {
      const failure = heard(error);
      if (failure instanceof DatabaseUnavailableError) broken = failure;
      throw failure;
    }
  };
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: () => client.release(broken !== undefined),
  };
}

/** Failures of connections and operators, by SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const AWAY_STATES = /^(?:08(?!P01)|28|3D|53|57P|58|57014$|25006$)/;
const AWAY_MESSAGES = /^(?:connection terminated|timeout |query read timeout|client (?:was closed|has encountered))/i;

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return false;
  const code = 'code' in error ? String(error.code) : undefined;
  if ('severity' in error) return AWAY_STATES.test(code ?? '');
  // The system's failures have a code, and several addresses of one name fail together.
  return code !== undefined || error instanceof AggregateError || AWAY_MESSAGES.test(error.message);
}

/** What waiting does not heal: who we are, or which database is meant. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && 'code' in error && /^(?:28|3D)/.test(String(error.code));
