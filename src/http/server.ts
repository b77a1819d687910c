/**
 * Speaking HTTP for any face: a Fastify instance that knows no endpoint. Request ids, body kinds, CORS, compression,
 * limits and the log line are here; a door adds its routes and says how its errors are written.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { constants } from 'node:zlib';
import cors from '@fastify/cors';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { asProblem, Problem, problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import { registerBodies } from './body.ts';

/** How a face writes a failure. */
export type ErrorWriter = (failure: Problem, request: FastifyRequest, reply: FastifyReply) => unknown;

export interface ServerOptions {
  readonly name: string;
  readonly log: Log;
  readonly maxBodyBytes: number;
  readonly writeError: ErrorWriter;
  /** Paths that are routes of this face; every other path is rewritten to `/*` and read from `originalUrl`. */
  readonly paths?: ReadonlySet<string>;
  /** Where file parts of forms go while they are read. */
  readonly temporaryDir: string;
  /**
   * For a face that only programs call: request ids of our own in 32 hex digits, any origin without
   * credentials, preflights answered 204, a slash at the end of a path ignored, answers not compressed (numbers hardly
   * shrink), and every address that is no route is unknown, whatever the method.
   */
  readonly servesPrograms?: boolean;
  /** The body of an answer to what is no HTTP request, so that there is nothing to write it by. */
  readonly malformedBody: (failure: Problem) => object;
  /** Addresses and networks of proxies whose word on the caller's address is believed. */
  readonly trustedProxies?: readonly string[];
  readonly observe?: RequestObserver | undefined;
  /** For a face that only this process calls: answers are not compressed. */
  readonly isInside?: boolean;
}

/** Who counts requests, or follows them. Members are called at once and must not throw. */
export interface RequestObserver {
  /** A request is over: `status` is 499 when the client had gone before its answer was out (nginx's convention). */
  ended?(facts: EndedRequest): void;
  /** A failure is about to be written. */
  failed?(failure: Problem, request: FastifyRequest, reply: FastifyReply): void;
}

export interface EndedRequest {
  readonly face: string;
  /** The pattern of the route; undefined for an address that is none. */
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export type Face = FastifyInstance<Server>;

/** Long targets stand in the request line. */
export const MAX_HEADER_BYTES = 64 * 1024;
/** How long a client may take to send its request; the answer may take longer. */
const REQUEST_MS = 300_000;
/** A connection on which nothing moves for so long is cut: longer than any read may take. */
const SILENT_MS = 300_000;
const CORS_SECONDS = 25_200;
const REQUEST_ID = 'x-request-id';
const CLIENT_GONE = 499;
/** Of an address, in a failure. */
const MOST_SHOWN = 200;
/** What programs in a page may see of an answer's head. */
const EXPOSED_HEADERS = [
  'X-Usage-Tokens',
  'X-Target-Status',
  'X-Warning',
  'X-Request-Id',
  'X-Search-Provider',
  'X-Search-Notice',
  'X-Stale-Copy',
  'Retry-After',
  'Server-Timing',
  ...['', '-Requests', '-Tokens'].flatMap((kind) =>
    ['Limit', 'Remaining', 'Reset'].map((what) => `X-RateLimit-${what}${kind}`),
  ),
];

export async function createServer(options: ServerOptions): Promise<Face> {
  const { name, log, writeError, paths, maxBodyBytes, trustedProxies = [], servesPrograms = false, observe } = options;

  function begin(request: FastifyRequest, reply: FastifyReply): void {
    closeWithConnection(request.raw.socket, reply.raw);
    reply.header(REQUEST_ID, request.id);
    // What a caller sees of a page must never be run by the caller's own browser.
    reply.header('x-content-type-options', 'nosniff');
    if (request.headers.origin) reply.header('access-control-max-age', String(CORS_SECONDS));
    if (!observe?.ended) return;
    const beganAt = performance.now();
    // Not the hook of the framework, which tells nothing of clients that left.
    reply.raw.once('close', () => {
      const status = reply.raw.writableFinished ? reply.statusCode : CLIENT_GONE;
      const route = request.is404 ? undefined : request.routeOptions.url;
      observe.ended?.({ face: name, route, status, ms: performance.now() - beganAt, request, reply });
    });
  }

  const face: Face = Fastify({
    loggerInstance: log.child({ face: name }) as never,
    schemaController: { compilersFactory: NO_SCHEMAS },
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    bodyLimit: maxBodyBytes,
    requestIdHeader: false,
    trustProxy: trustedProxies.length ? [...trustedProxies] : false,
    genReqId: servesPrograms ? ownRequestId : requestId,
    requestTimeout: REQUEST_MS,
    connectionTimeout: SILENT_MS,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES, ignoreTrailingSlash: servesPrograms },
    ...(paths && { rewriteUrl: (request: IncomingMessage) => knownPath(request.url ?? '/', paths) }),
    // Addresses that no route could be found by pass no hook.
    frameworkErrors: (error, framed, replied) => {
      const [request, reply] = [framed as FastifyRequest, replied as FastifyReply];
      const failure = asHttpProblem(error);
      begin(request, reply);
      observe?.failed?.(failure, request, reply);
      writeError(failure, request, reply);
    },
    clientErrorHandler: malformedRefuser(options.malformedBody),
  }) as never;

  await face.register(cors, {
    ...(servesPrograms
      ? { origin: '*' }
      : { origin: (origin, done) => done(null, origin || false), credentials: true }),
    maxAge: CORS_SECONDS,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    optionsSuccessStatus: servesPrograms ? 204 : 200,
    strictPreflight: false,
    exposedHeaders: EXPOSED_HEADERS,
  });
  if (!options.isInside) await registerCompression(face, !servesPrograms);
  await registerBodies(face, options);

