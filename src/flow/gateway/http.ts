/**
 * The gateway for HTTP, and for WebSocket on the same port. It uses node:http directly: its routes are a fixed table
 * and its bodies a single JSON value, and Fastify would add more than half to the cost of a small request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { asProblem, problem } from '#errors.ts';
import { INTERFACE_VERSIONS } from '#generated/interface-versions.ts';
import { isKnown } from '#http/etag.ts';
import { namesProblemJson } from '#http/negotiate.ts';
import type { Log } from '#telemetry/log.ts';
import type { GatewayOptions, Protocol } from '../definition/definition.ts';
import { createId } from '../document.ts';
import type { Flow } from '../flow.ts';
import type { FlowObserver } from '../observer.ts';
import { type Answer, asProblemDetails, detailAnswer, failureAnswer } from './answer.ts';
import { readJson } from './body.ts';
import { CORS_HEADERS, preflight } from './cors.ts';
import { closeListener, createListener, type Listener, openPort } from './listener.ts';
import { descriptionRoutes } from './openapi.ts';
import { createRouter, type RouteMatch } from './router.ts';
import { type Exchange, gatewayRoutes } from './routes.ts';
import { createRunningRequests } from './running-requests.ts';
import { createTokenCheck } from './token.ts';
import { createWebSocketGateway, type SocketLimits } from './websocket.ts';

export interface GatewayLimits extends SocketLimits {
  /** Maximum total size of the bodies of all running HTTP requests. */
  readonly maxHeldBytes: number;
  /** A client that reads none of its response for this long is disconnected. */
  readonly unreadMs: number;
}

export interface HttpGatewayTools {
  readonly flow: Flow;
  /** By default, the options of the flow's definition. */
  readonly options?: GatewayOptions;
  /** WEBSOCKET serves only health, status and description over plain HTTP. */
  readonly protocol: Exclude<Protocol, 'GRPC'>;
  /** Product version. */
  readonly version: string;
  readonly log?: Log | undefined;
  /** Environment variables for `/status`, which shows only a fixed list of them. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly limits?: Partial<GatewayLimits>;
  /** Receives the sizes of requests and responses. */
  readonly observe?: FlowObserver | undefined;
  /** Returns the reason for refusing a request with HTTP 403; `undefined` to allow it. */
  readonly refuse?: ((request: IncomingMessage) => string | undefined) | undefined;
  /** Whether a request comes from a page that may read the responses even if the flow's `cors` option is off. */
  readonly admitsOrigin?: ((request: IncomingMessage) => boolean) | undefined;
}

export interface HttpGateway {
  readonly protocol: Protocol;
  /** Handles one request, for use in another server. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Opens the port; 0 for any free port. Rejects with the system's error when it is in use. */
  listen(port: number, host: string): Promise<{ readonly port: number; readonly url: string }>;
  /**
   * Refuses new requests (with status 503) and new WebSockets. Resolves when all running requests have been answered
   * and all WebSockets are closed, after `graceMs` at the latest. The port stays open.
   */
  drain(graceMs?: number): Promise<void>;
  /** Drains and closes the port and all connections, after `graceMs` at the latest. */
  close(graceMs?: number): Promise<void>;
}

const MAX_BODY_BYTES = 64 * 2 ** 20;
/** Maximum time for reading the rest of a refused body before the connection is closed. */
const REST_MS = 10_000;
const UNREAD_MS = 60_000;
/** Default value of `maxHeldBytes`, as a number of maximum-size bodies. */
const HELD_BODIES = 8;
const GRACE_MS = 10_000;

