/**
 * The endpoints of the reader. Turns a request into a target and options, and writes the response: a stream contains
 * each rendition; JSON and text contain the last one.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AccessRule, type Admission, accountOf } from '#accounts/index.ts';
import { latestValues } from '#concurrency/latest-values.ts';
import { asProblem, problem } from '#errors.ts';
import { objectFromPairs, Upload } from '#http/body.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import { isKnown, sendNotModified, sendTagged } from '#http/etag.ts';
import { gather } from '#http/gather.ts';
import { type BodyKind, successKind } from '#http/negotiate.ts';
import type { Face } from '#http/server.ts';
import { type Event, eventStream, sendEvents } from '#http/sse.ts';
import {
  blobUrl,
  cleanUrl,
  decodePathTarget,
  featuresNeeded,
  type GivenOptions,
  OPTIONS,
  type Options,
  orderedPage,
  type Page,
  type PictureUrls,
  type Reader,
  type Rendition,
  readUpload,
  resolve,
  type Target,
  type UploadedFile,
} from '#reader/index.ts';
import type { Pictures } from '#storage/pictures.ts';
import type { Trace, TraceJson } from '#telemetry/trace.ts';
import type { AccessHooks } from '../access-hooks.ts';
import { refuseCrossSite } from '../cross-site.ts';
import { errorEvent, success } from '../envelopes/reader.ts';
import type { Tracing } from '../trace.ts';
import { orUnavailable } from '../unavailable.ts';
import { resolveUserAgent } from '../user-agent.ts';
import * as documentPictures from './document-pictures.ts';
import { type IndexPage, writeIndex } from './index-answer.ts';
import { originOf, PICTURES_PATH } from './picture-urls.ts';
import { isFreeWithoutBody, readTag } from './read-tag.ts';

export interface ReaderEndpointOptions {
  readonly reader: Reader;
  readonly accessHooks: AccessHooks;
  readonly tracing: Tracing;
  /**
   * Whether to refuse keyless requests from web pages of other sites, because this server may read private networks.
   */
  readonly refusesCrossSite: boolean;
  /** Host names of this server, besides IP addresses and localhost. */
  readonly ownNames: readonly string[];
  readonly pictures: Pictures;
  readonly index: IndexPage;
  /** The URL of this host as callers see it. Default: the host of each request. */
  readonly publicUrl?: string | undefined;
  /** The User-Agent of reads that do not set one. */
  readonly userAgent?: string | undefined;
  /** Whether a vision model is configured. */
  readonly describesImages: boolean;
}

/** What is needed to write the URLs of pictures. */
export type PictureOptions = Pick<ReaderEndpointOptions, 'pictures' | 'publicUrl'>;

export const READER_PATHS: readonly string[] = ['/', PICTURES_PATH];

/** Tokens reserved per read, because the cost is known only afterwards. This is enough for most pages. */
const EXPECTED_TOKENS = 20_000;
const ACCESS: AccessRule = {
  face: 'reader',
  endpoint: 'reader',
  authorization: 'any key',
  keyless: 'limited',
  expectedTokens: EXPECTED_TOKENS,
};

export function readerRoutes(face: Face, deps: ReaderEndpointOptions): void {
  const { pictures, accessHooks } = deps;
  const onRequest = accessHooks.hook(ACCESS, 'plain');

  face.route({
    method: ['GET', 'POST'],
    url: '/',
    onRequest,
    handler: (request, reply) => read(request, reply, deps, { query: queryOf(request) }),
  });
  face.route({
    method: ['GET', 'POST'],
    url: '/*',
    onRequest,
    // The router decodes the path, so the target is extracted from the undecoded request line.
    handler: (request, reply) => read(request, reply, deps, { path: decodePathTarget(request.originalUrl) }),
  });
  pictureRoute(face, pictures);
}

/** Serves temporary screenshots. */
export function pictureRoute(face: Face, pictures: Pictures): void {
  face.get<{ Params: { name: string } }>(`${PICTURES_PATH}:name`, async (request, reply) => {
    const name = request.params.name.replace(/\.(?:png|jpg|gif|webp)$/, '');
    const picture = await orUnavailable(pictures.get(name));
    if (!picture)
      throw problem('RouteNotFoundError', {
        message: 'There is no such picture; pictures expire after four hours',
      });
    showStale(reply, picture);
    reply.type(picture.mediaType).header('cache-control', 'private, max-age=14400');
    return sendTagged(request, reply, Buffer.from(picture.bytes));
  });
}

/** The parts of the request line that may name the target and options. */
interface RequestLine {
  readonly path?: string;
  readonly query?: Record<string, unknown>;
}

