/** Converts a caller's options into a plan: complete, validated, and within the operator's limits. */
import { Problem, problem } from '#errors.ts';
import { cleanUrl } from '#reader/index.ts';
import { MAX_URL, type NormalizedUrl, normalizeUrl } from './normalize-url.ts';
import { compilePatterns } from './patterns.ts';
import {
  type CrawlExtras,
  type CrawlLimits,
  type CrawlPlan,
  DEFAULT_DEPTH,
  DEFAULT_LIMIT,
  type GivenCrawl,
} from './request.ts';

/** Throws ParamValidationError with the path of the invalid field. */
export async function resolvePlan(
  given: GivenCrawl,
  limits: CrawlLimits,
  extras: CrawlExtras = {},
): Promise<{ readonly plan: CrawlPlan; readonly starts: readonly NormalizedUrl[] }> {
  const { include = [], exclude = [], sitemap = true, robots = true, scope = 'path', depth = DEFAULT_DEPTH } = given;
  const limit = given.limit ?? Math.min(DEFAULT_LIMIT, limits.maxPages);
  const concurrency = given.concurrency ?? 1;
  requireAtMost('limit', limit, limits.maxPages);
  requireAtMost('concurrency', concurrency, limits.hostPages);
  await compilePatterns(include, 'include');
  await compilePatterns(exclude, 'exclude');
  const starts = [...new Map(startsOf(given).map((start) => [start.key, start])).values()];
  const delayMs = given.delayMs ?? limits.delayMs;
  const plan = { ...extras, limit, depth, scope, include, exclude, sitemap, robots, delayMs, concurrency };
  return { plan: { ...plan, starts: starts.map(({ url }) => url) }, starts };
}

function requireAtMost(path: string, value: number, max: number): void {
  if (value <= max) return;
  throw problem('ParamValidationError', { path, message: `${path} must be at most ${max} on this server`, value });
}

function startsOf({ url, urls }: GivenCrawl): NormalizedUrl[] {
  if (url !== undefined && urls !== undefined) {
    const message = 'url and urls cannot be sent together; send one of them';
    throw problem('ParamValidationError', { path: 'urls', message });
  }
  if (url !== undefined) return [startOf(url, 'url')];
  if (urls !== undefined) return urls.map((text, at) => startOf(text, `urls.${at}`));
  throw problem('ParamValidationError', {
    path: 'url',
    message: 'url or urls is required: the URL where the crawl starts',
  });
}

/** The URL that a crawl would request for a start URL; `undefined` if it is invalid. */
export function startUrlOf(text: string): string | undefined {
  try {
    return startOf(text, 'url').url;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function startOf(text: string, path: string): NormalizedUrl {
  try {
    const normalized = normalizeUrl(cleanUrl(text));
    if (normalized) return normalized;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw problem('ParamValidationError', { path, message: error.message, value: text.slice(0, SHOWN) });
  }
  throw problem('ParamValidationError', {
    path,
    message: `The URL is too long: at most ${MAX_URL} characters are allowed`,
    value: text.slice(0, SHOWN),
  });
}

/** Maximum number of characters of a value that an error message quotes. */
const SHOWN = 200;
