/**
 * From a query to one list of hits: sources in their order, several at once when the settings say so, the next one for
 * each that fails; their lists fused, cut to the page that was asked for.
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
  /** Who answered, by name; `reader` is the server's own index. */
  readonly providers: readonly string[];
  /** When the oldest list was kept, where lists are older than they may be because nobody answered, in ms since 1970. */
  readonly staleAt?: number | undefined;
}

export interface HitRequest extends Omit<SourceRequest, 'engine' | 'onlyKept' | 'onCached'> {
  /** Whom the caller named. */
  readonly provider?: string | undefined;
}

export interface HitFinder {
  /** Whether the own index is all that is asked when nobody is named. */
  readonly ownOnly: boolean;
  /** Names that callers may give. */
  readonly names: readonly string[];
  /**
   * ParamValidationError (no such provider), AssertionFailureError (none for this kind), DownstreamServiceError (all
   * failed and nothing is kept), or the signal's reason. Nothing found is an empty list.
   */
  find(query: SearchQuery, request: HitRequest): Promise<FoundHits>;
  /** What the own index has; an empty list without one. */
  own(query: SearchQuery, request: Pick<HitRequest, 'signal' | 'account'>): Promise<FoundHits>;
}

export interface HitFinderOptions {
  /** In the order of asking. */
  readonly sources: readonly Source[];
  /** The server's own index, whether or not it is among them. */
  readonly own?: Source | undefined;
  /** How many are asked at once. */
  readonly atOnce: number;
}

const ENGINES: readonly EngineName[] = ['google', 'bing'];
/** How many pages of a list are gone through for what stands far back or is much narrowed. */
const MAX_PAGES = 5;
/** Results that are asked for when the caller wants all there are, or many of them will fall out. */
const LONG_COUNT = 20;
/** A page of a service's own size with fewer results is its last. */
const LEAST_PAGE = 5;

