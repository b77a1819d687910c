/**
 * The database queries for usage and holds. `writeCharges` and `insertHolds` each run several queries in one
 * transaction.
 */
import { CompiledQuery, sql } from 'kysely';
import type { Store } from '#storage/database/store.ts';
import { newId } from './ids.ts';
import type { Charge, Hold, UsageGroup, UsageQuery, UsageSum } from './records.ts';
import type { Db, Tables } from './schema.ts';

/** Lifetime of a hold, in milliseconds, if its process has died. */
const HOLD_MS = 600_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Maximum number of rows deleted per query, so that other queries do not wait long. */
const PRUNE_ROWS = 2_000;

type UsageDb = Pick<Store<Tables>, 'db' | 'dialect'>;

/**
 * Writes charges in one transaction. Charges whose id is already stored are skipped, so that each charge changes the
 * sums and balances only once.
 */
export async function writeCharges({ db, dialect }: UsageDb, charges: readonly Charge[]): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const byId = new Map(charges.map((charge) => [charge.id, charge]));
    // Concurrent servers lock the accounts in the same order to prevent deadlocks.
    if (dialect === 'postgres') await lockAccounts(transaction, [...byId.values()]);
    const fresh = (await insertDetails({ db: transaction, dialect }, [...byId.values()])).map((id) => byId.get(id)!);
    if (!fresh.length) return;
    await addToSums(transaction, fresh);
    await debit(transaction, fresh);
    await endHolds(transaction, fresh);
    await noteLastUse(transaction, fresh);
  });
}

async function lockAccounts(db: Db, charges: readonly Charge[]): Promise<void> {
  const ids = [...new Set(charges.map(({ accountId }) => accountId))];
  await db.selectFrom('accounts').select('id').where('id', 'in', ids).orderBy('id').forNoKeyUpdate().execute();
}

/** The columns of a charge's details, and the field of the charge that each of them stores. */
const DETAILS = {
  id: 'id',
  at: 'at',
  account_id: 'accountId',
  key_id: 'keyId',
  face: 'face',
  endpoint: 'endpoint',
  model: 'model',
  tokens: 'tokens',
  status: 'status',
  duration_ms: 'durationMs',
} as const satisfies Record<keyof Tables['usage_details'], keyof Charge>;
const DETAIL_COLUMNS = Object.keys(DETAILS);
const DETAIL_FIELDS = Object.values(DETAILS);

/**
 * Inserts the details of charges, and returns the ids that were not stored before. The statement is written here,
 * because building it from thousands of values takes the query builder as long as running it takes the database.
 */
async function insertDetails({ db, dialect }: UsageDb, charges: readonly Charge[]): Promise<string[]> {
  const values = charges.flatMap((charge) => DETAIL_FIELDS.map((field) => charge[field]));
  const rows = placeholders(dialect, charges.length, DETAIL_COLUMNS.length);
  const text = `insert into usage_details (${DETAIL_COLUMNS.join(', ')}) values ${rows}
    on conflict (id) do nothing returning id`;
  const { rows: inserted } = await db.executeQuery<{ id: string }>(CompiledQuery.raw(text, values));
  return inserted.map(({ id }) => id);
}

/** The placeholders of `rows` rows of values: `(?, ?), (?, ?)`, or numbered ones in PostgreSQL. */
function placeholders(dialect: UsageDb['dialect'], rows: number, columns: number): string {
  const row = (at: number) =>
    `(${Array.from({ length: columns }, (_, column) => (dialect === 'postgres' ? `$${at * columns + column + 1}` : '?')).join(', ')})`;
  if (dialect !== 'postgres') return Array<string>(rows).fill(row(0)).join(', ');
  return Array.from({ length: rows }, (_, at) => row(at)).join(', ');
}

