/** Current database tables of the module, as created by the migrations. Times are milliseconds since 1970. */
import type { Kysely } from 'kysely';
import type { JobColumns } from '#storage/jobs/table.ts';

export interface JobRow extends JobColumns {
  account_id: string | null;
  model: string;
  /** JSON. */
  options: string;
  input_url: string | null;
  base_url: string;
  total: number | null;
  completed: number;
  failed: number;
  tokens: number;
  /** Offset in the input, in bytes, up to which all lines are done. */
  done_bytes: number;
  input_bytes: number;
  output_bytes: number;
  error_bytes: number;
  webhook_url: string | null;
  /** When the webhook is due; null if no webhook is due. */
  webhook_at: number | null;
  webhook_tries: number;
  /** 1 if the job has ended and is not charged yet. */
  charge_due: number;
  /** The files that must be removed. */
  litter: 'none' | 'input' | 'all';
}

export type LogKind = 'input' | 'output' | 'errors';

export interface Tables {
  batch_jobs: JobRow;
  /** The input, output and error files of each job, split into chunks. */
  batch_pieces: {
    job_id: string;
    kind: LogKind;
    /** Offset of the chunk in its file, in bytes. */
    start: number;
    bytes: Uint8Array;
  };
  /** Secrets that all servers of one database share. */
  batch_secrets: { name: string; value: string };
}

export type Db = Kysely<Tables>;
