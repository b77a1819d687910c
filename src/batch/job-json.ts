/** A job as shown to callers (docs/reference/wire/models.md, Batch jobs). */
import { isFinal, type JobState } from '#storage/jobs/states.ts';
import type { Job } from './job.ts';
import type { FileKind, Links } from './links.ts';

export interface JobJson {
  readonly batch_id: string;
  readonly status: JobState;
  readonly model: string;
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly expires_at: string | null;
  readonly stats: {
    readonly total: number;
    readonly completed: number;
    readonly failed: number;
    readonly total_tokens: number;
  } | null;
  readonly output_url: string | null;
  readonly error_file_url: string | null;
  readonly error: string | null;
}

/** Links start with `baseUrl`, by default the base URL of the request that created the job. */
export function toJobJson(job: Job, links: Links, baseUrl = job.baseUrl): JobJson {
  const hasFiles = isFinal(job.state) && job.state !== 'expired';
  const link = (kind: FileKind) =>
    `${baseUrl}/v1/batch/${job.id}/${kind}?${links.sign(job.id, kind, Math.floor(job.expiresAt / 1000))}`;
  return {
    batch_id: job.id,
    status: job.state,
    model: job.model,
    created_at: iso(job.createdAt),
    completed_at: job.completedAt === null ? null : iso(job.completedAt),
    expires_at: iso(job.expiresAt),
    stats:
      job.total === null
        ? null
        : { total: job.total, completed: job.completed, failed: job.failed, total_tokens: job.tokens },
    output_url: hasFiles && job.completed ? link('output') : null,
    error_file_url: hasFiles && job.failed ? link('errors') : null,
    error: job.state === 'failed' ? job.error : null,
  };
}

/** Formats a time as ISO 8601 in UTC, to the second. */
const iso = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
