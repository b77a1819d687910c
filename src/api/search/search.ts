/**
 * The endpoints of the search host. Turns a request into a query and reader options, and writes the response: a stream
 * contains each result as it grows; JSON and text contain the last one.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { type AccessRule, type Admission, accountOf } from '#accounts/index.ts';
import { latestValues } from '#concurrency/latest-values.ts';
import { asProblem, problem } from '#errors.ts';
import { objectFromPairs } from '#http/body.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import { type BodyKind, successKind } from '#http/negotiate.ts';
import type { Face } from '#http/server.ts';
import { type Event, eventStream, sendEvents } from '#http/sse.ts';
import { featuresNeeded, resolve } from '#reader/index.ts';
import {
  type Answer,
  composeText,
  formatText,
  GIVEN_OPERATORS,
  gatherSearch,
  parseQuery,
  requireText,
  resolveType,
  type Search,
  type SearchRequest,
} from '#search/index.ts';
import type { Pictures } from '#storage/pictures.ts';
import type { TraceJson } from '#telemetry/trace.ts';
import type { AccessHooks } from '../access-hooks.ts';
import { type OwnOrigins, refuseCrossSite } from '../cross-site.ts';
import { errorEvent, success } from '../envelopes/reader.ts';
import { type IndexPage, writeIndex } from '../reader/index-answer.ts';
import type { Tracing } from '../trace.ts';
import { resolveUserAgent } from '../user-agent.ts';

export interface SearchEndpointOptions {
  readonly search: Search;
  readonly accessHooks: AccessHooks;
  readonly tracing: Tracing;
  /** Callers without a key are either refused, or admitted at the rate limit of their IP address. */
  readonly keyless: 'refused' | 'limited';
  /**
   * Whether to refuse keyless requests from web pages of other sites, because this server may read private networks.
   */
  readonly refusesCrossSite: boolean;
  readonly ownNames: readonly string[];
  readonly ownPages: OwnOrigins;
  readonly pictures: Pictures;
  readonly index: IndexPage;
  /** The URL of the reader host as callers see it. That host serves the screenshots. */
  readonly readerUrl: () => string;
  /** Hosts of this server, in addition to the host of the request. Their pages are not read. */
  readonly ownHosts: () => readonly string[];
  /** The User-Agent of reads that do not set one. */
  readonly userAgent?: string | undefined;
  /** Whether a vision model is configured. */
  readonly describesImages: boolean;
}

export const SEARCH_PATHS: readonly string[] = ['/', '/search'];

/** The minimum cost of a search, in tokens. */
const EXPECTED_TOKENS = 10_000;
/** Default time limit (docs/reference/wire/search.md, Time limits). */
const DEFAULT_BUDGET_MS = 25_000;
/** Default maximum age of cached pages (docs/reference/wire/search.md, Cache). */
const PAGES_FRESH_S = 86_400;

const KEY_NEEDED =
  'An API key is required to search. Send it as Authorization: Bearer YOUR_KEY. The operator creates keys with `lectern keys mint`';

export function searchRoutes(face: Face, deps: SearchEndpointOptions): void {
  const access: AccessRule = {
    face: 'search',
    endpoint: 'search',
    authorization: 'any key',
    keyless: deps.keyless,
    expectedTokens: EXPECTED_TOKENS,
  };
  const onRequest = deps.accessHooks.hook(access, 'plain');
  const method = ['GET', 'POST'];
  face.route({
    method,
    url: '/',
    onRequest: unlessIndex(onRequest, deps),
    handler: (request, reply) => search(request, reply, deps, 'optional'),
  });
  face.route({
    method,
    url: '/search',
    onRequest,
    handler: (request, reply) => search(request, reply, deps, 'required'),
  });
  face.route({
    method,
    url: '/*',
    onRequest,
    // The router decodes the path, so the query is extracted from the undecoded request line.
    handler: (request, reply) => search(request, reply, deps, { url: request.originalUrl }),
  });
}

