/** A crawl, and what is known of it. */
import type { GivenOptions } from '#reader/index.ts';
import type { JobState } from '#storage/jobs/states.ts';
import type { CrawlPlan } from './request.ts';

export { isFinal } from '#storage/jobs/states.ts';
export type CrawlState = JobState;

/** Times are milliseconds since 1970. */
export interface CrawlJob {
  readonly id: string;
  /** Who alone may see it: a key, or everybody of a server without keys. */
  readonly owner: string;
  /** Who pays; null on a server without keys. */
  readonly account: string | null;
  readonly plan: CrawlPlan;
  /** Options of each read; empty when the job has ended, since they may have secrets in them. */
  readonly options: GivenOptions;
  readonly state: CrawlState;
  /** Why it failed. */
  readonly error: string | null;
  readonly createdAt: number;
  readonly completedAt: number | null;
  readonly expiresAt: number;
  /** Addresses that are known to be worth reading. */
  readonly found: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly tokens: number;
  /** How many outcomes there are: the number of the last. */
  readonly lastSeq: number;
}
