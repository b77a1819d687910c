/**
 * The gateway for HTTP, and for WebSocket on the same port. It uses node:http directly: its routes are a fixed table
 * and its bodies a single JSON value, and Fastify would add more than half to the cost of a small request.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { asProblem, problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import type { GatewayOptions, Protocol } from '../definition/definition.ts';
import { createId } from '../document.ts';
import type { Flow } from '../flow.ts';
import type { FlowObserver } from '../observer.ts';
import { type Answer, detailAnswer, failureAnswer, notFound } from './answer.ts';
import { readJson } from './body.ts';
import { CORS_HEADERS, preflight } from './cors.ts';
import { descriptionRoutes } from './openapi.ts';
import { type Exchange, gatewayRoutes, type Route } from './routes.ts';
import { createTokenCheck } from './token.ts';
import { createWebSocketGateway, type SocketLimits } from './websocket.ts';

export interface GatewayLimits extends SocketLimits {
  /** Total size of the bodies of all running HTTP requests. */
  readonly maxHeldBytes: number;
  /** A client that reads none of its answer for this long is disconnected. */
  readonly unreadMs: number;
}

export interface HttpGatewayTools {
  readonly flow: Flow;
  /** Options of the flow's definition by default. */
  readonly options?: GatewayOptions;
  /** WEBSOCKET serves only health, status and description over plain HTTP. */
  readonly protocol: Exclude<Protocol, 'GRPC'>;
  /** Product version. */
  readonly version: string;
  readonly log?: Log | undefined;
  /** Environment for `/status`, which shows only a fixed list of variables. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly limits?: Partial<GatewayLimits>;
  /** Receives the sizes of requests and answers. */
  readonly observe?: FlowObserver | undefined;
  /** Returns why a request is refused with HTTP 403; `undefined` to allow it. */
  readonly refuse?: ((request: IncomingMessage) => string | undefined) | undefined;
}

export interface HttpGateway {
  readonly protocol: Protocol;
  /** Handles one request, for use in another server. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Opens the port; 0 for any free port. Rejects with the system's error when it is in use. */
  listen(port: number, host: string): Promise<{ readonly port: number; readonly url: string }>;
  /** Refuses new requests, waits up to `graceMs` for running ones, then closes all connections. */
  close(graceMs?: number): Promise<void>;
}

const MAX_BODY_BYTES = 64 * 2 ** 20;
const MAX_HEADER_BYTES = 64 * 1024;
/** Longer than clients keep idle connections, so that the client closes them first. */
const KEEP_ALIVE_MS = 65_000;
/** Maximum time to receive a request. */
const REQUEST_MS = 300_000;
/** How long the rest of a refused body is read before the connection is closed. */
const REST_MS = 10_000;
const UNREAD_MS = 60_000;
/** Default for `maxHeldBytes`, in bodies of the maximum size. */
const HELD_BODIES = 8;
const GRACE_MS = 10_000;

type RouteTable = ReadonlyMap<string, ReadonlyMap<string, Route>>;

function routeTable(routes: readonly Route[]): RouteTable {
  const table = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const methods = table.get(route.path) ?? new Map<string, Route>();
    table.set(route.path, methods.set(route.method, route));
  }
  return table;
}

/** The only path with a parameter. */
const MODE_PREFIX = '/api/';

