/** `POST /crawl`: starts a crawl. */
import { Problem, problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { readFields, renamePath } from '../fields.ts';
import { CRAWL_FIELDS, type CrawlRequestFields, type Version } from './fields.ts';
import { requireUrl } from './scrape.ts';
import { refuseForJobs, sendStarted, startJob } from './start-job.ts';
import { toRead } from './to-read.ts';

const DEFAULT_LIMIT = 10_000;
/** The largest depth of our crawls, which is no limit for most sites. */
const MAX_DEPTH = 100;
const MAX_DELAY_MS = 60_000;
/** The largest number of repetitions in a pattern. */
const MAX_SEGMENTS = 100;

const FIELD_NAMES = {
  limit: 'limit',
  include: 'includePaths',
  exclude: 'excludePaths',
  delayMs: 'delay',
  depth: 'maxDiscoveryDepth',
};

export const startCrawl = (version: Version) => async (call: CompatCall) => {
  const asked = readFields(CRAWL_FIELDS, call.body);
  requireUrl(asked.url, 'url');
  refuse(asked);
  const plan = toRead(asked.scrapeOptions ?? {}, version, 'scrapeOptions.');
  refuseForJobs(call, plan.formats, { path: 'scrapeOptions.formats', followsLinks: true });
  const warnings = [...plan.warnings];
  const fields = { url: asked.url, ...crawlFields(asked, call, warnings), options: plan.given };
  const job = await startJob(call, {
    kind: 'crawl',
    plan,
    fields,
    extras: {
      ...(!asked.regexOnFullURL && { expressionsOn: 'path' as const }),
      ...(asked.ignoreQueryParameters && { dropsQueries: true }),
    },
    warnings,
    sources: [asked.url],
    prefix: 'scrapeOptions.',
  }).catch((error: unknown) => {
    throw error instanceof Problem ? renameFields(error) : error;
  });
  return sendStarted(call, { job, version, kind: 'crawl', warnings });
};

/** Fields that change which pages are read, and that this server does not have. */
function refuse({ allowExternalLinks, webhook, zeroDataRetention }: CrawlRequestFields): void {
  const refused = (path: string, message: string) => problem('ParamValidationError', { path, message });
  if (allowExternalLinks) {
    throw refused('allowExternalLinks', 'allowExternalLinks: Lectern does not follow links to other sites');
  }
  if (webhook !== undefined) throw refused('webhook', 'Lectern does not have webhook: poll the job or watch it');
  if (zeroDataRetention) {
    throw refused('zeroDataRetention', 'zeroDataRetention: a crawl stores pages until they are fetched');
  }
}

/** The fields of our own crawl request. */
function crawlFields(asked: CrawlRequestFields, { native }: CompatCall, warnings: string[]) {
  const { maxPages, maxConcurrency } = native.crawls;
  const { limit = DEFAULT_LIMIT, maxDiscoveryDepth = MAX_DEPTH, delay = 0, includePaths, excludePaths } = asked;
  const { ignoreSitemap, sitemap = ignoreSitemap ? 'skip' : 'include' } = asked;
  const warn = (line: string) => warnings.push(line);
  if (limit > maxPages) warn(`limit is ${maxPages}, the maximum of this server.`);
  if (asked.prompt !== undefined) warn('prompt is ignored: the options of the crawl are used as they are.');
  if (asked.robotsUserAgent !== undefined) warn('robotsUserAgent is ignored: robots.txt is read as lectern.');
  if (sitemap === 'only') warn('sitemap: links are followed too.');
  const { maxConcurrency: concurrency } = asked;
  if (concurrency !== undefined && concurrency > maxConcurrency) {
    warn(`maxConcurrency is ${maxConcurrency}, the maximum of this server.`);
  }
  const tooDeep = asked.maxDepth === undefined ? [] : [deeperThan(asked.url, asked.maxDepth, asked.regexOnFullURL)];
  const exclude = [...(excludePaths ?? []).map(asExpression), ...tooDeep];
  return {
    limit: Math.min(limit, maxPages),
    depth: Math.min(maxDiscoveryDepth, MAX_DEPTH),
    scope: scopeOf(asked),
    ...(includePaths?.length && { include: includePaths.map(asExpression) }),
    ...(exclude.length > 0 && { exclude }),
    sitemap: sitemap !== 'skip',
    ...(asked.ignoreRobotsTxt && { robots: false }),
    ...(delay > 0 && { delayMs: Math.min(Math.round(delay * 1_000), MAX_DELAY_MS) }),
    ...(concurrency !== undefined && { concurrency: Math.min(concurrency, maxConcurrency) }),
  };
}

function scopeOf({ allowSubdomains, crawlEntireDomain, allowBackwardLinks }: CrawlRequestFields): string {
  if (allowSubdomains) return 'domain';
  return crawlEntireDomain || allowBackwardLinks ? 'host' : 'path';
}

/** Our patterns are globs, or regular expressions between slashes. */
const asExpression = (pattern: string): string => `/${pattern}/`;

/** Matches paths with more segments than the start has and `more` of them. */
function deeperThan(start: string, more: number, onUrl: boolean | undefined): string {
  const path = /^(?:[a-z]+:\/\/)?[^/]*([^?#]*)/i.exec(start)?.[1] ?? '';
  const segments = Math.min(path.split('/').filter(Boolean).length + more, MAX_SEGMENTS) + 1;
  return asExpression(`^${onUrl ? 'https?://[^/]+' : ''}(?:/[^/?#]+){${segments},}`);
}

/** Our problems name our fields; those of patterns have an index. */
function renameFields(failure: Problem): Problem {
  const { path } = failure.facts;
  if (typeof path !== 'string') return failure;
  const [field = '', ...rest] = path.split('.');
  const name = FIELD_NAMES[field as keyof typeof FIELD_NAMES];
  return name === undefined ? failure : renamePath(failure, { [path]: [name, ...rest].join('.') });
}
