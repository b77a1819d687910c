/**
 * The reader's door: a request becomes a target and options, the reader reads, and one loop has three writers: an event
 * stream shows each rendition, JSON puts the last one in its envelope, text sends it bare.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountOf, type Entrance, type Visit } from '#accounts/index.ts';
import { newest } from '#concurrency/newest.ts';
import { asProblem, problem } from '#errors.ts';
import { objectFromPairs, Upload } from '#http/body.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import { gather } from '#http/gather.ts';
import { type BodyKind, successKind } from '#http/negotiate.ts';
import type { Face } from '#http/server.ts';
import { type Event, eventStream } from '#http/sse.ts';
import {
  blobUrl,
  cleanUrl,
  decodePathTarget,
  featuresAsked,
  type GivenOptions,
  OPTIONS,
  type Options,
  orderedPage,
  type Page,
  type Reader,
  type Rendition,
  readUpload,
  resolve,
  type Target,
  type UploadedFile,
} from '#reader/index.ts';
import type { Pictures } from '#storage/pictures.ts';
import type { ShownTrace, Trace } from '#telemetry/trace.ts';
import { refuseForeignPage } from '../cross-site.ts';
import { errorEvent, success } from '../envelopes/reader.ts';
import type { Gatekeeper } from '../gatekeeper.ts';
import type { Tracing } from '../trace.ts';
import { type Index, writeIndex } from './index-answer.ts';

export interface ReaderEndpointOptions {
  readonly reader: Reader;
  readonly gatekeeper: Gatekeeper;
  readonly tracing: Tracing;
  /** Whether private networks may be read here, so that callers without a key must not be web pages of other sites. */
  readonly guardsNetworks: boolean;
  /** Names under which a browser may know this server, beside addresses and localhost. */
  readonly ownNames: readonly string[];
  readonly pictures: Pictures;
  readonly index: Index;
  /** The address of this host as callers see it; that of the request when unset. */
  readonly publicUrl?: string | undefined;
  /** For reads that name none. */
  readonly userAgent?: string | undefined;
}

/** The folder of temporary pictures; no host name starts with a dot, so no target is shadowed. */
const PICTURES_PATH = '/.pictures/';
export const READER_PATHS: readonly string[] = ['/', PICTURES_PATH];

/** Nobody can tell what a page costs before it is read: as much as most of them cost. */
const EXPECTED_TOKENS = 20_000;
const ENTRANCE: Entrance = {
  face: 'reader',
  endpoint: 'reader',
  authorization: 'any key',
  keyless: 'limited',
  expectedTokens: EXPECTED_TOKENS,
};

export function readerRoutes(face: Face, door: ReaderEndpointOptions): void {
  const { pictures, gatekeeper } = door;
  const onRequest = gatekeeper.guard(ENTRANCE, 'plain');

  face.route({
    method: ['GET', 'POST'],
    url: '/',
    onRequest,
    handler: (request, reply) => read(request, reply, door, { query: queryOf(request) }),
  });
  face.route({
    method: ['GET', 'POST'],
    url: '/*',
    onRequest,
    // The router decodes the path, so the target is taken from the request line as it was sent.
    handler: (request, reply) => read(request, reply, door, { path: decodePathTarget(request.originalUrl) }),
  });
  face.get<{ Params: { name: string } }>(`${PICTURES_PATH}:name`, async (request, reply) => {
    const picture = await pictures.get(request.params.name.replace(/\.png$/, ''));
    if (!picture) throw problem('RouteNotFoundError', { message: 'This picture is not here, or not any more' });
    showStale(reply, picture);
    const head = reply.type('image/png').header('cache-control', 'private, max-age=14400');
    return head.send(Buffer.from(picture.png));
  });
}

interface Place {
  readonly path?: string;
  readonly query?: Record<string, unknown>;
}

