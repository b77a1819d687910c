/** A crawl: its states, and what is known of it. */
import type { GivenOptions } from '#reader/index.ts';
import type { CrawlPlan } from './request.ts';

export const STATES = ['pending', 'processing', 'completed', 'failed', 'cancelled', 'expired'] as const;
export type CrawlState = (typeof STATES)[number];

export const UNFINISHED: readonly CrawlState[] = ['pending', 'processing'];
export const isFinal = (state: CrawlState): boolean => !UNFINISHED.includes(state);

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
