/**
 * Searching, the file to read first: a query becomes a list of hits (lists.ts), their pages are read at once (pages.ts),
 * and what is there makes an answer, each better than the one before; the last one is what it costs.
 */
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { asProblem, problem } from '#errors.ts';
import { countTokens, loadTokens, type Options, type Page, type Reader } from '#reader/index.ts';
import { type Trace, traceStep } from '#telemetry/trace.ts';
import { chargeOf } from './charge.ts';
import type { Favicons } from './favicons.ts';
import type { Found, Lists } from './lists.ts';
import { readPages } from './pages.ts';
import { type PassageTools, withPassages } from './passages.ts';
import type { SearchQuery } from './query.ts';
import { type Entry, pageTokens, type Result, resultOf } from './result.ts';

export interface SearchRequest {
  readonly query: SearchQuery;
  /** Whom the caller named. */
  readonly provider?: string | undefined;
  /** Whether the own index is searched when the providers find nothing. */
  readonly fallback: boolean;
  /** Whether pages are read at all. */
  readonly reads: boolean;
  /** How each page is read. */
  readonly options: Options;
  /** How old copies of pages may be when the options don't say. */
  readonly pagesFreshMs: number;
  readonly keyed: boolean;
  /** The account that searches; undefined for callers without one. */
  readonly account?: string | undefined;
  /** For the whole search. */
  readonly budgetMs: number;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
  readonly ownHosts: readonly string[];
  readonly trace?: Trace | undefined;
  /** Answers the best passages within so many tokens instead of whole pages. */
  readonly passageTokens?: number | undefined;
  readonly favicons: boolean;
  /** Makes an address for a picture of a page. */
  readonly keepPicture: (
    png: Uint8Array,
    shown: { readonly urls: readonly string[]; readonly staleAt?: number | undefined },
  ) => Promise<string>;
}

export interface Answer {
  readonly results: readonly Result[];
  readonly tokens: number;
  /** Who answered; `reader` is the server's own index. */
  readonly providers: readonly string[];
  /** What the caller should know of the answer as a whole. */
  readonly notice?: string | undefined;
}

/** Throws ParamValidationError, AssertionFailureError (nothing found, nobody to ask), DownstreamServiceError, or the signal's reason. */
export interface Search {
  /** Better and better answers; at least one. */
  each(request: SearchRequest): AsyncGenerator<Answer>;
  last(request: SearchRequest): Promise<Answer>;
  /** Names that callers may give for a provider. */
  readonly providers: readonly string[];
  close(): void;
}

export interface SearchParts {
  readonly lists: Lists;
  readonly reader: Reader;
  readonly passages: PassageTools;
  readonly favicons?: Favicons | undefined;
  readonly close: () => void;
}

/** Reading gets what the search has left over, and at least this. */
const LEAST_READING_MS = 2_000;
/** A search that comes to nothing is waited for so much longer than its time. */
const GRACE_MS = 2_000;

const OWN_ONLY = 'No search provider is configured on this server: these are pages that it has read.';
const OWN_INSTEAD = 'The search providers found nothing in time: these are pages that this server has read.';

const keptList = (keptAt: number): string =>
  `The search providers did not answer: this list was kept at ${new Date(keptAt).toISOString()}.`;

const NOTHING: Found = { hits: [], providers: [] };

interface Listed extends Found {
  readonly notice?: string | undefined;
}

