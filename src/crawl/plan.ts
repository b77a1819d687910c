/** From what a caller asks for to a plan: complete, checked, and within what the operator allows. */
import { Problem, problem } from '#errors.ts';
import { cleanUrl } from '#reader/index.ts';
import { type Address, addressOf } from './address.ts';
import { compilePatterns } from './patterns.ts';
import { type CrawlLimits, type CrawlPlan, DEFAULT_DEPTH, DEFAULT_LIMIT, type GivenCrawl } from './request.ts';

/** Throws ParamValidationError with the field at fault as its path. */
export async function planOf(
  asked: GivenCrawl,
  limits: CrawlLimits,
): Promise<{ readonly plan: CrawlPlan; readonly starts: readonly Address[] }> {
  const { include = [], exclude = [], sitemap = true, robots = true, scope = 'path', depth = DEFAULT_DEPTH } = asked;
  const limit = asked.limit ?? Math.min(DEFAULT_LIMIT, limits.maxPages);
  const concurrency = asked.concurrency ?? 1;
  refuseAbove('limit', limit, limits.maxPages);
  refuseAbove('concurrency', concurrency, limits.hostPages);
  await compilePatterns(include, 'include');
  await compilePatterns(exclude, 'exclude');
  const starts = [...new Map(startsOf(asked).map((start) => [start.key, start])).values()];
  const delayMs = asked.delayMs ?? limits.delayMs;
  const plan = { limit, depth, scope, include, exclude, sitemap, robots, delayMs, concurrency };
  return { plan: { ...plan, starts: starts.map(({ url }) => url) }, starts };
}

function refuseAbove(path: string, value: number, most: number): void {
  if (value <= most) return;
  throw problem('ParamValidationError', { path, message: `${path} must be at most ${most} on this server`, value });
}

function startsOf({ url, urls }: GivenCrawl): Address[] {
  if (url !== undefined && urls !== undefined) {
    const message = 'urls cannot be sent with url: one of them says where to start';
    throw problem('ParamValidationError', { path: 'urls', message });
  }
  if (url !== undefined) return [startOf(url, 'url')];
  if (urls !== undefined) return urls.map((text, at) => startOf(text, `urls.${at}`));
  throw problem('ParamValidationError', { path: 'url', message: 'url is required: where to start' });
}

function startOf(text: string, path: string): Address {
  try {
    const address = addressOf(cleanUrl(text));
    if (address) return address;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw problem('ParamValidationError', { path, message: error.message, value: text.slice(0, SHOWN) });
  }
  throw problem('ParamValidationError', { path, message: 'The address is too long', value: text.slice(0, SHOWN) });
}

const SHOWN = 200;
