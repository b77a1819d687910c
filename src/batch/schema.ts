/** The tables of the room as they are now; the migrations make them. Times are milliseconds since 1970. */
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
  /** How far the input was worked on, as a place in its log. */
  done_bytes: number;
  input_bytes: number;
  output_bytes: number;
  error_bytes: number;
  webhook_url: string | null;
  /** When its end is to be told next; null when it is not. */
  webhook_at: number | null;
  webhook_tries: number;
  /** 1 when it has ended and its tokens are not charged yet. */
  charge_due: number;
  /** Which pieces are to be removed. */
  litter: 'none' | 'input' | 'all';
}

export type LogKind = 'input' | 'output' | 'errors';

export interface Tables {
  batch_jobs: JobRow;
  /** Three logs of bytes a job, in pieces. */
  batch_pieces: {
    job_id: string;
    kind: LogKind;
    /** Where in the log the piece begins, in bytes. */
    start: number;
    bytes: Uint8Array;
  };
  /** What all servers of one database must agree on. */
  batch_secrets: { name: string; value: string };
}

export type Db = Kysely<Tables>;
