/**
 * The queries of the shared cache. Each is one transaction or one statement. Rows are locked in the same order
 * everywhere, copies before blobs and blobs by name, so that servers cannot block each other for ever.
 */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { PartRole } from '../index-queries.ts';
import { NOW_MS, type SharedCacheTables } from './tables.ts';

type Db = Kysely<SharedCacheTables>;
type Tx = Transaction<SharedCacheTables>;

export interface FoundCopy {
  readonly id: string;
  readonly madeAt: number;
  readonly facts: string;
  readonly hashes: ReadonlyMap<PartRole, string>;
}

export interface NewCopy {
  readonly id: string;
  readonly key: string;
  readonly madeAt: number;
  readonly facts: string;
  readonly bytes: number;
  readonly parts: readonly { readonly role: PartRole; readonly hash: string }[];
}

/** The copies under a key, newest first. */
export async function copiesOf(db: Db, key: string): Promise<FoundCopy[]> {
  const rows = await db
    .selectFrom('cache_copies')
    .innerJoin('cache_parts', 'cache_parts.copy', 'cache_copies.id')
    .select(['id', 'made_at', 'facts', 'role', 'hash'])
    .where('place', '=', key)
    .orderBy('made_at', 'desc')
    .orderBy('id')
    .execute();
  const found = new Map<string, FoundCopy & { readonly hashes: Map<PartRole, string> }>();
  for (const { id, made_at: madeAt, facts, role, hash } of rows) {
    const copy = found.get(id) ?? { id, madeAt, facts, hashes: new Map<PartRole, string>() };
    copy.hashes.set(role, hash);
    found.set(id, copy);
  }
  return [...found.values()];
}

/**
 * Announces blobs that are about to be stored, so that nobody removes them. Returns the names of those whose content is
 * missing; `undefined` if one of them is being removed.
 */
export async function announceBlobs(
  db: Db,
  blobs: readonly { readonly hash: string; readonly bytes: number }[],
): Promise<ReadonlySet<string> | undefined> {
  const rows = await db
    .insertInto('cache_blobs')
    .values(blobs.map((blob) => ({ ...blob, stored: 0, unused_since: NOW_MS })))
    .onConflict((conflict) =>
      conflict.column('hash').doUpdateSet({
        // The time for which an unused blob is spared begins anew.
        unused_since: sql`CASE WHEN cache_blobs.unused_since IS NULL THEN NULL ELSE excluded.unused_since END`,
      }),
    )
    .returning(['hash', 'stored', 'removing_until'])
    .execute();
  if (rows.some(({ removing_until }) => removing_until !== null)) return undefined;
  return new Set(rows.flatMap(({ hash, stored }) => (stored ? [] : [hash])));
}

/** Adds a copy in place of the one with the same id. Returns false if one of its blobs is being removed. */
export function addCopy(db: Db, { id, key, madeAt, facts, bytes, parts }: NewCopy): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const copy = { place: key, made_at: madeAt, used_at: madeAt, facts, bytes };
    await tx
      .insertInto('cache_copies')
      .values({ id, ...copy })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(copy))
      .execute();
    const replaced = await tx.deleteFrom('cache_parts').where('copy', '=', id).returning('hash').execute();
    const hashes = [...new Set(parts.map(({ hash }) => hash))];
    const locked = await lockBlobs(tx, [...hashes, ...replaced.map(({ hash }) => hash)]);
    if (!hashes.every((hash) => locked.get(hash) === null)) {
      await tx.deleteFrom('cache_copies').where('id', '=', id).execute();
      await markUnused(tx, replaced);
      return false;
    }
    await tx.updateTable('cache_blobs').set({ stored: 1, unused_since: null }).where('hash', 'in', hashes).execute();
    await tx
      .insertInto('cache_parts')
      .values(parts.map(({ role, hash }) => ({ copy: id, role, hash })))
      .execute();
    await markUnused(tx, replaced);
    return true;
  });
}

/** Removes copies. Returns the size of the blobs that no copy refers to any more, in bytes. */
export function removeCopies(db: Db, ids: readonly string[]): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const copies = await tx
      .selectFrom('cache_copies')
      .select('id')
      .where('id', 'in', [...ids].sort())
      .orderBy('id')
      .forUpdate()
      .execute();
    if (copies.length === 0) return 0;
    const gone = copies.map(({ id }) => id);
    const parts = await tx.deleteFrom('cache_parts').where('copy', 'in', gone).returning('hash').execute();
    await tx.deleteFrom('cache_copies').where('id', 'in', gone).execute();
    await lockBlobs(
      tx,
      parts.map(({ hash }) => hash),
    );
    return markUnused(tx, parts);
  });
}