async function addToSums(db: Db, charges: readonly Charge[]): Promise<void> {
  const sums = new Map<string, Tables['usage_sums']>();
  for (const charge of charges) {
    const day = Math.floor(charge.at / DAY_MS);
    const { accountId, keyId, face, endpoint, model } = charge;
    const name = [day, accountId, keyId, face, endpoint, model].join('\0');
    const sum = sums.get(name) ?? emptySum(charge, day);
    sum.requests += 1;
    if (charge.status >= 400) sum.failed += 1;
    sum.tokens += charge.tokens;
    sum.duration_ms += charge.durationMs;
    sums.set(name, sum);
  }
  await db
    .insertInto('usage_sums')
    .values([...sums.values()])
    .onConflict((conflict) =>
      conflict.columns(['day', 'account_id', 'key_id', 'face', 'endpoint', 'model']).doUpdateSet((eb) => ({
        requests: eb('usage_sums.requests', '+', eb.ref('excluded.requests')),
        failed: eb('usage_sums.failed', '+', eb.ref('excluded.failed')),
        tokens: eb('usage_sums.tokens', '+', eb.ref('excluded.tokens')),
        duration_ms: eb('usage_sums.duration_ms', '+', eb.ref('excluded.duration_ms')),
      })),
    )
    .execute();
}

const emptySum = ({ accountId, keyId, face, endpoint, model }: Charge, day: number): Tables['usage_sums'] => ({
  day: new Date(day * DAY_MS).toISOString().slice(0, 10),
  account_id: accountId,
  key_id: keyId,
  face,
  endpoint,
  model,
  requests: 0,
  failed: 0,
  tokens: 0,
  duration_ms: 0,
});

/** A balance never drops below zero. Any cost beyond it is not collected, because the work has already been done. */
async function debit(db: Db, charges: readonly Charge[]): Promise<void> {
  const tokens = new Map<string, number>();
  for (const charge of charges) {
    if (charge.tokens) tokens.set(charge.accountId, (tokens.get(charge.accountId) ?? 0) + charge.tokens);
  }
  if (!tokens.size) return;
  const rows = [...tokens].map(([id, sum]) => sql`(cast(${id} as text), cast(${sum} as bigint))`);
  // Both SQLite and PostgreSQL name the columns of VALUES column1, column2.
  await sql`
    update accounts
    set balance = case when balance > debit.column2 then balance - debit.column2 else 0 end
    from (values ${sql.join(rows)}) as debit
    where accounts.id = debit.column1 and balance is not null
  `.execute(db);
}

async function endHolds(db: Db, charges: readonly Charge[]): Promise<void> {
  const ids = charges.flatMap(({ hold }) => (hold ? [hold.id] : []));
  if (ids.length) await db.deleteFrom('holds').where('id', 'in', ids).execute();
}

/** Records the last use, rounded down to the minute, so that a frequently used key is updated at most once a minute. */
async function noteLastUse(db: Db, charges: readonly Charge[]): Promise<void> {
  const keysOf = new Map<number, Set<string>>();
  for (const { at, keyId } of charges) {
    const minute = Math.floor(at / MINUTE_MS) * MINUTE_MS;
    keysOf.set(minute, (keysOf.get(minute) ?? new Set()).add(keyId));
  }
  for (const [minute, ids] of keysOf) {
    await db
      .updateTable('api_keys')
      .set({ last_used_at: minute })
      .where('id', 'in', [...ids])
      .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', minute)]))
      .execute();
  }
}

/** A request to reserve tokens from an account's balance. */
export interface HoldRequest {
  readonly accountId: string;
  readonly wanted: number;
  readonly least: number;
}

/**
 * Reserves tokens for each request in order, in one transaction. A result is `undefined` if the balance minus all other
 * holds is less than `least`.
 */
