/**
 * The egress proxy: an in-process proxy that all browser traffic passes through. Each request and tunnel is resolved
 * once and checked by the guard; the connection then goes to the checked IP address. It listens on loopback, and for
 * browsers on other machines on a second address, where each read has credentials of its own (`egress-grants.ts`).
 * Responses from the proxy itself have the EGRESS_HEADER header with one of these values: `refused` (403, by the
 * guard), `failed` (502, the target or an upstream proxy is unreachable), `unknown` (404, the host does not exist) or
 * `invalid` (400, not a URL). For a failed tunnel, the browser reports a network error of its own. The reason is
 * available from `onRefused`, `onFailed` and the route's `failure`.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestError, Server } from 'proxy-chain';
import { asProblem, type Problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import { MAX_HEADER_BYTES } from '../connect/channel.ts';
import { dial } from '../connect/dial.ts';
import { proxyStatusProblem } from '../connect/proxy-handshake.ts';
import { networkProblem } from '../fetch/failures.ts';
import { ResponseStream } from '../fetch/response-stream.ts';
import { blockedProblem, type Guard, isGuardRefusal, refusal } from '../guard/guard.ts';
import type { Region } from '../region.ts';
import { createGrants, type GrantOptions, type Grants } from './egress-grants.ts';
import { EGRESS_HEADER } from './egress-header.ts';
import { createMeters, type Meter } from './egress-meters.ts';
import { createRoutes, type Route, type RouteOptions, type RouteTarget } from './egress-routes.ts';

export interface EgressRequest {
  readonly host: string;
  readonly port: number;
  /**
   * The user name of the client. Any name is accepted. Browser contexts use different names so that they can be
   * distinguished.
   */
  readonly username: string;
}

export interface EgressProxyOptions {
  readonly guard: Guard;
  /** Restricts upstream proxies to a region. Default: no restriction. */
  readonly region?: Region | undefined;
  /** Called for every request and tunnel, before it is checked. */
  readonly onRequest?: (request: EgressRequest) => void;
  /** Called when the guard refuses a request or tunnel. */
  readonly onRefused?: (request: EgressRequest) => void;
  /** Called when a target cannot be resolved or reached, or its response is invalid. */
  readonly onFailed?: (request: EgressRequest, failure: Problem) => void;
  /** Timeout of a connection attempt, excluding DNS. Default: 5 s, or 6 s through a proxy. */
  readonly connectTimeoutMs?: number;
  /** Idle time after which a connection is closed. Default: 60 s. */
  readonly idleTimeoutMs?: number;
  /** Age at which a connection is closed. Default: 6 minutes, because pages exist for at most 5. */
  readonly maxAgeMs?: number;
  /** Maximum number of connections; further ones are closed immediately. Default: 2,000. */
  readonly maxConnections?: number;
  /** Also listens for browsers on other machines. */
  readonly remote?: RemoteEgressOptions | undefined;
}

export interface RemoteEgressOptions {
  /** IP address or host name to listen on. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The URL under which these browsers reach the proxy. Default: the host and port it listens on. */
  readonly url?: string | undefined;
}

/** The proxy as browsers on other machines reach it. */
export interface RemoteEgress {
  /** Without credentials. */
  readonly url: string;
  readonly port: number;
  /** Creates credentials for one read. Only such credentials are accepted, and the read must revoke them. */
  readonly grant: Grants['grant'];
}

export interface EgressProxy {
  /** `http://127.0.0.1:port`, without credentials. */
  readonly url: string;
  readonly port: number;
  readonly username: string;
  /** Random for each start, so that no other process on the machine can use the proxy. */
  readonly password: string;
  /** `undefined` if the proxy listens on loopback only. */
  readonly remote: RemoteEgress | undefined;
  /**
   * Sends the connections of one user name through an upstream proxy. The guard still checks the targets.
   */
  route(proxy: URL, options?: RouteOptions): Route;
  /** Starts counting the traffic of a user name; `onChange` is called with the growing total. */
  meter(username: string, onChange: (bytes: number) => void): Meter;
  /** Number of open connections to targets. */
  openConnections(): number;
  /** Closes all connections immediately. */
  close(): Promise<void>;
}

