/**
 * The way of one read, from host to host as redirects lead it: an address is asked when its robots.txt allows it and its
 * host's turn is there, and not at all when it leads away or is known.
 */
import type { Problem } from '#errors.ts';
import { RedirectRefusedError } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import { type Address, addressOf } from './address.ts';
import type { HostRules, Politeness } from './politeness.ts';
import { isWithin } from './scope.ts';

/** Why an address that another led to was not asked. */
export type Stop =
  | { readonly kind: 'forbidden'; readonly to: string }
  /** It is no place for a page of the crawl. */
  | { readonly kind: 'elsewhere'; readonly to: string }
  /** A page that was given already stands there: its address. */
  | { readonly kind: 'known'; readonly of: string }
  /** What its site allows is not known, for this reason. */
  | { readonly kind: 'untold'; readonly by: number | Problem }
  /** Its host has no turn for a while: when it may have one. */
  | { readonly kind: 'later'; readonly host: string; readonly readyAt: number };

export class CrawlStoppedError extends RedirectRefusedError {
  override readonly name = 'Stopped';
  readonly stop: Stop;

  constructor(stop: Stop) {
    super(`the way ends: ${stop.kind}`);
    this.stop = stop;
  }
}

export interface RedirectRules extends HostRules {
  /** Whether robots.txt is kept to. */
  readonly obeys: boolean;
  /** Whether the read is one of where the crawl starts, which may lead anywhere. */
  readonly isStart: boolean;
  /** Whether pages of the crawl may stand at an address. */
  readonly allows: (url: string) => boolean;
  /** The page that was given already for an address, if one was. */
  readonly known: (key: string) => Promise<string | undefined>;
  /** The pause after a host was asked. */
  readonly delayMs: (url: string) => Promise<number>;
  /** How long a turn is waited for. */
  readonly mostMs: number;
}

export interface WayTools {
  readonly robots: Robots;
  readonly manners: Politeness;
}

/** Whom robots.txt files may name. */
export const AGENT = 'lectern';

export interface RedirectChain {
  /** The host that is being asked; undefined before the first has a turn, and after the last. */
  readonly host: string | undefined;
  /** Asks for the first turn, and waits for it so long; when to ask again where there is none. */
  begin(mostMs?: number): Promise<number | undefined>;
  /** For a fetch: throws Stopped. */
  follow(to: URL, from: URL, signal: AbortSignal): Promise<void>;
  /**
   * The read is over: its host has the usual pause, or another one. So has the host of where the page turned out to stand,
   * when a browser has asked it without a turn.
   */
  end(pause?: 'usual' | number, final?: string): Promise<void>;
}

export function createRedirectChain(
  start: Address,
  rules: RedirectRules,
  { robots, manners }: WayTools,
  signal: AbortSignal,
): RedirectChain {
  const { obeys, isStart, allows, known, delayMs, mostMs } = rules;
  let host: string | undefined;
  /** What was asked last. */
  let asked = start.url;

  async function goTo(url: string, within: AbortSignal, patienceMs: number): Promise<number | undefined> {
    const next = new URL(url).host;
    const readyAt = await manners.enter(next, rules, { mostMs: patienceMs, signal: within });
    if (readyAt === undefined) host = next;
    return readyAt;
  }

  function leave(pauseMs: number): void {
    if (host !== undefined) manners.leave(host, pauseMs);
    host = undefined;
  }

  async function follow(to: URL, from: URL, within: AbortSignal): Promise<void> {
    const address = addressOf(to.href);
    const isInside = allows(to.href);
    // What goes round by another address of the same site may come back.
    if (!isStart && !isInside && !isWithin(to, [new URL(start.url)], 'domain')) {
      throw new CrawlStoppedError({ kind: 'elsewhere', to: to.href });
    }
    if (isInside && address && address.key !== start.key) {
      const of = await known(address.key);
      if (of !== undefined) throw new CrawlStoppedError({ kind: 'known', of });
    }
    if (obeys) {
      const file = await robots.rules(to, { signal: within });
      if (file.unknownFor !== undefined) throw new CrawlStoppedError({ kind: 'untold', by: file.unknownFor });
      if (!file.allows(to, AGENT)) throw new CrawlStoppedError({ kind: 'forbidden', to: to.href });
    }
    if (to.host !== host) {
      // A host that has answered is not kept from others while the next one is waited for.
      const pauseMs = await delayMs(from.href);
      if (host !== undefined) manners.heard(host, { reached: true });
      leave(pauseMs);
      const readyAt = await goTo(to.href, within, mostMs);
      if (readyAt !== undefined) throw new CrawlStoppedError({ kind: 'later', host: to.host, readyAt });
    }
    asked = to.href;
  }

  return {
    get host() {
      return host;
    },
    begin: (patienceMs = 0) => goTo(start.url, signal, patienceMs),
    follow,
    async end(pause, final = asked) {
      // When everything is being ended, nobody tells how long any more.
      const usualMs = async (url: string) => (pause === 'usual' ? delayMs(url).catch(() => 0) : (pause ?? 0));
      const pauseMs = await usualMs(asked);
      leave(pauseMs);
      if (pause !== 'usual' || new URL(final).host === new URL(asked).host) return;
      manners.rest(new URL(final).host, await usualMs(final));
    },
  };
}
