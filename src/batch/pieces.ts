/**
 * Append-only files of a job (input, output and errors), split into chunks (`batch_pieces`). Large chunks are objects if
 * there is a bucket.
 */
import { type BatchDb, claimObjects, contentMissing, lengthOf, readContent, releaseObjects } from './objects.ts';
import type { Db, LogKind, PieceColumns } from './schema.ts';

export interface Log {
  readonly jobId: string;
  readonly kind: LogKind;
}

/** Appends pieces in a transaction; `start` must be the end of the file. Returns its new end. */
export async function appendPieces(
  transaction: Db,
  { jobId, kind }: Log,
  start: number,
  pieces: Iterable<PieceColumns>,
): Promise<number> {
  let end = start;
  for (const piece of pieces) {
    await claimObjects(transaction, [piece]);
    await transaction
      .insertInto('batch_pieces')
      .values({ job_id: jobId, kind, start: end, ...piece })
      .execute();
    end += lengthOf(piece);
  }
  return end;
}

/**
 * Returns the bytes from an offset to the end of its chunk; undefined past the end of the file. Throws
 * BlobsUnavailableError, and a problem that names the job if the content is missing or damaged.
 */
export async function readPiece(store: BatchDb, log: Log, from: number): Promise<Uint8Array | undefined> {
  const piece = await findPiece(store, log, from);
  if (!piece || from - piece.start >= lengthOf(piece)) return undefined;
  const content = await readContent(store, piece);
  if (content) return content.subarray(from - piece.start);
  // The object of a piece that was just deleted is missing, too.
  if (!(await findPiece(store, log, from))) return undefined;
  throw contentMissing(`${log.kind} of batch job ${log.jobId}`, piece.start, piece);
}

const findPiece = ({ db }: BatchDb, { jobId, kind }: Log, from: number) =>
  db
    .selectFrom('batch_pieces')
    .select(['start', 'bytes', 'object', 'length'])
    .where('job_id', '=', jobId)
    .where('kind', '=', kind)
    .where('start', '<=', from)
    .orderBy('start', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Yields a range of a file, chunk by chunk. Throws like `readPiece`, and if chunks are removed in the meantime. */
export async function* readLog(store: BatchDb, log: Log, from: number, to: number): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to; ) {
    const piece = await readPiece(store, log, at);
    if (!piece) throw new Error('the log has been removed');
    const part = piece.subarray(0, to - at);
    yield part;
    at += part.length;
  }
}

/** Removes some chunks; returns whether there may be more. */
export async function removePieces({ db }: BatchDb, jobId: string, kinds: readonly LogKind[]): Promise<boolean> {
  const found = await db
    .selectFrom('batch_pieces')
    .select(['kind', 'start'])
    .where('job_id', '=', jobId)
    .where('kind', 'in', kinds)
    .limit(REMOVED_AT_ONCE)
    .execute();
  for (const { kind, start } of found) {
    await db.transaction().execute(async (transaction) => {
      const deleted = await transaction
        .deleteFrom('batch_pieces')
        .where('job_id', '=', jobId)
        .where('kind', '=', kind)
        .where('start', '=', start)
        .returning('object')
        .execute();
      await releaseObjects(transaction, deleted);
    });
  }
  return found.length === REMOVED_AT_ONCE;
}

const REMOVED_AT_ONCE = 40;
