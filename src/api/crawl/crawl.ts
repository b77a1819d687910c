/** Crawls of sites: started, looked at, followed, cancelled; what was read is fetched, or comes as it is read. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Entrance } from '#accounts/index.ts';
import { type CrawlJob, type CrawlModule, type FollowEvent, type Outcome, showCrawl } from '#crawl/index.ts';
import { asProblem, problem } from '#errors.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import { successKind } from '#http/negotiate.ts';
import type { Face } from '#http/server.ts';
import { eventText } from '#http/sse.ts';
import { away } from '../batch/unavailable.ts';
import { refuseForeignPage } from '../cross-site.ts';
import { errorEvent } from '../envelopes/reader.ts';
import type { Gatekeeper } from '../gatekeeper.ts';
import { type CrawlRules, readCrawl } from './request.ts';

export interface CrawlEndpointOptions extends CrawlRules {
  readonly room: CrawlModule;
  readonly gatekeeper: Gatekeeper;
  /** Whether private networks may be read here, so that callers without a key must not be web pages of other sites. */
  readonly guardsNetworks: boolean;
  /** Names under which a browser may know this server, beside addresses and localhost. */
  readonly ownNames: readonly string[];
}

export const CRAWL_PATHS: readonly string[] = ['/crawl', '/crawls', '/crawl/'];

const ENTRANCE: Entrance = { face: 'reader', endpoint: 'reader', authorization: 'any key', keyless: 'refused' };
const STANDARD_LIMIT = 20;
const MAX_LIMIT = 100;

export function crawlRoutes(face: Face, door: CrawlEndpointOptions): void {
  const { room, gatekeeper } = door;
  const onRequest = gatekeeper.guard(ENTRANCE, 'plain');

  /** Whose a crawl is, and who pays. Where nobody needs a key all crawls are everybody's. */
  function callerOf(request: FastifyRequest): { readonly owner: string; readonly account: string | null } {
    const { caller }: { caller: Caller } = gatekeeper.visitOf(request);
    if (caller.kind === 'key') return { owner: caller.key.id, account: caller.account.id };
    if (door.guardsNetworks) refuseForeignPage(request, door.ownNames);
    return { owner: '', account: null };
  }

  /** The caller's own crawl: another's is answered like one that is not there. */
  async function ownJob(request: FastifyRequest): Promise<CrawlJob> {
    const { owner } = callerOf(request);
    const { id } = request.params as { id: string };
    const job = await away(room.find(id));
    if (job?.owner === owner) return job;
    throw problem('ResourceNotFoundError', { message: `crawl ${id.slice(0, MAX_ID)} not found or access denied` });
  }

  face.post('/crawl', { onRequest }, async (request, reply) => {
    const caller = callerOf(request);
    const { asked, options } = readCrawl(request, gatekeeper.visitOf(request), door);
    request.body = undefined;
    const isStream = successKind(request.headers.accept) === 'stream';
    const job = await away(room.submit({ asked, options, ...caller }));
    reply.header('location', `/crawl/${job.id}`);
    if (!isStream) return sendJson(reply.code(202), showCrawl(job));
    const signal = disconnectSignal(reply);
    if (asked.cancelOnClose) {
      const abandon = () => void room.abandon(job).catch((error: unknown) => request.log.warn({ err: error }));
      if (signal.aborted) abandon();
      else signal.addEventListener('abort', abandon, { once: true });
    }
    return sendEvents(reply, room.follow(job, 0, signal));
  });

  face.get('/crawls', { onRequest }, async (request, reply) => {
    const { owner } = callerOf(request);
    const jobs = await away(
      room.list(owner, wholeNumber(request, 'limit', { min: 1, max: MAX_LIMIT }) ?? STANDARD_LIMIT),
    );
    return sendJson(reply, jobs.map(showCrawl));
  });

  face.get('/crawl/:id', { onRequest }, async (request, reply) => sendJson(reply, showCrawl(await ownJob(request))));

  face.delete('/crawl/:id', { onRequest }, async (request, reply) =>
    sendJson(reply, showCrawl(await away(room.cancel(await ownJob(request))))),
  );

  face.get('/crawl/:id/pages', { onRequest }, async (request, reply) => {
    const after = wholeNumber(request, 'after', { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? lastEventId(request) ?? 0;
    const job = await ownJob(request);
    if (successKind(request.headers.accept) === 'stream') {
      return sendEvents(reply, room.follow(job, after, disconnectSignal(reply)));
    }
    return reply
      .type('application/x-ndjson')
      .header('cache-control', 'no-store')
      .send(Readable.from(lines(room.outcomes(job, after)), { objectMode: false }));
  });

  // What stands under these addresses is never a page to read.
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

async function* lines(outcomes: AsyncIterable<Outcome>): AsyncGenerator<string> {
  for await (const { body } of outcomes) yield `${body}\n`;
}

const sendEvents = (reply: FastifyReply, events: AsyncIterable<FollowEvent>) =>
  reply
    .type('text/event-stream; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('x-accel-buffering', 'no')
    .send(Readable.from(texts(events), { objectMode: false }));

async function* texts(events: AsyncIterable<FollowEvent>): AsyncGenerator<string> {
  try {
    for await (const event of events) yield textOf(event);
  } catch (error) {
    yield eventText(errorEvent(asProblem(error)));
  }
}

/** An outcome has its number as the id of the event, by which a client goes on where it was (`Last-Event-ID`). */
function textOf(event: FollowEvent): string {
  if (event.kind === 'outcome') return `id: ${event.seq}\nevent: ${event.event}\ndata: ${event.body}\n\n`;
  // A comment: nothing happens, and the connection is still there.
  if (event.kind === 'quiet') return ': \n\n';
  return eventText({ event: event.kind, data: showCrawl(event.job) });
}

function wholeNumber(
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
