/**
 * Finds the hits for a query. Queries the sources in order, or several at once if configured. If a source fails, the
 * next one is queried instead. Merges the lists and returns the requested page of results.
 */
import { problem } from '#errors.ts';
import { ProviderError } from './ask-provider.ts';
import type { Hit } from './hit.ts';
import { mergeHits, resultKey } from './merge-hits.ts';
import { hasUnsupported, matchesOperators } from './operators.ts';
import type { EngineName } from './provider.ts';
import type { SearchQuery } from './query.ts';
import { isLocalIndex } from './settings.ts';
import type { Source, SourceRequest } from './sources.ts';

export interface FoundHits {
  readonly hits: readonly Hit[];
  /** Names of the sources that responded; `reader` is the local index. */
  readonly providers: readonly string[];
  /**
   * Set if no source responded and cached lists are returned: the time when the oldest list was stored, in ms since
   * 1970.
   */
  readonly staleAt?: number | undefined;
}

export interface HitRequest extends Omit<SourceRequest, 'engine' | 'onlyKept' | 'onCached'> {
  /** The provider that the caller selected. */
  readonly provider?: string | undefined;
}

export interface HitFinder {
  /** Whether the local index is the only default source. */
  readonly hasIndexOnly: boolean;
  /** Provider names that callers may use. */
  readonly names: readonly string[];
  /**
   * Throws ParamValidationError (unknown provider), AssertionFailureError (no provider for this kind),
   * DownstreamServiceError (all providers failed and nothing is cached), or the signal's reason. Returns an empty list
   * if nothing was found.
   */
  find(query: SearchQuery, request: HitRequest): Promise<FoundHits>;
  /** Searches the local index; returns an empty list if there is none. */
  findInIndex(query: SearchQuery, request: Pick<HitRequest, 'signal' | 'account'>): Promise<FoundHits>;
}

export interface HitFinderOptions {
  /** Sources in the order in which they are queried. */
  readonly sources: readonly Source[];
  /** The local index, whether or not it is among `sources`. */
  readonly index?: Source | undefined;
  /** Number of sources that are queried in parallel. */
  readonly maxAtOnce: number;
}

const ENGINES: readonly EngineName[] = ['google', 'bing'];
/** Maximum number of result pages requested from a source for one request. */
const MAX_PAGES = 5;
/** Number of results to request if the caller wants all results, or if many will be filtered out afterwards. */
const LONG_COUNT = 20;
/** Minimum page size of sources that determine the page size themselves. A page with fewer results is the last one. */
const MIN_PAGE_RESULTS = 5;

export function createHitFinder({ sources, index, maxAtOnce }: HitFinderOptions): HitFinder {
  const defaults = sources.length > 0 ? sources : index ? [index] : [];

  function chooseSources(provider: string | undefined): { among: readonly Source[]; engine?: EngineName | undefined } {
    if (provider === undefined) return { among: defaults };
    const engine = ENGINES.find((name) => name === provider);
    if (engine) return { among: sources.filter(({ engines }) => engines.includes(engine)), engine };
    if (isLocalIndex(provider)) return { among: index ? [index] : [] };
    const named = sources.filter(({ name }) => name === provider);
    if (named.length) return { among: named };
    throw problem('ParamValidationError', { path: 'provider', message: `provider must be one of ${names.join(', ')}` });
  }
  const names = [...new Set([...ENGINES, 'reader', 'local', ...sources.map(({ name }) => name)])];

  async function askSources(
    candidates: readonly Source[],
    query: SearchQuery,
    request: SourceRequest,
  ): Promise<FoundHits | undefined> {
    const queue = [
      ...candidates.filter((source) => !source.isResting()),
      ...candidates.filter((source) => source.isResting()),
    ];
    const isOnly = maxAtOnce === 1 || candidates.length === 1;
    let answered = false;
    const opened: OpenedList[] = [];
    const open = async () => {
      for (let source = queue.shift(); source; source = queue.shift()) {
        const firstQuery = firstQueryFor(source, query, isOnly);
        try {
          const hits = await source.page(firstQuery, request);
          answered = true;
          const matching = filterHits(hits, query, source);
          if (hits.length) {
            return void opened.push({
              source,
              firstQuery,
              hits: matching,
              hasMore: mayHaveMore(source, firstQuery, hits),
            });
          }
          // If page 2 came from this source, page 3 must come from it too, because another source's list would not
          // continue it.
          if (query.page > 1 && isOnly) return;
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: maxAtOnce }, open));
    if (!opened.length) return answered ? { hits: [], providers: [] } : undefined;
    opened.sort((a, b) => candidates.indexOf(a.source) - candidates.indexOf(b.source));
    return { hits: await readWindow(opened, query, request), providers: opened.map(({ source }) => source.name) };
  }

  return {
    hasIndexOnly: sources.length === 0,
    names,
    async find(query, request) {
      const { provider, ...rest } = request;
      const { among, engine } = chooseSources(provider);
      const candidates = among.filter(({ kinds }) => kinds.includes(query.kind));
      if (!candidates.length) throw noProvider(query, provider, defaults.length > 0);
      const sourceRequest = { ...rest, engine };
      const found = await askSources(candidates, query, sourceRequest);
      if (found) return found;
      let staleAt = Number.POSITIVE_INFINITY;
      const onCached = (storedAt: number) => {
        staleAt = Math.min(staleAt, storedAt);
      };
      const cached = request.noCache
        ? undefined
        : await askSources(candidates, query, { ...sourceRequest, onlyCached: true, onCached });
      if (cached) return Number.isFinite(staleAt) ? { ...cached, staleAt } : cached;
      throw problem('DownstreamServiceError', { message: 'None of the search providers answered. Try again later.' });
    },
    findInIndex: async (query, request) => {
      const hits = index?.kinds.includes(query.kind)
        ? await index.page(query, { ...request, noCache: true, noTrace: true })
        : [];
      return { hits: hits.slice(0, query.count || undefined), providers: ['reader'] };
    },
  };
}

