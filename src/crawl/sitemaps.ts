/** The sitemaps of a site: those that its robots.txt names, else the usual place, and what their indexes lead to. */
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import { sitemapParts } from '#net/robots/sitemap.ts';
import { addressOf } from './address.ts';
import type { Politeness } from './politeness.ts';
import { AGENT, createRedirectChain, type RedirectRules } from './redirects.ts';

export interface SitemapTools {
  readonly fetch: GuardedFetch;
  readonly robots: Robots;
  readonly manners: Politeness;
  readonly userAgent: string | undefined;
}

export interface SitemapRules extends Pick<RedirectRules, 'atOnce' | 'obeys' | 'delayMs'> {
  /** Addresses around which the crawl is. */
  readonly starts: readonly string[];
}

/** Files read for one crawl, and how long may be waited for them, and for the turns of their hosts. */
const MAX_FILES = 200;
const TIMEOUT_MS = 120_000;

/** Addresses that sitemaps of these origins name, part by part. What cannot or must not be read is passed over. */
export async function* sitemapUrls(
  rules: SitemapRules,
  tools: SitemapTools,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const { files, invited } = await firstFiles(rules, tools, signal);
  let read = 0;
  let waitedMs = 0;
  // What an index names is added while it is gone through.
  for (const url of files) {
    if (read++ >= MAX_FILES || waitedMs > TIMEOUT_MS) break;
    let since = performance.now();
    try {
      for await (const { kind, urls } of partsOf(url, invited.has(url), rules, tools, signal)) {
        waitedMs += performance.now() - since;
        if (kind === 'pages') yield urls;
        else for (const further of urls) if (files.size < MAX_FILES) files.add(further);
        // What is made of them takes its own time.
        since = performance.now();
      }
    } catch {
      signal.throwIfAborted();
    }
    waitedMs += performance.now() - since;
  }
}

async function firstFiles({ starts }: SitemapRules, { robots }: SitemapTools, signal: AbortSignal) {
  const files = new Set<string>();
  /** Those that a robots.txt names on its own site: whatever else it says, they are for robots. */
  const invited = new Set<string>();
  for (const origin of new Set(starts.map((start) => new URL(start).origin))) {
    const { sitemaps } = await robots.rules(origin, { signal });
    for (const url of sitemaps.length ? sitemaps : [`${origin}/sitemap.xml`]) files.add(url);
    for (const url of sitemaps) if (new URL(url).origin === origin) invited.add(url);
  }
  return { files, invited };
}

async function* partsOf(
  url: string,
  isInvited: boolean,
  { atOnce, obeys, delayMs }: SitemapRules,
  { fetch, robots, manners, userAgent }: SitemapTools,
  signal: AbortSignal,
) {
  const start = addressOf(url);
  if (!start) return;
  if (obeys && !isInvited) {
    const file = await robots.rules(url, { signal });
    if (file.unknownFor !== undefined || !file.allows(new URL(url), AGENT)) return;
  }
  const way = createRedirectChain(
    start,
    // A sitemap may lie anywhere, and is no page of the crawl.
    { atOnce, obeys, delayMs, mostMs: TIMEOUT_MS, isStart: true, allows: () => false, known: async () => undefined },
    { robots, manners },
    signal,
  );
  try {
    if ((await way.begin(TIMEOUT_MS)) !== undefined) return;
    yield* sitemapParts(fetch, url, { signal, userAgent, checkRedirect: way.follow });
  } finally {
    await way.end('usual');
  }
}
