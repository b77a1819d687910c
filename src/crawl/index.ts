/** The public interface of the crawl module. */

export type { Billing, ChargedRead } from './billing.ts';
export type { CrawlResult, FollowEvent, ResultSelection } from './follow.ts';
export type { CrawlJob } from './job.ts';
export { linksWithin } from './links-within.ts';
export type { MappedUrl, MapRequest, SiteMap } from './map-site.ts';
export { CRAWL_TABLES, type CrawlModule, openCrawl } from './open.ts';
export { compilePatterns } from './patterns.ts';
export { CRAWL_OPTIONS, type CrawlExtras, type GivenCrawl } from './request.ts';
export { startUrlOf } from './resolve-plan.ts';
export { type CrawlView, viewOf } from './view.ts';
