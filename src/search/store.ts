/**
 * Cached lists of hits, and for each provider the requests that its limits count, and its pause. They are shared by all
 * servers of an installation, and survive restarts.
 */
import { createHash } from 'node:crypto';
import { type SharedStore, SharedUnavailableError } from '#storage/shared/values.ts';
import type { Log } from '#telemetry/log.ts';
import { ProviderError } from './ask-provider.ts';
import type { Hit } from './hit.ts';
import type { RateLimit } from './provider.ts';
import { countRequests, readSent, type Sent, waitFor } from './sent-requests.ts';

/**
 * Maximum age of a fresh list, and of a list that is used if no provider responds (docs/reference/wire/search.md,
 * Cache).
 */
const FRESH_MS = 3_600_000;
const KEEP_MS = 7 * 86_400_000;
const MAX_LISTS = 20_000;
const MAX_COUNTS = 10_000;
const DAY_MS = 86_400_000;

/** The names of the spaces, for tests that look at them. */
export const LISTS = 'search lists';
const COUNTS = 'search limits';

export interface CachedList {
  readonly hits: Hit[];
  /** In ms since 1970. */
  readonly storedAt: number;
}

export interface SearchStore {
  /**
   * Returns the cached list for a key: with `fresh`, only a list up to an hour old, otherwise a list of any age. While
   * the store is unreachable, there are no lists.
   */
  read(key: readonly unknown[], age: 'fresh' | 'any'): Promise<CachedList | undefined>;
  write(key: readonly unknown[], hits: readonly Hit[]): Promise<void>;
  /**
   * Counts a request to a provider. Returns false if the daily budget (UTC) is exhausted. Rejects with ProviderError if
   * it cannot be counted, because a request that is not counted could exceed the budget.
   */
  takeBudget(name: string, perDay: number): Promise<boolean>;
  /**
   * Counts `count` requests to an operator if none of its limits is exceeded, and returns 0. Otherwise returns the time
   * until they are possible, in ms. Limits apply to any period of their length. Rejects like `takeBudget`.
   */
  takeRequests(operator: string, limits: readonly RateLimit[], count: number): Promise<number>;
  /** Sends no requests to an operator for this time. A pause that ends later stays. */
  pause(operator: string, ms: number): Promise<void>;
  /** Whether an operator has a pause. While the store is unreachable, no requests are sent anyway. */
  isPaused(operator: string): Promise<boolean>;
}

export function createSearchStore(
  shared: SharedStore,
  { log, now = Date.now }: { log?: Pick<Log, 'warn'> | undefined; now?: () => number } = {},
): SearchStore {
  const lists = shared.space({ name: LISTS, maxValues: MAX_LISTS });
  const counts = shared.space({ name: COUNTS, maxValues: MAX_COUNTS });
  /** Search works without its cache. The store itself logs that it is away. */
  const tolerate = (message: string) => (error: unknown) => {
    if (!(error instanceof SharedUnavailableError)) log?.warn({ err: error }, message);
    return undefined;
  };

  return {
    async read(key, age) {
      const found = await lists.get([nameOf(key)]).catch(tolerate('cached result lists cannot be read'));
      if (found?.[0] === undefined) return undefined;
      const list = JSON.parse(found[0]) as CachedList;
      return now() - list.storedAt > (age === 'fresh' ? FRESH_MS : KEEP_MS) ? undefined : list;
    },
    async write(key, hits) {
      if (!hits.length) return;
      const list = { hits, storedAt: now() };
      await lists.set(nameOf(key), JSON.stringify(list), KEEP_MS).catch(tolerate('a result list cannot be cached'));
    },
    takeBudget: (name, perDay) =>
      orUncounted(
        counts.update(`budget ${name}`, (value, nowMs) => {
          const day = Math.floor(nowMs / DAY_MS);
          const known = value === undefined ? undefined : (JSON.parse(value) as Budget);
          const used = known?.day === day ? known.used : 0;
          if (used >= perDay) return { result: false };
          return { value: JSON.stringify({ day, used: used + 1 } satisfies Budget), keepMs: DAY_MS, result: true };
        }),
      ),
    takeRequests: (operator, limits, count) =>
      orUncounted(
        counts.update(`requests ${operator}`, (value, nowMs) => {
          const longestMs = Math.max(0, ...limits.map(({ seconds }) => seconds)) * 1_000;
          const sent: readonly Sent[] = readSent(value, nowMs, longestMs);
          const waitMs = waitFor(sent, limits, count, nowMs);
          if (waitMs > 0) return { result: waitMs };
          return { value: JSON.stringify(countRequests(sent, count, nowMs)), keepMs: longestMs, result: 0 };
        }),
      ),
    async pause(operator, ms) {
      await counts
        .update(`pause ${operator}`, (value, nowMs) => {
          const until = Math.max(Number(value ?? 0), Math.ceil(nowMs + ms));
          return { value: String(until), keepMs: until - nowMs, result: undefined };
        })
        .catch(tolerate('the pause of a search source cannot be stored'));
    },
    async isPaused(operator) {
      const found = await counts.get([`pause ${operator}`]).catch(tolerate('the pause of a search source is unknown'));
      return found?.[0] !== undefined;
    },
  };
}

interface Budget {
  readonly day: number;
  readonly used: number;
}

/** Queries are private, so lists are stored under a hash of the key. */
const nameOf = (key: readonly unknown[]) => createHash('sha256').update(JSON.stringify(key)).digest('base64url');

async function orUncounted<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof SharedUnavailableError)) throw error;
    throw new ProviderError('is not asked while its requests cannot be counted', { reason: 'limits unknown' });
  });
}