interface OpenedList {
  readonly source: Source;
  /** The first query sent to the source. */
  readonly firstQuery: SearchQuery;
  readonly hits: Hit[];
  /** Whether there may be a next page. */
  hasMore: boolean;
}

/** Whether a source can return exactly the requested page. */
const isDirect = (source: Source, query: SearchQuery, isOnly: boolean) =>
  isOnly &&
  query.count > 0 &&
  query.count <= source.maxCount &&
  source.paging === 'exact' &&
  !hasUnsupported(query, source.operators);

function mayHaveMore({ paging }: Source, { count }: SearchQuery, hits: readonly Hit[]): boolean {
  if (paging === 'none') return false;
  return hits.length >= (paging === 'exact' ? count : MIN_PAGE_RESULTS);
}

/** The first query to a source: either for the requested page itself, or for the source's list from the beginning. */
function firstQueryFor(source: Source, query: SearchQuery, isOnly: boolean): SearchQuery {
  if (isDirect(source, query, isOnly)) return query;
  const isFiltered = query.count === 0 || hasUnsupported(query, source.operators);
  const wanted = isFiltered ? LONG_COUNT : query.count;
  // A source without paging must return everything at once.
  const count = Math.min(source.maxCount, source.paging === 'none' ? wanted * query.page : wanted);
  return { ...query, count, page: 1 };
}

/**
 * Returns the requested page of merged results. Lists are merged page by page, so that the results on a page do not
 * change when a later page is requested.
 */
async function readWindow(opened: readonly OpenedList[], query: SearchQuery, request: SourceRequest): Promise<Hit[]> {
  const { count, page, kind } = query;
  const [first] = opened;
  if (opened.length === 1 && first!.firstQuery === query) return mergeHits([first!.hits], kind).slice(0, count);
  const wanted = count === 0 ? 1 : count * page;
  const sequence = new Map<string, Hit>();
  const take = (lists: readonly Hit[][]) => {
    for (const hit of mergeHits(lists, kind)) {
      const key = resultKey(hit, kind);
      if (!sequence.has(key)) sequence.set(key, hit);
    }
  };
  take(opened.map(({ hits }) => hits));
  for (let next = 2; sequence.size < wanted && next <= MAX_PAGES; next++) {
    const open = opened.filter(({ hasMore }) => hasMore);
    if (!open.length) break;
    take(
      await Promise.all(
        open.map(async (one) => {
          const hits = await one.source.page({ ...one.firstQuery, page: next }, request).catch((error: unknown) => {
            if (error instanceof ProviderError) return [];
            throw error;
          });
          one.hasMore = mayHaveMore(one.source, one.firstQuery, hits);
          return filterHits(hits, query, one.source);
        }),
      ),
    );
  }
  const all = [...sequence.values()];
  return count === 0 ? all : all.slice(count * (page - 1), count * page);
}

/**
 * Drops hits that are known to be outside the time range, and hits that do not match the operators that their source
 * does not support.
 */
const filterHits = (hits: readonly Hit[], query: SearchQuery, source: Source): Hit[] =>
  hits.filter((hit) => matchesOperators(hit, query, source.operators) && isOfTime(hit, query));

function isOfTime({ date }: Hit, { since, until }: SearchQuery): boolean {
  if (date === undefined || (since === undefined && until === undefined)) return true;
  const ms = /\d{4}/.test(date) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) || ((since === undefined || ms >= since) && (until === undefined || ms < until));
}

function noProvider({ kind }: SearchQuery, provider: string | undefined, hasSources: boolean) {
  if (!hasSources) {
    return problem('AssertionFailureError', { message: 'No search provider is configured on this server' });
  }
  const what = kind === 'web' ? 'pages' : kind;
  const from = provider === undefined ? '' : ` from ${provider}`;
  const message = `No search provider configured on this server returns ${what}${from}`;
  return problem('AssertionFailureError', { path: provider === undefined ? 'type' : 'provider', message });
}
