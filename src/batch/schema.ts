/** Current database tables of the module, as created by the migrations. Times are milliseconds since 1970. */
import type { Kysely } from 'kysely';
import type { JobColumns } from '#storage/jobs/table.ts';

export interface JobRow extends JobColumns {
  account_id: string | null;
  model: string;
  /** JSON. */
  options: string;
  input_url: string | null;
  /** Id of an uploaded file that is the input. */
  input_file: string | null;
  /** JSON: text fields that the caller attached to the job. */
  metadata: string | null;
  base_url: string;
  total: number | null;
  completed: number;
  failed: number;
  tokens: number;
  /** Offset in the input up to which all lines are done, in bytes. */
  done_bytes: number;
  input_bytes: number;
  output_bytes: number;
  error_bytes: number;
  webhook_url: string | null;
  /** When the webhook is due; null if no webhook is due. */
  webhook_at: number | null;
  webhook_tries: number;
  /** 1 if the job has ended and has not been charged yet. */
  charge_due: number;
  /** Which files must be removed. */
  litter: 'none' | 'input' | 'all';
}

export interface FileRow {
  id: string;
  owner: string;
  name: string;
  purpose: string;
  media_type: string | null;
  secret: string;
  bytes: number;
  created_at: number;
  expires_at: number;
}

export type LogKind = 'input' | 'output' | 'errors';

export interface PieceColumns {
  /** The content. Empty if it is an object. */
  bytes: Uint8Array;
  /** Name of the object, which is also its checksum (`blobName`); null if the content is in the row. */
  object: string | null;
  /** Length of the content in bytes; null if it is in the row. */
  length: number | null;
}

export interface Tables {
  batch_jobs: JobRow;
  /** The input, output and error files of each job, split into chunks. */
  batch_pieces: {
    job_id: string;
    kind: LogKind;
    /** Offset of the chunk within its file, in bytes. */
    start: number;
  } & PieceColumns;
  /** Uploaded files, and their content split into chunks. */
  batch_files: FileRow;
  batch_file_pieces: { file_id: string; start: number } & PieceColumns;
  /**
   * Objects of the bucket that no piece refers to: not yet, or no longer. They are removed when they are due. `removing`
   * is 1 if no piece may refer to the object any more.
   */
  batch_objects: { name: string; due_at: number; removing: 0 | 1 };
  /** Secrets shared by all servers that use the same database. */
  batch_secrets: { name: string; value: string };
}

export type Db = Kysely<Tables>;