async function read(request: FastifyRequest, reply: FastifyReply, door: ReaderEndpointOptions, { path, query }: Place) {
  const visit = door.gatekeeper.visitOf(request);
  const { caller } = visit;
  if (door.guardsNetworks && caller.kind !== 'key') refuseForeignPage(request, door.ownNames);
  const body = request.body as Record<string, unknown> | undefined;
  const kind = successKind(request.headers.accept);
  const given = gather(OPTIONS, { headers: request.headers, query, body });
  // What is read of it lives on; the rest would be held until the answer is out.
  request.body = undefined;
  // Before anything else, so that an option which cannot be served is named whatever comes with it.
  const options = resolve({ ...(door.userAgent && { userAgent: door.userAgent }), ...given }, given);
  const target = targetOf(given, path, ownHosts(request, door));
  if (!target) {
    const empty = CONTENT.find((name) => given[name] !== undefined);
    if (empty) throw problem('ParamValidationError', { path: empty, message: `${empty} is empty` });
    if (request.method === 'GET') return writeIndex(reply, kind, door.index, caller);
    throw problem('ParamValidationError', { path: 'url', message: 'Nothing to read was given: no url, html or file' });
  }
  for (const { feature, option } of featuresAsked(given, options)) {
    // The contract lets callers without a key name a proxy, and gives them none.
    if (feature !== 'proxy' || caller.kind === 'key') visit.allow(feature, option);
  }
  refuseOwnAddress(target, request, door);
  if (kind === 'text' && !options.singleFormat) {
    throw problem('ParamValidationError', {
      path: 'respondWith',
      message: 'Several formats at once need an answer in JSON: send Accept: application/json',
    });
  }
  if (options.explain) refuseToExplain(kind, options);
  if (options.exportStorageState && kind === 'text') {
    throw problem('ParamValidationError', {
      path: 'exportStorageState',
      message: 'A storage state needs an answer in JSON: send Accept: application/json',
    });
  }
  const signal = disconnectSignal(reply);
  const trace = door.tracing.follow(request, reply, options.trace);
  const work = { target, options, signal, keyed: caller.kind !== 'keyless', account: accountOf(caller), trace };
  if (kind === 'stream') return sendStream(reply, request, door, work, visit);
  const rendition = await door.reader.last(work);
  visit.spend({ tokens: rendition.tokens, model: options.modelFormat ?? '' });
  reply.header('x-usage-tokens', String(rendition.tokens));
  showStale(reply, rendition);
  const { targetStatus } = rendition.page;
  if (targetStatus !== undefined) reply.header('x-target-status', String(targetStatus));
  const told = warningHeader(rendition.page, kind, options);
  if (told) reply.header('x-warning', told);
  const page = await withPictures(rendition, options, request, door);
  trace?.count('tokens', rendition.tokens);
  const shown = door.tracing.show(request, reply);
  return kind === 'json' ? sendJson(reply, page, shown) : sendText(reply, rendition, page);
}

/** Not every form of an answer has a place for warnings. */
function showStale(reply: FastifyReply, { staleAt }: { readonly staleAt?: number | undefined }): void {
  if (staleAt !== undefined) reply.header('x-stale-copy', new Date(staleAt).toISOString());
}

/** An explanation stands in a page object, and tells of a page that was read here. */
function refuseToExplain(kind: BodyKind, { modelFormat }: Options): void {
  const path = 'explain';
  if (kind === 'text') {
    const message = 'An explanation needs an answer in JSON: send Accept: application/json';
    throw problem('ParamValidationError', { path, message });
  }
  if (modelFormat) {
    throw problem('ParamValidationError', { path, message: 'An answer that a model writes cannot be explained' });
  }
}

const LONGEST_HEADER = 2_000;
const LAYOUTS = ['content', 'markdown', 'frontmatter'] as const;

/** What a reader of the page should know, for text answers that have no room for it: in one line of plain ASCII. */
function warningHeader({ warning, chunks }: Page, kind: BodyKind, options: Options): string {
  const { formats, modelFormat, withLinksSummary, withImagesSummary } = options;
  const isLayout = (modelFormat !== undefined || LAYOUTS.some((format) => formats.has(format))) && !chunks;
  const left = [withLinksSummary && 'withLinksSummary', withImagesSummary && 'withImagesSummary'].filter(Boolean);
  const lost =
    kind === 'text' && !isLayout && left.length > 0
      ? `${left.join(' and ')}: there is room only in an answer in JSON.`
      : undefined;
  return [warning?.split('\n'), lost]
    .flat()
    .filter(Boolean)
    .join(' | ')
    .replace(/[^\x20-\x7e]+/g, '?')
    .slice(0, LONGEST_HEADER);
}

const queryOf = (request: FastifyRequest): Record<string, unknown> => {
  const at = request.originalUrl.indexOf('?');
  return objectFromPairs(new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1)));
};

/** What can be read, in the order in which it is looked for. */
const CONTENT = ['html', 'pdf', 'file', 'url'] as const satisfies (keyof GivenOptions)[];

/** What is read, and under which address (contract, section 2); undefined when nothing was given. */
function targetOf(given: GivenOptions, path: string | undefined, hosts: readonly string[]): Target | undefined {
  const typed = path?.trim() || given.url;
  const name = given.pdf !== undefined && sizeOf(given.pdf) > 0 ? 'pdf' : 'file';
  const upload = given[name];
  if (!given.html && upload !== undefined && sizeOf(upload) > 0) {
    const file = uploaded(upload, name);
    const fragment = given.url?.includes('#') ? given.url.slice(given.url.indexOf('#')) : '';
    return { url: blobUrl(file.bytes) + fragment, ...readUpload(file) };
  }
  const url = typed ? cleanUrl(typed, hosts) : undefined;
  if (given.html) return { url: url ?? blobUrl(given.html), given: { text: given.html, mediaType: 'text/html' } };
  return url ? { url } : undefined;
}

type UploadOption = NonNullable<GivenOptions['file']>;

const sizeOf = (upload: UploadOption) =>
  typeof upload === 'string' ? upload.length : upload instanceof Uint8Array ? upload.byteLength : upload.data.length;

