/**
 * Reads the sitemaps of a site: those listed in its robots.txt, otherwise /sitemap.xml, and those listed in sitemap
 * indexes.
 */
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import { sitemapParts } from '#net/robots/sitemap.ts';
import { normalizeUrl } from './normalize-url.ts';
import type { Politeness } from './politeness.ts';
import { createRedirectChain, type RedirectRules, ROBOTS_AGENT } from './redirects.ts';

export interface SitemapTools {
  readonly fetch: GuardedFetch;
  readonly robots: Robots;
  readonly politeness: Politeness;
  readonly userAgent: string | undefined;
}

export interface SitemapRules extends Pick<RedirectRules, 'maxAtOnce' | 'obeysRobots' | 'delayMs'> {
  /** URLs whose sites are searched for sitemaps. */
  readonly starts: readonly string[];
}

/** Limits for one crawl: the number of sitemap files, and the time spent reading them and waiting for their hosts. */
const MAX_FILES = 200;
const TIMEOUT_MS = 120_000;

/** Yields the URLs in the sitemaps, in batches. A sitemap that cannot or must not be read is skipped. */
export async function* sitemapUrls(
  rules: SitemapRules,
  tools: SitemapTools,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const { files, trusted } = await findSitemaps(rules, tools, signal);
  let read = 0;
  let spentMs = 0;
  // A sitemap index adds URLs to `files` during the loop.
  for (const url of files) {
    if (read++ >= MAX_FILES || spentMs > TIMEOUT_MS) break;
    let since = performance.now();
    try {
      for await (const { kind, urls } of readParts(url, trusted.has(url), rules, tools, signal)) {
        spentMs += performance.now() - since;
        if (kind === 'pages') yield urls;
        else for (const file of urls) if (files.size < MAX_FILES) files.add(file);
        // The consumer's processing time does not count.
        since = performance.now();
      }
    } catch {
      signal.throwIfAborted();
    }
    spentMs += performance.now() - since;
  }
}

async function findSitemaps({ starts }: SitemapRules, { robots }: SitemapTools, signal: AbortSignal) {
  const files = new Set<string>();
  /**
   * Sitemaps on the same origin as the robots.txt that lists them. They may be read even if it disallows their path.
   */
  const trusted = new Set<string>();
  for (const origin of new Set(starts.map((start) => new URL(start).origin))) {
    const { sitemaps } = await robots.rules(origin, { signal });
    for (const url of sitemaps.length ? sitemaps : [`${origin}/sitemap.xml`]) files.add(url);
    for (const url of sitemaps) if (new URL(url).origin === origin) trusted.add(url);
  }
  return { files, trusted };
}

async function* readParts(
  url: string,
  isTrusted: boolean,
  { maxAtOnce, obeysRobots, delayMs }: SitemapRules,
  { fetch, robots, politeness, userAgent }: SitemapTools,
  signal: AbortSignal,
) {
  const start = normalizeUrl(url);
  if (!start) return;
  if (obeysRobots && !isTrusted) {
    const file = await robots.rules(url, { signal });
    if (file.unknownFor !== undefined || !file.allows(new URL(url), ROBOTS_AGENT)) return;
  }
  const rules: RedirectRules = {
    ...{ maxAtOnce, obeysRobots, delayMs, maxWaitMs: TIMEOUT_MS },
    // A sitemap may be on any host, and it is not a page of the crawl.
    isStart: true,
    allows: () => false,
    findDuplicate: async () => undefined,
  };
  const chain = createRedirectChain(start, rules, { robots, politeness }, signal);
  try {
    if ((await chain.begin(TIMEOUT_MS)) !== undefined) return;
    yield* sitemapParts(fetch, url, { signal, userAgent, checkRedirect: chain.follow });
  } finally {
    await chain.end('usual');
  }
}
