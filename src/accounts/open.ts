/** Opens the accounts module and its database: SQLite in the data folder, or PostgreSQL shared by several servers. */
import { createHmac } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type ModuleTables, openStore, type Store } from '#storage/database/store.ts';
import type { Log } from '#telemetry/log.ts';
import { createAccounts } from './accounts.ts';
import { openDatabaseSecret, openFileSecret } from './installation-secret.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import type { Accounts, Usage } from './records.ts';
import type { Tables } from './schema.ts';
import { hasAnyKey } from './store.ts';
import { openUsage } from './usage.ts';

export const ACCOUNT_TABLES: ModuleTables = {
  module: 'accounts',
  migrations: MIGRATIONS,
  fileIn: (dataDir) => path.join(dataDir, 'accounts', 'accounts.db'),
};

export interface AccountsModuleOptions {
  readonly dataDir: string;
  /** Connection URL `postgres://…`. Default: SQLite. */
  readonly databaseUrl?: string | undefined;
  readonly keyGraceMs?: number;
  readonly usageKeepDays?: number;
  readonly log?: Pick<Log, 'info' | 'warn'> | undefined;
}

export interface AccountsModule {
  readonly accounts: Accounts;
  readonly usage: Usage;
  /**
   * Returns a secret for one purpose, the same at all servers of the installation. Rejects with
   * DatabaseUnavailableError.
   */
  deriveSecret(purpose: string): Promise<Uint8Array>;
  /** Whether the last database query succeeded. */
  readonly healthy: boolean;
  /** Writes queued charges, and then closes the database. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Does not wait for an unreachable PostgreSQL server: calls reject with DatabaseUnavailableError until it responds.
 * Throws if the server rejects the connection, or if the tables come from a later version.
 */
export async function openAccounts(options: AccountsModuleOptions): Promise<AccountsModule> {
  const { dataDir, databaseUrl, log } = options;
  const folder = path.join(dataDir, 'accounts');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const store = await openStore<Tables>(
    { url: databaseUrl, file: ACCOUNT_TABLES.fileIn(dataDir) },
    { ...ACCOUNT_TABLES, log },
  );
  const { accounts, usage, secret } = await createParts(store, folder, options).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  let closing: Promise<void> | undefined;
  return {
    accounts,
    usage,
    deriveSecret: async (purpose) =>
      createHmac('sha256', await secret())
        .update(purpose)
        .digest(),
    get healthy() {
      return store.healthy;
    },
    close() {
      closing ??= usage.close().finally(() => store.close());
      return closing;
    },
  };
}

async function createParts(
  store: Store<Tables>,
  folder: string,
  { keyGraceMs, usageKeepDays, log }: AccountsModuleOptions,
): Promise<Pick<AccountsModule, 'accounts' | 'usage'> & { readonly secret: () => Promise<Uint8Array> }> {
  // A missing secret file makes startup fail. A secret in PostgreSQL is read on first use, because the server may be
  // down now.
  const fileSecret = store.dialect === 'sqlite' ? await openFileSecret(folder, () => hasAnyKey(store.db)) : undefined;
  const secret = async () => fileSecret ?? openDatabaseSecret(store.db);
  const accounts = createAccounts({ store, secret, graceMs: keyGraceMs });
  return { accounts, secret, usage: await openUsage({ store, folder, keepDays: usageKeepDays, log }) };
}
