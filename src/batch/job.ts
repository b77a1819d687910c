/** A batch job (docs/reference/wire/models.md, Batch states). */
import type { JobState } from '#storage/jobs/states.ts';

/** Fields of an embeddings request that apply to every line that does not set them itself. */
export type JobOptions = Readonly<Record<string, unknown>>;

/** Times are milliseconds since 1970. */
export interface Job {
  readonly id: string;
  /** The owner, who may access the job: one API key, or everyone on a server without keys. */
  readonly owner: string;
  /** The account to charge; null on a server without keys. */
  readonly account: string | null;
  readonly model: string;
  readonly options: JobOptions;
  readonly state: JobState;
  /** Reason for the failure. */
  readonly error: string | null;
  readonly createdAt: number;
  readonly completedAt: number | null;
  readonly expiresAt: number;
  /** Number of input lines; null until they have been counted. */
  readonly total: number | null;
  readonly completed: number;
  readonly failed: number;
  readonly tokens: number;
  /** Sizes of the output and error files, in bytes. */
  readonly outputBytes: number;
  readonly errorBytes: number;
  /** Base URL of links to the job's files: `https://models.example`. */
  readonly baseUrl: string;
  readonly webhookUrl: string | null;
  /** Id of the uploaded file that is the input; null for other inputs. */
  readonly inputFile: string | null;
  /** Text fields that the caller attached to the job. */
  readonly metadata: Readonly<Record<string, string>> | null;
}
