/** `POST /map`: lists the URLs of a site. */

import type { MappedUrl } from '#crawl/index.ts';
import { Problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields } from '../fields.ts';
import { targetFailure, withCode } from './errors.ts';
import { MAP_FIELDS, type Version } from './fields.ts';
import { requireUrl } from './scrape.ts';

const DEFAULT_LIMIT = 5_000;
const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 180_000;

export const map = (version: Version) => async (call: CompatCall) => {
  const asked = readFields(MAP_FIELDS, call.body);
  requireUrl(asked.url, 'url');
  const { limit = DEFAULT_LIMIT, timeout = DEFAULT_TIMEOUT_MS, includeSubdomains = true, search } = asked;
  const { ignoreQueryParameters = true, location } = asked;
  const { sitemap = asked.sitemapOnly ? 'only' : asked.ignoreSitemap ? 'skip' : 'include' } = asked;
  const language = location?.languages?.[0];
  const { urls, failure } = await call.native.crawls
    .map(call, {
      ...{ url: asked.url, sitemap, limit },
      scope: includeSubdomains ? 'domain' : 'host',
      dropsQueries: ignoreQueryParameters,
      timeoutMs: Math.min(timeout, MAX_TIMEOUT_MS),
      options: language ? { locale: language } : {},
    })
    .catch((error: unknown) => {
      throw error instanceof Problem ? mapFailure(error) : error;
    });
  const warnings = [
    failure && `The links of the page are missing: ${failure.message}.`,
    location?.country && 'location.country is ignored: pages are read from where this server is.',
  ].filter(Boolean);
  const links = search?.trim() ? byFit(urls, search) : urls;
  return sendJson(call.reply, {
    success: true,
    ...(version === 'v2' && { id: call.request.id }),
    links: version === 'v1' ? links.map(({ url }) => url) : links,
    ...(warnings.length > 0 && { warning: warnings.join('\n') }),
  });
};

function mapFailure(error: Problem): Problem {
  const failure = targetFailure(error);
  return failure.facts.firecrawlCode === 'SCRAPE_TIMEOUT' ? withCode(failure, 'MAP_TIMEOUT') : failure;
}

/** Orders URLs by how many words of the search they contain; the order of equal ones stays. */
function byFit(urls: readonly MappedUrl[], search: string): MappedUrl[] {
  const words = search
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const scored = urls.map((one) => {
    const text = `${decoded(one.url)} ${one.title ?? ''} ${one.description ?? ''}`.toLowerCase();
    return { one, score: words.filter((word) => text.includes(word)).length };
  });
  return scored.sort((a, b) => b.score - a.score).map(({ one }) => one);
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
