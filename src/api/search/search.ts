/**
 * The search host's door: a request becomes a query and reading options, the search room finds and reads, and one loop has
 * three writers: an event stream shows each answer, JSON puts the last one in its envelope, text lays it out.
 */
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { accountOf, type Entrance, type Visit } from '#accounts/index.ts';
import { newest } from '#concurrency/newest.ts';
import { asProblem, problem } from '#errors.ts';
import { objectFromPairs } from '#http/body.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import { successKind } from '#http/negotiate.ts';
import type { Face } from '#http/server.ts';
import { type Event, eventStream } from '#http/sse.ts';
import { featuresAsked, resolve } from '#reader/index.ts';
import {
  type Answer,
  composeText,
  GIVEN_OPERATORS,
  gatherSearch,
  readQuery,
  requireText,
  type Search,
  type SearchRequest,
  textOf,
} from '#search/index.ts';
import type { Pictures } from '#storage/pictures.ts';
import type { ShownTrace } from '#telemetry/trace.ts';
import { type OwnPages, refuseForeignPage } from '../cross-site.ts';
import { errorEvent, success } from '../envelopes/reader.ts';
import type { Gatekeeper } from '../gatekeeper.ts';
import { type Index, writeIndex } from '../reader/index-answer.ts';
import type { Tracing } from '../trace.ts';

export interface SearchEndpointOptions {
  readonly search: Search;
  readonly gatekeeper: Gatekeeper;
  readonly tracing: Tracing;
  /** Whether callers without a key are let in, at the rate for their address. */
  readonly keyless: 'refused' | 'limited';
  /** Whether private networks may be read here, so that callers without a key must not be web pages of other sites. */
  readonly guardsNetworks: boolean;
  readonly ownNames: readonly string[];
  readonly ownPages: OwnPages;
  readonly pictures: Pictures;
  readonly index: Index;
  /** The address of the reader's host as callers see it: pictures of pages are there. */
  readonly readerUrl: () => string;
  /** Hosts under which this server is reached, beside the one that it is asked by. */
  readonly ownHosts: () => readonly string[];
  /** For reads that name none. */
  readonly userAgent?: string | undefined;
}

export const SEARCH_PATHS: readonly string[] = ['/', '/search'];

/** What a search costs at least. */
const EXPECTED_TOKENS = 10_000;
/** Contract, section 6. */
const STANDARD_BUDGET_MS = 25_000;
/** How old copies of pages may be, when the caller does not say (contract, section 7). */
const PAGES_FRESH_S = 86_400;

const KEY_NEEDED = 'An API key is needed to search: send it as Authorization: Bearer YOUR_KEY';

export function searchRoutes(face: Face, door: SearchEndpointOptions): void {
  const entrance: Entrance = {
    face: 'search',
    endpoint: 'search',
    authorization: 'any key',
    keyless: door.keyless,
    expectedTokens: EXPECTED_TOKENS,
  };
  const onRequest = door.gatekeeper.guard(entrance, 'plain');
  const method = ['GET', 'POST'];
  face.route({
    method,
    url: '/',
    onRequest: unlessIndex(onRequest, door),
    handler: (request, reply) => search(request, reply, door, 'optional'),
  });
  face.route({
    method,
    url: '/search',
    onRequest,
    handler: (request, reply) => search(request, reply, door, 'required'),
  });
  face.route({
    method,
    url: '/*',
    onRequest,
    // The router decodes the path, so the query is taken from the request line as it was sent.
    handler: (request, reply) => search(request, reply, door, { typed: request.originalUrl }),
  });
}

/** Nobody needs a key to see how this host is used: what has neither key nor question is answered that. */
const unlessIndex = (
  guard: onRequestAsyncHookHandler,
  { keyless, index }: SearchEndpointOptions,
): onRequestAsyncHookHandler =>
  async function (this: Face, request, reply) {
    const { authorization } = request.headers;
    if (keyless === 'limited' || authorization || hasBody(request) || asksByQuery(request)) {
      return guard.call(this as never, request, reply);
    }
    const kind = successKind(request.headers.accept);
    return writeIndex(reply, kind, { ...index, note: KEY_NEEDED }, { kind: 'keyless' });
  };