  face.addHook('onRequest', async (request, reply) => {
    begin(request, reply);
    // Before the body is read: whatever it is, there is nobody to take it. Preflights are answered by then.
    if (request.is404 && request.method !== 'OPTIONS') throw unrouted(request);
  });
  face.addHook('onResponse', async (request, reply) => {
    readToEnd(request.raw);
    const { method } = request;
    // Addresses and options are the caller's affair: the line names the route only.
    request.log.info({
      method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    });
  });
  face.setErrorHandler((error, request, reply) => {
    const failure = asHttpProblem(error);
    // Where the time went is not where it was over: a stack would tell nothing.
    if (failure.code === 504) request.log.warn({ route: request.routeOptions.url }, failure.readableMessage);
    else if (failure.code >= 500 && failure.code !== 503) request.log.error({ err: failure.cause ?? failure });
    // A client that left is answered nothing.
    if (!reply.raw.destroyed) observe?.failed?.(failure, request, reply);
    return writeError(failure, request, reply);
  });
  // Only OPTIONS without an origin comes here, which asks what is allowed.
  face.setNotFoundHandler((_, reply) =>
    reply
      .code(servesPrograms ? 204 : 200)
      .header('allow', 'GET, POST, OPTIONS')
      .send(),
  );

  function unrouted({ method, originalUrl }: FastifyRequest): Problem {
    if (!servesPrograms && !['GET', 'POST'].includes(method)) return problem('MethodNotAllowedError');
    const [path = ''] = originalUrl.split('?', 1);
    const message = `route ${method} ${path.slice(0, MOST_SHOWN)} not found or access denied`;
    return problem('RouteNotFoundError', servesPrograms ? { message } : {});
  }
  return face;
}

async function registerCompression(face: Face, global: boolean): Promise<void> {
  const { default: compress } = await import('@fastify/compress');
  // Every chunk is flushed, or events would wait in the compressor for more.
  await face.register(compress, {
    global,
    globalDecompression: false,
    encodings: ['br', 'gzip', 'deflate'],
    brotliOptions: { flush: constants.BROTLI_OPERATION_FLUSH, params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
    zlibOptions: { flush: constants.Z_SYNC_FLUSH, level: 6 },
    customTypes: /^(text\/|application\/json)/,
  });
}

/** Routes have no schemas of the framework's kind (the tables check), whose compilers are slow to load. */
const NO_SCHEMAS = { buildValidator: noSchema, buildSerializer: noSchema };

function noSchema(): never {
  throw new Error('a route has a schema: what comes in is checked by the tables');
}

/** A body that was refused on its way is read to its end, or the next request on the connection would never be seen. */
function readToEnd(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  request.unpipe();
  request.resume();
}

const waiting = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Node tells only the answer that is being written that its connection closed. Those that wait behind it (pipelining, RFC
 * 9112 section 9.3.2) would never end, nor what was taken for them be given back.
 */
function closeWithConnection(socket: Socket, response: ServerResponse): void {
  if (response.socket) return;
  let answers = waiting.get(socket);
  if (!answers) {
    const made = new Set<ServerResponse>();
    answers = made;
    waiting.set(socket, made);
    socket.once('close', () => {
      for (const answer of made) if (!answer.socket && !answer.closed) answer.destroy().emit('close');
    });
  }
  answers.add(response);
  response.once('close', () => answers.delete(response));
}

/** A caller's own id is kept when it is harmless, so that logs on both sides can be laid together. */
function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers[REQUEST_ID];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

const ownRequestId = () => randomUUID().replaceAll('-', '');

/**
 * The router decodes paths and refuses what it cannot decode, but a target must be read as it was sent. So every path
 * that is no route goes to one route, and the door reads the original.
 */
function knownPath(url: string, paths: ReadonlySet<string>): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  if (paths.has(path)) return url;
  for (const known of paths) if (known.endsWith('/') && known !== '/' && path.startsWith(known)) return url;
  return '/*';
}

/** Failures of the framework itself, as rows of our table. */
function asHttpProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const { code: raw, statusCode, message } = error as { code?: unknown; statusCode?: number; message?: string };
  const code = typeof raw === 'string' ? raw : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE' || statusCode === 413) return problem('RequestPayloadTooLargeError');
  if (code?.startsWith('FST_') && statusCode === 415) {
    return problem('ParamValidationError', {
      path: 'body',
      message: 'The body must be application/json, application/x-www-form-urlencoded or multipart/form-data',
    });
  }
  if (code === 'FST_ERR_BAD_URL') {
    return problem('ParamValidationError', { path: 'url', message: 'The address cannot be decoded' });
  }
  if (code?.startsWith('FST_') && statusCode === 400) {
    return problem('ParamValidationError', { path: 'body', message: message ?? 'The body is not valid' });
  }
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') return problem('DataStreamBrokenError');
  return asProblem(error);
}

/** Requests that are not HTTP, or whose head is too long, never reach a route. */
function malformedRefuser(bodyOf: ServerOptions['malformedBody']) {
  return (error: NodeJS.ErrnoException, socket: NodeJS.WritableStream & { destroyed?: boolean }): void => {
    if (socket.destroyed || error.code === 'ECONNRESET') return;
    const failure = problem(
      error.code === 'HPE_HEADER_OVERFLOW' ? 'RequestHeaderFieldsTooLargeError' : 'ParamValidationError',
      error.code === 'HPE_HEADER_OVERFLOW' ? {} : { message: 'The request is not valid HTTP' },
    );
    const body = JSON.stringify(bodyOf(failure));
    socket.end(
      `HTTP/1.1 ${failure.code} ${failure.code === 431 ? 'Request Header Fields Too Large' : 'Bad Request'}\r\n` +
        `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  };
}