async function read(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ReaderEndpointOptions,
  { path, query }: RequestLine,
) {
  const admission = deps.accessHooks.admissionOf(request);
  const { caller } = admission;
  if (deps.refusesCrossSite && caller.kind !== 'key') refuseCrossSite(request, deps.ownNames);
  const body = request.body as Record<string, unknown> | undefined;
  const kind = successKind(request.headers.accept);
  const given = gather(OPTIONS, { headers: request.headers, query, body });
  // Frees the memory of the body, which would otherwise be held until the response is sent.
  request.body = undefined;
  const prepared = await prepareRead(request, deps, { given, path, kind });
  if (!prepared) return writeIndex(reply, kind, deps.index, caller);
  const { target, options } = prepared;
  const signal = disconnectSignal(reply);
  const trace = deps.tracing.start(request, reply, options.trace);
  const work = {
    target,
    options,
    signal,
    keyed: caller.kind !== 'keyless',
    account: accountOf(caller),
    trace,
    pictureUrls: documentPictures.urlsFor(request, options, deps),
  };
  if (kind === 'stream') return sendStream(reply, request, deps, work, admission);
  const rendition = await deps.reader.last(work);
  const cost = { tokens: rendition.tokens, model: options.modelFormat ?? '' };
  admission.recordCost(cost);
  reply.header('x-usage-tokens', String(rendition.tokens));
  showStale(reply, rendition);
  const { targetStatus } = rendition.page;
  if (targetStatus !== undefined) reply.header('x-target-status', String(targetStatus));
  const warning = warningHeader(rendition.page, kind, options);
  if (warning) reply.header('x-warning', warning);
  await documentPictures.store(rendition, deps);
  const page = await addScreenshotUrls(rendition, options, request, deps);
  trace?.count('tokens', rendition.tokens);
  const shown = deps.tracing.show(request, reply);
  const tag = request.method === 'POST' ? undefined : readTag(page, kind, options);
  const isFree = isFreeWithoutBody(rendition, options);
  // Browsers may keep the response, but must ask whether the page has changed.
  if (tag !== undefined) reply.header('etag', tag).header('cache-control', 'private, no-cache');
  if (tag !== undefined && isKnown(request.headers['if-none-match'], tag)) {
    if (isFree) admission.recordCost({ ...cost, tokens: 0 });
    reply.header('x-usage-tokens', isFree ? '0' : String(rendition.tokens));
    return sendNotModified(reply);
  }
  if (isFree && request.method === 'HEAD') admission.recordCost({ ...cost, tokens: 0 });
  return kind === 'json' ? sendJson(reply, page, shown) : sendText(reply, rendition, page);
}

/** What `prepareRead` needs of the endpoint. */
export type PrepareOptions = Pick<ReaderEndpointOptions, 'accessHooks' | 'publicUrl' | 'userAgent' | 'describesImages'>;

export interface GivenRead {
  readonly given: GivenOptions;
  /** The target in the request line. */
  readonly path?: string | undefined;
  /** The kind of response that will be written. */
  readonly kind: BodyKind;
}

/**
 * Finds the target of a read, resolves its options, and checks that the caller may use them. Returns `undefined` for a
 * GET or HEAD request without a target.
 */
export async function prepareRead(
  request: FastifyRequest,
  deps: PrepareOptions,
  { given, path, kind }: GivenRead,
): Promise<{ readonly target: Target; readonly options: Options } | undefined> {
  const admission = deps.accessHooks.admissionOf(request);
  const { caller } = admission;
  // Options are checked first, so that an invalid option is reported even if something else is wrong too.
  const asked = resolveUserAgent(withoutPreload(given, path), request, caller);
  const options = resolve({ ...(deps.userAgent && { userAgent: deps.userAgent }), ...asked }, given);
  const target = await targetOf(given, path, ownHosts(request, deps));
  if (!target) {
    const empty = TARGET_OPTIONS.find((name) => given[name] !== undefined);
    if (empty) throw problem('ParamValidationError', { path: empty, message: `${empty} is empty` });
    if (request.method !== 'POST') return undefined;
    throw problem('ParamValidationError', { path: 'url', message: 'There is nothing to read: send url, html or file' });
  }
  for (const { feature, option } of featuresNeeded(given, options, deps)) {
    // Callers without a key may name a proxy, but it is not used (docs/reference/wire/reader.md, Option values).
    if (feature !== 'proxy' || caller.kind === 'key') admission.requireFeature(feature, option);
  }
  refuseOwnUrl(target, request, deps);
  checkAnswerKind(kind, options);
  return { target, options };
}

/** Sent as a header, because not every response format can contain a warning. */
function showStale(reply: FastifyReply, { staleAt }: { readonly staleAt?: number | undefined }): void {
  if (staleAt !== undefined) reply.header('x-stale-copy', new Date(staleAt).toISOString());
}

