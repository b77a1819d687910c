/**
 * The door for HTTP, and on its port for WebSocket. It stands on node:http itself: its routes are a fixed table, its bodies
 * one JSON value, and to a small request the framework of the other faces adds more than half of what it costs bare.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { asProblem, problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import type { GatewayOptions, Protocol } from '../definition.ts';
import { createId } from '../document.ts';
import type { Flow } from '../flow.ts';
import type { FlowObserver } from '../observer.ts';
import { type Answer, detail, failureAnswer, notFound } from './answer.ts';
import { readJson } from './body.ts';
import { preflight, SIMPLE } from './cors.ts';
import { descriptionRoutes } from './openapi.ts';
import { type Exchange, gatewayRoutes, type Route } from './routes.ts';
import { createTokenCheck } from './token.ts';
import { createSocketDoor, type SocketLimits } from './websocket.ts';

export interface GatewayLimits extends SocketLimits {
  /** Of the bodies of all plain requests in work. */
  readonly maxHeldBytes: number;
  /** A client that takes none of its answer for so long is cut. */
  readonly unreadMs: number;
}

export interface HttpGatewayTools {
  readonly flow: Flow;
  /** Those of the flow's definition when left out. */
  readonly options?: GatewayOptions;
  /** WEBSOCKET leaves only readiness, status and descriptions for plain requests. */
  readonly protocol: Exclude<Protocol, 'GRPC'>;
  /** Of the product. */
  readonly version: string;
  readonly log?: Log | undefined;
  /** For `/status`, which shows a fixed list of names out of it. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly limits?: Partial<GatewayLimits>;
  /** Told how much went to and fro. */
  readonly observe?: FlowObserver | undefined;
  /** Why a request is not answered at all, whatever it asks for: HTTP 403. */
  readonly refuse?: ((request: IncomingMessage) => string | undefined) | undefined;
}

export interface HttpGateway {
  readonly protocol: Protocol;
  /** Answers one request: for a server that others share. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Opens the port, 0 for any free one. Rejects with the system's error when it is taken. */
  listen(port: number, host: string): Promise<{ readonly port: number; readonly url: string }>;
  /** Takes no new requests, lets those in work finish for so long at most, then cuts what is left. */
  close(graceMs?: number): Promise<void>;
}

const MAX_BODY_BYTES = 64 * 2 ** 20;
const MAX_HEADER_BYTES = 64 * 1024;
/** Longer than clients keep their idle connections, so that they are the ones to close them. */
const KEEP_ALIVE_MS = 65_000;
/** How long a client may take to send its request. */
const REQUEST_MS = 300_000;
/** How long the rest of a refused body is let pass before the connection is cut. */
const REST_MS = 10_000;
const UNREAD_MS = 60_000;
/** Largest bodies that may be in work together, when nothing else is said. */
const MAX_LARGEST = 8;
const GRACE_MS = 10_000;

type RouteTable = ReadonlyMap<string, ReadonlyMap<string, Route>>;

function tableOf(routes: readonly Route[]): RouteTable {
  const table = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const methods = table.get(route.path) ?? new Map<string, Route>();
    table.set(route.path, methods.set(route.method, route));
  }
  return table;
}

