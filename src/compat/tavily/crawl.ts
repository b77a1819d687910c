/**
 * Tavily's `/crawl` and `/map`, over the native crawl. Both wait for the end. At the time limit, the crawl is cancelled and
 * the answer has the pages read until then.
 */
import { type CrawlJob, linksWithin } from '#crawl/index.ts';
import { Problem, problem } from '#errors.ts';
import type { Page } from '#reader/index.ts';
import { blockedMessage } from '../blocked.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields, renamePath } from '../fields.ts';
import { sentFields, showIgnored } from '../ignored.ts';
import type { CrawlEnd, CrawlOutcome, CrawlRun } from '../native/crawl.ts';
import { orderByFit } from '../order-by-fit.ts';
import { CRAWL_FIELDS, IGNORED_CRAWL_FIELDS, MAP_FIELDS, type TavilyMap } from './fields.ts';
import { secondsSince } from './search.ts';
import { urlPatterns } from './url-patterns.ts';

const FIELD_NAMES = { depth: 'max_depth', include: 'select_paths', exclude: 'exclude_paths' };

export async function crawl(call: CompatCall): Promise<unknown> {
  const startedAt = performance.now();
  const asked = readFields(CRAWL_FIELDS, call.body);
  const given = {
    ...(await rulesOf(asked)),
    depth: asked.max_depth,
    options: {
      respondWith: asked.format === 'text' ? 'text' : 'content',
      ...(asked.include_images && { withImagesSummary: true }),
    },
  };
  const { job, outcomes } = await run(call, given, { timeoutMs: asked.timeout * 1_000 });
  refuseStart(job, outcomes);
  const results = outcomes.flatMap(({ url, page }) =>
    page && !page.blocked
      ? [{ url, raw_content: page.content ?? page.text ?? '', images: Object.values(page.images ?? {}) }]
      : [],
  );
  showIgnored(call.reply, sentFields(call.body as Record<string, unknown>, IGNORED_CRAWL_FIELDS));
  return sendJson(call.reply, {
    base_url: asked.url,
    results: asked.instructions ? await byInstructions(call, asked.instructions, results) : results,
    failed_results: [...outcomes.flatMap(failureOf), ...(job.error ? [{ url: asked.url, error: job.error }] : [])],
    response_time: secondsSince(startedAt),
    request_id: call.request.id,
    ...(asked.include_usage && { usage: { credits: results.length } }),
  });
}

/** The beginning of a page that decides how well it fits the instructions, in characters. */
const FIT_CHARACTERS = 2_000;

/** Instructions do not select pages; they put the pages that fit best first. */
async function byInstructions<Result extends { readonly url: string; readonly raw_content: string }>(
  call: CompatCall,
  instructions: string,
  results: readonly Result[],
): Promise<readonly Result[]> {
  if (results.length < 2) return results;
  const texts = results.map(({ url, raw_content }) => `${url}\n${raw_content.slice(0, FIT_CHARACTERS)}`);
  const order = await orderByFit(call, instructions, texts);
  return order.map((at) => results[at]!);
}

/** Reads the pages down to the last level but one, and lists the links of all of them. */
export async function map(call: CompatCall): Promise<unknown> {
  const startedAt = performance.now();
  const asked = readFields(MAP_FIELDS, call.body);
  const found = new Map<string, string>();
  const collect = async ({ page }: CrawlOutcome, job: CrawlJob) => {
    if (!page || page.blocked) return false;
    for (const { url, key } of await linksWithin(job, [page.url, ...linksOf(page)], page.url)) {
      if (found.size < asked.limit && !found.has(key)) found.set(key, url);
    }
    return found.size >= asked.limit;
  };
  const given = {
    ...(await rulesOf(asked)),
    depth: asked.max_depth - 1,
    sitemap: asked.max_depth > 1,
    options: { respondWith: 'text', withLinksSummary: 'all' },
  };
  const { job, outcomes } = await run(call, given, { timeoutMs: asked.timeout * 1_000, isEnough: collect });
  refuseStart(job, outcomes);
  showIgnored(call.reply, sentFields(call.body as Record<string, unknown>, [...IGNORED_CRAWL_FIELDS, 'instructions']));
  return sendJson(call.reply, {
    base_url: asked.url,
    results: [...found.values()],
    failed_results: outcomes.flatMap(failureOf),
    response_time: secondsSince(startedAt),
    request_id: call.request.id,
    ...(asked.include_usage && { usage: { credits: 1 } }),
  });
}

const rulesOf = async (asked: TavilyMap) => ({
  url: asked.url,
  limit: asked.limit,
  scope: 'domain',
  ...(await urlPatterns(asked)),
});

const run = (call: CompatCall, given: Record<string, unknown>, end: CrawlEnd): Promise<CrawlRun> =>
  call.native.crawlNow(call, given, end).catch((error: unknown) => {
    throw error instanceof Problem ? renamePath(error, FIELD_NAMES) : error;
  });

/** A start URL that this server must not read is an error of the request, even if only its DNS records tell. */
function refuseStart({ plan }: CrawlJob, outcomes: readonly CrawlOutcome[]): void {
  const refused = outcomes.find(
    ({ url, error }) => url === plan.starts[0] && error?.name === 'SecurityCompromiseError',
  );
  if (refused) throw problem('SecurityCompromiseError', { path: 'url', message: refused.error!.message });
}

function failureOf({ url, page, error }: CrawlOutcome): { url: string; error: string }[] {
  if (page?.blocked) return [{ url, error: blockedMessage(page.blocked) }];
  return error ? [{ url, error: error.message }] : [];
}

const linksOf = ({ links = {} }: Page): string[] =>
  Array.isArray(links) ? links.map(([, url]) => url) : Object.values(links);