export function createHttpGateway(tools: HttpGatewayTools): HttpGateway {
  const { flow, protocol, version, log, limits, environment = {}, observe, refuse = () => undefined } = tools;
  const { admitsOrigin = () => false } = tools;
  const options = tools.options ?? flow.definition.gateway;
  const { requestTimeoutMs, maxBodyBytes = MAX_BODY_BYTES } = options;
  const answersCors = options.cors || options.restApiVersion === '1';
  const running = createRunningRequests();
  const { isDraining } = running;
  const routes = gatewayRoutes({ flow, options, protocol, version, environment, isDraining });
  // Custom routes come last, so they replace any other route with the same path and method.
  const router = createRouter([
    ...descriptionRoutes(routes, { ...options, version: INTERFACE_VERSIONS.flow.version }),
    ...routes,
  ]);
  const isAllowed = createTokenCheck(options.token);
  const sockets = createWebSocketGateway({ flow, options, isAllowed, refuse, observe, log, limits });
  const maxHeldBytes = limits?.maxHeldBytes ?? HELD_BODIES * maxBodyBytes;
  const unreadMs = limits?.unreadMs ?? UNREAD_MS;
  let listener: Listener | undefined;
  let heldBytes = 0;
  let draining: Promise<void> | undefined;

  async function answerTo(
    request: IncomingMessage,
    match: RouteMatch,
    exchange: Pick<Exchange, 'requestId' | 'signal' | 'json'>,
  ): Promise<Answer> {
    const { route, name } = match;
    const refused = refuse(request);
    if (refused !== undefined) return detailAnswer(403, refused);
    if (!route) return router.refuse(request, match);
    if (!route.isPublic && !isAllowed(request)) {
      return detailAnswer(401, 'Not authenticated', { 'www-authenticate': 'Bearer' });
    }
    const end = route.requestSchema ? running.begin() : () => {};
    try {
      return await route.run({ request, name, ...exchange });
    } finally {
      end();
    }
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = performance.now();
    const requestId = createId();
    const match = router.match(request);
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
      const pending = preflightOf(request) ?? answerTo(request, match, { requestId, signal: controller.signal, json });
      answer = await (requestTimeoutMs ? withTimeout(pending, requestTimeoutMs, controller) : pending);
    } catch (error) {
      answer = failureAnswer(error, { requestId });
      if (answer.code === 500) log?.error({ err: asProblem(error).cause ?? error, reqId: requestId });
    }
    if (isKnownTo(request, answer)) answer = { ...answer, code: 304, body: '' };
    if (namesProblemJson(request.headers.accept)) answer = asProblemDetails(answer, requestId);
    if (isDraining()) response.shouldKeepAlive = false;
    const corsHeaders = corsHeadersOf(request);
    send(request, response, { ...answer, headers: { 'x-request-id': requestId, ...corsHeaders, ...answer.headers } });
    if (response.writableNeedDrain) disconnectUnread(response, unreadMs);
    if (match.route?.requestSchema) {
      const receivedBytes = Number(request.headers['content-length'] ?? 0);
      observe?.transferred?.({ receivedBytes, sentBytes: Buffer.byteLength(answer.body) });
    }
    log?.info({
      reqId: requestId,
      method: request.method,
      route: match.route?.path,
      status: answer.code,
      ms: Math.round(performance.now() - startedAt),
    });
  }

  const preflightOf = (request: IncomingMessage) =>
    answersCors || admitsOrigin(request) ? preflight(request) : undefined;

  function corsHeadersOf(request: IncomingMessage): Readonly<Record<string, string>> {
    const { origin } = request.headers;
    if (!origin) return {};
    if (answersCors) return CORS_HEADERS;
    return admitsOrigin(request) ? { 'access-control-allow-origin': origin, vary: 'Origin' } : {};
  }

  const gateway: HttpGateway = {
    protocol,
    handle(request, response) {
      void respond(request, response);
    },
    upgrade: sockets.upgrade,
    async listen(port, host) {
      listener = await createListener(options, { onRequest: gateway.handle, onWebSocket: sockets.upgrade });
      const opened = await openPort(listener, port, host);
      const scheme = protocol === 'HTTP' ? 'http' : 'ws';
      const name = host.includes(':') ? `[${host}]` : host;
      return { port: opened, url: `${scheme}${options.sslCertfile ? 's' : ''}://${name}:${opened}` };
    },
    drain(graceMs = GRACE_MS) {
      draining ??= Promise.all([running.drain(graceMs), sockets.close(graceMs)]).then(() => {});
      return draining;
    },
    async close(graceMs = GRACE_MS) {
      const until = performance.now() + graceMs;
      await gateway.drain(graceMs);
      if (listener) await closeListener(listener, Math.max(0, until - performance.now()));
    },
  };
  return gateway;
}

/** Whether the client already has the response (RFC 9110, section 13.1.2). */
function isKnownTo({ headers }: IncomingMessage, { code, headers: own }: Answer): boolean {
  return code === 200 && own?.etag !== undefined && isKnown(headers['if-none-match'], own.etag);
}

function send(request: IncomingMessage, response: ServerResponse, { code, body, type, headers }: Answer): void {
  if (response.destroyed) return;
  const content = { 'content-type': type ?? 'application/json', 'content-length': Buffer.byteLength(body) };
  response.writeHead(code, {
    ...(code !== 304 && content),
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(body);
  if (!request.complete) drainRefused(request, response);
}

/** Returns the response, or throws a ServiceTimeoutError and aborts the request when it takes too long. */
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
 * Reads and discards the rest of a refused body for a while. A client that is disconnected while it is still sending
 * never receives the response.
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
