/**
 * Creates the HTTP server for an API: a Fastify instance without routes. It handles request ids, bodies, CORS,
 * compression, limits and the request log. The API adds its routes and the format of its errors.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { constants } from 'node:zlib';
import cors from '@fastify/cors';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { asProblem, Problem, problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import { oncePer } from '#telemetry/once-per.ts';
import { registerBodies } from './body.ts';

/** Writes a failure in the format of an API. */
export type ErrorWriter = (failure: Problem, request: FastifyRequest, reply: FastifyReply) => unknown;

export interface ServerOptions {
  readonly name: string;
  readonly log: Log;
  readonly maxBodyBytes: number;
  readonly writeError: ErrorWriter;
  /** Paths with a route. Every other path is rewritten to `/*`, whose handler reads `originalUrl`. */
  readonly paths?: ReadonlySet<string>;
  /** Folder for uploaded files while they are received. */
  readonly temporaryDir: string;
  /**
   * For an API that only programs call. Request ids are always generated, with 32 hex digits. CORS allows any origin
   * without credentials, and preflight requests receive 204. Trailing slashes are ignored. Responses are not
   * compressed, because vectors barely shrink. Requests for unknown paths receive 404, whatever their method.
   */
  readonly servesPrograms?: boolean;
  /**
   * For an API that answers clients of other products. JSON bodies may be arrays and may come without a Content-Type, and
   * repeated slashes in paths are ignored.
   */
  readonly takesAnyJson?: boolean;
  /** The body of the response to malformed HTTP, for which no request object exists. */
  readonly malformedBody: (failure: Problem) => object;
  /** IP addresses and networks of reverse proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies?: readonly string[];
  readonly observe?: RequestObserver | undefined;
  /** For an API that only this process calls. Responses are not compressed. */
  readonly isInside?: boolean;
}

/** Hooks for metrics and traces. They are called synchronously and must not throw. */
export interface RequestObserver {
  /** Called when a request has ended. `status` is 499 if the client disconnected early (nginx's convention). */
  ended?(facts: EndedRequest): void;
  /** Called before an error response is written. */
  failed?(failure: Problem, request: FastifyRequest, reply: FastifyReply): void;
}

