/**
 * The search pipeline; read this file first. A query becomes a list of hits (find-hits.ts), their pages are read in
 * parallel (read-pages.ts), and the results become responses, each more complete than the previous one. The last
 * response is charged.
 */
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { asProblem, problem } from '#errors.ts';
import { countTokens, type DetailLevel, loadTokens, type Options, type Page, type Reader } from '#reader/index.ts';
import { type Trace, traceStep } from '#telemetry/trace.ts';
import { describeLeftOut } from './ask-together.ts';
import { chargeOf } from './charge.ts';
import { HOW_TO_CONFIGURE } from './choose-sources.ts';
import type { Favicons } from './favicons.ts';
import type { FoundHits, HitFinder } from './find-hits.ts';
import type { SearchQuery } from './query.ts';
import { readPages } from './read-pages.ts';
import { type DetailedResult, type Entry, pageTokens, resultOf } from './result.ts';
import { type PassageTools, selectPassages } from './select-passages.ts';
import type { SourceGroup } from './source-groups.ts';

export interface SearchRequest {
  readonly query: SearchQuery;
  /** The provider that the caller selected. */
  readonly provider?: string | undefined;
  /** The providers and public sources that the caller selected. */
  readonly sources?: readonly string[] | undefined;
  /** Only public sources of this group. */
  readonly group?: SourceGroup | undefined;
  /** Whether to search the local index if the providers find nothing. */
  readonly fallback: boolean;
  /** Whether to read the pages of the results. */
  readonly reads: boolean;
  /** Reader options for each page. */
  readonly options: Options;
  /** Maximum age of cached pages if the options do not specify it. */
  readonly pagesFreshMs: number;
  readonly keyed: boolean;
  /** The account that makes the request; `undefined` for a caller without one. */
  readonly account?: string | undefined;
  /** Timeout for the whole search. */
  readonly budgetMs: number;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  readonly ownHosts: readonly string[];
  readonly trace?: Trace | undefined;
  /** Returns the best passages within this number of tokens instead of whole pages. */
  readonly passageTokens?: number | undefined;
  /** Details to return with each page that is read. */
  readonly details?: DetailLevel | undefined;
  readonly favicons: boolean;
  /** Stores a screenshot and returns its URL. */
  readonly keepPicture: (
    png: Uint8Array,
    shown: { readonly urls: readonly string[]; readonly staleAt?: number | undefined },
  ) => Promise<string>;
}

export interface Answer {
  readonly results: readonly DetailedResult[];
  readonly tokens: number;
  /** Names of the providers that responded; `reader` is the local index. */
  readonly providers: readonly string[];
  /** A notice for the caller about the whole response. */
  readonly notice?: string | undefined;
  /** The part of `notice` that names sources without results. */
  readonly leftOut?: string | undefined;
}

/**
 * Throws ParamValidationError, AssertionFailureError (nothing found, no provider), DownstreamServiceError, or the
 * signal's reason.
 */
export interface Search {
  /** Yields at least one response, each more complete than the previous one. */
  each(request: SearchRequest): AsyncGenerator<Answer>;
  last(request: SearchRequest): Promise<Answer>;
  /** Provider names that callers may use. */
  readonly providers: readonly string[];
}

export interface SearchParts {
  readonly hitFinder: HitFinder;
  readonly reader: Reader;
  readonly passages: PassageTools;
  /** Whether the operator blocks a URL. Blocked hits are omitted. Default: none. */
  readonly blocks?: ((url: string) => boolean) | undefined;
  readonly favicons?: Favicons | undefined;
}

/** Minimum time for reading pages. If less is left, they get whatever time remains. */
const MIN_READING_MS = 2_000;
/** Additional time after a search's timeout, if there is nothing else to return. */
const GRACE_MS = 2_000;

const INDEX_ONLY = `No search provider is configured on this server. These results are pages that it has read before. For results from the web, ${HOW_TO_CONFIGURE}.`;
const INDEX_INSTEAD =
  'The search providers found nothing in time. These results are pages that this server has read before.';

