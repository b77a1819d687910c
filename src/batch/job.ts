/** A batch job, and what is known of it (contract of the model host, 8.3). */
import type { JobState } from '#storage/jobs/states.ts';

/** What lines of a job are embedded with, unless a line says otherwise: fields of an embeddings request. */
export type JobOptions = Readonly<Record<string, unknown>>;

/** Times are milliseconds since 1970. */
export interface Job {
  readonly id: string;
  /** Who alone may see it: a key, or everybody of a server without keys. */
  readonly owner: string;
  /** Who pays; null on a server without keys. */
  readonly account: string | null;
  readonly model: string;
  readonly options: JobOptions;
  readonly state: JobState;
  /** Why it failed. */
  readonly error: string | null;
  readonly createdAt: number;
  readonly completedAt: number | null;
  readonly expiresAt: number;
  /** Null until the input was counted. */
  readonly total: number | null;
  readonly completed: number;
  readonly failed: number;
  readonly tokens: number;
  /** How much there is of each file. */
  readonly outputBytes: number;
  readonly errorBytes: number;
  /** Where links to its files begin: `https://models.example`. */
  readonly baseUrl: string;
  readonly webhookUrl: string | null;
}
