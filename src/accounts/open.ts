/** The room with its database: SQLite in the data folder, or PostgreSQL shared by several servers. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { openStore } from '#storage/database/store.ts';
import type { Log } from '#telemetry/log.ts';
import { createAccounts } from './accounts.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import type { Accounts, Usage } from './records.ts';
import type { Tables } from './schema.ts';
import { secretOfDatabase, secretOfFile } from './secret.ts';
import { openUsage } from './usage.ts';

export interface AccountsRoomOptions {
  readonly dataDir: string;
  /** `postgres://…`; SQLite without one. */
  readonly databaseUrl?: string | undefined;
  readonly keyGraceMs?: number;
  readonly usageKeepDays?: number;
  readonly log?: Pick<Log, 'info' | 'warn'> | undefined;
}

export interface AccountsRoom {
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
export async function openAccounts(options: AccountsRoomOptions): Promise<AccountsRoom> {
  const { dataDir, databaseUrl, keyGraceMs, usageKeepDays, log } = options;
  const folder = path.join(dataDir, 'accounts');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const store = await openStore<Tables>(
    { url: databaseUrl, file: path.join(folder, 'accounts.db') },
    { room: 'accounts', migrations: MIGRATIONS, log },
  );
  const secret = () => (store.dialect === 'sqlite' ? secretOfFile(folder) : secretOfDatabase(store.db));
  const accounts = createAccounts({ store, secret, graceMs: keyGraceMs });
  const usage = await openUsage({ store, folder, keepDays: usageKeepDays, log });
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