const MEANING_ONLY =
  'No page that this server has read has a word of this query. These results are the closest in meaning; they may be about something else.';

const staleNotice = (cachedAt: number): string =>
  `The search providers did not answer. These results were cached at ${new Date(cachedAt).toISOString()}.`;

const meaningNotice = ({ hits }: FoundHits): string | undefined =>
  hits.length > 0 && hits.every(({ byMeaningOnly }) => byMeaningOnly) ? MEANING_ONLY : undefined;

const joinNotices = (...notices: readonly (string | undefined)[]): string | undefined =>
  notices.filter((notice) => notice !== undefined).join('\n') || undefined;

const NOTHING: FoundHits = { hits: [], providers: [] };

interface NoticedHits extends FoundHits {
  /** Number of hits that were omitted because the operator blocks them. */
  readonly blocked?: number | undefined;
  readonly notice?: string | undefined;
}

export function createSearch({ hitFinder, reader, passages, blocks, favicons }: SearchParts): Search {
  async function findHits(request: SearchRequest): Promise<NoticedHits> {
    const { query, provider, sources, group, fallback, budgetMs, signal, options, account } = request;
    const grace = AbortSignal.timeout(budgetMs + GRACE_MS);
    const findSignal = AbortSignal.any([signal, grace]);
    const { noCache, doNotTrack, zeroDataRetention } = options;
    const noTrace = doNotTrack || Boolean(zeroDataRetention);
    const finding = hitFinder
      .find(query, { provider, sources, group, noCache, noTrace, account, signal: findSignal })
      .catch((error: unknown) => {
        throw grace.aborted && !signal.aborted ? problem('AssertionFailureError', { message: TOO_LATE }) : error;
      });
    const notice = hitFinder.hasIndexOnly && provider === undefined ? INDEX_ONLY : undefined;
    const withNotice = (list: FoundHits): NoticedHits => ({
      ...list,
      notice: joinNotices(
        list.staleAt === undefined ? notice : staleNotice(list.staleAt),
        meaningNotice(list),
        describeLeftOut(list.leftOut),
      ),
    });
    const findInIndex = async (): Promise<NoticedHits | undefined> => {
      // If the index fails too, the providers' failure is reported.
      const own = await hitFinder.findInIndex(query, { account, signal: findSignal }).catch((error: unknown) => {
        if (findSignal.aborted) throw error;
        return NOTHING;
      });
      return own.hits.length ? { ...own, notice: joinNotices(INDEX_INSTEAD, meaningNotice(own)) } : undefined;
    };
    let found: NoticedHits | undefined;
    try {
      found = withNotice(await within(budgetMs, finding));
    } catch (error) {
      finding.catch(() => {});
      if (error instanceof DeadlineExceededError) found = (await findInIndex()) ?? withNotice(await finding);
      else if (fallback && asProblem(error).code >= 500) found = await findInIndex();
      if (!found) throw error;
    }
    if (!found.hits.length && fallback) found = (await findInIndex()) ?? found;
    return found;
  }

  async function hitsOf(request: SearchRequest): Promise<NoticedHits> {
    const found = withoutBlocked(await findHits(request), blocks);
    if (!found.hits.length) throw nothingFoundProblem(found);
    return found;
  }

  /** Yields every response if `streaming`, otherwise only the last one. */
  async function* answers(request: SearchRequest, streaming: boolean): AsyncGenerator<Answer> {
    const startedAt = performance.now();
    const listed = await traceStep('search', request.trace, () => hitsOf(request));
    if (listed.hits.length) request.trace?.count('pages', listed.hits.length);
    const { hits } = listed;
    const budgetMs = Math.max(MIN_READING_MS, request.budgetMs - (performance.now() - startedAt));
    // Tokens are counted here only where the reader has not counted them.
    await loadTokens();
    const work = { ...request, keepPicture: keepOnce(request.keepPicture) };
    let last: readonly Entry[] = hits.map((hit) => ({ hit, state: 'unasked' }));
    if (request.reads) {
      let shown: readonly Entry[] | undefined;
      for await (const entries of readPages(hits, { ...request, budgetMs }, reader)) {
        // One response is always held back, because the last one is completed below.
        if (shown && streaming) yield await answerOf(shown, listed, work);
        shown = entries;
      }
      last = shown!;
    }
    if (request.favicons && favicons) {
      const leftMs = Math.max(MIN_READING_MS, request.budgetMs - (performance.now() - startedAt));
      const icons = await favicons.find(last, { signal: request.signal, budgetMs: leftMs });
      last = last.map((entry) => ({ ...entry, favicon: icons.get(new URL(entry.hit.url).origin) ?? '' }));
    }
    if (request.passageTokens !== undefined) {
      last = await selectPassages(
        last,
        { query: request.query, maxTokens: request.passageTokens, signal: request.signal },
        passages,
      );
    }
    yield await answerOf(last, listed, work);
  }

  return {
    providers: hitFinder.names,
    each: (request) => answers(request, true),
    async last(request) {
      let latest: Answer | undefined;
      for await (const answer of answers(request, false)) latest = answer;
      return latest!;
    },
  };
}

