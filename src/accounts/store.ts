/** The database queries for accounts and keys, with one function each. */
import { type ExpressionBuilder, sql } from 'kysely';
import type { Account, Identity, KeyRecord, ListPage } from './records.ts';
import type { Db, Tables } from './schema.ts';

const ACCOUNT = ['id', 'name', 'plan', 'balance', 'created_at as createdAt'] as const;
const KEY = [
  'id',
  'account_id as accountId',
  'name',
  'shown',
  'created_at as createdAt',
  'expires_at as expiresAt',
  'revoked_at as revokedAt',
  'last_used_at as lastUsedAt',
] as const;

export async function insertAccount(db: Db, { createdAt, ...rest }: Account): Promise<void> {
  await db
    .insertInto('accounts')
    .values({ ...rest, created_at: createdAt })
    .execute();
}

export async function insertAccountOnce(db: Db, { createdAt, ...rest }: Account): Promise<void> {
  await db
    .insertInto('accounts')
    .values({ ...rest, created_at: createdAt })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

export const findAccount = (db: Db, id: string): Promise<Account | undefined> =>
  db.selectFrom('accounts').select(ACCOUNT).where('id', '=', id).executeTakeFirst();

export function listAccounts(db: Db, { after, limit }: ListPage): Promise<Account[]> {
  let query = db.selectFrom('accounts').select(ACCOUNT).orderBy('created_at').orderBy('id');
  if (after !== undefined) query = query.where(laterThan('accounts', after));
  if (limit !== undefined) query = query.limit(limit);
  return query.execute();
}

/** Condition for rows that were created after the row with this id. Matches nothing if there is no such row. */
const laterThan = (table: 'accounts' | 'api_keys', id: string) =>
  sql<boolean>`(created_at, id) > (select made.created_at, made.id from ${sql.table(table)} as made where made.id = ${id})`;

export interface AccountChange {
  readonly name?: string;
  readonly plan?: Account['plan'];
  readonly balance?: number | null;
  /** Amount to add to the balance. If the account has no balance, none of its fields are changed. */
  readonly addBalance?: number;
}

export function updateAccount(db: Db, id: string, change: AccountChange): Promise<Account | undefined> {
  const { addBalance, ...columns } = change;
  const query = db.updateTable('accounts').where('id', '=', id).returning(ACCOUNT);
  if (addBalance === undefined) return query.set(columns).executeTakeFirst();
  return query
    .set((eb) => ({ ...columns, balance: added(eb, addBalance) }))
    .where('balance', 'is not', null)
    .executeTakeFirst();
}

/** Returns the balance plus `tokens`, clamped to the range from 0 to the largest safe integer. */
function added(eb: ExpressionBuilder<Tables, 'accounts'>, tokens: number) {
  const sum = eb('balance', '+', tokens);
  return eb
    .case()
    .when(sum, '<', 0)
    .then(0)
    .when(sum, '>', Number.MAX_SAFE_INTEGER)
    .then(Number.MAX_SAFE_INTEGER)
    .else(sum)
    .end();
}

/** Returns `false` if the key already exists. */
export async function insertKey(db: Db, key: KeyRecord, hash: string): Promise<boolean> {
  const inserted = await db
    .insertInto('api_keys')
    .values({
      id: key.id,
      account_id: key.accountId,
      name: key.name,
      hash,
      shown: key.shown,
      created_at: key.createdAt,
      expires_at: key.expiresAt,
      revoked_at: key.revokedAt,
      last_used_at: key.lastUsedAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

export const findKey = (db: Db, id: string): Promise<KeyRecord | undefined> =>
  db.selectFrom('api_keys').select(KEY).where('id', '=', id).executeTakeFirst();

export function listKeys(db: Db, { accountId, after, limit }: ListPage & { accountId?: string }): Promise<KeyRecord[]> {
  let query = db.selectFrom('api_keys').select(KEY).orderBy('created_at').orderBy('id');
  if (accountId !== undefined) query = query.where('account_id', '=', accountId);
  if (after !== undefined) query = query.where(laterThan('api_keys', after));
  if (limit !== undefined) query = query.limit(limit);
  return query.execute();
}

export const updateKey = (
  db: Db,
  id: string,
  { name, expiresAt }: { name?: string; expiresAt?: number | null },
): Promise<KeyRecord | undefined> =>
  db
    .updateTable('api_keys')
    .set({ ...(name !== undefined && { name }), ...(expiresAt !== undefined && { expires_at: expiresAt }) })
    .where('id', '=', id)
    .returning(KEY)
    .executeTakeFirst();

/** A key that is already revoked keeps its first revocation time. */
export const revokeKey = (db: Db, id: string, at: number): Promise<KeyRecord | undefined> =>
  db
    .updateTable('api_keys')
    .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(at)) }))
    .where('id', '=', id)
    .returning(KEY)
    .executeTakeFirst();

export const hasAnyKey = async (db: Db): Promise<boolean> =>
  (await db.selectFrom('api_keys').select('id').limit(1).executeTakeFirst()) !== undefined;

/** Returns the key with this hash and its account; `undefined` if the key is unknown or revoked. */
export async function findIdentity(db: Db, hash: string): Promise<Identity | undefined> {
  const row = await db
    .selectFrom('api_keys as key')
    .innerJoin('accounts as account', 'account.id', 'key.account_id')
    .select([
      'key.id',
      'key.account_id',
      'key.name',
      'key.shown',
      'key.created_at',
      'key.expires_at',
      'key.revoked_at',
      'key.last_used_at',
      'account.name as account_name',
      'account.plan',
      'account.balance',
      'account.created_at as account_created_at',
    ])
    .where('key.hash', '=', hash)
    .where('key.revoked_at', 'is', null)
    .executeTakeFirst();
  return (
    row && {
      key: {
        id: row.id,
        accountId: row.account_id,
        name: row.name,
        shown: row.shown,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
        revokedAt: row.revoked_at,
        lastUsedAt: row.last_used_at,
      },
      account: {
        id: row.account_id,
        name: row.account_name,
        plan: row.plan,
        balance: row.balance,
        createdAt: row.account_created_at,
      },
    }
  );
}
