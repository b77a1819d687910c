/** Which of the addresses that are found are followed. */
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { FoundLink } from '#reader/index.ts';
import { addressOf } from './address.ts';
import type { Found } from './frontier.ts';
import { type AddressTest, compilePatterns } from './patterns.ts';
import type { CrawlPlan } from './request.ts';
import { isWithin } from './scope.ts';
import { isHopeless } from './traps.ts';

interface Place {
  readonly rank: number;
  readonly depth: number;
}

export interface Filter {
  /**
   * Those to follow, at a rank and depth; none when they would be too deep. There may be very many, and patterns take their
   * time: others have their turn meanwhile.
   */
  found(urls: readonly string[], place: Place): Promise<Found[]>;
  links(links: readonly FoundLink[], place: Place): Promise<Found[]>;
  /** Whether a page that was asked for may stand there. */
  allows(url: string): boolean;
}

/** So long nothing else is done. */
const SLICE_MS = 5;

/** `bases` is read anew each time: the scope may move to where a start redirects. */
export async function createFilter(plan: CrawlPlan, bases: () => readonly string[]): Promise<Filter> {
  const included: AddressTest = plan.include.length ? await compilePatterns(plan.include, 'include') : () => true;
  const excluded = await compilePatterns(plan.exclude, 'exclude');

  /** Within the scope and the patterns. */
  const isAllowed = (url: URL, starts: readonly URL[]) =>
    isWithin(url, starts, plan.scope) && included(url) && !excluded(url);
  const starts = () => bases().map((base) => new URL(base));

  const found: Filter['found'] = async (urls, place) => {
    const followed: Found[] = [];
    if (place.depth > plan.depth) return followed;
    const around = starts();
    let sliceUntil = performance.now() + SLICE_MS;
    for (const text of urls) {
      const address = addressOf(text);
      const url = address && new URL(address.url);
      if (address && url && !isHopeless(url) && isAllowed(url, around)) followed.push({ address, ...place });
      if (performance.now() < sliceUntil) continue;
      await othersTurn();
      sliceUntil = performance.now() + SLICE_MS;
    }
    return followed;
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