/** The one path with a name in it. */
const NAMED = '/api/';

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
  const answersOrigins = options.cors || options.restApiVersion === '1';
  const routes = gatewayRoutes({ flow, options, protocol, version, environment });
  const table = tableOf([...routes, ...descriptionRoutes(routes, { ...options, version })]);
  const isAllowed = createTokenCheck(options.token);
  const sockets = createSocketDoor({ flow, options, protocol, isAllowed, refuse, observe, log, limits });
  const maxHeldBytes = limits?.maxHeldBytes ?? MAX_LARGEST * maxBodyBytes;
  const unreadMs = limits?.unreadMs ?? UNREAD_MS;
  let server: Server | undefined;
  let heldBytes = 0;
  let isClosing = false;

  function answerTo(request: IncomingMessage, found: Found, asked: Pick<Exchange, 'requestId' | 'signal' | 'json'>) {
    const { route, name } = found;
    const refused = refuse(request);
    if (refused !== undefined) return detail(403, refused);
    if (!route) return refusal(request, found);
    if (!route.open && !isAllowed(request)) {
      return detail(401, 'Not authenticated', { 'www-authenticate': 'Bearer' });
    }
    return route.run({ request, name, ...asked });
  }

  function find({ url = '/', method = 'GET' }: IncomingMessage): Found {
    const path = pathOf(url);
    const methods = table.get(path);
    if (methods) return { path, methods, route: methods.get(method), name: '' };
    if (path.startsWith(NAMED) && path.length > NAMED.length && !path.includes('/', NAMED.length)) {
      const named = table.get(`${NAMED}{mode}`);
      return { path, methods: named, route: named?.get(method), name: path.slice(NAMED.length) };
    }
    return { path, methods: undefined, route: undefined, name: '' };
  }

  function refusal({ url = '/' }: IncomingMessage, { path, methods }: Found): Answer {
    if (methods) return detail(405, 'Method Not Allowed', { allow: [...methods.keys()].join(', ') });
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
    const take = (bytes: number): boolean => {
      ownBytes += bytes;
      heldBytes += bytes;
      return heldBytes <= maxHeldBytes;
    };
    const json = () => readJson(request, { maxBytes: maxBodyBytes, take });
    response.on('close', () => {
      heldBytes -= ownBytes;
      if (!response.writableFinished) controller.abort();
    });
    let answer: Answer;
    try {
      const asked = preflightOf(request) ?? answerTo(request, found, { requestId, signal: controller.signal, json });
      answer = await (requestTimeoutMs ? inTime(asked, requestTimeoutMs, controller) : asked);
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

  const preflightOf = (request: IncomingMessage) => (answersOrigins ? preflight(request) : undefined);

  function send(request: IncomingMessage, response: ServerResponse, answer: Answer, requestId: string): void {
    if (response.destroyed) return;
    if (isClosing) response.shouldKeepAlive = false;
    response.writeHead(answer.code, {
      'content-type': answer.type ?? 'application/json',
      'content-length': Buffer.byteLength(answer.body),
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
      ...(answersOrigins && request.headers.origin && SIMPLE),
      ...answer.headers,
    });
    response.end(answer.body);
    if (!request.complete) cutLater(request, response);
    if (response.writableNeedDrain) cutUnread(response, unreadMs);
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

/** The answer, or a ServiceTimeoutError when it does not come in time; what was asked for is aborted then. */
async function inTime(
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

/** The rest of a body that nobody wants is let pass for a while: a client that is cut while sending sees no answer. */
function cutLater(request: IncomingMessage, response: ServerResponse): void {
  const timer = setTimeout(() => request.destroy(), REST_MS);
  for (const end of ['end', 'close']) request.on(end, () => clearTimeout(timer));
  response.on('finish', () => request.resume());
}

function cutUnread(response: ServerResponse, unreadMs: number): void {
  const { socket } = response;
  if (!socket) return;
  const cut = () => socket.destroy();
  socket.setTimeout(unreadMs, cut);
  response.on('finish', () => {
    socket.off('timeout', cut);
    socket.setTimeout(0);
  });
}

/** A start-up error when only one of certificate and key is given, or one cannot be read. */
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
      message: 'ssl_certfile and ssl_keyfile are given together or not at all',
    });
  }
  const [cert, key, https] = await Promise.all([readFile(sslCertfile), readFile(sslKeyfile), import('node:https')]);
  return https.createServer({ ...settings, cert, key });
}

/**
 * Some clients offer HTTP/2 with each request, and mean to be answered in HTTP/1 if it is not taken up. The server has let
 * go of the connection by then: it gets it anew, with the request in front and no offer in it.
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

/** Requests that are not HTTP, or whose head is too long. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (socket.destroyed || error.code === 'ECONNRESET') return;
  const isLong = error.code === 'HPE_HEADER_OVERFLOW';
  const line = isLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
  const body = JSON.stringify({ detail: isLong ? 'The head of the request is too long' : 'This is not valid HTTP' });
  socket.end(
    `HTTP/1.1 ${line}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
