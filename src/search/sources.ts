/** Sources of hits: providers with a cache, limits and back-off, and the local index. */
import { createSingleFlight } from '#concurrency/single-flight.ts';
import type { CachedUrlCheck } from '#net/guard/cached-url-check.ts';
import type { Log } from '#telemetry/log.ts';
import { type AskProvider, MAX_HITS, ProviderError } from './ask-provider.ts';
import type { Hit } from './hit.ts';
import type { LocalIndex, PassageReranker } from './index/local-index.ts';
import { type IndexShared, visibleOwners } from './index/owners.ts';
import { ALL_OPERATORS, type OperatorName } from './operators.ts';
import type { EngineName, Provider, SourceFacts } from './provider.ts';
import type { SearchKind, SearchQuery } from './query.ts';
import type { ProviderRow } from './settings.ts';
import { type Connections, createConnections, createLimiter } from './source-limiter.ts';
import type { SearchStore } from './store.ts';

export interface SourceRequest {
  readonly signal: AbortSignal;
  /** Bypasses the cache. */
  readonly noCache: boolean;
  /** Does not store anything from this search. */
  readonly noTrace: boolean;
  /** Uses only the cache, regardless of the age of its entries. */
  readonly onlyCached?: boolean;
  /** Called if a cached list was used, with the time when it was stored, in ms since 1970. */
  readonly onCached?: (cachedAt: number) => void;
  readonly engine?: EngineName | undefined;
  /** The account that makes the request; `undefined` for a caller without one. */
  readonly account?: string | undefined;
}

export interface Source {
  readonly name: string;
  readonly kinds: readonly SearchKind[];
  readonly paging: Provider['paging'];
  readonly maxCount: number;
  readonly operators: ReadonlySet<OperatorName>;
  readonly engines: readonly EngineName[];
  /** Set for a public source. */
  readonly facts?: SourceFacts | undefined;
  /** Whether the source is in back-off, so that other sources should be preferred. */
  isResting(): Promise<boolean>;
  /**
   * Returns page `query.page`, with `query.count` results per page. Rejects with ProviderError or the signal's reason.
   */
  page(query: SearchQuery, request: SourceRequest): Promise<Hit[]>;
}

export interface SourceTools {
  readonly ask: AskProvider;
  readonly store: SearchStore;
  /** The connections to public sources. Default: own ones. */
  readonly connections?: Connections | undefined;
  readonly log?: Pick<Log, 'warn'> | undefined;
  readonly now?: () => number;
  /**
   * Called with the outcome of each request. `kept` means that the result came from the cache, `limited` that the
   * limits of a public source permitted no request.
   */
  readonly onAsked?: ((source: string, outcome: AskOutcome) => void) | undefined;
}

export type AskOutcome = 'answered' | 'failed' | 'kept' | 'limited';

/** Number of consecutive failures after which a provider enters back-off, and the duration of the back-off. */
const MAX_FAILURES = 3;
const REST_MS = 30_000;

