/**
 * Finds the hits for a query. Queries the providers in order, or several at once if configured. If a provider fails, the
 * next one is queried instead. Public sources that fit the query are queried at the same time. Merges the lists and
 * returns the requested page of results.
 */
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';
import { ProviderError } from './ask-provider.ts';
import { type LeftOut, runTogether, type Task } from './ask-together.ts';
import { createSourceChooser } from './choose-sources.ts';
import type { Hit } from './hit.ts';
import { mergeHits, resultKey } from './merge-hits.ts';
import { hasUnsupported, matchesOperators } from './operators.ts';
import type { SearchQuery } from './query.ts';
import { languageOfQuery } from './routes.ts';
import type { SourceGroup } from './source-groups.ts';
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
  /** Sources that were asked or wanted, and whose results are missing. */
  readonly leftOut?: readonly LeftOut[] | undefined;
}

export interface HitRequest extends Omit<SourceRequest, 'engine' | 'onlyKept' | 'onCached'> {
  /** The provider that the caller selected. */
  readonly provider?: string | undefined;
  /** The sources that the caller selected. */
  readonly sources?: readonly string[] | undefined;
  /** Only public sources of this group. */
  readonly group?: SourceGroup | undefined;
}

export interface HitFinder {
  /** Whether the local index is the only source. */
  readonly hasIndexOnly: boolean;
  /** Names of providers and sources that callers may use. */
  readonly names: readonly string[];
  /**
   * Throws ParamValidationError (unknown provider or source), AssertionFailureError (no provider for this kind),
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
  /** Public sources that are on. Default: none. */
  readonly publicSources?: readonly Source[] | undefined;
  /** Why public sources that exist cannot be asked, by name. */
  readonly unavailable?: ReadonlyMap<string, string> | undefined;
}

/** Maximum number of result pages requested from a source for one request. */
const MAX_PAGES = 5;
/** Number of results to request if the caller wants all results, or if many will be filtered out afterwards. */
const LONG_COUNT = 20;
/** Minimum page size of sources that determine the page size themselves. A page with fewer results is the last one. */
const MIN_PAGE_RESULTS = 5;

export function createHitFinder(options: HitFinderOptions): HitFinder {
  const { sources, index, maxAtOnce, publicSources = [] } = options;
  const chooser = createSourceChooser(options);

  /** Opens the list of each source in the queue that answers, until one has hits. */
  async function openFirst(queue: Source[], query: SearchQuery, request: SourceRequest, isOnly: boolean) {
    let failure: unknown;
    let answered = false;
    for (let source = queue.shift(); source; source = queue.shift()) {
      try {
        const list = await openList(source, query, request, isOnly);
        answered = true;
        if (list) return { list, answered };
        // If page 2 came from this source, page 3 must come from it too, because another source's list would not
        // continue it.
        if (query.page > 1 && isOnly) break;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        failure = error;
      }
    }
    return { list: undefined, answered, failure };
  }

  async function askSources(
    candidates: readonly Source[],
    query: SearchQuery,
    request: SourceRequest,
  ): Promise<FoundHits | undefined> {
    const queue = await restingLast(candidates);
    const isOnly = maxAtOnce === 1 || candidates.length === 1;
    const results = await Promise.all(
      Array.from({ length: maxAtOnce }, () => openFirst(queue, query, request, isOnly)),
    );
    const opened = results.flatMap(({ list }) => list ?? []);
    if (!opened.length) return results.some(({ answered }) => answered) ? { hits: [], providers: [] } : undefined;
    return windowOf(opened, candidates, query, request);
  }

  /** Asks the providers in their order, and the public sources at the same time. */
  async function askTogether(
    {
      providers,
      together,
      isAwaited = true,
    }: { providers: readonly Source[]; together: readonly Source[]; isAwaited?: boolean },
    query: SearchQuery,
    request: SourceRequest,
  ): Promise<FoundHits | undefined> {
    const stop = new AbortController();
    const shared = { ...request, signal: AbortSignal.any([request.signal, stop.signal]) };
    const queue = await restingLast(providers);
    const lanes: Task<OpenedList>[] = Array.from({ length: Math.min(maxAtOnce, providers.length) }, (_, lane) => ({
      name: providers[lane]!.name,
      isAwaited,
      run: async () => {
        const { list, answered, failure } = await openFirst(queue, query, request, false);
        if (!list && !answered && failure) throw failure;
        return list ? [list] : [];
      },
    }));
    const localized = { ...query, language: query.language ?? languageOfQuery(query) };
    const tasks = together.map(
      (source): Task<OpenedList> => ({
        name: source.name,
        isAwaited: false,
        run: async () => {
          const list = await openList(source, source.facts ? localized : query, shared, false);
          return list ? [list] : [];
        },
      }),
    );
    const { lists, answered, leftOut, waitsUntil } = await runTogether(
      [...lanes, ...tasks],
      ({ hits }) => hits.length > 0,
    );
    try {
      const missing = leftOut.length ? { leftOut } : {};
      if (lists.length) {
        const found = await windowOf(lists, [...providers, ...together], query, request, waitsUntil);
        return { ...found, ...missing };
      }
      return answered
        ? { hits: [], providers: [], ...missing }
        : leftOut.length
          ? undefined
          : { hits: [], providers: [] };
    } finally {
      // A list that comes too late is cached for the next search, unless nothing may be cached.
      if (request.noTrace || request.noCache) stop.abort(new ProviderError('is not waited for'));
    }
  }

  /** Uses cached lists of any age if no source has answered. */
  async function askCache(candidates: readonly Source[], query: SearchQuery, request: SourceRequest) {
    if (request.noCache) return undefined;
    let staleAt = Number.POSITIVE_INFINITY;
    const onCached = (storedAt: number) => {
      staleAt = Math.min(staleAt, storedAt);
    };
    const cached = await askSources(candidates, query, { ...request, onlyCached: true, onCached });
    return cached && Number.isFinite(staleAt) ? { ...cached, staleAt } : cached;
  }

  return {
    hasIndexOnly: sources.length === 0 && publicSources.length === 0,
    names: chooser.names,
    async find(query, request) {
      const { provider, sources: named, group, ...rest } = request;
      const choice = chooser.choose(query, { provider, sources: named, group });
      const { providers, together, engine, leftOut = [] } = choice;
      const sourceRequest = { ...rest, engine };
      const found =
        (together.length || choice.isAwaited === false
          ? await askTogether(choice, query, sourceRequest)
          : await askSources(providers, query, sourceRequest)) ??
        (await askCache([...providers, ...together], query, sourceRequest));
      if (!found)
        throw problem('DownstreamServiceError', { message: 'None of the search providers answered. Try again later.' });
      return leftOut.length ? { ...found, leftOut: [...leftOut, ...(found.leftOut ?? [])] } : found;
    },
    findInIndex: async (query, request) => {
      const hits = index?.kinds.includes(query.kind)
        ? await index.page(query, { ...request, noCache: true, noTrace: true })
        : [];
      return { hits: hits.slice(0, query.count || undefined), providers: ['reader'] };
    },
  };
}

