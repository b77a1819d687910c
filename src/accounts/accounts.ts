/** Accounts and their keys: made, changed, and known again. */
import { problem } from '#errors.ts';
import type { Store } from '#storage/database/store.ts';
import { createIdentities } from './identities.ts';
import { newId } from './ids.ts';
import { generateKey, hashOf, isValidKey, keyPrefixOf } from './key-format.ts';
import { NAME } from './names.ts';
import type { Account, Accounts, KeyRecord } from './records.ts';
import type { Tables } from './schema.ts';
import {
  anyKey,
  findAccount,
  findIdentity,
  findKey,
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
  /** The installation's secret; asked again when it could not be had. */
  readonly secret: () => Promise<Uint8Array>;
  /** How late a revocation made by another process may be noticed. */
  readonly freshMs?: number;
  /** How long a key that was verified goes on working while the database is away; 0 for not at all. */
  readonly graceMs?: number;
  /** How many keys are remembered. */
  readonly maxKnown?: number;
  readonly now?: () => number;
  readonly clock?: () => number;
}

/** The account of keys that were made without naming one. */
export const DEFAULT_ACCOUNT = 'default';

export function createAccounts(options: AccountsOptions): Accounts {
  const { store, freshMs = 1_000, graceMs = 0, maxKnown = 10_000 } = options;
  const { now = Date.now, clock = () => performance.now() } = options;
  const { db } = store;
  const find = (hash: string) => findIdentity(db, hash);
  const identities = createIdentities({ find, freshMs, graceMs, maxKnown, now, clock });

  let secret: Uint8Array | undefined;
  const hash = async (key: string): Promise<string> => {
    secret ??= await options.secret();
    return hashOf(secret, key);
  };
  const changed = <T>(value: T): T => {
    identities.forget();
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
          message: 'A balance is either set or added to',
        });
      }
      const account = await updateAccount(db, id, { ...change, addBalance });
      if (!account && (await findAccount(db, id))) {
        throw problem('ParamValidationError', {
          path: 'addBalance',
          message: 'This account has no balance to add to: set one first',
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
          message: 'A key of your own must be 32 to 512 visible ASCII characters without spaces',
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
          message: 'This key is here already; one that was revoked cannot come back',
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

    // The look-up is by a keyed hash, so its time tells nothing of how near a guess was.
    identify: async (key) => (isValidKey(key) ? identities.of(await hash(key)) : undefined),
    empty: async () => !(await anyKey(db)),
  };
}

function checkName(name: string | undefined): void {
  if (name === undefined || NAME.test(name)) return;
  throw problem('ParamValidationError', { path: 'name', message: 'A name must be one line of 1 to 200 characters' });
}
