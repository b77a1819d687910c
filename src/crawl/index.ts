/** The public interface of the crawl module. */

export type { Billing, ChargedRead } from './billing.ts';
export type { CrawlResult, FollowEvent } from './follow.ts';
export type { CrawlJob } from './job.ts';
export { linksWithin } from './links-within.ts';
export { CRAWL_TABLES, type CrawlModule, openCrawl } from './open.ts';
export { compilePatterns } from './patterns.ts';
export { CRAWL_OPTIONS, type GivenCrawl } from './request.ts';
export { type CrawlView, viewOf } from './view.ts';