function pathOf(url: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export function createHttpGateway(tools: HttpGatewayTools): HttpGateway {
  const { flow, protocol, version, log, limits, environment = {}, observe, refuse = () => undefined } = tools;
  const options = tools.options ?? flow.definition.gateway;
  const { requestTimeoutMs, maxBodyBytes = MAX_BODY_BYTES } = options;
  const answersCors = options.cors || options.restApiVersion === '1';
  const routes = gatewayRoutes({ flow, options, protocol, version, environment });
  const table = routeTable([...routes, ...descriptionRoutes(routes, { ...options, version })]);
  const isAllowed = createTokenCheck(options.token);
  const sockets = createWebSocketGateway({ flow, options, protocol, isAllowed, refuse, observe, log, limits });
  const maxHeldBytes = limits?.maxHeldBytes ?? HELD_BODIES * maxBodyBytes;
  const unreadMs = limits?.unreadMs ?? UNREAD_MS;
  let server: Server | undefined;
  let heldBytes = 0;
  let isClosing = false;

  function answerTo(request: IncomingMessage, found: Found, asked: Pick<Exchange, 'requestId' | 'signal' | 'json'>) {
    const { route, name } = found;
    const refused = refuse(request);
    if (refused !== undefined) return detailAnswer(403, refused);
    if (!route) return refusal(request, found);
    if (!route.open && !isAllowed(request)) {
      return detailAnswer(401, 'Not authenticated', { 'www-authenticate': 'Bearer' });
    }
    return route.run({ request, name, ...asked });
  }

  function find({ url = '/', method = 'GET' }: IncomingMessage): Found {
    const path = pathOf(url);
    const methods = table.get(path);
    if (methods) return { path, methods, route: methods.get(method), name: '' };
    if (path.startsWith(MODE_PREFIX) && path.length > MODE_PREFIX.length && !path.includes('/', MODE_PREFIX.length)) {
      const named = table.get(`${MODE_PREFIX}{mode}`);
      return { path, methods: named, route: named?.get(method), name: path.slice(MODE_PREFIX.length) };
    }
    return { path, methods: undefined, route: undefined, name: '' };
  }

  function refusal({ url = '/' }: IncomingMessage, { path, methods }: Found): Answer {
    if (methods) return detailAnswer(405, 'Method Not Allowed', { allow: [...methods.keys()].join(', ') });
    const bare = path.replace(/\/$/, '');
    if (bare === path || !table.has(bare)) return notFound();
    const query = url.indexOf('?');
    return { code: 307, body: '', headers: { location: encodeURI(bare) + (query < 0 ? '' : url.slice(query)) } };
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = performance.now();
    const requestId = createId();
    const found = find(request);
    const controller = new AbortController();
    let ownBytes = 0;
    const reserve = (bytes: number): boolean => {
      ownBytes += bytes;
      heldBytes += bytes;
      return heldBytes <= maxHeldBytes;
    };
    const json = () => readJson(request, { maxBytes: maxBodyBytes, reserve });
    response.on('close', () => {
      heldBytes -= ownBytes;
      if (!response.writableFinished) controller.abort();
    });
    let answer: Answer;
    try {
      const asked = preflightOf(request) ?? answerTo(request, found, { requestId, signal: controller.signal, json });
      answer = await (requestTimeoutMs ? withTimeout(asked, requestTimeoutMs, controller) : asked);
    } catch (error) {
      answer = failureAnswer(error, { requestId });
      if (answer.code === 500) log?.error({ err: asProblem(error).cause ?? error, reqId: requestId });
    }
    send(request, response, answer, requestId);
    if (found.route?.takes) {
      const receivedBytes = Number(request.headers['content-length'] ?? 0);
      observe?.transferred?.({ receivedBytes, sentBytes: Buffer.byteLength(answer.body) });
    }
    log?.info({
      reqId: requestId,
      method: request.method,
      route: found.route?.path,
      status: answer.code,
      ms: Math.round(performance.now() - startedAt),
    });
  }

  const preflightOf = (request: IncomingMessage) => (answersCors ? preflight(request) : undefined);

  function send(request: IncomingMessage, response: ServerResponse, answer: Answer, requestId: string): void {
    if (response.destroyed) return;
    if (isClosing) response.shouldKeepAlive = false;
    response.writeHead(answer.code, {
      'content-type': answer.type ?? 'application/json',
      'content-length': Buffer.byteLength(answer.body),
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
      ...(answersCors && request.headers.origin && CORS_HEADERS),
      ...answer.headers,
    });
    response.end(answer.body);
    if (!request.complete) drainRefused(request, response);
    if (response.writableNeedDrain) disconnectUnread(response, unreadMs);
  }

  const gateway: HttpGateway = {
    protocol,
    handle(request, response) {
      void respond(request, response);
    },
    upgrade: sockets.upgrade,
    async listen(port, host) {
      server = await createListener(options);
      server.on('request', gateway.handle);
      server.on('upgrade', (request, socket, head) => {
        if (request.headers.upgrade?.toLowerCase() === 'websocket') sockets.upgrade(request, socket, head);
        else
          server!.emit(options.sslCertfile ? 'secureConnection' : 'connection', withoutUpgrade(request, socket, head));
      });
      server.on('clientError', refuseMalformed);
      await new Promise<void>((resolve, reject) => {
        server!.once('error', reject);
        server!.listen(port, host, resolve);
      });
      const { port: opened } = server.address() as { port: number };
      const scheme = protocol === 'HTTP' ? 'http' : 'ws';
      const name = host.includes(':') ? `[${host}]` : host;
      return { port: opened, url: `${scheme}${options.sslCertfile ? 's' : ''}://${name}:${opened}` };
    },
    async close(graceMs = GRACE_MS) {
      isClosing = true;
      const closed = new Promise<void>((resolve) => {
        if (server?.listening) server.close(() => resolve());
        else resolve();
      });
      server?.closeIdleConnections();
      const cut = setTimeout(() => server?.closeAllConnections(), graceMs);
      await Promise.all([sockets.close(graceMs), closed]);
      clearTimeout(cut);
    },
  };
  return gateway;
}

interface Found {
  readonly path: string;
  readonly methods: ReadonlyMap<string, Route> | undefined;
  readonly route: Route | undefined;
  readonly name: string;
}

/** Returns the answer, or throws a ServiceTimeoutError and aborts the request when it takes too long. */
async function withTimeout(
  answer: Answer | Promise<Answer>,
  timeoutMs: number,
  controller: AbortController,
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(problem('ServiceTimeoutError', { message: `The request took longer than ${timeoutMs} ms` }));
      controller.abort();
    }, timeoutMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads and drops the rest of a refused body for a while. A client that is disconnected while sending never sees the
 * answer.
 */
function drainRefused(request: IncomingMessage, response: ServerResponse): void {
  const timer = setTimeout(() => request.destroy(), REST_MS);
  for (const end of ['end', 'close']) request.on(end, () => clearTimeout(timer));
  response.on('finish', () => request.resume());
}

function disconnectUnread(response: ServerResponse, unreadMs: number): void {
  const { socket } = response;
  if (!socket) return;
  const cut = () => socket.destroy();
  socket.setTimeout(unreadMs, cut);
  response.on('finish', () => {
    socket.off('timeout', cut);
    socket.setTimeout(0);
  });
}

/** Throws when only one of certificate and key is given, or one cannot be read. */
async function createListener({ sslCertfile, sslKeyfile }: GatewayOptions): Promise<Server> {
  const settings = {
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_MS,
    noDelay: true,
  };
  if (!sslCertfile && !sslKeyfile) return createServer(settings);
  if (!sslCertfile || !sslKeyfile) {
    throw problem('ParamValidationError', {
      path: sslCertfile ? 'ssl_keyfile' : 'ssl_certfile',
      message: 'set ssl_certfile and ssl_keyfile together or not at all',
    });
  }
  const [cert, key, https] = await Promise.all([readFile(sslCertfile), readFile(sslKeyfile), import('node:https')]);
  return https.createServer({ ...settings, cert, key });
}

/**
 * Some clients offer an HTTP/2 upgrade and accept an HTTP/1 answer. Node has detached the connection by then, so it is
 * handed back with the request, minus the upgrade headers, in front.
 */
function withoutUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Duplex {
  const { method, url, headers, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    if (!/^(?:upgrade|connection|http2-settings)$/i.test(name)) lines.push(`${name}: ${value}`);
  }
  if (/\bclose\b/i.test(headers.connection ?? '')) lines.push('connection: close');
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  return socket;
}

/** Answers requests that are not valid HTTP or whose header is too long. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (socket.destroyed || error.code === 'ECONNRESET') return;
  const isLong = error.code === 'HPE_HEADER_OVERFLOW';
  const line = isLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
  const body = JSON.stringify({ detail: isLong ? 'The request header is too long' : 'This is not valid HTTP' });
  socket.end(
    `HTTP/1.1 ${line}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
