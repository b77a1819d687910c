/**
 * Content-addressed storage: each blob is named after the hash of its content, so identical content is stored only
 * once. Reads verify the hash, so a damaged blob counts as missing. The siblings are a folder (`files.ts`), a bucket of
 * an S3 store (`s3.ts`) and a table in PostgreSQL (`postgres.ts`).
 */
import { createHash } from 'node:crypto';

export interface Blobs {
  /** Size of the largest blob that can be stored, in bytes. */
  readonly maxBytes: number;
  /** Stores the bytes under this name, replacing an existing blob. Throws if the store cannot be written. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /**
   * Returns `undefined` if the blob is missing or damaged. Throws BlobsUnavailableError if the store does not answer in
   * time.
   */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Removes the blob, if there is one. */
  remove(name: string): Promise<void>;
}

/** The store of blobs does not answer, or refuses the request; `cause` is the underlying error. */
export class BlobsUnavailableError extends Error {
  override readonly name = 'BlobsUnavailableError';
}

/** The name of a blob: the SHA-256 of its bytes, in hex. */
export const blobName = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
