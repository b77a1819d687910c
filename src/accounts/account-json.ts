/** Accounts and keys as shown by the CLI and the admin API, with times in ISO 8601. */
import type { Account, KeyRecord } from './records.ts';

type WithTimes<T, Times extends keyof T> = {
  readonly [Name in keyof T]: Name extends Times ? (null extends T[Name] ? string | null : string) : T[Name];
};

export type AccountJson = WithTimes<Account, 'createdAt'>;
export type KeyJson = WithTimes<KeyRecord, 'createdAt' | 'expiresAt' | 'revokedAt' | 'lastUsedAt'>;

const iso = (ms: number) => new Date(ms).toISOString();
const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms));

export const toAccountJson = (account: Account): AccountJson => ({ ...account, createdAt: iso(account.createdAt) });

export const toKeyJson = (record: KeyRecord): KeyJson => ({
  ...record,
  createdAt: iso(record.createdAt),
  expiresAt: isoOrNull(record.expiresAt),
  revokedAt: isoOrNull(record.revokedAt),
  lastUsedAt: isoOrNull(record.lastUsedAt),
});