function withoutBlocked(found: NoticedHits, blocks: SearchParts['blocks']): NoticedHits {
  const hits = blocks ? found.hits.filter(({ url }) => !blocks(url)) : found.hits;
  const blocked = found.hits.length - hits.length;
  if (blocked === 0) return found;
  const [results, were] = blocked === 1 ? ['result', 'was'] : ['results', 'were'];
  const notice = `${blocked} ${results} ${were} left out: the operator of this server blocks their URLs.`;
  return { ...found, hits, blocked, notice: joinNotices(found.notice, notice) };
}

const TOO_LATE = 'The search did not finish in time';

function nothingFoundProblem({ notice, providers, blocked, leftOut }: NoticedHits) {
  if (blocked) {
    const message = `All ${blocked} results for this query were left out: the operator of this server blocks their URLs`;
    return problem('AssertionFailureError', { message });
  }
  const where =
    notice?.startsWith(INDEX_ONLY) || providers.join() === 'reader' ? ' among the pages that this server has read' : '';
  const hint = notice?.startsWith(INDEX_ONLY) ? `; no search provider is configured: ${HOW_TO_CONFIGURE}` : '';
  const missing = describeLeftOut(leftOut);
  const message = `Nothing was found for this query${where}${hint}${missing ? `. ${missing.replace(/\.$/, '')}` : ''}`;
  return problem('AssertionFailureError', { message });
}

async function answerOf(
  entries: readonly Entry[],
  { providers, notice, leftOut }: NoticedHits,
  { query, provider, options, keepPicture }: SearchRequest,
): Promise<Answer> {
  const charge = chargeOf(
    entries.map((entry) => pageTokens(entry, options, countTokens)),
    query.kind,
    provider,
  );
  const results = await Promise.all(
    entries.map(async (entry, index) => resultOf(entry, charge.each[index]!, await picturesOf(entry, keepPicture))),
  );
  return { results, tokens: charge.tokens, providers, notice, leftOut: describeLeftOut(leftOut) };
}

/** Stores a screenshot once, even if several responses contain it. */
function keepOnce(keep: SearchRequest['keepPicture']): SearchRequest['keepPicture'] {
  const stored = new WeakMap<Uint8Array, Promise<string>>();
  return (png, shown) => {
    const url = stored.get(png) ?? keep(png, shown);
    stored.set(png, url);
    return url;
  };
}

async function picturesOf({ hit, rendition }: Entry, keep: SearchRequest['keepPicture']) {
  const { screenshot, pageshot, staleAt, finalUrl = hit.url } = rendition ?? {};
  const pictures: Pick<Page, 'screenshotUrl' | 'pageshotUrl'> = {};
  const shown = { urls: [hit.url, finalUrl], staleAt };
  if (screenshot) pictures.screenshotUrl = await keep(screenshot, shown);
  if (pageshot) pictures.pageshotUrl = await keep(pageshot, shown);
  return pictures;
}
