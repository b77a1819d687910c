/**
 * The content of pieces: in their rows, or as objects of a bucket. An object belongs to one piece. While no piece refers
 * to it, it is listed in `batch_objects`: before it is written, in which case the transaction that inserts the piece
 * removes it from the list, and after the piece was deleted. Maintenance removes listed objects when they are due, so
 * that a process that is killed leaves no object behind. The bucket itself is never listed.
 */
import { randomBytes } from 'node:crypto';
import { mapConcurrently } from '#concurrency/map-concurrently.ts';
import { type Problem, problem } from '#errors.ts';
import { type Blobs, BlobsUnavailableError, blobName } from '#storage/blobs/blobs.ts';
import type { Store } from '#storage/database/store.ts';
import type { Db, PieceColumns, Tables } from './schema.ts';

/** The bucket for large pieces. */
export interface PieceObjects {
  readonly bucket: Blobs;
  readonly now: () => number;
}

/** The database of batch jobs, and its bucket if there is one. */
export type BatchDb = Pick<Store<Tables>, 'db' | 'dialect'> & { readonly objects?: PieceObjects | undefined };

/** Maximum size of a piece, in bytes. It is small enough that a read or write does not block other work for long. */
export const PIECE_BYTES = 256 * 1024;
/**
 * Pieces up to this size stay in the database even if there is a bucket. An object costs a request to write, to read
 * and to remove it, and two rows in between: too much for short results, and for the ends of longer ones.
 */
export const OBJECT_BYTES = 64 * 1024;

/** Random bytes at the end of an object, so that equal pieces of two jobs are two objects. */
const SALT_BYTES = 16;
/**
 * When an object without a piece is removed, in milliseconds after its announcement. It is longer than a write takes; a
 * write that takes longer fails, and is repeated.
 */
const PENDING_MS = 15 * 60_000;
/** Time within which a process removes the objects that it chose, in milliseconds. */
const REMOVING_MS = 60_000;
const TRANSFERS_AT_ONCE = 8;
/** Rows of one statement. */
const STEP = 64;

/** Splits bytes into pieces whose content is in the row. */
export function* splitBytes(bytes: Uint8Array): Generator<PieceColumns> {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    yield { bytes: bytes.subarray(from, from + PIECE_BYTES), object: null, length: null };
  }
}

export const lengthOf = ({ bytes, length }: PieceColumns): number => length ?? bytes.length;

/**
 * Writes large contents to the bucket, then runs `commit` with the pieces, which must insert them in a transaction with
 * `claimObjects`. Throws BlobsUnavailableError.
 */
export async function withObjects<Piece extends PieceColumns, Result>(
  store: BatchDb,
  contents: Iterable<Piece>,
  commit: (pieces: Iterable<Piece>) => Promise<Result>,
): Promise<Result> {
  if (!store.objects) return commit(contents);
  const pieces: Piece[] = [];
  let group: Piece[] = [];
  const flush = async () => {
    pieces.push(...(await writeObjects(store, store.objects!, group)));
    group = [];
  };
  for (const piece of contents) {
    group.push(piece);
    if (group.length === STEP) await flush();
  }
  await flush();
  try {
    return await commit(pieces);
  } catch (error) {
    // Has no effect on objects that are in use. Without it, they would be removed later.
    await removeSoon(store, namesOf(pieces)).catch(() => {});
    throw error;
  }
}

async function writeObjects<Piece extends PieceColumns>(
  { db }: BatchDb,
  { bucket, now }: PieceObjects,
  pieces: readonly Piece[],
): Promise<Piece[]> {
  const objects = pieces.map(({ bytes }) => {
    if (bytes.length <= OBJECT_BYTES) return undefined;
    const content = Buffer.concat([bytes, randomBytes(SALT_BYTES)]);
    return { name: blobName(content), content };
  });
  const large = objects.flatMap((object) => object ?? []);
  if (large.length) {
    const due_at = now() + PENDING_MS;
    await db
      .insertInto('batch_objects')
      .values(large.map(({ name }) => ({ name, due_at, removing: 0 as const })))
      .execute();
    await transfer(large, ({ name, content }) => bucket.put(name, content));
  }
  return pieces.map((piece, at) => {
    const object = objects[at];
    return object ? { ...piece, bytes: EMPTY, object: object.name, length: piece.bytes.length } : piece;
  });
}