export async function createEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const {
    guard,
    region,
    connectTimeoutMs,
    idleTimeoutMs = 60_000,
    maxAgeMs = 360_000,
    maxConnections = 2_000,
  } = options;
  const password = randomBytes(24).toString('base64url');
  const isPassword = secretMatcher(password);
  const targets = new Set<Socket>();
  const routes = createRoutes({ guard, region }, maxAgeMs);
  const meters = createMeters();

  /** Opens a socket to the target requested by a client. It is closed together with the client's socket. */
  const open = async (client: Socket, target: EgressRequest, route: RouteTarget | undefined, isHttp: boolean) => {
    const disconnected = new AbortController();
    const leave = () => disconnected.abort(new Error('The client disconnected'));
    client.once('close', leave);
    try {
      if (client.destroyed) leave();
      const hostname = parsedHost(target.host, target.port);
      const addresses = await guard.resolve(hostname, target.port, disconnected.signal);
      const timeoutMs = connectTimeoutMs ?? (route ? 6_000 : 5_000);
      const to = { hostname, port: target.port, addresses, timeoutMs, signal: disconnected.signal };
      const socket = await (route ? route.dial(to, isHttp) : dial(to));
      meters.connect(target.username, socket);
      targets.add(socket);
      const end = () => socket.destroy();
      const age = setTimeout(end, maxAgeMs);
      client.once('close', end);
      socket.once('close', () => {
        clearTimeout(age);
        client.off('close', end);
        targets.delete(socket);
      });
      socket.on('error', () => {});
      socket.setTimeout(idleTimeoutMs, end);
      if (client.destroyed) end();
      return socket;
    } finally {
      client.off('close', leave);
    }
  };

  /** Opens one port. `admit` returns the grant of the credentials, or undefined if they are invalid. */
  const listen = async (host: string, port: number, admit: Admit): Promise<TunnelServer> => {
    const server = new TunnelServer({
      port,
      host,
      authRealm: 'Lectern',
      async prepareRequestFunction({ request, username, password: given, hostname, port, isHttp }) {
        const grant = admit(username, given, request.socket);
        if (!grant) return { requestAuthentication: true };
        const target = { host: bareHost(hostname), port, username };
        grant.onRequest?.(target);
        if (grant.answer !== undefined) return answerItself(grant.answer, isHttp);
        options.onRequest?.(target);
        try {
          if (isHttp && isBlocked(request.url, guard)) throw blockedProblem();
          const route = routes.routeOf(username);
          const socket = await open(request.socket, target, route, isHttp);
          if (!isHttp) return { customTag: socket };
          const upstreamProxyUrl = route?.plainRequestsTo;
          const stream = new ResponseStream(socket);
          server.failures.set(request, (what) => {
            if (what === 'closed' && stream.fault) return errorResponse(stream.fault, target, options);
            const error =
              what === 'closed' ? closedConnection() : proxyStatusProblem(407, route?.hasCredentials === true);
            return errorResponse(upstreamProxyUrl ? route.fail(error) : error, target, options);
          });
          return { httpAgent: agentWith(stream), ...(upstreamProxyUrl && { upstreamProxyUrl }) };
        } catch (error) {
          throw errorResponse(error, target, options);
        }
      },
    });
    server.server.maxConnections = maxConnections;
    server.server.on('connection', (client: Socket) => client.setTimeout(idleTimeoutMs));
    await server.listen();
    return server;
  };

  const grants = createGrants(maxAgeMs);
  const local = await listen('127.0.0.1', 0, (_, given) => (isPassword(given) ? {} : undefined));
  const servers = [local];
  const openRemote = async ({ host, port, url }: RemoteEgressOptions): Promise<RemoteEgress> => {
    const server = await listen(host, port, (username, given, client) => {
      const grant = grants.find(username, given);
      if (grant) grants.connect(username, client);
      return grant;
    });
    servers.push(server);
    const shown = host.includes(':') ? `[${host}]` : host;
    return { url: url ?? `http://${shown}:${server.port}`, port: server.port, grant: grants.grant };
  };
  const close = async () => {
    const closed = servers.map((server) => server.close(true));
    for (const socket of targets) socket.destroy();
    await Promise.all(closed);
  };
  let remote: RemoteEgress | undefined;
  try {
    remote = options.remote && (await openRemote(options.remote));
  } catch (error) {
    await close();
    throw error;
  }

  return {
    route: routes.open,
    meter: meters.open,
    url: `http://127.0.0.1:${local.port}`,
    port: local.port,
    username: 'lectern',
    password,
    remote,
    openConnections: () => targets.size,
    close,
  };
}

type Admit = (username: string, password: string, client: Socket) => GrantOptions | undefined;

function answerItself(body: string, isHttp: boolean) {
  if (!isHttp) throw new RequestError('Tunnels are refused', 403, { [EGRESS_HEADER]: 'refused' });
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
  return { customResponseFunction: () => ({ statusCode: 200, headers, body }) };
}

/** For the tunnel, uses the socket that the check opened instead of connecting again. */
class TunnelServer extends Server {
  /** Creates the error for a request that fails after its connection was opened. */
  readonly failures = new WeakMap<IncomingMessage, (what: 'refused' | 'closed') => RequestError>();

  override failRequest(request: IncomingMessage, error: NodeJS.ErrnoException): void {
    const isRefused = error.message === 'Invalid upstream proxy credentials';
    const known = isRefused && this.failures.get(request)?.('refused');
    super.failRequest(request, known || markAsOwn(error));
  }