export function createHitFinder({ sources, own, atOnce }: HitFinderOptions): HitFinder {
  const standard = sources.length > 0 ? sources : own ? [own] : [];

  function chosen(provider: string | undefined): { among: readonly Source[]; engine?: EngineName | undefined } {
    if (provider === undefined) return { among: standard };
    const engine = ENGINES.find((name) => name === provider);
    if (engine) return { among: sources.filter(({ engines }) => engines.includes(engine)), engine };
    if (isLocalIndex(provider)) return { among: own ? [own] : [] };
    const named = sources.filter(({ name }) => name === provider);
    if (named.length) return { among: named };
    throw problem('ParamValidationError', { path: 'provider', message: `provider must be one of ${names.join(', ')}` });
  }
  const names = [...new Set([...ENGINES, 'reader', 'local', ...sources.map(({ name }) => name)])];

  async function live(
    candidates: readonly Source[],
    query: SearchQuery,
    asked: SourceRequest,
  ): Promise<FoundHits | undefined> {
    const queue = [
      ...candidates.filter((source) => !source.isResting()),
      ...candidates.filter((source) => source.isResting()),
    ];
    const alone = atOnce === 1 || candidates.length === 1;
    let answered = false;
    const opened: Opened[] = [];
    const open = async () => {
      for (let source = queue.shift(); source; source = queue.shift()) {
        const opening = openingOf(source, query, alone);
        try {
          const hits = await source.page(opening, asked);
          answered = true;
          const kept = narrowed(hits, query, source);
          if (hits.length) {
            return void opened.push({ source, opening, hits: kept, more: hasMore(source, opening, hits) });
          }
          // Whoever has no page 3 has a page 2 that was shown: another's page 3 would not go on from there.
          if (query.page > 1 && alone) return;
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, open));
    if (!opened.length) return answered ? { hits: [], providers: [] } : undefined;
    opened.sort((a, b) => candidates.indexOf(a.source) - candidates.indexOf(b.source));
    return { hits: await windowOf(opened, query, asked), providers: opened.map(({ source }) => source.name) };
  }

  return {
    ownOnly: sources.length === 0,
    names,
    async find(query, request) {
      const { provider, ...rest } = request;
      const { among, engine } = chosen(provider);
      const candidates = among.filter(({ kinds }) => kinds.includes(query.kind));
      if (!candidates.length) throw nobody(query, provider, standard.length > 0);
      const asked = { ...rest, engine };
      const found = await live(candidates, query, asked);
      if (found) return found;
      let staleAt = Number.POSITIVE_INFINITY;
      const onCached = (keptAt: number) => {
        staleAt = Math.min(staleAt, keptAt);
      };
      const kept = request.noCache
        ? undefined
        : await live(candidates, query, { ...asked, onlyCached: true, onCached });
      if (kept) return Number.isFinite(staleAt) ? { ...kept, staleAt } : kept;
      throw problem('DownstreamServiceError', { message: 'None of the search providers answered, try again later' });
    },
    own: async (query, request) => {
      const hits = own?.kinds.includes(query.kind)
        ? await own.page(query, { ...request, noCache: true, noTrace: true })
        : [];
      return { hits: hits.slice(0, query.count || undefined), providers: ['reader'] };
    },
  };
}

interface Opened {
  readonly source: Source;
  /** What was asked first. */
  readonly opening: SearchQuery;
  readonly hits: Hit[];
  /** Whether there may be a next page. */
  more: boolean;
}

/** Whether a source gives the very page that was asked for. */
const isDirect = (source: Source, query: SearchQuery, alone: boolean) =>
  alone &&
  query.count > 0 &&
  query.count <= source.maxCount &&
  source.paging === 'exact' &&
  !hasUnsupported(query, source.operators);

function hasMore({ paging }: Source, { count }: SearchQuery, hits: readonly Hit[]): boolean {
  if (paging === 'none') return false;
  return hits.length >= (paging === 'exact' ? count : LEAST_PAGE);
}

/** What a source is asked first: the page itself, or its list from the beginning. */
function openingOf(source: Source, query: SearchQuery, alone: boolean): SearchQuery {
  if (isDirect(source, query, alone)) return query;
  const isThinned = query.count === 0 || hasUnsupported(query, source.operators);
  const wanted = isThinned ? LONG_COUNT : query.count;
  // Without later pages all that is needed must come at once.
  const count = Math.min(source.maxCount, source.paging === 'none' ? wanted * query.page : wanted);
  return { ...query, count, page: 1 };
}

/**
 * The results that were asked for. Lists are fused page by page, so that what was shown on one page does not move when a
 * later one is asked for.
 */
async function windowOf(opened: readonly Opened[], query: SearchQuery, asked: SourceRequest): Promise<Hit[]> {
  const { count, page, kind } = query;
  const [first] = opened;
  if (opened.length === 1 && first!.opening === query) return mergeHits([first!.hits], kind).slice(0, count);
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
    const open = opened.filter(({ more }) => more);
    if (!open.length) break;
    take(
      await Promise.all(
        open.map(async (one) => {
          const hits = await one.source.page({ ...one.opening, page: next }, asked).catch((error: unknown) => {
            if (error instanceof ProviderError) return [];
            throw error;
          });
          one.more = hasMore(one.source, one.opening, hits);
          return narrowed(hits, query, one.source);
        }),
      ),
    );
  }
  const all = [...sequence.values()];
  return count === 0 ? all : all.slice(count * (page - 1), count * page);
}

/** Without the hits that break what their source did not understand, or are known to be of another time. */
const narrowed = (hits: readonly Hit[], query: SearchQuery, source: Source): Hit[] =>
  hits.filter((hit) => matchesOperators(hit, query, source.operators) && isOfTime(hit, query));

function isOfTime({ date }: Hit, { since, until }: SearchQuery): boolean {
  if (date === undefined || (since === undefined && until === undefined)) return true;
  const ms = /\d{4}/.test(date) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) || ((since === undefined || ms >= since) && (until === undefined || ms < until));
}

function nobody({ kind }: SearchQuery, provider: string | undefined, isAnyone: boolean) {
  if (!isAnyone) {
    return problem('AssertionFailureError', { message: 'No search provider is configured on this server' });
  }
  const whom = provider === undefined ? 'None of the search providers here has' : `Nobody here has ${provider}'s`;
  const what = kind === 'web' ? 'pages' : kind;
  return problem('AssertionFailureError', {
    path: provider === undefined ? 'type' : 'provider',
    message: provider === undefined ? `${whom} ${what}` : `${whom} ${what}: no such provider is configured`,
  });
}