/** A request with neither key nor query gets the usage text of this host. All others need a key. */
const unlessIndex = (
  guard: onRequestAsyncHookHandler,
  { keyless, index }: SearchEndpointOptions,
): onRequestAsyncHookHandler =>
  async function (this: Face, request, reply) {
    const { authorization } = request.headers;
    if (keyless === 'limited' || authorization || hasBody(request) || hasQuery(request)) {
      return guard.call(this as never, request, reply);
    }
    const kind = successKind(request.headers.accept);
    return writeIndex(reply, kind, { ...index, note: KEY_NEEDED }, { kind: 'keyless' });
  };

const hasBody = ({ headers }: FastifyRequest) =>
  (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined;

function hasQuery(request: FastifyRequest): boolean {
  const { q } = queryOf(request);
  return typeof q === 'string' ? q.trim() !== '' : q !== undefined;
}

/** Whether the query is optional or required, or the request line whose path contains it. */
type QuerySource = 'optional' | 'required' | { readonly url: string };

async function search(request: FastifyRequest, reply: FastifyReply, deps: SearchEndpointOptions, source: QuerySource) {
  const admission = deps.accessHooks.admissionOf(request);
  const { caller } = admission;
  if (deps.refusesCrossSite && caller.kind !== 'key') refuseCrossSite(request, deps.ownNames, deps.ownPages);
  const kind = successKind(request.headers.accept);
  const query = queryOf(request);
  const body = (request.body ?? {}) as Record<string, unknown>;
  request.body = undefined;
  const work = prepareSearch(request, reply, deps, { headers: request.headers, query, body, kind, source });
  if (!work) return writeIndex(reply, kind, deps.index, caller);
  if (kind === 'stream') return sendStream(reply, request, deps, work, admission);
  const answer = await deps.search.last(work);
  admission.recordCost({ tokens: answer.tokens, model: work.options.modelFormat ?? '' });
  showSources(reply, answer);
  reply.header('x-usage-tokens', String(answer.tokens));
  work.trace?.count('tokens', answer.tokens);
  const shown = deps.tracing.show(request, reply);
  return kind === 'json' ? sendJson(reply, answer, shown) : sendText(reply, answer);
}

/** What `prepareSearch` needs of the endpoint. */
export type PrepareSearchOptions = Pick<
  SearchEndpointOptions,
  'accessHooks' | 'tracing' | 'userAgent' | 'describesImages' | 'ownHosts' | 'readerUrl' | 'pictures'
>;

/** The parameters of a search, as they were sent. */
export interface GivenSearch {
  readonly headers: FastifyRequest['headers'];
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown>;
  /** The kind of response that will be written. */
  readonly kind: BodyKind;
  readonly source: QuerySource;
}

/**
 * Parses the parameters of a search and checks that the caller may use them. Returns `undefined` if the query is
 * optional and missing.
 */
export function prepareSearch(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PrepareSearchOptions,
  { headers, query, body, kind, source }: GivenSearch,
): SearchRequest | undefined {
  const admission = deps.accessHooks.admissionOf(request);
  const { caller } = admission;
  const { given, count, reading, noContent } = gatherSearch({ headers, query, body });
  const q = given.q?.trim() || (typeof source === 'object' ? decodeQuery(source.url) : '');
  if (source === 'optional' && !q) return undefined;
  const words = requireText(q);
  const operators = Object.fromEntries(GIVEN_OPERATORS.map((name) => [name, given[name] ?? []]));
  const { timeout, ...pages } = reading;
  const options = resolve(
    {
      ...(deps.userAgent && { userAgent: deps.userAgent }),
      ...resolveUserAgent(pages, request, caller),
      respondTiming: pages.respondTiming ?? 'visible-content',
      ...(kind === 'text' && { explain: false }),
    },
    pages,
  );
  for (const { feature, option } of featuresNeeded(reading, options, deps)) {
    if (feature !== 'proxy' || caller.kind === 'key') admission.requireFeature(feature, option);
  }
  const { kind: resultKind, group } = resolveType(given.type ?? 'web');
  const signal = disconnectSignal(reply);
  const trace = deps.tracing.start(request, reply, options.trace);
  return {
    trace,
    query: parseQuery(composeText(words, operators), {
      kind: resultKind,
      count,
      page: given.page ?? 1,
      country: given.gl,
      language: given.hl,
      location: given.location || undefined,
      noCorrection: given.nfpr ?? false,
      since: given.since,
      until: given.until,
    }),
    provider: given.provider || given.engine || undefined,
    sources: given.sources,
    group,
    fallback: given.fallback ?? false,
    reads: !noContent && count > 0,
    options,
    pagesFreshMs: PAGES_FRESH_S * 1_000,
    keyed: caller.kind !== 'keyless',
    account: accountOf(caller),
    budgetMs: typeof timeout === 'number' ? timeout * 1_000 : DEFAULT_BUDGET_MS,
    signal,
    ownHosts: [request.headers.host ?? '', ...deps.ownHosts()].map((host) => host.toLowerCase()),
    passageTokens: given.passages,
    favicons: (given.withFavicons ?? false) && kind !== 'stream',
    keepPicture: async (png, shown) =>
      options.zeroDataRetention || options.doNotTrack
        ? `data:image/png;base64,${Buffer.from(png).toString('base64')}`
        : `${deps.readerUrl()}/.pictures/${await deps.pictures.put(png, shown)}.png`,
  };
}

/** The parameters of the request line. They are never part of the query text. */
const queryOf = (request: FastifyRequest): Record<string, unknown> => {
  const at = request.originalUrl.indexOf('?');
  return objectFromPairs(new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1)));
};