/** Throws ParamValidationError for options that the requested kind of response cannot represent. */
function checkAnswerKind(kind: BodyKind, { singleFormat, explain, exportStorageState, modelFormat }: Options): void {
  const invalid = (path: string, message: string) => problem('ParamValidationError', { path, message });
  const needsJson = 'a JSON response: send Accept: application/json';
  if (kind === 'text' && !singleFormat) throw invalid('respondWith', `Several formats at once need ${needsJson}`);
  if (kind === 'text' && explain) throw invalid('explain', `explain needs ${needsJson}`);
  // An explanation describes the extraction, but a model format does not use the extraction.
  if (explain && modelFormat) throw invalid('explain', 'explain cannot be used with a format that a model writes');
  if (kind === 'text' && exportStorageState) {
    throw invalid('exportStorageState', `exportStorageState needs ${needsJson}`);
  }
}

const MAX_HEADER_CHARACTERS = 2_000;
/** Text formats that include the summaries of links and images. */
const LAYOUTS = ['content', 'markdown', 'frontmatter'] as const;

/** The warnings of the page, for responses that do not show them: on one line, in plain ASCII. */
function warningHeader({ warning, chunks }: Page, kind: BodyKind, options: Options): string {
  const { formats, modelFormat, withLinksSummary, withImagesSummary } = options;
  const isLayout = (modelFormat !== undefined || LAYOUTS.some((format) => formats.has(format))) && !chunks;
  const summaries = [withLinksSummary && 'withLinksSummary', withImagesSummary && 'withImagesSummary'].filter(Boolean);
  const omitted =
    kind === 'text' && !isLayout && summaries.length > 0
      ? `${summaries.join(' and ')}: only a JSON response can contain it.`
      : undefined;
  return [warning?.split('\n'), omitted]
    .flat()
    .filter(Boolean)
    .join(' | ')
    .replace(/[^\x20-\x7e]+/g, '?')
    .slice(0, MAX_HEADER_CHARACTERS);
}

const queryOf = (request: FastifyRequest): Record<string, unknown> => {
  const at = request.originalUrl.indexOf('?');
  return objectFromPairs(new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1)));
};

/**
 * If there is no URL to read, nothing is preloaded, and a warning is added (docs/reference/wire/reader.md, Option
 * values).
 */
const withoutPreload = (given: GivenOptions, path: string | undefined): GivenOptions =>
  path?.trim() || given.url ? given : { ...given, preloadUrl: undefined };

/** The options that name a target, in order of precedence. */
const TARGET_OPTIONS = ['html', 'pdf', 'file', 'url'] as const satisfies (keyof GivenOptions)[];

/** The target of a request (docs/reference/wire/reader.md, Target); `undefined` if it has none. */
async function targetOf(
  given: GivenOptions,
  path: string | undefined,
  hosts: readonly string[],
): Promise<Target | undefined> {
  const urlText = path?.trim() || given.url;
  const name = given.pdf !== undefined && sizeOf(given.pdf) > 0 ? 'pdf' : 'file';
  const upload = given[name];
  if (!given.html && upload !== undefined && sizeOf(upload) > 0) {
    const file = uploaded(upload, name);
    const fragment = given.url?.includes('#') ? given.url.slice(given.url.indexOf('#')) : '';
    return { url: blobUrl(file.bytes) + fragment, ...(await readUpload(file)) };
  }
  const url = urlText ? cleanUrl(urlText, hosts) : undefined;
  if (given.html) return { url: url ?? blobUrl(given.html), given: { text: given.html, mediaType: 'text/html' } };
  return url ? { url } : undefined;
}

type UploadOption = NonNullable<GivenOptions['file']>;

const sizeOf = (upload: UploadOption) =>
  typeof upload === 'string' ? upload.length : upload instanceof Uint8Array ? upload.byteLength : upload.data.length;

/** The bytes of an upload, with its type and name. `option` is the option that it was sent in. */
function uploaded(upload: UploadOption, option: 'file' | 'pdf'): UploadedFile {
  const defaultType = option === 'pdf' ? 'application/pdf' : undefined;
  if (upload instanceof Uint8Array) {
    const { mediaType, filename } = upload instanceof Upload ? upload : {};
    return { bytes: upload, contentType: mediaType ?? defaultType, name: filename, option };
  }
  const text = typeof upload === 'string' ? upload : upload.data;
  const { type, name } = typeof upload === 'string' ? {} : upload;
  const data = /^data:([^,]{0,200}),/.exec(text);
  const contentType = type ?? data?.[1]?.replace(/;base64$/i, '') ?? defaultType;
  const body = data ? text.slice(data[0].length) : text;
  if (data && !/;base64$/i.test(data[1]!)) return { bytes: percentDecoded(body, option), contentType, name, option };
  if (!isBase64(body)) throw undecodable(option, 'is not valid base64');
  return { bytes: Buffer.from(body, 'base64'), contentType, name, option };
}

