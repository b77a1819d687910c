/** Which of the addresses that are found are followed. */
import type { FoundLink } from '#reader/index.ts';
import { addressOf } from './address.ts';
import type { Found } from './frontier.ts';
import { type AddressTest, compilePatterns } from './patterns.ts';
import type { CrawlPlan } from './request.ts';
import { isWithin } from './scope.ts';
import { isHopeless } from './traps.ts';

export interface Filter {
  /** Those to follow, at a rank and depth; none when they would be too deep. */
  found(urls: Iterable<string>, place: { readonly rank: number; readonly depth: number }): Found[];
  links(links: readonly FoundLink[], place: { readonly rank: number; readonly depth: number }): Found[];
  /** Whether a page that was asked for may stand there. */
  allows(url: string): boolean;
}

/** `bases` is read anew each time: the scope may move to where a start redirects. */
export async function createFilter(plan: CrawlPlan, bases: () => readonly string[]): Promise<Filter> {
  const included: AddressTest = plan.include.length ? await compilePatterns(plan.include, 'include') : () => true;
  const excluded = await compilePatterns(plan.exclude, 'exclude');

  /** Within the scope and the patterns. */
  const isAllowed = (url: URL, starts: readonly URL[]) =>
    isWithin(url, starts, plan.scope) && included(url) && !excluded(url);
  const starts = () => bases().map((base) => new URL(base));

  const found: Filter['found'] = (urls, place) => {
    if (place.depth > plan.depth) return [];
    const around = starts();
    return [...urls].flatMap((text) => {
      const address = addressOf(text);
      if (!address) return [];
      const url = new URL(address.url);
      return !isHopeless(url) && isAllowed(url, around) ? [{ address, ...place }] : [];
    });
  };
  return {
    found,
    links: (links, place) =>
      found(
        links.filter(({ nofollow }) => !(nofollow && plan.robots)).map(({ url }) => url),
        place,
      ),
    allows: (url) => isAllowed(new URL(url), starts()),
  };
}