export function createSource(row: ProviderRow, tools: SourceTools): Source {
  const { ask, store, connections = createConnections(), log, now = Date.now, onAsked } = tools;
  const { name, provider, budgetPerDay } = row;
  const limiter = createLimiter(row, { store, connections });
  const flights = createSingleFlight<Hit[]>();
  let failures = 0;
  let restsUntil = 0;

  const rest = async (ms: number) => {
    restsUntil = Math.max(restsUntil, now() + ms);
    if (ms > 0) await limiter?.pause(ms);
  };

  async function requestHits(
    query: SearchQuery,
    { signal, engine }: Pick<SourceRequest, 'signal' | 'engine'>,
  ): Promise<Hit[]> {
    if (budgetPerDay !== undefined && !(await store.takeBudget(name, budgetPerDay))) {
      restsUntil = endOfDay(now());
      throw new ProviderError('has used up its daily budget', { reason: 'rate limit' });
    }
    try {
      let restMs = 0;
      const onRest = (ms: number) => {
        restMs = ms;
      };
      const hits = await ask(row, query, { signal, engine, onRest });
      failures = 0;
      restsUntil = 0;
      await rest(restMs);
      onAsked?.(name, 'answered');
      return hits;
    } catch (error) {
      if (error instanceof ProviderError) {
        onAsked?.(name, 'failed');
        failures++;
        await rest(error.restMs || (failures >= MAX_FAILURES ? REST_MS : 0));
      }
      throw error;
    }
  }

  /** Like `requestHits`, within the limits of a public source. */
  async function limitedHits(query: SearchQuery, request: Pick<SourceRequest, 'signal' | 'engine'>): Promise<Hit[]> {
    if (!limiter) return requestHits(query, request);
    let isSent = false;
    try {
      return await limiter.run(request.signal, () => {
        isSent = true;
        return requestHits(query, request);
      });
    } catch (error) {
      if (!isSent && error instanceof ProviderError) onAsked?.(name, 'limited');
      throw error;
    }
  }

  return {
    name,
    kinds: provider.kinds,
    paging: provider.paging,
    maxCount: provider.maxCount,
    operators: provider.operators,
    engines: provider.engines ?? [],
    facts: provider.source,
    isResting: async () => restsUntil > now() || ((await limiter?.isPaused()) ?? false),
    async page(query, { signal, noCache, noTrace, onlyCached = false, onCached, engine }) {
      if (provider.paging === 'none' && query.page > 1) return [];
      if (provider.maxPage !== undefined && query.page > provider.maxPage) return [];
      const key = keyOf(name, query, engine);
      if (onlyCached) {
        const cached = await store.read(key, 'any');
        if (!cached) throw new ProviderError('has no cached list');
        onCached?.(cached.storedAt);
        return cached.hits;
      }
      const cached = noCache ? undefined : await store.read(key, 'fresh');
      if (cached) {
        onAsked?.(name, 'kept');
        return cached.hits;
      }
      try {
        const flight = flights.join(JSON.stringify(key), signal, async function* (shared) {
          yield await limitedHits(query, { signal: shared, engine });
        });
        for await (const hits of flight) {
          if (!noTrace) await store.write(key, hits);
          return hits;
        }
        return [];
      } catch (error) {
        // The query is private and therefore not logged.
        if (error instanceof ProviderError) log?.warn({ provider: name }, `a search provider ${error.message}`);
        throw error;
      }
    },
  };
}

/** Builds the key of a cached list (docs/reference/wire/search.md, Cache). */
const keyOf = (name: string, query: SearchQuery, engine: string | undefined): unknown[] => {
  const { kind, text, count, country, language, location, page, noCorrection, since, until } = query;
  return [kind, name, engine, text, count, country, language, location, page, noCorrection, since, until];
};

const DAY_MS = 86_400_000;
const endOfDay = (ms: number) => (Math.floor(ms / DAY_MS) + 1) * DAY_MS;

export interface IndexSourceOptions {
  /** Which pages read by other accounts an account can find. */
  readonly shared: IndexShared;
  /** Checks whether each URL found may still be returned. */
  readonly mayServeCached: CachedUrlCheck;
  /** Whether the operator blocks a URL. Default: none. */
  readonly blocks?: ((url: string) => boolean) | undefined;
  readonly rerank?: PassageReranker | undefined;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** Creates a source from the local index. */
export const createIndexSource = (
  index: LocalIndex,
  { shared, mayServeCached, blocks = () => false, rerank, log }: IndexSourceOptions,
): Source => ({
  name: 'reader',
  kinds: ['web'],
  paging: 'exact',
  maxCount: MAX_HITS,
  operators: ALL_OPERATORS,
  engines: [],
  isResting: async () => false,
  async page(query, { signal, onlyCached, account }) {
    if (onlyCached) throw new ProviderError('has no cached list');
    try {
      const hits = await index.search(query, { signal, rerank, owners: visibleOwners(shared, account) });
      // Blocked hits are not removed here but in the search, which counts them in a warning.
      const allowed = await Promise.all(hits.map(({ url }) => blocks(url) || mayServeCached(url, signal)));
      const left = hits.filter((_, at) => allowed[at]);
      if (left.length < hits.length)
        log?.warn(
          { count: hits.length - left.length },
          'indexed pages were left out because their URLs are no longer allowed',
        );
      return left;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      log?.warn({ err: error }, 'the local index could not be searched');
      throw new ProviderError('cannot be searched');
    }
  },
});