/** The query in the path: everything after the first slash and before the parameters, percent-decoded once. */
function decodeQuery(url: string): string {
  const at = url.indexOf('?');
  try {
    return decodeURIComponent((at < 0 ? url : url.slice(0, at)).replace(/^\//, ''));
  } catch {
    throw problem('ParamValidationError', {
      path: 'q',
      message: 'The query in the path is not valid percent-encoding',
    });
  }
}

/** Sets the headers that name the providers, and a notice if a requested provider was replaced. */
function showSources(reply: FastifyReply, { providers, notice }: Answer): void {
  reply.header('x-search-provider', providers.join(', '));
  if (notice) reply.header('x-search-notice', notice.replaceAll('\n', ' '));
}

/**
 * Streams each result as it grows. Waits for the first one, so that an earlier failure gets its own HTTP status. A
 * client that reads slowly skips to the newest result.
 */
async function sendStream(
  reply: FastifyReply,
  request: FastifyRequest,
  deps: SearchEndpointOptions,
  work: SearchRequest,
  admission: Admission,
) {
  const answers = latestValues(deps.search.each(work));
  const first = await answers.next();
  if (!first.done) showSources(reply, first.value);
  if (request.method === 'HEAD') {
    // The headers are known, so the rest of the search would be wasted.
    await answers.return(undefined);
    if (!first.done) admission.recordCost({ tokens: first.value.tokens, model: work.options.modelFormat ?? '' });
    return sendEvents(reply, Readable.from([]));
  }
  let tokens = 0;
  async function* events(): AsyncGenerator<Event> {
    try {
      for (let step = first; !step.done; step = await answers.next()) {
        admission.recordCost({ tokens: step.value.tokens, model: work.options.modelFormat ?? '' });
        yield { event: 'data', data: step.value.results };
        tokens = step.value.tokens;
      }
      work.trace?.count('tokens', tokens);
      const shown = deps.tracing.show(request, reply);
      if (shown) yield { event: 'trace', data: shown };
    } finally {
      await answers.return(undefined);
    }
  }
  return sendEvents(
    reply,
    eventStream(events(), (error) => errorEvent(asProblem(error))),
  );
}

function sendJson(reply: FastifyReply, { results, tokens, notice }: Answer, trace: TraceJson | undefined) {
  const meta = { usage: { tokens }, ...(notice && { notice }), ...(trace && { trace }) };
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(success(results, meta)));
}

const sendText = (reply: FastifyReply, { results, leftOut }: Answer) =>
  reply.type('text/plain; charset=utf-8').send(formatText(results, leftOut));