export async function insertHolds(
  { db, dialect }: UsageDb,
  requests: readonly HoldRequest[],
  now: number,
): Promise<(Hold | undefined)[]> {
  return db.transaction().execute(async (transaction) => {
    const ids = [...new Set(requests.map(({ accountId }) => accountId))];
    const free = await freeTokens({ db: transaction, dialect }, ids, now);
    const counted: Hold[] = [];
    const holds = requests.map(({ accountId, wanted, least }): Hold | undefined => {
      const left = free.get(accountId);
      if (left === undefined) return undefined;
      const hold = { id: newId(), accountId, tokens: left === null ? wanted : Math.min(wanted, left) };
      if (left === null) return hold;
      if (hold.tokens < least) return undefined;
      free.set(accountId, left - hold.tokens);
      counted.push(hold);
      return hold;
    });
    if (counted.length) {
      await transaction
        .insertInto('holds')
        .values(
          counted.map(({ id, accountId, tokens }) => ({
            id,
            account_id: accountId,
            tokens,
            expires_at: now + HOLD_MS,
          })),
        )
        .execute();
    }
    return holds;
  });
}

/** Returns each balance minus its holds; `null` for an account without a balance. Unknown accounts have no entry. */
async function freeTokens(
  { db, dialect }: UsageDb,
  ids: readonly string[],
  now: number,
): Promise<Map<string, number | null>> {
  // SQLite transactions are exclusive. In PostgreSQL, locking the account rows makes concurrent transactions wait.
  const accounts = db.selectFrom('accounts').select(['id', 'balance']).where('id', 'in', ids).orderBy('id');
  const rows = await (dialect === 'postgres' ? accounts.forNoKeyUpdate() : accounts).execute();
  const free = new Map(rows.map(({ id, balance }) => [id, balance]));
  const held = await db
    .selectFrom('holds')
    .select((eb) => ['account_id', eb.fn.sum<number>('tokens').as('tokens')])
    .where('account_id', 'in', ids)
    .where('expires_at', '>', now)
    .groupBy('account_id')
    .execute();
  for (const { account_id, tokens } of held) {
    const balance = free.get(account_id);
    if (typeof balance === 'number') free.set(account_id, balance - tokens);
  }
  return free;
}

export async function deleteEndedHolds({ db }: UsageDb, now: number): Promise<void> {
  await db.deleteFrom('holds').where('expires_at', '<=', now).execute();
}

/** Deletes up to PRUNE_ROWS details that are older than `before`. Returns whether there may be more. */
export async function deleteOldDetails({ db }: UsageDb, before: number): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('usage_details')
    .where('id', 'in', (eb) =>
      eb.selectFrom('usage_details').select('id').where('at', '<', before).orderBy('at').limit(PRUNE_ROWS),
    )
    .executeTakeFirst();
  return Number(numDeletedRows) === PRUNE_ROWS;
}

const COLUMNS = {
  day: 'day',
  account: 'account_id',
  key: 'key_id',
  face: 'face',
  endpoint: 'endpoint',
  model: 'model',
} as const satisfies Record<UsageGroup, keyof Tables['usage_sums']>;

export async function sumUsage({ db }: UsageDb, { by, from, to, accountId, keyId }: UsageQuery): Promise<UsageSum[]> {
  const groups = [...new Set(by)];
  let query = db.selectFrom('usage_sums').select((eb) => {
    const sum = (column: 'requests' | 'failed' | 'tokens' | 'duration_ms') =>
      eb.fn.coalesce(eb.fn.sum<number>(column), eb.lit(0));
    return [
      sum('requests').as('requests'),
      sum('failed').as('failed'),
      sum('tokens').as('tokens'),
      sum('duration_ms').as('durationMs'),
    ];
  });
  if (from !== undefined) query = query.where('day', '>=', from);
  if (to !== undefined) query = query.where('day', '<=', to);
  if (accountId !== undefined) query = query.where('account_id', '=', accountId);
  if (keyId !== undefined) query = query.where('key_id', '=', keyId);
  if (!groups.length) return query.execute();
  const columns = groups.map((group) => COLUMNS[group]);
  let grouped = query.select(groups.map((group) => `${COLUMNS[group]} as ${group}` as const)).groupBy(columns);
  for (const column of columns) grouped = grouped.orderBy(column);
  return grouped.execute();
}
