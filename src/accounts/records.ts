/** What the accounts room keeps and says: accounts, keys, charges. Times are milliseconds since 1970, amounts are tokens. */
import type { PlanName } from '#plans.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
  /** Tokens left; null when the operator counts none. */
  readonly balance: number | null;
  readonly createdAt: number;
}

/** What is kept of a key; its text is nowhere. */
export interface KeyRecord {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** The start of the key, so that people can tell their keys apart. */
  readonly shown: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** To the minute. */
  readonly lastUsedAt: number | null;
}

/** A key that may be used now, with its account. */
export interface Identity {
  readonly key: KeyRecord;
  readonly account: Account;
}

/** A part of a list: at most `limit` rows, those behind the one with the id `after`. */
export interface Page {
  readonly limit?: number;
  readonly after?: string;
}

/**
 * Accounts and keys, in either database. Calls reject with DatabaseAway when it cannot be reached, and with a
 * ParamValidationError for a name that is not one line of 1 to 200 characters.
 */
export interface Accounts {
  createAccount(given: { name: string; plan: PlanName; balance?: number | null }): Promise<Account>;
  /** The account of keys that were made without naming one, with the plan premium: made when it is not there. */
  defaultAccount(): Promise<Account>;
  /**
   * Changes what is given; undefined when there is no such account. `addBalance` is added atomically, never below zero;
   * with `balance`, or to an account without one, it is a ParamValidationError.
   */
  changeAccount(
    id: string,
    change: { name?: string; plan?: PlanName; balance?: number | null; addBalance?: number },
  ): Promise<Account | undefined>;
  account(id: string): Promise<Account | undefined>;
  /** In the order of making. */
  accounts(page?: Page): Promise<Account[]>;
  /**
   * A new key: 256 random bits behind `lectern_`. `key` brings one's own text instead (32 to 512 visible ASCII characters;
   * ParamValidationError when it is not that, or known already). ResourceNotFoundError without such an account.
   */
  mintKey(given: {
    accountId: string;
    name: string;
    expiresAt?: number | null;
    key?: string;
  }): Promise<{ key: string; record: KeyRecord }>;
  key(id: string): Promise<KeyRecord | undefined>;
  changeKey(id: string, change: { name?: string; expiresAt?: number | null }): Promise<KeyRecord | undefined>;
  /** Undefined when there is no such key; one revoked twice keeps its first time. */
  revokeKey(id: string): Promise<KeyRecord | undefined>;
  /** In the order of making. */
  keys(of?: { readonly accountId?: string } & Page): Promise<KeyRecord[]>;
  /** Who a key text belongs to; undefined when it is unknown, revoked or expired. */
  identify(key: string): Promise<Identity | undefined>;
  /** Whether no key was ever made. */
  empty(): Promise<boolean>;
}

/** Tokens of a balance set aside for one request. */
export interface Hold {
  readonly id: string;
  readonly accountId: string;
  readonly tokens: number;
}

/** One request that was let in with a key, without a word of its content. */
export interface Charge {
  /** Makes that it is counted once, however often it is written. */
  readonly id: string;
  readonly at: number;
  readonly accountId: string;
  readonly keyId: string;
  /** `reader`, `search`, `model`, ... */
  readonly face: string;
  /** `reader`, `embeddings`, `rerank`, ... */
  readonly endpoint: string;
  /** The model that did the work, or empty. */
  readonly model: string;
  readonly tokens: number;
  readonly status: number;
  readonly durationMs: number;
  /** What was set aside of the balance; it is given back and `tokens` debited in one transaction. */
  readonly hold?: Hold | undefined;
}

export const USAGE_GROUPS = ['day', 'account', 'key', 'face', 'endpoint', 'model'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Sums of one group; the keys asked for are set. `day` is `YYYY-MM-DD` in UTC. */
export interface UsageSum {
  readonly day?: string;
  readonly account?: string;
  readonly key?: string;
  readonly face?: string;
  readonly endpoint?: string;
  readonly model?: string;
  readonly requests: number;
  /** Those with a status of 400 and above. */
  readonly failed: number;
  readonly tokens: number;
  readonly durationMs: number;
}

export interface UsageQuery {
  readonly by: readonly UsageGroup[];
  /** First and last day, `YYYY-MM-DD`, both included. */
  readonly from?: string;
  readonly to?: string;
  readonly accountId?: string;
  readonly keyId?: string;
}

/** What requests cost. Balances go down exactly once a charge. */
export interface Usage {
  /**
   * Sets tokens of the account's balance aside: as many as wanted when there are so many, fewer but at least `least`
   * otherwise; undefined when there are not even those. A hold whose process died ends by itself.
   */
  hold(accountId: string, tokens: { wanted: number; least: number }): Promise<Hold | undefined>;
  /** Notes a charge; it is written soon, in one transaction with others. What cannot be written is kept and tried again. */
  charge(charge: Charge): void;
  /** Waits until everything noted is written, or rejects; what could not be written is tried again all the same. */
  flush(): Promise<void>;
  /** In the order of the groups; without groups the sum of all, which is there also when nothing is. */
  sums(query: UsageQuery): Promise<UsageSum[]>;
  /** Forgets what was charged longer ago than is kept, and holds that ended; it also happens by itself, each hour. */
  prune(): Promise<void>;
  /** Writes what is left: into a file for the next start when the database is away. */
  close(): Promise<void>;
}
