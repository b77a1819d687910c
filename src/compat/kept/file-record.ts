/** A file that a caller has uploaded. */
import type { KeptRecord } from './kept-files.ts';

export interface FileRecord extends KeptRecord {
  readonly bytes: number;
  readonly filename: string;
  readonly mediaType: string | null;
  /** Signs the URLs of this file. */
  readonly secret: string;
}

export const FILE_LIFETIME_MS = 24 * 60 * 60_000;