/**
 * Looks for a character that is not allowed. An expression for the whole text would need as much stack as the text is
 * long, and overflow at some 10 MB.
 */
function isBase64(text: string): boolean {
  const digits = text.replace(/\s+/g, '').replace(/={1,2}$/, '');
  return digits !== '' && !/[^A-Za-z0-9+/_-]/.test(digits);
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

/** The hosts of this server: the host of the request, and the public one. */
function ownHosts(request: FastifyRequest, { publicUrl }: PrepareOptions): string[] {
  const hosts = [request.headers.host, publicUrl && new URL(publicUrl).host];
  return hosts.filter((host): host is string => Boolean(host));
}

/** Refuses URLs of this server, because the server would read itself in an endless loop. */
function refuseOwnUrl(target: Target, request: FastifyRequest, deps: PrepareOptions): void {
  if (target.given || target.upload) return;
  const { host } = new URL(target.url);
  if (ownHosts(request, deps).some((own) => own.toLowerCase() === host)) {
    throw problem('SecurityCompromiseError', { path: 'url', message: 'This server does not read its own pages' });
  }
}

interface ReadRequest {
  readonly target: Target;
  readonly options: Options;
  readonly signal: AbortSignal;
  readonly keyed: boolean;
  readonly account: string | undefined;
  readonly trace: Trace | undefined;
  readonly pictureUrls: PictureUrls | undefined;
}

/**
 * Streams each rendition. Waits for the first one, so that an earlier failure gets its own HTTP status. A client that
 * reads slowly skips to the newest rendition, so that the browser page is not kept open for it.
 */
async function sendStream(
  reply: FastifyReply,
  request: FastifyRequest,
  deps: ReaderEndpointOptions,
  work: ReadRequest,
  admission: Admission,
) {
  const renditions = latestValues(deps.reader.each(work));
  const first = await renditions.next();
  if (request.method === 'HEAD') {
    // The headers are known, so the rest of the read would be wasted.
    await renditions.return(undefined);
    if (!first.done && !isFreeWithoutBody(first.value, work.options)) {
      admission.recordCost({ tokens: first.value.tokens, model: work.options.modelFormat ?? '' });
    }
    return sendEvents(reply, Readable.from([]));
  }
  let tokens = 0;
  async function* events(): AsyncGenerator<Event> {
    try {
      for (let step = first; !step.done; step = await renditions.next()) {
        admission.recordCost({ tokens: step.value.tokens, model: work.options.modelFormat ?? '' });
        await documentPictures.store(step.value, deps);
        yield { event: 'data', data: await addScreenshotUrls(step.value, work.options, request, deps) };
        tokens = step.value.tokens;
      }
      work.trace?.count('tokens', tokens);
      const shown = deps.tracing.show(request, reply);
      if (shown) yield { event: 'trace', data: shown };
    } finally {
      await renditions.return(undefined);
    }
  }
  return sendEvents(
    reply,
    eventStream(events(), (error) => errorEvent(asProblem(error))),
  );
}

function sendJson(reply: FastifyReply, page: Page, trace: TraceJson | undefined) {
  const meta = { usage: page.usage, ...(trace && { trace }) };
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(success(page, meta)));
}

function sendText(reply: FastifyReply, { body, pageshot, screenshot }: Rendition, page: Page) {
  const url = page.pageshotUrl ?? page.screenshotUrl;
  if (url?.startsWith('http')) {
    return reply.code(302).header('location', url).type('text/plain; charset=utf-8').send(`${url}\n`);
  }
  if (url) return reply.type('image/png').send(Buffer.from((pageshot ?? screenshot)!));
  return reply.type('text/plain; charset=utf-8').send(body);
}

/** Adds the URLs of screenshots to a page: temporary URLs of this server, or data URLs if nothing may be stored. */
export async function addScreenshotUrls(
  rendition: Rendition,
  options: Options,
  request: FastifyRequest,
  deps: PictureOptions,
): Promise<Page> {
  const { page, screenshot, pageshot, staleAt, finalUrl = page.url } = rendition;
  if (!screenshot && !pageshot) return page;
  const urlFor = async (png: Uint8Array) =>
    options.zeroDataRetention || options.doNotTrack
      ? `data:image/png;base64,${Buffer.from(png).toString('base64')}`
      : `${originOf(request, deps)}${PICTURES_PATH}${await deps.pictures.put(png, { urls: [page.url, finalUrl], staleAt })}.png`;
  return orderedPage({
    ...page,
    ...(screenshot && { screenshotUrl: await urlFor(screenshot) }),
    ...(pageshot && { pageshotUrl: await urlFor(pageshot) }),
  });
}