/** Sources in back-off are asked last. */
async function restingLast(candidates: readonly Source[]): Promise<Source[]> {
  const resting = await Promise.all(candidates.map((source) => source.isResting()));
  return [...candidates.filter((_, at) => !resting[at]), ...candidates.filter((_, at) => resting[at])];
}

/** Requests the first list of a source; `undefined` if it is empty. Rejects like `Source.page`. */
async function openList(
  source: Source,
  query: SearchQuery,
  request: SourceRequest,
  isOnly: boolean,
): Promise<OpenedList | undefined> {
  const firstQuery = firstQueryFor(source, query, isOnly);
  const hits = await source.page(firstQuery, request);
  if (!hits.length) return undefined;
  return { source, firstQuery, hits: filterHits(hits, query, source), hasMore: mayHaveMore(source, firstQuery, hits) };
}

/** Merges the lists in the order of their sources. */
async function windowOf(
  lists: readonly OpenedList[],
  order: readonly Source[],
  query: SearchQuery,
  request: SourceRequest,
  waitsUntil?: number,
): Promise<FoundHits> {
  const opened = lists.toSorted((a, b) => order.indexOf(a.source) - order.indexOf(b.source));
  return {
    hits: await readWindow(opened, query, request, waitsUntil),
    providers: opened.map(({ source }) => source.name),
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
async function readWindow(
  opened: readonly OpenedList[],
  query: SearchQuery,
  request: SourceRequest,
  waitsUntil = Number.POSITIVE_INFINITY,
): Promise<Hit[]> {
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
          const asked = one.source.page({ ...one.firstQuery, page: next }, request).catch((error: unknown) => {
            if (error instanceof ProviderError) return [];
            throw error;
          });
          // Further results of a public source are an addition, so the answer does not wait for them any longer.
          const hits = await (one.source.facts ? until(waitsUntil, asked, []) : asked);
          one.hasMore = mayHaveMore(one.source, one.firstQuery, hits);
          return filterHits(hits, query, one.source);
        }),
      ),
    );
  }
  const all = [...sequence.values()];
  return count === 0 ? all : all.slice(count * (page - 1), count * page);
}

/** Settles like `work`, or with `instead` at this time of `performance.now()`. */
async function until<T>(time: number, work: Promise<T>, instead: T): Promise<T> {
  if (!Number.isFinite(time)) return work;
  return within(Math.max(0, time - performance.now()), work).catch((error: unknown) => {
    if (!(error instanceof DeadlineExceededError)) throw error;
    work.catch(() => {});
    return instead;
  });
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