const EMPTY = Buffer.alloc(0);

/** Writes, reads or removes several objects at once. */
export const transfer = <Thing, Result>(things: readonly Thing[], work: (thing: Thing) => Promise<Result>) =>
  mapConcurrently(things, { atOnce: TRANSFERS_AT_ONCE, signal: new AbortController().signal }, work);

/**
 * Marks the objects of these pieces as in use, in the transaction that inserts the pieces. Throws
 * BlobsUnavailableError if an object has been removed in the meantime.
 */
export async function claimObjects(transaction: Db, pieces: readonly PieceColumns[]): Promise<void> {
  const names = namesOf(pieces);
  for (let at = 0; at < names.length; at += STEP) {
    const some = names.slice(at, at + STEP);
    const { numDeletedRows } = await transaction
      .deleteFrom('batch_objects')
      .where('name', 'in', some)
      .where('removing', '=', 0)
      .executeTakeFirstOrThrow();
    if (Number(numDeletedRows) === some.length) continue;
    throw new BlobsUnavailableError('objects were removed because writing them took too long');
  }
}

/** Lists the objects of deleted pieces for removal, in the transaction that deletes the pieces. */
export async function releaseObjects(transaction: Db, pieces: readonly Pick<PieceColumns, 'object'>[]): Promise<void> {
  const names = namesOf(pieces);
  for (let at = 0; at < names.length; at += STEP) {
    const rows = names.slice(at, at + STEP).map((name) => ({ name, due_at: 0, removing: 1 as const }));
    await transaction.insertInto('batch_objects').values(rows).execute();
  }
}

const namesOf = (pieces: readonly Pick<PieceColumns, 'object'>[]): string[] =>
  pieces.flatMap(({ object }) => object ?? []);

async function removeSoon({ db }: BatchDb, names: readonly string[]): Promise<void> {
  for (let at = 0; at < names.length; at += STEP) {
    const some = names.slice(at, at + STEP);
    await db.updateTable('batch_objects').set({ due_at: 0 }).where('name', 'in', some).execute();
  }
}

/**
 * Returns the content of a piece; `undefined` if its object is missing or damaged. Throws BlobsUnavailableError, also if
 * this process has no bucket.
 */
export async function readContent({ objects }: BatchDb, piece: PieceColumns): Promise<Uint8Array | undefined> {
  if (piece.object === null) return piece.bytes;
  if (!objects) throw new BlobsUnavailableError('the content is in a bucket, but LECTERN_BLOBS_URL is not set');
  const object = await objects.bucket.get(piece.object);
  const content = object?.subarray(0, -SALT_BYTES);
  return content?.length === piece.length ? content : undefined;
}

/** The failure of a read of a piece whose object is missing or damaged. `of` names the job or file. */
export function contentMissing(of: string, start: number, piece: PieceColumns): Problem {
  const range = `bytes ${start} to ${start + lengthOf(piece) - 1}`;
  const message = `The ${of} is incomplete: ${range} are missing or damaged in the bucket`;
  return problem('DownstreamServiceError', { message }, new Error(`the object ${piece.object} is missing or damaged`));
}

/** Removes objects that are due. Several processes may do this at once. Throws if the bucket does not answer. */
export async function removeUnusedObjects(
  { db }: BatchDb,
  { bucket, now }: PieceObjects,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const due = await db.selectFrom('batch_objects').select('name').where('due_at', '<=', now()).limit(STEP).execute();
    if (!due.length) return;
    const names = due.map(({ name }) => name);
    const chosen = await db
      .updateTable('batch_objects')
      .set({ removing: 1, due_at: now() + REMOVING_MS })
      .where('name', 'in', names)
      .where('due_at', '<=', now())
      .returning('name')
      .execute();
    const removed: string[] = [];
    try {
      await transfer(chosen, async ({ name }) => {
        await bucket.remove(name);
        removed.push(name);
      });
    } finally {
      if (removed.length) await db.deleteFrom('batch_objects').where('name', 'in', removed).execute();
    }
  }
}
