/** A crawl as shown by the API. */
import type { CrawlJob, CrawlState } from './job.ts';
import type { Scope } from './scope.ts';

export interface CrawlView {
  readonly crawl_id: string;
  readonly status: CrawlState;
  /** The first start URL; `urls` contains all start URLs if there are several. */
  readonly url: string;
  readonly urls?: readonly string[];
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly expires_at: string;
  readonly limit: number;
  readonly depth: number;
  readonly scope: Scope;
  readonly stats: {
    readonly found: number;
    readonly done: number;
    readonly failed: number;
    readonly skipped: number;
    readonly tokens: number;
  };
  /** The number of the last result. */
  readonly last_seq: number;
  readonly error: string | null;
}

export function viewOf(job: CrawlJob): CrawlView {
  const { starts, limit, depth, scope } = job.plan;
  const { found, done, failed, skipped, tokens } = job;
  return {
    crawl_id: job.id,
    status: job.state,
    url: starts[0]!,
    ...(starts.length > 1 && { urls: starts }),
    created_at: iso(job.createdAt),
    completed_at: job.completedAt === null ? null : iso(job.completedAt),
    expires_at: iso(job.expiresAt),
    limit,
    depth,
    scope,
    stats: { found, done, failed, skipped, tokens },
    last_seq: job.lastSeq,
    error: job.state === 'failed' ? job.error : null,
  };
}

/** Formats a time as ISO 8601, to the second. */
const iso = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
