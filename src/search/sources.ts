/** Whom a search may ask: services of the settings behind their cache and budget, and the server's own index. */
import { createSingleFlight } from '#concurrency/single-flight.ts';
import type { MayServeCached } from '#net/guard/cached-url-check.ts';
import type { Log } from '#telemetry/log.ts';
import { type Ask, MAX_HITS, ProviderError } from './ask.ts';
import type { Hit } from './hit.ts';
import type { LocalIndex, PassageReranker } from './index/local-index.ts';
import { type IndexShared, ownersFor } from './index/owners.ts';
import { ALL_OPERATORS, type OperatorName } from './operators.ts';
import type { EngineName, Provider } from './provider.ts';
import type { SearchKind, SearchQuery } from './query.ts';
import type { ProviderRow } from './settings.ts';
import type { SearchStore } from './store.ts';

export interface Asked {
  readonly signal: AbortSignal;
  /** Kept lists are not looked at. */
  readonly noCache: boolean;
  /** Nothing of this search is kept. */
  readonly noTrace: boolean;
  /** Only what was kept, however old. */
  readonly onlyKept?: boolean;
  /** Told when a list of those was kept, in ms since 1970. */
  readonly onKept?: (keptAt: number) => void;
  readonly engine?: EngineName | undefined;
  /** The account that searches; undefined for callers without one. */
  readonly account?: string | undefined;
}

export interface Source {
  readonly name: string;
  readonly kinds: readonly SearchKind[];
  readonly paging: Provider['paging'];
  readonly maxCount: number;
  readonly operators: ReadonlySet<OperatorName>;
  readonly engines: readonly EngineName[];
  /** Whether it asked to be left alone, or failed so often that others should be asked first. */
  isResting(): boolean;
  /** Page `query.page` of `query.count` results. Rejects with ProviderFailure or the signal's reason. */
  page(query: SearchQuery, asked: Asked): Promise<Hit[]>;
}

export interface SourceTools {
  readonly ask: Ask;
  readonly store: SearchStore;
  readonly log?: Pick<Log, 'warn'> | undefined;
  readonly now?: () => number;
  /** Told of each question what became of it; `kept`: a list of earlier answered. */
  readonly onAsked?: ((source: string, outcome: 'answered' | 'failed' | 'kept') => void) | undefined;
}

/** Failures in a row after which a service rests, and for how long. */
const PATIENCE = 3;
const REST_MS = 30_000;

export function createSource(row: ProviderRow, { ask, store, log, now = Date.now, onAsked }: SourceTools): Source {
  const { name, provider, budgetPerDay } = row;
  const flights = createSingleFlight<Hit[]>();
  let failures = 0;
  let restsUntil = 0;

  async function live(query: SearchQuery, { signal, engine }: Pick<Asked, 'signal' | 'engine'>): Promise<Hit[]> {
    if (budgetPerDay !== undefined && !store.take(name, budgetPerDay)) {
      restsUntil = endOfDay(now());
      throw new ProviderError('has had its requests for today');
    }
    try {
      const hits = await ask(row, query, { signal, engine });
      failures = 0;
      restsUntil = 0;
      onAsked?.(name, 'answered');
      return hits;
    } catch (error) {
      if (error instanceof ProviderError) {
        onAsked?.(name, 'failed');
        failures++;
        const restMs = error.restMs || (failures >= PATIENCE ? REST_MS : 0);
        restsUntil = Math.max(restsUntil, now() + restMs);
      }
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
    isResting: () => restsUntil > now(),
    async page(query, { signal, noCache, noTrace, onlyKept = false, onKept, engine }) {
      if (provider.paging === 'none' && query.page > 1) return [];
      if (provider.maxPage !== undefined && query.page > provider.maxPage) return [];
      const key = keyOf(name, query, engine);
      if (onlyKept) {
        const kept = store.list(key, 'any');
        if (!kept) throw new ProviderError('has nothing kept');
        onKept?.(kept.keptAt);
        return kept.hits;
      }
      const kept = noCache ? undefined : store.list(key, 'fresh');
      if (kept) {
        onAsked?.(name, 'kept');
        return kept.hits;
      }
      try {
        const flight = flights.join(JSON.stringify(key), signal, async function* (shared) {
          yield await live(query, { signal: shared, engine });
        });
        for await (const hits of flight) {
          if (!noTrace) store.keep(key, hits);
          return hits;
        }
        return [];
      } catch (error) {
        // What was asked is the caller's affair.
        if (error instanceof ProviderError) log?.warn({ provider: name }, `a search provider ${error.message}`);
        throw error;
      }
    },
  };
}

/** Contract, section 7. */
const keyOf = (name: string, query: SearchQuery, engine: string | undefined): unknown[] => {
  const { kind, text, count, country, language, location, page, noCorrection, since, until } = query;
  return [kind, name, engine, text, count, country, language, location, page, noCorrection, since, until];
};

const DAY_MS = 86_400_000;
const endOfDay = (ms: number) => (Math.floor(ms / DAY_MS) + 1) * DAY_MS;

export interface OwnSourceOptions {
  /** What accounts find of each other's reads. */
  readonly shared: IndexShared;
  /** Asked of what was found before it is told. */
  readonly mayServeCached: MayServeCached;
  readonly rerank?: PassageReranker | undefined;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** The server's own index as one of those that are asked. */
export const createOwnSource = (
  index: LocalIndex,
  { shared, mayServeCached, rerank, log }: OwnSourceOptions,
): Source => ({
  name: 'reader',
  kinds: ['web'],
  paging: 'exact',
  maxCount: MAX_HITS,
  operators: ALL_OPERATORS,
  engines: [],
  isResting: () => false,
  async page(query, { signal, onlyKept, account }) {
    if (onlyKept) throw new ProviderError('has nothing kept');
    try {
      const hits = await index.search(query, { signal, rerank, owners: ownersFor(shared, account) });
      const allowed = await Promise.all(hits.map(({ url }) => mayServeCached(url, signal)));
      const left = hits.filter((_, at) => allowed[at]);
      if (left.length < hits.length)
        log?.warn({ count: hits.length - left.length }, 'pages in the index were left out: their URLs are refused now');
      return left;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      log?.warn({ err: error }, 'the own index could not be searched');
      throw new ProviderError('cannot be searched');
    }
  },
});