const hasBody = ({ headers }: FastifyRequest) =>
  (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined;
const asksByQuery = (request: FastifyRequest) => textOfField(queryOf(request).q) !== '';

const textOfField = (value: unknown) => (typeof value === 'string' ? value.trim() : value === undefined ? '' : 'given');

type Place = 'optional' | 'required' | { readonly typed: string };

async function search(request: FastifyRequest, reply: FastifyReply, door: SearchEndpointOptions, place: Place) {
  const visit = door.gatekeeper.visitOf(request);
  const { caller } = visit;
  if (door.guardsNetworks && caller.kind !== 'key') refuseForeignPage(request, door.ownNames, door.ownPages);
  const kind = successKind(request.headers.accept);
  const query = queryOf(request);
  const body = (request.body ?? {}) as Record<string, unknown>;
  request.body = undefined;
  const { given, count, reading, noContent } = gatherSearch({ headers: request.headers, query, body });
  const q = given.q?.trim() || (typeof place === 'object' ? decoded(place.typed) : '');
  if (place === 'optional' && !q) return writeIndex(reply, kind, door.index, caller);
  const words = requireText(q);
  const operators = Object.fromEntries(GIVEN_OPERATORS.map((name) => [name, given[name] ?? []]));
  const { timeout, ...pages } = reading;
  const options = resolve(
    {
      ...(door.userAgent && { userAgent: door.userAgent }),
      ...pages,
      respondTiming: pages.respondTiming ?? 'visible-content',
      ...(kind === 'text' && { explain: false }),
    },
    pages,
  );
  for (const { feature, option } of featuresAsked(reading, options)) {
    if (feature !== 'proxy' || caller.kind === 'key') visit.allow(feature, option);
  }
  const signal = disconnectSignal(reply);
  const trace = door.tracing.follow(request, reply, options.trace);
  const work: SearchRequest = {
    trace,
    query: readQuery(composeText(words, operators), {
      kind: given.type ?? 'web',
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
    fallback: given.fallback ?? false,
    reads: !noContent && count > 0,
    options,
    pagesFreshMs: PAGES_FRESH_S * 1_000,
    keyed: caller.kind !== 'keyless',
    account: accountOf(caller),
    budgetMs: typeof timeout === 'number' ? timeout * 1_000 : STANDARD_BUDGET_MS,
    signal,
    ownHosts: [request.headers.host ?? '', ...door.ownHosts()].map((host) => host.toLowerCase()),
    passageTokens: given.passages,
    favicons: (given.withFavicons ?? false) && kind !== 'stream',
    keepPicture: async (png, shown) =>
      options.zeroDataRetention || options.doNotTrack
        ? `data:image/png;base64,${Buffer.from(png).toString('base64')}`
        : `${door.readerUrl()}/.pictures/${await door.pictures.put(png, shown)}.png`,
  };
  if (kind === 'stream') return sendStream(reply, request, door, work, visit);
  const answer = await door.search.last(work);
  visit.spend({ tokens: answer.tokens, model: options.modelFormat ?? '' });
  showSources(reply, answer);
  reply.header('x-usage-tokens', String(answer.tokens));
  trace?.count('tokens', answer.tokens);
  const shown = door.tracing.show(request, reply);
  return kind === 'json' ? sendJson(reply, answer, shown) : sendText(reply, answer);
}

/** The parameters of the request line; they are never part of the query. */
const queryOf = (request: FastifyRequest): Record<string, unknown> => {
  const at = request.originalUrl.indexOf('?');
  return objectFromPairs(new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1)));
};

/** The query in the path: everything behind the first slash up to the parameters, percent-decoded once. */
function decoded(url: string): string {
  const at = url.indexOf('?');
  try {
    return decodeURIComponent((at < 0 ? url : url.slice(0, at)).replace(/^\//, ''));
  } catch {
    throw problem('ParamValidationError', { path: 'q', message: 'The query in the path cannot be decoded' });
  }
}

/** Who answered, for callers who want to know; a notice when that was not who was meant to. */
function showSources(reply: FastifyReply, { providers, notice }: Answer): void {
  reply.header('x-search-provider', providers.join(', '));
  if (notice) reply.header('x-search-notice', notice);
}

/**
 * The first answer is awaited, so that a failure before it has its own status. A client that is slow to read skips to the
 * newest one.
 */
async function sendStream(
  reply: FastifyReply,
  request: FastifyRequest,
  door: SearchEndpointOptions,
  work: SearchRequest,
  visit: Visit,
) {
  const answers = newest(door.search.each(work));
  const first = await answers.next();
  if (!first.done) showSources(reply, first.value);
  let tokens = 0;
  async function* events(): AsyncGenerator<Event> {
    try {
      for (let step = first; !step.done; step = await answers.next()) {
        visit.spend({ tokens: step.value.tokens, model: work.options.modelFormat ?? '' });
        yield { event: 'data', data: step.value.results };
        tokens = step.value.tokens;
      }
      work.trace?.count('tokens', tokens);
      const shown = door.tracing.show(request, reply);
      if (shown) yield { event: 'trace', data: shown };
    } finally {
      await answers.return(undefined);
    }
  }
  return reply
    .type('text/event-stream; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('x-accel-buffering', 'no')
    .send(eventStream(events(), (error) => errorEvent(asProblem(error))));
}

function sendJson(reply: FastifyReply, { results, tokens, notice }: Answer, trace: ShownTrace | undefined) {
  const meta = { usage: { tokens }, ...(notice && { notice }), ...(trace && { trace }) };
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(success(results, meta)));
}

const sendText = (reply: FastifyReply, { results }: Answer) =>
  reply.type('text/plain; charset=utf-8').send(textOf(results));
