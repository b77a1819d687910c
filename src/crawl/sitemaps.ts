/** The sitemaps of a site: those that its robots.txt names, else the usual place, and what their indexes lead to. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedFetch } from '#net/fetch.ts';
import type { Robots } from '#net/robots.ts';
import { fetchSitemap } from '#net/sitemap.ts';

export interface SitemapTools {
  readonly fetch: GuardedFetch;
  readonly robots: Robots;
  readonly userAgent: string | undefined;
  /** Between two files. */
  readonly pauseMs: number;
}

/** Files read for one crawl, and how long that may take. */
const MAX_FILES = 200;
const TIMEOUT_MS = 120_000;

/** Addresses that sitemaps of these origins name, file by file. What cannot be read is passed over. */
export async function* sitemapUrls(
  starts: readonly string[],
  { fetch, robots, userAgent, pauseMs }: SitemapTools,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const files = new Set<string>();
  for (const origin of new Set(starts.map((start) => new URL(start).origin))) {
    const { sitemaps } = await robots.rules(origin, { signal });
    for (const url of sitemaps.length ? sitemaps : [`${origin}/sitemap.xml`]) files.add(url);
  }
  let read = 0;
  // What an index names is added while it is gone through.
  for (const url of files) {
    if (read > 0) await sleep(pauseMs, undefined, { signal: within }).catch(() => {});
    signal.throwIfAborted();
    if (read++ >= MAX_FILES || within.aborted) break;
    const sitemap = await fetchSitemap(fetch, url, { signal: within, userAgent }).catch(() => undefined);
    signal.throwIfAborted();
    if (sitemap && !sitemap.isIndex) yield sitemap.urls;
    else for (const further of sitemap?.urls ?? []) if (files.size < MAX_FILES) files.add(further);
  }
}
