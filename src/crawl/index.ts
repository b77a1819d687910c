/** The crawl room's table of contents: what the doors may use. */

export type { Billing, ChargedRead } from './billing.ts';
export type { FollowEvent, Outcome } from './follow.ts';
export type { CrawlJob } from './job.ts';
export { CRAWL_TABLES, type CrawlModule, openCrawl } from './open.ts';
export { CRAWL_OPTIONS, type GivenCrawl } from './request.ts';
export { type ShownCrawl, showCrawl } from './shown.ts';
