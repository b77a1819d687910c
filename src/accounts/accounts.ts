/** Creates and changes accounts and API keys, and identifies the account of a key. */
import { problem } from '#errors.ts';
import type { Store } from '#storage/database/store.ts';
import { generateKey, hashOf, isValidKey, keyPrefixOf } from './api-key.ts';
import { createIdentities } from './identities.ts';
import { newId } from './ids.ts';
import { NAME_PATTERN } from './names.ts';
import type { Account, Accounts, KeyRecord } from './records.ts';
import type { Tables } from './schema.ts';
import {
  findAccount,
  findIdentity,
  findKey,
  hasAnyKey,
  insertAccount,
  insertAccountOnce,
  insertKey,
  listAccounts,
  listKeys,
  revokeKey,
  updateAccount,
  updateKey,
} from './store.ts';

export interface AccountsOptions {
  readonly store: Pick<Store<Tables>, 'db'>;
  /** Loads the installation's secret. Called again after a failure. */
  readonly secret: () => Promise<Uint8Array>;
  /**
   * How long an identity is cached, in milliseconds. A revocation by another process takes effect after this time.
   * Default: 1,000.
   */
  readonly freshMs?: number;
  /** How long a verified key continues to work while the database is unreachable, in milliseconds. Default: 0. */
  readonly graceMs?: number;
  /** Maximum number of cached identities. Default: 10,000. */
  readonly maxCached?: number;
  readonly now?: () => number;
  readonly clock?: () => number;
}

/** Id and name of the account for keys that are created without an account. */
export const DEFAULT_ACCOUNT = 'default';

export function createAccounts(options: AccountsOptions): Accounts {
  const { store, freshMs = 1_000, graceMs = 0, maxCached = 10_000 } = options;
  const { now = Date.now, clock = () => performance.now() } = options;
  const { db } = store;
  const find = (hash: string) => findIdentity(db, hash);
  const identities = createIdentities({ find, freshMs, graceMs, maxCached, now, clock });

  let secret: Uint8Array | undefined;
  const hash = async (key: string): Promise<string> => {
    secret ??= await options.secret();
    return hashOf(secret, key);
  };
  /** Clears the cached identities after a change, and returns the result of the change. */
  const changed = <T>(value: T): T => {
    identities.clear();
    return value;
  };

  return {
    async createAccount({ name, plan, balance = null }) {
      checkName(name);
      const account: Account = { id: newId(), name, plan, balance, createdAt: now() };
      await insertAccount(db, account);
      return account;
    },

    async defaultAccount() {
      const known = await findAccount(db, DEFAULT_ACCOUNT);
      if (known) return known;
      const name = DEFAULT_ACCOUNT;
      await insertAccountOnce(db, { id: DEFAULT_ACCOUNT, name, plan: 'premium', balance: null, createdAt: now() });
      return (await findAccount(db, DEFAULT_ACCOUNT))!;
    },

    async changeAccount(id, { addBalance, ...change }) {
      checkName(change.name);
      const isEmpty = Object.values({ ...change, addBalance }).every((value) => value === undefined);
      if (isEmpty) return findAccount(db, id);
      if (addBalance === undefined) return changed(await updateAccount(db, id, change));
      if (change.balance !== undefined) {
        throw problem('ParamValidationError', {
          path: 'addBalance',
          message: 'Send either balance or addBalance, not both',
        });
      }
      const account = await updateAccount(db, id, { ...change, addBalance });
      if (!account && (await findAccount(db, id))) {
        throw problem('ParamValidationError', {
          path: 'addBalance',
          message: `Account ${id} has no balance to add to: set balance first`,
        });
      }
      return changed(account);
    },

    account: (id) => findAccount(db, id),
    accounts: (page = {}) => listAccounts(db, page),

    async mintKey({ accountId, name, expiresAt = null, key = generateKey() }) {
      checkName(name);
      if (!isValidKey(key)) {
        throw problem('ParamValidationError', {
          path: 'key',
          message: 'The key must be 32 to 512 visible ASCII characters without spaces',
        });
      }
      if (!(await findAccount(db, accountId))) {
        throw problem('ResourceNotFoundError', { path: 'accountId', message: `There is no account ${accountId}` });
      }
      const record: KeyRecord = {
        id: newId(),
        accountId,
        name,
        shown: keyPrefixOf(key),
        createdAt: now(),
        expiresAt,
        revokedAt: null,
        lastUsedAt: null,
      };
      if (!(await insertKey(db, record, await hash(key)))) {
        throw problem('ParamValidationError', {
          path: 'key',
          message: 'This key already exists. A revoked key cannot be created again: choose another',
        });
      }
      return { key, record };
    },

    key: (id) => findKey(db, id),
    async changeKey(id, change) {
      checkName(change.name);
      if (change.name === undefined && change.expiresAt === undefined) return findKey(db, id);
      return changed(await updateKey(db, id, change));
    },
    revokeKey: async (id) => changed(await revokeKey(db, id, now())),
    keys: (of = {}) => listKeys(db, of),

    // The lookup uses a keyed hash, so its duration does not reveal how close a guess was.
    identify: async (key) => (isValidKey(key) ? identities.of(await hash(key)) : undefined),
    hasNoKeys: async () => !(await hasAnyKey(db)),
  };
}

function checkName(name: string | undefined): void {
  if (name === undefined || NAME_PATTERN.test(name)) return;
  throw problem('ParamValidationError', { path: 'name', message: 'The name must be one line of 1 to 200 characters' });
}