/** The bytes of an upload, and the type and name that came with them. `option` is the one it came in. */
function uploaded(upload: UploadOption, option: 'file' | 'pdf'): UploadedFile {
  const standard = option === 'pdf' ? 'application/pdf' : undefined;
  if (upload instanceof Uint8Array) {
    const { mediaType, filename } = upload instanceof Upload ? upload : {};
    return { bytes: upload, contentType: mediaType ?? standard, name: filename, option };
  }
  const text = typeof upload === 'string' ? upload : upload.data;
  const { type, name } = typeof upload === 'string' ? {} : upload;
  const data = /^data:([^,]{0,200}),/.exec(text);
  const contentType = type ?? data?.[1]?.replace(/;base64$/i, '') ?? standard;
  const body = data ? text.slice(data[0].length) : text;
  if (data && !/;base64$/i.test(data[1]!)) return { bytes: percentDecoded(body, option), contentType, name, option };
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(body.replace(/\s+/g, ''))) throw undecodable(option, 'is not valid base64');
  return { bytes: Buffer.from(body, 'base64'), contentType, name, option };
}

function percentDecoded(text: string, option: string): Uint8Array {
  try {
    return Buffer.from(decodeURIComponent(text));
  } catch {
    throw undecodable(option, 'is not a valid data URL');
  }
}

const undecodable = (option: string, what: string) =>
  problem('SubmittedDataMalformedError', { path: option, message: `${option} ${what}` });

/** The host names under which this server is being asked. */
function ownHosts(request: FastifyRequest, { publicUrl }: ReaderEndpointOptions): string[] {
  const hosts = [request.headers.host, publicUrl && new URL(publicUrl).host];
  return hosts.filter((host): host is string => Boolean(host));
}

/** A page that is this server would be read in circles. */
function refuseOwnAddress(target: Target, request: FastifyRequest, door: ReaderEndpointOptions): void {
  if (target.given || target.upload) return;
  const { host } = new URL(target.url);
  if (ownHosts(request, door).some((own) => own.toLowerCase() === host)) {
    throw problem('SecurityCompromiseError', { path: 'url', message: 'This server does not read itself' });
  }
}

interface Work {
  readonly target: Target;
  readonly options: Options;
  readonly signal: AbortSignal;
  readonly keyed: boolean;
  readonly account: string | undefined;
  readonly trace: Trace | undefined;
}

/**
 * The first rendition is awaited, so that a failure before it has its own status. A client that is slow to read skips
 * to the newest one, and keeps no page open.
 */
async function sendStream(
  reply: FastifyReply,
  request: FastifyRequest,
  door: ReaderEndpointOptions,
  work: Work,
  visit: Visit,
) {
  const renditions = newest(door.reader.each(work));
  const first = await renditions.next();
  let tokens = 0;
  async function* events(): AsyncGenerator<Event> {
    try {
      for (let step = first; !step.done; step = await renditions.next()) {
        visit.spend({ tokens: step.value.tokens, model: work.options.modelFormat ?? '' });
        yield { event: 'data', data: await withPictures(step.value, work.options, request, door) };
        tokens = step.value.tokens;
      }
      work.trace?.count('tokens', tokens);
      const shown = door.tracing.show(request, reply);
      if (shown) yield { event: 'trace', data: shown };
    } finally {
      await renditions.return(undefined);
    }
  }
  return reply
    .type('text/event-stream; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('x-accel-buffering', 'no')
    .send(eventStream(events(), (error) => errorEvent(asProblem(error))));
}

function sendJson(reply: FastifyReply, page: Page, trace: ShownTrace | undefined) {
  const meta = { usage: page.usage, ...(trace && { trace }) };
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(success(page, meta)));
}

function sendText(reply: FastifyReply, { body, pageshot, screenshot }: Rendition, page: Page) {
  const address = page.pageshotUrl ?? page.screenshotUrl;
  if (address?.startsWith('http')) {
    return reply.code(302).header('location', address).type('text/plain; charset=utf-8').send(`${address}\n`);
  }
  if (address) return reply.type('image/png').send(Buffer.from((pageshot ?? screenshot)!));
  return reply.type('text/plain; charset=utf-8').send(body);
}

/** The page object with addresses for its pictures: temporary ones here, or the bytes themselves when nothing may be kept. */
async function withPictures(
  rendition: Rendition,
  options: Options,
  request: FastifyRequest,
  door: ReaderEndpointOptions,
): Promise<Page> {
  const { page, screenshot, pageshot, staleAt, finalUrl = page.url } = rendition;
  if (!screenshot && !pageshot) return page;
  const address = async (png: Uint8Array) =>
    options.zeroDataRetention || options.doNotTrack
      ? `data:image/png;base64,${Buffer.from(png).toString('base64')}`
      : `${originOf(request, door)}${PICTURES_PATH}${await door.pictures.put(png, { urls: [page.url, finalUrl], staleAt })}.png`;
  return orderedPage({
    ...page,
    ...(screenshot && { screenshotUrl: await address(screenshot) }),
    ...(pageshot && { pageshotUrl: await address(pageshot) }),
  });
}

const originOf = (request: FastifyRequest, { publicUrl }: ReaderEndpointOptions) =>
  publicUrl?.replace(/\/$/, '') ?? `${request.protocol}://${request.headers.host}`;
