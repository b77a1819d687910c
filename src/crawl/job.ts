/** A crawl, as returned by the module. */
import type { GivenOptions } from '#reader/index.ts';
import type { JobState } from '#storage/jobs/states.ts';
import type { CrawlPlan } from './request.ts';

export { isFinal } from '#storage/jobs/states.ts';
export type CrawlState = JobState;

/** Times are milliseconds since 1970. */
export interface CrawlJob {
  readonly id: string;
  /** The id of the key that may access the crawl; an empty string on a server without keys. */
  readonly owner: string;
  /** The account that is charged; null on a server without keys. */
  readonly account: string | null;
  readonly plan: CrawlPlan;
  /** Options of each read; empty once the job has ended, because they may contain secrets. */
  readonly options: GivenOptions;
  readonly state: CrawlState;
  /** Why the crawl failed. */
  readonly error: string | null;
  readonly createdAt: number;
  readonly completedAt: number | null;
  readonly expiresAt: number;
  /** Number of URLs found that may be read. */
  readonly found: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly tokens: number;
  /** The number of the last result, which equals the number of results. */
  readonly lastSeq: number;
  /** What the caller of the module stored with the job. */
  readonly data?: unknown;
}
