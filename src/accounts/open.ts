/** The room with its database: SQLite in the data folder, or PostgreSQL shared by several servers. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type ModuleTables, openStore, type Store } from '#storage/database/store.ts';
import type { Log } from '#telemetry/log.ts';
import { createAccounts } from './accounts.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import type { Accounts, Usage } from './records.ts';
import type { Tables } from './schema.ts';
import { openDatabaseSecret, openFileSecret } from './secret.ts';
import { anyKey } from './store.ts';
import { openUsage } from './usage.ts';

export const ACCOUNT_TABLES: ModuleTables = {
  room: 'accounts',
  migrations: MIGRATIONS,
  fileIn: (dataDir) => path.join(dataDir, 'accounts', 'accounts.db'),
};

export interface AccountsModuleOptions {
  readonly dataDir: string;
  /** `postgres://…`; SQLite without one. */
  readonly databaseUrl?: string | undefined;
  readonly keyGraceMs?: number;
  readonly usageKeepDays?: number;
  readonly log?: Pick<Log, 'info' | 'warn'> | undefined;
}

export interface AccountsModule {
  readonly accounts: Accounts;
  readonly usage: Usage;
  /** Whether the database answered last time. */
  readonly healthy: boolean;
  /** Writes what is left to write, then ends; a second call does nothing. */
  close(): Promise<void>;
}

/**
 * A PostgreSQL server that is away does not hold the start up: calls reject with DatabaseAway until it is there. Throws
 * when it refuses us, and for tables of a later version.
 */
export async function openAccounts(options: AccountsModuleOptions): Promise<AccountsModule> {
  const { dataDir, databaseUrl, log } = options;
  const folder = path.join(dataDir, 'accounts');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const store = await openStore<Tables>(
    { url: databaseUrl, file: ACCOUNT_TABLES.fileIn(dataDir) },
    { ...ACCOUNT_TABLES, log },
  );
  const { accounts, usage } = await furnish(store, folder, options).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  let closing: Promise<void> | undefined;
  return {
    accounts,
    usage,
    get healthy() {
      return store.healthy;
    },
    close() {
      closing ??= usage.close().finally(() => store.close());
      return closing;
    },
  };
}

async function furnish(
  store: Store<Tables>,
  folder: string,
  { keyGraceMs, usageKeepDays, log }: AccountsModuleOptions,
): Promise<Pick<AccountsModule, 'accounts' | 'usage'>> {
  // A database may be away for now; a file is there, or the start stops.
  const ofFile = store.dialect === 'sqlite' ? await openFileSecret(folder, () => anyKey(store.db)) : undefined;
  const secret = async () => ofFile ?? openDatabaseSecret(store.db);
  const accounts = createAccounts({ store, secret, graceMs: keyGraceMs });
  return { accounts, usage: await openUsage({ store, folder, keepDays: usageKeepDays, log }) };
}
