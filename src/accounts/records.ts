/** Types of the accounts module: accounts, keys, charges. Times are Unix milliseconds, amounts are tokens. */
import type { PlanName } from '#plans.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
  /** Remaining tokens; null for an account without a balance, which is never charged. */
  readonly balance: number | null;
  readonly createdAt: number;
}

/** The stored record of a key. It does not contain the key itself. */
export interface KeyRecord {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** The first characters of the key, by which its owner recognizes it. */
  readonly shown: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Time of the last use, rounded down to the minute. */
  readonly lastUsedAt: number | null;
}

/** A valid key with its account. */
export interface Identity {
  readonly key: KeyRecord;
  readonly account: Account;
}

/** One page of a list: at most `limit` rows that follow the row with the id `after`. */
export interface ListPage {
  readonly limit?: number;
  readonly after?: string;
}

/**
 * Accounts and keys, in either database. Calls reject with DatabaseUnavailableError if the database is unreachable, and
 * with ParamValidationError for a name that is not a single line of 1 to 200 characters.
 */
export interface Accounts {
  createAccount(given: { name: string; plan: PlanName; balance?: number | null }): Promise<Account>;
  /**
   * Returns the account for keys that are created without an account. It is created on first use, with the `premium`
   * plan.
   */
  defaultAccount(): Promise<Account>;
  /**
   * Changes the specified fields. Returns `undefined` if there is no such account. `addBalance` is added atomically;
   * the resulting balance is at least zero. Throws ParamValidationError if `addBalance` is used together with
   * `balance`, or for an account without a balance.
   */
  changeAccount(
    id: string,
    change: { name?: string; plan?: PlanName; balance?: number | null; addBalance?: number },
  ): Promise<Account | undefined>;
  account(id: string): Promise<Account | undefined>;
  /** Lists accounts in order of creation. */
  accounts(page?: ListPage): Promise<Account[]>;
  /**
   * Creates a key: `lectern_` followed by 256 random bits, or the text in `key`. Throws ParamValidationError if `key`
   * already exists or does not consist of 32 to 512 visible ASCII characters, and ResourceNotFoundError if there is no
   * such account.
   */
  mintKey(given: {
    accountId: string;
    name: string;
    expiresAt?: number | null;
    key?: string;
  }): Promise<{ key: string; record: KeyRecord }>;
  key(id: string): Promise<KeyRecord | undefined>;
  changeKey(id: string, change: { name?: string; expiresAt?: number | null }): Promise<KeyRecord | undefined>;
  /**
   * Revokes a key. Returns `undefined` if there is no such key. A key that is already revoked keeps its first
   * revocation time.
   */
  revokeKey(id: string): Promise<KeyRecord | undefined>;
  /** Lists keys in order of creation. */
  keys(of?: { readonly accountId?: string } & ListPage): Promise<KeyRecord[]>;
  /** Returns the account of a key; `undefined` if the key is unknown, revoked or expired. */
  identify(key: string): Promise<Identity | undefined>;
  /** Whether no key has ever been created. */
  hasNoKeys(): Promise<boolean>;
}

/** Tokens reserved from a balance for one request. */
export interface Hold {
  readonly id: string;
  readonly accountId: string;
  readonly tokens: number;
}

/** The cost of one request made with a key. It contains none of the request's content. */
export interface Charge {
  /** Idempotency key: charging twice with the same id counts once. */
  readonly id: string;
  readonly at: number;
  readonly accountId: string;
  readonly keyId: string;
  /** `reader`, `search`, `model`, ... */
  readonly face: string;
  /** `reader`, `embeddings`, `rerank`, ... */
  readonly endpoint: string;
  /** Id of the model that did the work; empty if there was none. */
  readonly model: string;
  readonly tokens: number;
  readonly status: number;
  readonly durationMs: number;
  /** Tokens reserved for the request. In one transaction, the hold is released and `tokens` are debited. */
  readonly hold?: Hold | undefined;
}

export const USAGE_GROUPS = ['day', 'account', 'key', 'face', 'endpoint', 'model'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The sums of one group. Only the fields that the query groups by are set. `day` is `YYYY-MM-DD` in UTC. */
export interface UsageSum {
  readonly day?: string;
  readonly account?: string;
  readonly key?: string;
  readonly face?: string;
  readonly endpoint?: string;
  readonly model?: string;
  readonly requests: number;
  /** Number of requests whose response had a status of 400 or above. */
  readonly failed: number;
  readonly tokens: number;
  readonly durationMs: number;
}

export interface UsageQuery {
  readonly by: readonly UsageGroup[];
  /** First and last day, both inclusive, as `YYYY-MM-DD` in UTC. */
  readonly from?: string;
  readonly to?: string;
  readonly accountId?: string;
  readonly keyId?: string;
}

/** The cost of requests: holds, charges and sums. Each charge is debited from a balance exactly once. */
export interface Usage {
  /**
   * Reserves up to `wanted` tokens of the account's balance. Returns `undefined` if fewer than `least` tokens are left.
   * If its process dies, a hold expires automatically.
   */
  hold(accountId: string, tokens: { wanted: number; least: number }): Promise<Hold | undefined>;
  /**
   * Writes a charge to a file that outlives the process, before the answer of its request is sent. If the process is
   * killed before `charge` is called with the same id, the charge counts as it is. With `written`, it is written at the
   * end of the tick, and `written` is called then; otherwise it is written at once. A failure is logged.
   */
  journal(charge: Charge, written?: () => void): void;
  /** Queues a charge. It is soon written together with others in one transaction. Failed writes are retried. */
  charge(charge: Charge): void;
  /** Resolves when all queued charges have been written. Rejects on a failure; the write is retried nevertheless. */
  flush(): Promise<void>;
  /** Returns sums in the order of their groups. Without groups, returns a single total, even if there was no usage. */
  sums(query: UsageQuery): Promise<UsageSum[]>;
  /** Deletes details older than the retention time, and expired holds. Also runs automatically every hour. */
  prune(): Promise<void>;
  /** Writes queued charges to the database. If it is unreachable, saves them to a file for the next start. */
  close(): Promise<void>;
}