export function createSearch({ lists, reader, passages, favicons, close }: SearchParts): Search {
  async function hitsOf(request: SearchRequest): Promise<Listed> {
    const { query, provider, fallback, budgetMs, signal, options, account } = request;
    const grace = AbortSignal.timeout(budgetMs + GRACE_MS);
    const ends = AbortSignal.any([signal, grace]);
    const { noCache, doNotTrack, zeroDataRetention } = options;
    const noTrace = doNotTrack || Boolean(zeroDataRetention);
    const finding = lists.find(query, { provider, noCache, noTrace, account, signal: ends }).catch((error: unknown) => {
      throw grace.aborted && !signal.aborted ? problem('AssertionFailureError', { message: TOO_LATE }) : error;
    });
    const notice = lists.ownOnly && provider === undefined ? OWN_ONLY : undefined;
    const noticed = (list: Found): Listed => ({
      ...list,
      notice: list.staleAt === undefined ? notice : keptList(list.staleAt),
    });
    const instead = async (): Promise<Listed | undefined> => {
      // The providers' failure is the one to tell.
      const own = await lists.own(query, { account, signal: ends }).catch((error: unknown) => {
        if (ends.aborted) throw error;
        return NOTHING;
      });
      return own.hits.length ? { ...own, notice: OWN_INSTEAD } : undefined;
    };
    let found: Listed | undefined;
    try {
      found = noticed(await within(budgetMs, finding));
    } catch (error) {
      finding.catch(() => {});
      if (error instanceof DeadlineExceededError) found = (await instead()) ?? noticed(await finding);
      else if (fallback && asProblem(error).code >= 500) found = await instead();
      if (!found) throw error;
    }
    if (!found.hits.length && fallback) found = (await instead()) ?? found;
    if (!found.hits.length) throw nothingFound(found);
    return found;
  }

  /** Every answer on the way with `streaming`, else only the last. */
  async function* answers(request: SearchRequest, streaming: boolean): AsyncGenerator<Answer> {
    const startedAt = performance.now();
    const listed = await traceStep('search', request.trace, () => hitsOf(request));
    if (listed.hits.length) request.trace?.count('pages', listed.hits.length);
    const { hits } = listed;
    const budgetMs = Math.max(LEAST_READING_MS, request.budgetMs - (performance.now() - startedAt));
    // Tokens are counted here only of what the reader did not count.
    await loadTokens();
    const work = { ...request, keepPicture: once(request.keepPicture) };
    let last: readonly Entry[] = hits.map((hit) => ({ hit, state: 'unasked' }));
    if (request.reads) {
      let shown: readonly Entry[] | undefined;
      for await (const entries of readPages(hits, { ...request, budgetMs }, reader)) {
        // One behind, since the last one is completed below.
        if (shown && streaming) yield await answerOf(shown, listed, work);
        shown = entries;
      }
      last = shown!;
    }
    if (request.favicons && favicons) {
      const leftMs = Math.max(LEAST_READING_MS, request.budgetMs - (performance.now() - startedAt));
      const icons = await favicons.of(last, { signal: request.signal, budgetMs: leftMs });
      last = last.map((entry) => ({ ...entry, favicon: icons.get(new URL(entry.hit.url).origin) ?? '' }));
    }
    if (request.passageTokens !== undefined) {
      last = await withPassages(
        last,
        { query: request.query, mostTokens: request.passageTokens, signal: request.signal },
        passages,
      );
    }
    yield await answerOf(last, listed, work);
  }

  return {
    providers: lists.names,
    each: (request) => answers(request, true),
    async last(request) {
      let latest: Answer | undefined;
      for await (const answer of answers(request, false)) latest = answer;
      return latest!;
    },
    close,
  };
}

const TOO_LATE = 'The search did not come to an end in time';

function nothingFound({ notice, providers }: Listed) {
  const where =
    notice === OWN_ONLY || providers.join() === 'reader' ? ' among the pages that this server has read' : '';
  const hint = notice === OWN_ONLY ? '; no search provider is configured' : '';
  return problem('AssertionFailureError', { message: `Nothing was found for this query${where}${hint}` });
}

async function answerOf(
  entries: readonly Entry[],
  { providers, notice }: Listed,
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
  return { results, tokens: charge.tokens, providers, notice };
}

/** A picture is kept once, however many answers show it. */
function once(keep: SearchRequest['keepPicture']): SearchRequest['keepPicture'] {
  const kept = new WeakMap<Uint8Array, Promise<string>>();
  return (png, shown) => {
    const address = kept.get(png) ?? keep(png, shown);
    kept.set(png, address);
    return address;
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
