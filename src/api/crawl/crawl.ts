/** The endpoints of crawls: start, list, show, follow and cancel crawls, and get their pages. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccessRule, Caller } from '#accounts/index.ts';
import { type CrawlJob, type CrawlModule, type CrawlResult, type FollowEvent, viewOf } from '#crawl/index.ts';
import { asProblem, problem } from '#errors.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import { successKind } from '#http/negotiate.ts';
import type { Face } from '#http/server.ts';
import { eventText, sendEvents } from '#http/sse.ts';
import type { AccessHooks } from '../access-hooks.ts';
import { refuseCrossSite } from '../cross-site.ts';
import { errorEvent } from '../envelopes/reader.ts';
import { orUnavailable } from '../unavailable.ts';
import { type CrawlRules, readCrawl } from './request.ts';

export interface CrawlEndpointOptions extends CrawlRules {
  readonly crawls: CrawlModule;
  readonly accessHooks: AccessHooks;
  /**
   * Whether to refuse keyless requests from web pages of other sites, because this server may read private networks.
   */
  readonly refusesCrossSite: boolean;
  /** Host names of this server, besides IP addresses and localhost. */
  readonly ownNames: readonly string[];
}

export const CRAWL_PATHS: readonly string[] = ['/crawl', '/crawls', '/crawl/'];

export interface CrawlOwner {
  readonly owner: string;
  readonly account: string | null;
}

export const ownerOf = (caller: Caller): CrawlOwner =>
  caller.kind === 'key' ? { owner: caller.key.id, account: caller.account.id } : { owner: '', account: null };

const ACCESS: AccessRule = { face: 'reader', endpoint: 'reader', authorization: 'any key', keyless: 'refused' };
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export function crawlRoutes(face: Face, deps: CrawlEndpointOptions): void {
  const { crawls, accessHooks } = deps;
  const onRequest = accessHooks.hook(ACCESS, 'plain');

  /**
   * The key that owns a crawl and the account that it is charged to. If no keys are required, all callers share all
   * crawls.
   */
  function callerOf(request: FastifyRequest): CrawlOwner {
    const { caller } = accessHooks.admissionOf(request);
    if (caller.kind !== 'key' && deps.refusesCrossSite) refuseCrossSite(request, deps.ownNames);
    return ownerOf(caller);
  }

  /** The crawl in the path, if it belongs to the caller. Otherwise it is reported as not found. */
  async function ownJob(request: FastifyRequest): Promise<CrawlJob> {
    const { owner } = callerOf(request);
    const { id } = request.params as { id: string };
    const job = await orUnavailable(crawls.find(id));
    if (job?.owner === owner) return job;
    throw problem('ResourceNotFoundError', { message: `crawl ${id.slice(0, MAX_ID)} not found or access denied` });
  }

  face.post('/crawl', { onRequest }, async (request, reply) => {
    const caller = callerOf(request);
    const { asked, options } = readCrawl(request, accessHooks.admissionOf(request), deps);
    request.body = undefined;
    const isStream = successKind(request.headers.accept) === 'stream';
    const job = await orUnavailable(crawls.submit({ given: asked, options, ...caller }));
    reply.header('location', `/crawl/${job.id}`);
    if (!isStream) return sendJson(reply.code(202), viewOf(job));
    const signal = disconnectSignal(reply);
    if (asked.cancelOnClose) {
      const abandon = () => void crawls.abandon(job).catch((error: unknown) => request.log.warn({ err: error }));
      if (signal.aborted) abandon();
      else signal.addEventListener('abort', abandon, { once: true });
    }
    return sendFollowed(reply, crawls.follow(job, 0, signal));
  });

  face.get('/crawls', { onRequest }, async (request, reply) => {
    const { owner } = callerOf(request);
    const jobs = await orUnavailable(
      crawls.list(owner, integerParameter(request, 'limit', { min: 1, max: MAX_LIMIT }) ?? DEFAULT_LIMIT),
    );
    return sendJson(reply, jobs.map(viewOf));
  });

  face.get('/crawl/:id', { onRequest }, async (request, reply) => sendJson(reply, viewOf(await ownJob(request))));

  face.delete('/crawl/:id', { onRequest }, async (request, reply) =>
    sendJson(reply, viewOf(await orUnavailable(crawls.cancel(await ownJob(request))))),
  );

  face.get('/crawl/:id/pages', { onRequest }, async (request, reply) => {
    const after =
      integerParameter(request, 'after', { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? lastEventId(request) ?? 0;
    const job = await ownJob(request);
    if (successKind(request.headers.accept) === 'stream') {
      return sendFollowed(reply, crawls.follow(job, after, disconnectSignal(reply)));
    }
    return reply
      .type('application/x-ndjson')
      .header('cache-control', 'no-store')
      .send(Readable.from(lines(crawls.results(job, { after })), { objectMode: false }));
  });

  // Other methods and subpaths must not fall through to the reader, which would treat the path as a URL to read.
  const known = { '/crawl': 'POST', '/crawls': 'GET', '/crawl/:id': 'GET', '/crawl/:id/pages': 'GET' } as const;
  for (const [url, method] of Object.entries(known)) {
    face.route({
      method: method === 'GET' ? 'POST' : 'GET',
      url,
      handler: async () => {
        throw problem('MethodNotAllowedError');
      },
    });
  }
  face.route({
    method: ['GET', 'POST'],
    url: '/crawl/*',
    handler: async () => {
      throw problem('RouteNotFoundError');
    },
  });
}

const MAX_ID = 100;

const sendJson = (reply: FastifyReply, value: unknown) =>
  reply.type('application/json; charset=utf-8').send(JSON.stringify(value));

async function* lines(outcomes: AsyncIterable<CrawlResult>): AsyncGenerator<string> {
  for await (const { body } of outcomes) yield `${body}\n`;
}

const sendFollowed = (reply: FastifyReply, events: AsyncIterable<FollowEvent>) =>
  sendEvents(reply, Readable.from(eventTexts(events), { objectMode: false }));

async function* eventTexts(events: AsyncIterable<FollowEvent>): AsyncGenerator<string> {
  try {
    for await (const event of events) yield eventTextOf(event);
  } catch (error) {
    yield eventText(errorEvent(asProblem(error)));
  }
}

/** The event id of an outcome is its sequence number, so that a client can resume with `Last-Event-ID`. */
function eventTextOf(event: FollowEvent): string {
  if (event.kind === 'result') return `id: ${event.seq}\nevent: ${event.event}\ndata: ${event.body}\n\n`;
  // An SSE comment, which keeps the connection alive.
  if (event.kind === 'quiet') return ': \n\n';
  return eventText({ event: event.kind, data: viewOf(event.job) });
}

function integerParameter(
  { query }: FastifyRequest,
  path: string,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const given = (query as Record<string, unknown>)[path];
  if (given === undefined) return undefined;
  const value = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  const message =
    Number.isNaN(value) || max > MAX_LIMIT
      ? `${path} must be a whole number of at least ${min}`
      : `${path} must be from ${min} to ${max}`;
  throw problem('ParamValidationError', { path, message, value: String(given).slice(0, MAX_ID) });
}

function lastEventId({ headers }: FastifyRequest): number | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}
