/** Selects the URLs of a page that a crawl may follow, for lists of a site whose last pages are not read. */
import { createFilter } from './filter.ts';
import type { CrawlJob } from './job.ts';
import type { NormalizedUrl } from './normalize-url.ts';

/** `pageUrl` is the URL of the page after redirects. It extends the scope, as the target of a redirected start URL does. */
export async function linksWithin(
  { plan }: Pick<CrawlJob, 'plan'>,
  urls: readonly string[],
  pageUrl: string,
): Promise<NormalizedUrl[]> {
  const filter = await createFilter(plan, [...plan.starts, pageUrl]);
  const found = await filter.keepUrls(urls, { rank: 0, depth: 0 });
  return found.map(({ normalized }) => normalized);
}