/** Removes every copy that refers to a blob without content, and has the content written again by the next copy. */
export async function removeDamaged(db: Db, hash: string): Promise<void> {
  await db.updateTable('cache_blobs').set({ stored: 0 }).where('hash', '=', hash).execute();
  const copies = await db.selectFrom('cache_parts').select('copy').where('hash', '=', hash).execute();
  if (copies.length)
    await removeCopies(
      db,
      copies.map(({ copy }) => copy),
    );
}

/** Locks blobs; returns for each whether it is being removed. */
async function lockBlobs(tx: Tx, hashes: readonly string[]): Promise<ReadonlyMap<string, number | null>> {
  if (hashes.length === 0) return new Map();
  const rows = await tx
    .selectFrom('cache_blobs')
    .select(['hash', 'removing_until'])
    .where('hash', 'in', [...new Set(hashes)])
    .orderBy('hash')
    .forUpdate()
    .execute();
  return new Map(rows.map(({ hash, removing_until }) => [hash, removing_until]));
}

/** Marks those of the locked blobs that no copy refers to. Returns their size. */
async function markUnused(tx: Tx, parts: readonly { readonly hash: string }[]): Promise<number> {
  if (parts.length === 0) return 0;
  const rows = await tx
    .updateTable('cache_blobs')
    .set({ unused_since: NOW_MS })
    .where(
      'hash',
      'in',
      parts.map(({ hash }) => hash),
    )
    .where('unused_since', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('cache_parts').select('role').whereRef('cache_parts.hash', '=', 'cache_blobs.hash'))),
    )
    .returning('bytes')
    .execute();
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The size of all copies, without blobs that no copy refers to, in bytes. */
export async function totalBytes(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT (SELECT coalesce(sum(bytes), 0) FROM cache_copies)
      + (SELECT coalesce(sum(bytes), 0) FROM cache_blobs WHERE unused_since IS NULL) AS bytes`.execute(db);
  return rows[0]!.bytes;
}

/** The least recently used copies, with their sizes including their blobs. */
export const leastUsed = (db: Db, most: number) =>
  db
    .selectFrom('cache_copies')
    .select(({ selectFrom }) => [
      'id',
      'bytes',
      selectFrom('cache_parts')
        .innerJoin('cache_blobs', 'cache_blobs.hash', 'cache_parts.hash')
        .select(({ fn }) => fn.coalesce(fn.sum<number>('cache_blobs.bytes'), sql<number>`0`).as('bytes'))
        .whereRef('cache_parts.copy', '=', 'cache_copies.id')
        .as('blobBytes'),
    ])
    .orderBy('used_at')
    .orderBy('made_at')
    .orderBy('id')
    .limit(most)
    .execute();

/** Some of the copies made before `from` or after `to`. */
export async function madeOutside(db: Db, from: number, to: number, most: number): Promise<string[]> {
  const rows = await db
    .selectFrom('cache_copies')
    .select('id')
    .where(({ or, eb }) => or([eb('made_at', '<', from), eb('made_at', '>', to)]))
    .limit(most)
    .execute();
  return rows.map(({ id }) => id);
}

/** Writes when copies were last used. */
export async function setUsedAt(db: Db, uses: ReadonlyMap<string, number>): Promise<void> {
  await sql`UPDATE cache_copies SET used_at = greatest(cache_copies.used_at, noted.used_at)
    FROM unnest(${[...uses.keys()]}::text[], ${[...uses.values()]}::bigint[]) AS noted (id, used_at)
    WHERE cache_copies.id = noted.id`.execute(db);
}

/**
 * Chooses blobs that no copy has referred to for `unusedMs`, or whose removal another server did not finish. From then
 * on, no copy can refer to them.
 */
export async function chooseRemovals(
  db: Db,
  { unusedMs, removingMs, most }: { readonly unusedMs: number; readonly removingMs: number; readonly most: number },
): Promise<string[]> {
  const { rows } = await sql<{ hash: string }>`
    UPDATE cache_blobs SET removing_until = ${NOW_MS} + ${removingMs} WHERE hash IN (
      SELECT hash FROM cache_blobs WHERE unused_since <= ${NOW_MS} - ${unusedMs}
        AND (removing_until IS NULL OR removing_until <= ${NOW_MS})
        AND NOT EXISTS (SELECT 1 FROM cache_parts WHERE cache_parts.hash = cache_blobs.hash)
      ORDER BY hash LIMIT ${most} FOR UPDATE SKIP LOCKED)
    RETURNING hash`.execute(db);
  return rows.map(({ hash }) => hash);
}

/** Removes the rows of blobs whose content was removed. */
export async function removeBlobRows(db: Db, hashes: readonly string[]): Promise<void> {
  if (hashes.length)
    await db
      .deleteFrom('cache_blobs')
      .where('hash', 'in', [...hashes])
      .execute();
}