  override async onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Targets must not be able to detect the proxy.
    removeHeader(request.rawHeaders, 'proxy-connection');
    sanitizeHead(response, () => this.failures.get(request)?.('closed'));
    await super.onRequest(request, response);
  }

  override async onConnect(
    request: IncomingMessage,
    client: Parameters<Server['onConnect']>[1],
    head: Buffer,
  ): Promise<void> {
    try {
      const { customTag } = await this.prepareRequestHandling(request);
      tunnel(client, customTag as Socket, head);
    } catch (error) {
      this.failRequest(request, error as NodeJS.ErrnoException);
    }
  }
}

/** Adds EGRESS_HEADER to errors from the proxy itself. A 407 only requests credentials and is not changed. */
function markAsOwn(error: Error): Error {
  if (!(error instanceof RequestError))
    return new RequestError('The request failed', 502, { [EGRESS_HEADER]: 'failed' });
  if (error.statusCode === 407 || error.headers?.[EGRESS_HEADER]) return error;
  return new RequestError('The URL is not valid', error.statusCode, { [EGRESS_HEADER]: 'invalid' });
}

/** Removes a header from a raw header list. */
function removeHeader(rawHeaders: string[], name: string): void {
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    if (rawHeaders[at]!.toLowerCase() === name) rawHeaders.splice(at, 2);
  }
}

/**
 * Patches `writeHead`. For forwarded responses, it replaces characters in the reason phrase that Node accepts but
 * refuses to send, and removes a forged EGRESS_HEADER. Other responses are failures and get the status of `failure`.
 */
function sanitizeHead(response: ServerResponse, failure: () => RequestError | undefined): void {
  const writeHead = response.writeHead.bind(response) as (...parts: unknown[]) => ServerResponse;
  response.writeHead = (status: number, reason?: unknown, headers?: unknown) => {
    if (typeof reason === 'string') {
      if (Array.isArray(headers)) removeHeader(headers, EGRESS_HEADER);
      return writeHead(status, reason.replace(/[^\t\x20-\x7e]+/g, ' '), headers);
    }
    const error = failure();
    for (const [name, value] of Object.entries(error?.headers ?? {})) response.setHeader(name, String(value));
    return writeHead(error?.statusCode ?? status);
  };
}

const closedConnection = () => Object.assign(new Error('closed'), { code: 'ECONNRESET' });

function tunnel(client: Duplex & { destroySoon?: () => void }, target: Socket, head: Buffer) {
  client.on('error', () => {});
  if (client.destroyed || target.destroyed) {
    target.destroy();
    client.destroy();
    return;
  }
  client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  if (head.length) target.write(head);
  client.pipe(target);
  target.pipe(client);
  // A browser that half-closes the connection no longer needs it. Otherwise, the target could keep the connection open
  // forever.
  client.once('end', () => target.destroySoon());
  // Sends the target's remaining bytes to the client.
  target.once('close', () => (client.destroySoon ? client.destroySoon() : client.end()));
}

/** Creates an agent for one request over an open connection. */
function agentWith(stream: ResponseStream): Agent {
  const agent = new Agent({ keepAlive: false }) as Agent & {
    addRequest(request: ClientRequest, options: object): void;
  };
  let isTaken = false;
  agent.createConnection = (_, callback) => {
    const used = isTaken;
    isTaken = true;
    queueMicrotask(() => callback?.(used ? new Error('The connection was already used') : null, stream));
    return undefined;
  };
  // ResponseStream enforces the header limits. Node's own limits are lower, and it silently drops excess headers.
  const addRequest = agent.addRequest.bind(agent);
  agent.addRequest = (request, given) => {
    Object.assign(request, { maxHeaderSize: 2 * MAX_HEADER_BYTES, maxHeadersCount: 0 });
    addRequest(request, given);
  };
  return agent;
}

function errorResponse(error: unknown, target: EgressRequest, options: EgressProxyOptions): RequestError {
  const failure = networkProblem(error);
  if (isGuardRefusal(failure) && failure.facts.path === 'url') {
    options.onRefused?.(target);
    return new RequestError(asProblem(refusal()).message, 403, { [EGRESS_HEADER]: 'refused' });
  }
  options.onFailed?.(target, failure);
  const isUnknown = failure.name === 'ParamValidationError' && failure.facts.path === 'url';
  return new RequestError(failure.message, isUnknown ? 404 : 502, {
    [EGRESS_HEADER]: isUnknown ? 'unknown' : 'failed',
  });
}

/** Whether the block list contains the URL of a plain request. For a tunnel, only the host is known. */
const isBlocked = (url: string | undefined, guard: Guard): boolean =>
  url !== undefined && isUrl(url) && guard.blocks(new URL(url));

const bareHost = (hostname: string) => hostname.replace(/^\[|\]$/g, '').toLowerCase();

/** Parses the host of a tunnel according to the URL standard, which normalizes all spellings of IP addresses. */
function parsedHost(host: string, port: number): string {
  const text = `http://${host.includes(':') ? `[${host}]` : host}:${port}/`;
  if (!isUrl(text)) throw refusal();
  return new URL(text).hostname;
}

/** Compares secrets in constant time. */
function secretMatcher(secret: string): (guess: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(secret);
  return (guess) => timingSafeEqual(expected, digest(guess));
}
