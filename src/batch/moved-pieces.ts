/** Rows of pieces during a move between databases, each of which may have a bucket. */
import { type BatchDb, claimObjects, contentMissing, readContent, transfer, withObjects } from './objects.ts';
import type { LogKind, PieceColumns } from './schema.ts';

/** A row of `batch_pieces` or `batch_file_pieces`. */
export interface MovedPiece extends PieceColumns {
  readonly job_id?: string;
  readonly kind?: LogKind;
  readonly file_id?: string;
  readonly start: number;
}

/**
 * Returns the rows with their content. Throws BlobsUnavailableError, and a problem that names the job or file if content
 * is missing or damaged.
 */
export const withContents = (source: BatchDb, rows: readonly MovedPiece[]): Promise<MovedPiece[]> =>
  transfer(rows, async (row) => {
    const bytes = await readContent(source, row);
    const of = row.file_id === undefined ? `${row.kind} of batch job ${row.job_id}` : `file ${row.file_id}`;
    if (!bytes) throw contentMissing(of, row.start, row);
    return { ...row, bytes, object: null, length: null };
  });

/**
 * Writes large contents to the bucket of the target, if there is one. `insert` must insert the rows in a transaction that
 * it passes to `claim`. Throws BlobsUnavailableError.
 */
export const storeContents = (
  target: BatchDb,
  rows: readonly MovedPiece[],
  insert: (rows: readonly MovedPiece[], claim: (transaction: BatchDb['db']) => Promise<void>) => Promise<void>,
): Promise<void> =>
  withObjects(target, rows, (stored) => {
    const pieces = [...stored];
    return insert(pieces, (transaction) => claimObjects(transaction, pieces));
  });
