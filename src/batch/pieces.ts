/**
 * Append-only files of a job (input, output and errors), stored in the database and split into chunks (`batch_pieces`).
 */
import type { Db, LogKind } from './schema.ts';

/** Maximum size of a chunk, in bytes. It is small enough that a read or write does not block other work for long. */
export const PIECE_BYTES = 256 * 1024;

export interface Log {
  readonly jobId: string;
  readonly kind: LogKind;
}

/** Appends bytes; `start` must be the end of the file. */
export async function appendPieces(db: Db, { jobId, kind }: Log, start: number, bytes: Uint8Array): Promise<void> {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    const part = bytes.subarray(from, from + PIECE_BYTES);
    await db
      .insertInto('batch_pieces')
      .values({ job_id: jobId, kind, start: start + from, bytes: part })
      .execute();
  }
}

/** Returns the bytes from an offset to the end of its chunk; undefined past the end of the file. */
export async function readPiece(db: Db, { jobId, kind }: Log, from: number): Promise<Uint8Array | undefined> {
  const piece = await db
    .selectFrom('batch_pieces')
    .select(['start', 'bytes'])
    .where('job_id', '=', jobId)
    .where('kind', '=', kind)
    .where('start', '<=', from)
    .orderBy('start', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!piece || from - piece.start >= piece.bytes.length) return undefined;
  return piece.bytes.subarray(from - piece.start);
}

/** Yields a range of a file, chunk by chunk. Throws if chunks are removed in the meantime. */
export async function* readLog(db: Db, log: Log, from: number, to: number): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to; ) {
    const piece = await readPiece(db, log, at);
    if (!piece) throw new Error('the log has been removed');
    const part = piece.subarray(0, to - at);
    yield part;
    at += part.length;
  }
}

/** Removes some chunks; returns whether there may be more. */
export async function removePieces(db: Db, jobId: string, kinds: readonly LogKind[]): Promise<boolean> {
  const found = await db
    .selectFrom('batch_pieces')
    .select(['kind', 'start'])
    .where('job_id', '=', jobId)
    .where('kind', 'in', kinds)
    .limit(REMOVED_AT_ONCE)
    .execute();
  for (const { kind, start } of found) {
    await db
      .deleteFrom('batch_pieces')
      .where('job_id', '=', jobId)
      .where('kind', '=', kind)
      .where('start', '=', start)
      .execute();
  }
  return found.length === REMOVED_AT_ONCE;
}

const REMOVED_AT_ONCE = 40;