export interface EndedRequest {
  readonly face: string;
  /** The pattern of the route; `undefined` for unknown paths. */
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export type Face = FastifyInstance<Server>;

/**
 * Maximum total size of the request line and headers. It is large because the reader accepts target URLs in the request
 * line.
 */
export const MAX_HEADER_BYTES = 64 * 1024;
/** Time limit for receiving a request. The response may take longer. */
const REQUEST_MS = 300_000;
/** Idle timeout of a connection, which is longer than the longest request may take. */
const IDLE_MS = 300_000;
const CORS_SECONDS = 25_200;
/** While a database is away, every request fails. Its error is logged once in this interval, in milliseconds. */
const OUTAGE_WARNING_MS = 60_000;
const REQUEST_ID = 'x-request-id';
const CLIENT_GONE = 499;
/** Maximum length of a path in an error message. */
const MAX_SHOWN_PATH = 200;
/** Response headers that scripts of other origins may read. */
const EXPOSED_HEADERS = [
  'X-Usage-Tokens',
  'X-Target-Status',
  'X-Warning',
  'X-Request-Id',
  'X-Search-Provider',
  'X-Search-Notice',
  'X-Stale-Copy',
  'X-Served-Model',
  'Retry-After',
  'Server-Timing',
  'ETag',
  'RateLimit',
  'RateLimit-Policy',
  ...['', '-Requests', '-Tokens'].flatMap((kind) =>
    ['Limit', 'Remaining', 'Reset'].map((what) => `X-RateLimit-${what}${kind}`),
  ),
];

export async function createServer(options: ServerOptions): Promise<Face> {
  const { name, log, writeError, paths, maxBodyBytes, trustedProxies = [], servesPrograms = false, observe } = options;
  const isWarningDue = oncePer(OUTAGE_WARNING_MS);

  function begin(request: FastifyRequest, reply: FastifyReply): void {
    closeWithConnection(request.raw.socket, reply.raw);
    reply.header(REQUEST_ID, request.id);
    // The caller's browser must not execute the content of a page as a script.
    reply.header('x-content-type-options', 'nosniff');
    if (request.headers.origin) reply.header('access-control-max-age', String(CORS_SECONDS));
    if (!observe?.ended) return;
    const beganAt = performance.now();
    // Fastify does not run the onResponse hook for clients that have disconnected.
    reply.raw.once('close', () => {
      const status = reply.raw.writableFinished ? reply.statusCode : CLIENT_GONE;
      const route = request.is404 ? undefined : request.routeOptions.url;
      observe.ended?.({ face: name, route, status, ms: performance.now() - beganAt, request, reply });
    });
  }

  function logFailure({ log: requestLog, routeOptions: { url: route } }: FastifyRequest, failure: Problem): void {
    const { name: problemName, code, cause, readableMessage } = failure;
    // For a timeout, the stack trace is useless: it shows where the timeout fired, not what took so long.
    if (code === 504) requestLog.warn({ route }, readableMessage);
    else if (problemName === 'ServiceAwayError') {
      if (cause !== undefined && isWarningDue()) requestLog.warn({ err: cause, route }, readableMessage);
    } else if (code >= 500 && code !== 503) requestLog.error({ err: cause ?? failure });
  }

  const face: Face = Fastify({
    loggerInstance: log.child({ face: name }) as never,
    schemaController: { compilersFactory: NO_SCHEMAS },
    logController: new LogController({ disableRequestLogging: true }),
    // The response to HEAD has the headers of the response to GET (RFC 9110, section 9.3.2).
    exposeHeadRoutes: true,
    bodyLimit: maxBodyBytes,
    requestIdHeader: false,
    trustProxy: trustedProxies.length ? [...trustedProxies] : false,
    genReqId: servesPrograms ? newRequestId : requestId,
    requestTimeout: REQUEST_MS,
    connectionTimeout: IDLE_MS,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: {
      maxParamLength: MAX_HEADER_BYTES,
      ignoreTrailingSlash: servesPrograms,
      ignoreDuplicateSlashes: options.takesAnyJson ?? false,
    },
    ...(paths && { rewriteUrl: (request: IncomingMessage) => knownPath(request.url ?? '/', paths) }),
    // Fastify runs no hooks for requests whose URL cannot be decoded.
    frameworkErrors: (error, framed, replied) => {
      const [request, reply] = [framed as FastifyRequest, replied as FastifyReply];
      const failure = asHttpProblem(error);
      begin(request, reply);
      observe?.failed?.(failure, request, reply);
      writeError(failure, request, reply);
    },
    clientErrorHandler: malformedRequestHandler(options.malformedBody),
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
    // Unknown paths are refused before their body is read. The CORS plugin has already responded to preflight requests.
    if (request.is404 && request.method !== 'OPTIONS') throw unrouted(request);
  });
  face.addHook('onResponse', async (request, reply) => {
    readToEnd(request.raw);
    const { method } = request;
    // URLs and options are the caller's data, so only the route is logged.
    request.log.info({
      method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    });
  });
  face.setErrorHandler((error, request, reply) => {
    const failure = asHttpProblem(error);
    logFailure(request, failure);
    // No error response is written to a client that disconnected.
    if (!reply.raw.destroyed) observe?.failed?.(failure, request, reply);
    return writeError(failure, request, reply);
  });
  // Only reached by OPTIONS requests without an Origin header.
  face.setNotFoundHandler((_, reply) =>
    reply
      .code(servesPrograms ? 204 : 200)
      .header('allow', 'GET, HEAD, POST, OPTIONS')
      .send(),
  );

  function unrouted({ method, originalUrl }: FastifyRequest): Problem {
    if (!servesPrograms && !['GET', 'HEAD', 'POST'].includes(method)) return problem('MethodNotAllowedError');
    const [path = ''] = originalUrl.split('?', 1);
    const message = `route ${method} ${path.slice(0, MAX_SHOWN_PATH)} not found or access denied`;
    return problem('RouteNotFoundError', servesPrograms ? { message } : {});
  }
  return face;
}

async function registerCompression(face: Face, global: boolean): Promise<void> {
  const { default: compress } = await import('@fastify/compress');
  // Flushes every chunk, because events would otherwise stay in the compressor's buffer.
  await face.register(compress, {
    global,
    globalDecompression: false,
    encodings: ['br', 'gzip', 'deflate'],
    brotliOptions: { flush: constants.BROTLI_OPERATION_FLUSH, params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
    zlibOptions: { flush: constants.Z_SYNC_FLUSH, level: 6 },
    customTypes: /^(text\/|application\/json)/,
  });
}

/** Fastify's schema compilers are slow to load and not needed, because the option tables do the validation. */
const NO_SCHEMAS = { buildValidator: noSchema, buildSerializer: noSchema };

function noSchema(): never {
  throw new Error('routes must not have Fastify schemas: validate with an option table');
}

/** Reads the rest of a refused body, because otherwise the next request on this connection would never arrive. */
function readToEnd(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  request.unpipe();
  request.resume();
}

const unsentResponses = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Closes queued responses when their connection closes. Node closes only the response that is currently being written.
 * Pipelined ones (RFC 9112, section 9.3.2) would never end, and would never release their resources.
 */
function closeWithConnection(socket: Socket, response: ServerResponse): void {
  if (response.socket) return;
  let responses = unsentResponses.get(socket);
  if (!responses) {
    const made = new Set<ServerResponse>();
    responses = made;
    unsentResponses.set(socket, made);
    socket.once('close', () => {
      for (const queued of made) if (!queued.socket && !queued.closed) queued.destroy().emit('close');
    });
  }
  responses.add(response);
  response.once('close', () => responses.delete(response));
}

/** Uses the caller's request id if its characters are safe, so that the logs of both sides can be correlated. */
function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers[REQUEST_ID];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

const newRequestId = () => randomUUID().replaceAll('-', '');

/**
 * Rewrites unknown paths to `/*`. The router decodes paths and rejects those that it cannot decode, but a target URL
 * must be used exactly as it was sent. The handler of `/*` reads it from `originalUrl`.
 */
function knownPath(url: string, paths: ReadonlySet<string>): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  if (paths.has(path)) return url;
  for (const known of paths) if (known.endsWith('/') && known !== '/' && path.startsWith(known)) return url;
  return '/*';
}

/** Converts Fastify's errors to problems of the error table. */
export function asHttpProblem(error: unknown): Problem {
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
    return problem('ParamValidationError', { path: 'url', message: 'The URL cannot be decoded' });
  }
  if (code?.startsWith('FST_') && statusCode === 400) {
    return problem('ParamValidationError', { path: 'body', message: message ?? 'The body is invalid' });
  }
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') return problem('DataStreamBrokenError');
  return asProblem(error);
}

/**
 * Responds to requests that are not valid HTTP or have headers that are too large. Such requests never reach a route.
 */
function malformedRequestHandler(bodyOf: ServerOptions['malformedBody']) {
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
