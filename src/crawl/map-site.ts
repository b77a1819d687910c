/** Lists the URLs of a site without a job: those in its sitemaps, and the links of one page. */
import { type Problem, problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import { type GivenOptions, type Reader, resolve } from '#reader/index.ts';
import { createFilter, type Filter } from './filter.ts';
import { normalizeUrl } from './normalize-url.ts';
import { createDelay } from './page-job.ts';
import type { Politeness } from './politeness.ts';
import { type ReadResult, readPage } from './read-page.ts';
import { createRedirectChain } from './redirects.ts';
import type { CrawlLimits, CrawlPlan } from './request.ts';
import { resolvePlan } from './resolve-plan.ts';
import { RANK } from './schema.ts';
import type { Scope } from './scope.ts';
import { sitemapUrls } from './sitemaps.ts';

export interface MapRequest {
  readonly url: string;
  readonly scope: Scope;
  readonly sitemap: 'include' | 'skip' | 'only';
  /** Removes the query of the URLs that are found. */
  readonly dropsQueries: boolean;
  /** Maximum number of URLs. */
  readonly limit: number;
  /** Validated options for the read of the page. */
  readonly options: GivenOptions;
  /** The account of the caller; `undefined` if there is none. */
  readonly account: string | undefined;
  /** Time limit. What was found until then is returned. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface MappedUrl {
  readonly url: string;
  readonly title?: string;
  readonly description?: string;
}

export interface SiteMap {
  /** The start first, then the sitemaps, then links. */
  readonly urls: readonly MappedUrl[];
  /** The charge for the page that was read. */
  readonly tokens: number;
  /** Whether the time was up or the limit was reached. */
  readonly isCut: boolean;
  /** Why the links of the start page are missing. */
  readonly failure?: Problem;
}

export interface MapTools {
  readonly reader: Reader;
  readonly robots: Robots;
  readonly fetch: GuardedFetch;
  readonly userAgent?: string | undefined;
  readonly politeness: Politeness;
  readonly limits: CrawlLimits;
}

const LINK = { rank: RANK.link, depth: 1 };

export async function mapSite(request: MapRequest, tools: MapTools): Promise<SiteMap> {
  const { url, scope, sitemap, dropsQueries, limit, timeoutMs } = request;
  const { plan } = await resolvePlan({ url, scope, depth: 1 }, tools.limits, { dropsQueries });
  const filter = await createFilter(plan, plan.starts);
  const late = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([request.signal, late]);
  const found = new Map<string, MappedUrl>();
  const isFull = () => found.size >= limit;
  const add = (one: MappedUrl) => {
    const key = normalizeUrl(one.url)?.key;
    if (key !== undefined && !found.has(key) && !isFull()) found.set(key, one);
  };

  const read = sitemap === 'only' ? undefined : await readStart(request, { plan, filter, signal }, tools);
  const links = read?.kind === 'page' ? await linksOf(read, { plan, filter }) : [];
  if (read?.kind === 'page') {
    const { title, description } = read.rendition.page;
    add({ url: read.rendition.pageLinks.url, ...(title && { title }), ...(description && { description }) });
  }
  if (sitemap !== 'skip' && !late.aborted) {
    for await (const one of listed({ plan, filter, signal }, tools)) {
      add({ url: one });
      if (isFull()) break;
    }
  }
  for (const one of links) add({ url: one });
  request.signal.throwIfAborted();
  const failure = sitemap === 'only' ? undefined : failureOf(read);
  if (found.size === 0 && failure) throw failure;
  const tokens = read?.kind === 'page' ? read.rendition.tokens : 0;
  return { urls: [...found.values()], tokens, isCut: late.aborted || isFull(), ...(failure && { failure }) };
}

/** Why the start page was not read; `undefined` if it was. */
function failureOf(read: ReadResult | undefined): Problem | undefined {
  if (read?.kind === 'page') return undefined;
  if (read?.kind === 'failed') return read.failure;
  return read?.kind === 'forbidden'
    ? problem('ResourcePolicyDenyError', { message: 'The robots.txt of the site does not allow the page to be read' })
    : problem('ServiceTimeoutError', { message: 'The page was not read in time' });
}

interface MapContext {
  readonly plan: CrawlPlan;
  readonly filter: Filter;
  readonly signal: AbortSignal;
}

/** Reads the start page. Returns `undefined` if the time is up. */
async function readStart(
  { options, account, timeoutMs }: MapRequest,
  { plan, filter, signal }: MapContext,
  tools: MapTools,
): Promise<ReadResult | undefined> {
  const start = normalizeUrl(plan.starts[0]!)!;
  const maxWaitMs = timeoutMs / 2;
  const rules = {
    maxAtOnce: plan.concurrency,
    obeysRobots: plan.robots,
    isStart: true,
    allows: filter.allows,
    findDuplicate: async () => undefined,
    delayMs: createDelay(plan, tools.robots, signal),
    maxWaitMs,
  };
  const chain = createRedirectChain(start, rules, tools, signal);
  try {
    if ((await chain.begin(maxWaitMs)) !== undefined) return undefined;
    const request = { url: start.url, options: resolve(options), obeysRobots: plan.robots, account, chain, signal };
    return await readPage(request, tools);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    await chain.end('usual');
  }
}

/** The links of the start page within the scope, which moves to the target of a redirect. */
async function linksOf(
  { rendition }: Extract<ReadResult, { kind: 'page' }>,
  { plan, filter }: Pick<MapContext, 'plan' | 'filter'>,
): Promise<string[]> {
  const { url, links } = rendition.pageLinks;
  filter.moveBase(plan.starts[0]!, url);
  const kept = await filter.keepLinks(links, LINK);
  return kept.map(({ normalized }) => normalized.url);
}

/** Yields the URLs in the sitemaps that are within the scope, until the time is up. */
async function* listed({ plan, filter, signal }: MapContext, tools: MapTools): AsyncGenerator<string> {
  const { robots, fetch, politeness, userAgent } = tools;
  const rules = {
    maxAtOnce: plan.concurrency,
    obeysRobots: plan.robots,
    delayMs: createDelay(plan, robots, signal),
    starts: filter.bases,
  };
  try {
    for await (const urls of sitemapUrls(rules, { fetch, robots, politeness, userAgent }, signal)) {
      const kept = await filter.keepUrls(urls, LINK);
      yield* kept.map(({ normalized }) => normalized.url);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
