/** Decides which of the URLs found by a crawl are followed. Stores the URLs that define the scope. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { CrawlLink } from '#reader/index.ts';
import type { FoundUrl } from './frontier.ts';
import { normalizeUrl } from './normalize-url.ts';
import { compilePatterns, type UrlTest } from './patterns.ts';
import type { CrawlPlan } from './request.ts';
import { isWithin } from './scope.ts';
import { isUnfollowable } from './traps.ts';

const withoutQuery = (text: string): string => text.replace(/\?[^#]*/, '');

interface Position {
  readonly rank: number;
  readonly depth: number;
}

export interface Filter {
  /** The URLs that define the scope: the start URLs, or the targets of their redirects. */
  readonly bases: readonly string[];
  /** Moves the scope of a start URL to the target of its redirect. Returns the new bases. */
  moveBase(from: string, to: string): readonly string[];
  /**
   * Returns the URLs to follow, with their rank and depth, or none if they are too deep. A long list is filtered in
   * slices, so that the event loop is not blocked.
   */
  keepUrls(urls: readonly string[], position: Position): Promise<FoundUrl[]>;
  /**
   * Returns the links of a page that are to be followed. If the crawl obeys robots.txt, links marked `nofollow` are
   * dropped.
   */
  keepLinks(links: readonly CrawlLink[], position: Position): Promise<FoundUrl[]>;
  /** Whether a URL is within the scope and matches the patterns. */
  allows(url: string): boolean;
}

/** Maximum time that filtering blocks the event loop, in milliseconds. */
const SLICE_MS = 5;

/** Throws ParamValidationError if a pattern in the plan does not compile. */
export async function createFilter(plan: CrawlPlan, initialBases: readonly string[]): Promise<Filter> {
  const isIncluded: UrlTest = plan.include.length ? await compilePatterns(plan.include, 'include', plan) : () => true;
  const isExcluded = await compilePatterns(plan.exclude, 'exclude', plan);
  let bases = initialBases;

  const baseUrls = () => bases.map((base) => new URL(base));
  const isAllowed = (url: URL, around: readonly URL[]) =>
    isWithin(url, around, plan.scope) && isIncluded(url) && !isExcluded(url);

  async function keepUrls(urls: readonly string[], position: Position): Promise<FoundUrl[]> {
    const followed: FoundUrl[] = [];
    if (position.depth > plan.depth) return followed;
    const around = baseUrls();
    let sliceUntil = performance.now() + SLICE_MS;
    for (const text of urls) {
      const normalized = normalizeUrl(plan.dropsQueries ? withoutQuery(text) : text);
      const url = normalized && new URL(normalized.url);
      if (normalized && url && !isUnfollowable(url) && isAllowed(url, around))
        followed.push({ normalized, ...position });
      if (performance.now() < sliceUntil) continue;
      await yieldToEventLoop();
      sliceUntil = performance.now() + SLICE_MS;
    }
    return followed;
  }

  return {
    get bases() {
      return bases;
    },
    moveBase(from, to) {
      bases = bases.map((base) => (base === from ? to : base));
      return bases;
    },
    keepUrls,
    keepLinks: (links, position) =>
      keepUrls(
        links.filter(({ nofollow }) => !(nofollow && plan.robots)).map(({ url }) => url),
        position,
      ),
    allows: (url) => isAllowed(new URL(url), baseUrls()),
  };
}
