/**
 * Follows the redirects of one read across hosts. Each URL must be allowed by the robots.txt of its site, and each host
 * must have a free slot. A redirect that leaves the crawl, or leads to a page that already has a result, ends the read.
 */
import type { Problem } from '#errors.ts';
import { RedirectRefusedError } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import { type NormalizedUrl, normalizeUrl } from './normalize-url.ts';
import type { HostLimits, Politeness } from './politeness.ts';
import { isWithin } from './scope.ts';

/** The reason why a redirect was not followed. */
export type StopReason =
  /** The site's robots.txt forbids it. */
  | { readonly kind: 'forbidden'; readonly to: string }
  | { readonly kind: 'out-of-scope'; readonly to: string }
  /** The redirect leads to a page that already has a result, under the URL `of`. */
  | { readonly kind: 'duplicate'; readonly of: string }
  /** The site's robots.txt could not be fetched: the status of the response, or the failure. */
  | { readonly kind: 'robots-unavailable'; readonly by: number | Problem }
  /** The host has no free slot before `readyAt`. */
  | { readonly kind: 'host-not-ready'; readonly host: string; readonly readyAt: number };

export class CrawlStoppedError extends RedirectRefusedError {
  override readonly name = 'CrawlStoppedError';
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the crawl does not follow this redirect: ${reason.kind}`);
    this.reason = reason;
  }
}

export interface RedirectRules extends HostLimits {
  readonly obeysRobots: boolean;
  /** Whether this is a start URL, which may redirect anywhere. */
  readonly isStart: boolean;
  /** Whether a URL belongs to the crawl. */
  readonly allows: (url: string) => boolean;
  /** Returns the URL under which the page with this key already has a result. */
  readonly findDuplicate: (key: string) => Promise<string | undefined>;
  /** How long the host of a URL must not be contacted after a request. */
  readonly delayMs: (url: string) => Promise<number>;
  /** How long a redirect waits for a slot of its target's host. */
  readonly maxWaitMs: number;
}

export interface RedirectTools {
  readonly robots: Robots;
  readonly politeness: Politeness;
}

/** The product token of this crawler in robots.txt files. */
export const ROBOTS_AGENT = 'lectern';

export interface RedirectChain {
  /** The host whose slot is in use; `undefined` before `begin` and after `end`. */
  readonly host: string | undefined;
  /** Acquires a slot of the first host. Returns the time to try again if none becomes free within `maxWaitMs`. */
  begin(maxWaitMs?: number): Promise<number | undefined>;
  /** A `checkRedirect` function for a fetch. Throws CrawlStoppedError. */
  follow(to: URL, from: URL, signal: AbortSignal): Promise<void>;
  /**
   * Releases the slot. The host is then not contacted for the usual delay, or for the specified number of milliseconds
   * (0 for no pause). With `usual`, the same applies to the host of `final`, because a browser may have requested it
   * without a slot.
   */
  end(pause?: 'usual' | number, final?: string): Promise<void>;
}

export function createRedirectChain(
  start: NormalizedUrl,
  rules: RedirectRules,
  { robots, politeness }: RedirectTools,
  signal: AbortSignal,
): RedirectChain {
  const { obeysRobots, isStart, allows, findDuplicate, delayMs, maxWaitMs } = rules;
  let host: string | undefined;
  let lastUrl = start.url;

  async function acquire(url: string, limit: { maxWaitMs: number; signal: AbortSignal }): Promise<number | undefined> {
    const next = new URL(url).host;
    const readyAt = await politeness.acquire(next, rules, limit);
    if (readyAt === undefined) host = next;
    return readyAt;
  }

  function release(pauseMs: number): void {
    if (host !== undefined) politeness.release(host, pauseMs);
    host = undefined;
  }

  async function follow(to: URL, from: URL, fetchSignal: AbortSignal): Promise<void> {
    const target = normalizeUrl(to.href);
    const isInside = allows(to.href);
    // A redirect within the site, for example to a log-in host, may lead back.
    if (!isStart && !isInside && !isWithin(to, [new URL(start.url)], 'domain')) {
      throw new CrawlStoppedError({ kind: 'out-of-scope', to: to.href });
    }
    if (isInside && target && target.key !== start.key) {
      const of = await findDuplicate(target.key);
      if (of !== undefined) throw new CrawlStoppedError({ kind: 'duplicate', of });
    }
    if (obeysRobots) {
      const file = await robots.rules(to, { signal: fetchSignal });
      if (file.unknownFor !== undefined)
        throw new CrawlStoppedError({ kind: 'robots-unavailable', by: file.unknownFor });
      if (!file.allows(to, ROBOTS_AGENT)) throw new CrawlStoppedError({ kind: 'forbidden', to: to.href });
    }
    if (to.host !== host) {
      // The previous host has responded, so its slot is released before waiting for the next host.
      const pauseMs = await delayMs(from.href);
      if (host !== undefined) politeness.report(host, { isReached: true });
      release(pauseMs);
      const readyAt = await acquire(to.href, { maxWaitMs, signal: fetchSignal });
      if (readyAt !== undefined) throw new CrawlStoppedError({ kind: 'host-not-ready', host: to.host, readyAt });
    }
    lastUrl = to.href;
  }

  return {
    get host() {
      return host;
    },
    begin: (waitMs = 0) => acquire(start.url, { maxWaitMs: waitMs, signal }),
    follow,
    async end(pause, final = lastUrl) {
      // robots.txt cannot be read once the run is aborted.
      const pauseAfter = async (url: string) => (pause === 'usual' ? delayMs(url).catch(() => 0) : (pause ?? 0));
      release(await pauseAfter(lastUrl));
      if (pause !== 'usual' || new URL(final).host === new URL(lastUrl).host) return;
      politeness.pause(new URL(final).host, await pauseAfter(final));
    },
  };
}
