/**
 * The in-process proxy that a browser goes through: every request and tunnel is resolved once, held against the guard
 * and dialled before the browser hears a word, and what was dialled is what it talks to.
 *
 * What the proxy answers by itself carries a header of its own: `refused` (403: the guard says no), `failed` (502: the
 * target, or the proxy on the way to it, cannot be reached), `unknown` (404: there is no such host) or `invalid` (400:
 * what was asked for is no URL). For a tunnel a
 * browser shows its own network error instead; `onRefused`, `onFailed` and a route's `failure` tell what it was.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestError, Server } from 'proxy-chain';
import { asProblem, type Problem } from '#errors.ts';
import { MAX_HEADER_BYTES } from '../connect/channel.ts';
import { dial } from '../connect/dial.ts';
import { proxyStatusProblem } from '../connect/proxy-handshake.ts';
import { networkProblem } from '../fetch/failures.ts';
import { ResponseStream } from '../fetch/response-stream.ts';
import { type Guard, refusal } from '../guard/guard.ts';
import type { Region } from '../region.ts';
import { createMeters, type Meter } from './egress-meters.ts';
import { createRoutes, type Route, type RouteOptions, type RouteTarget } from './egress-routes.ts';

/** The header of answers that come from the proxy and not from a target, which cannot know its name. */
export const EGRESS_HEADER = `x-lectern-egress-${randomBytes(12).toString('hex')}`;

export interface EgressRequest {
  readonly host: string;
  readonly port: number;
  /** The user name that the client gave. Any will do: a browser context may have one of its own to be told apart by. */
  readonly username: string;
}

export interface EgressProxyOptions {
  readonly guard: Guard;
  /** Where proxies must be; anywhere unless given. */
  readonly region?: Region | undefined;
  /** Called for every request and tunnel, before it is looked at. */
  readonly onRequest?: (request: EgressRequest) => void;
  /** Called when the guard refuses one. */
  readonly onRefused?: (request: EgressRequest) => void;
  /** Called when a target cannot be found or reached, or answers in a way that cannot be read. */
  readonly onFailed?: (request: EgressRequest, failure: Problem) => void;
  /** Default 5 s, 6 s through a proxy; look-up not included. */
  readonly connectTimeoutMs?: number;
  /** A connection on which nothing moves for so long is closed. Default 60 s. */
  readonly idleTimeoutMs?: number;
  /** A connection that is so old is closed. Default 6 minutes: a page lives for 5. */
  readonly maxAgeMs?: number;
  /** Connections at a time; more are closed at once. Default 2,000. */
  readonly maxConnections?: number;
}

export interface EgressProxy {
  /** `http://127.0.0.1:port`, without credentials. */
  readonly url: string;
  readonly port: number;
  readonly username: string;
  /** Made anew at each start, so that no other process of the machine can go out this way. */
  readonly password: string;
  /**
   * Sends the connections of clients that give this user name through a proxy. The target is still held against the
   * guard, literal and name alike.
   */
  route(proxy: URL, options?: RouteOptions): Route;
  /** Counts what the connections of a user name move from now on; `heard` is told the sum as it grows. */
  meter(username: string, heard: (bytes: number) => void): Meter;
  /** How many connections to targets are open now. */
  openConnections(): number;
  /** Ends every connection at once. */
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
  const isPassword = matcher(password);
  const targets = new Set<Socket>();
  const routes = createRoutes({ guard, region }, maxAgeMs);
  const meters = createMeters();

  /** A socket to where a client wants to go; it ends with the client's, however that ends. */
  const open = async (client: Socket, target: EgressRequest, way: RouteTarget | undefined, isHttp: boolean) => {
    const gone = new AbortController();
    const leave = () => gone.abort(new Error('The client has gone'));
    client.once('close', leave);
    try {
      if (client.destroyed) leave();
      const hostname = parsedHost(target.host, target.port);
      const addresses = await guard.resolve(hostname, target.port, gone.signal);
      const timeoutMs = connectTimeoutMs ?? (way ? 6_000 : 5_000);
      const to = { hostname, port: target.port, addresses, timeoutMs, signal: gone.signal };
      const socket = await (way ? way.dial(to, isHttp) : dial(to));
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

  const server = new TunnelServer({
    port: 0,
    host: '127.0.0.1',
    authRealm: 'Lectern',
    async prepareRequestFunction({ request, username, password: given, hostname, port, isHttp }) {
      if (!isPassword(given)) return { requestAuthentication: true };
      const target = { host: bareHost(hostname), port, username };
      options.onRequest?.(target);
      try {
        const way = routes.routeOf(username);
        const socket = await open(request.socket, target, way, isHttp);
        if (!isHttp) return { customTag: socket };
        const upstreamProxyUrl = way?.plainRequestsTo;
        const stream = new ResponseStream(socket);
        server.failures.set(request, (what) => {
          if (what === 'closed' && stream.fault) return answerTo(stream.fault, target, options);
          const error = what === 'closed' ? closedConnection() : proxyStatusProblem(407, way?.hasCredentials === true);
          return answerTo(upstreamProxyUrl ? way.fail(error) : error, target, options);
        });
        return { httpAgent: agentWith(stream), ...(upstreamProxyUrl && { upstreamProxyUrl }) };
      } catch (error) {
        throw answerTo(error, target, options);
      }
    },
  });
  server.server.maxConnections = maxConnections;
  server.server.on('connection', (client: Socket) => client.setTimeout(idleTimeoutMs));
  await server.listen();

  return {
    route: routes.open,
    meter: meters.open,
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    username: 'lectern',
    password,
    openConnections: () => targets.size,
    async close() {
      const closed = server.close(true);
      for (const socket of targets) socket.destroy();
      await closed;
    },
  };
}

/** Tunnels over the socket that was dialled when the request was looked at, instead of dialling again. */
class TunnelServer extends Server {
  /** What a client is told when its request fails after the connection stood. */
  readonly failures = new WeakMap<IncomingMessage, (what: 'refused' | 'closed') => RequestError>();

  override failRequest(request: IncomingMessage, error: NodeJS.ErrnoException): void {
    const isRefused = error.message === 'Invalid upstream proxy credentials';
    const told = isRefused && this.failures.get(request)?.('refused');
    super.failRequest(request, told || ownWord(error));
  }

  override async onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    withoutHeader(request.rawHeaders, 'proxy-connection');
    withPlainHead(response, () => this.failures.get(request)?.('closed'));
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

/** What the proxy says by itself is not the word of a target; who does not say who they are is only asked to. */
function ownWord(error: Error): Error {
  if (!(error instanceof RequestError))
    return new RequestError('The request failed', 502, { [EGRESS_HEADER]: 'failed' });
  if (error.statusCode === 407 || error.headers?.[EGRESS_HEADER]) return error;
  return new RequestError('The address is not valid', error.statusCode, { [EGRESS_HEADER]: 'invalid' });
}

/** A target need not know that there is a proxy. */
function withoutHeader(rawHeaders: string[], name: string): void {
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    if (rawHeaders[at]!.toLowerCase() === name) rawHeaders.splice(at, 2);
  }
}

/**
 * Node refuses to pass on reason phrases that it accepted; a target that sends one would never be answered. What only
 * this proxy says is not passed on from others. And an answer that is not passed on is that of a failure.
 */
function withPlainHead(response: ServerResponse, failure: () => RequestError | undefined): void {
  const writeHead = response.writeHead.bind(response) as (...parts: unknown[]) => ServerResponse;
  response.writeHead = (status: number, reason?: unknown, headers?: unknown) => {
    if (typeof reason === 'string') {
      if (Array.isArray(headers)) withoutHeader(headers, EGRESS_HEADER);
      return writeHead(status, reason.replace(/[^\t\x20-\x7e]+/g, ' '), headers);
    }
    const told = failure();
    for (const [name, value] of Object.entries(told?.headers ?? {})) response.setHeader(name, String(value));
    return writeHead(told?.statusCode ?? status);
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
  // A browser that ends its side is gone: a target that goes on talking would be talked to for ever.
  client.once('end', () => target.destroySoon());
  // What the target said last still has to reach the client.
  target.once('close', () => (client.destroySoon ? client.destroySoon() : client.end()));
}

/** An agent for one request, whose connection is there already. */
function agentWith(stream: ResponseStream): Agent {
  const agent = new Agent({ keepAlive: false }) as Agent & {
    addRequest(request: ClientRequest, options: object): void;
  };
  let isTaken = false;
  agent.createConnection = (_, callback) => {
    const used = isTaken;
    isTaken = true;
    queueMicrotask(() => callback?.(used ? new Error('The connection is used up') : null, stream));
    return undefined;
  };
  // The stream has measured the headers; Node would take fewer, and leave some out without a word.
  const addRequest = agent.addRequest.bind(agent);
  agent.addRequest = (request, given) => {
    Object.assign(request, { maxHeaderSize: 2 * MAX_HEADER_BYTES, maxHeadersCount: 0 });
    addRequest(request, given);
  };
  return agent;
}

function answerTo(error: unknown, target: EgressRequest, options: EgressProxyOptions): RequestError {
  const failure = networkProblem(error);
  if (failure.name === 'SecurityCompromiseError' && failure.facts.path === 'url') {
    options.onRefused?.(target);
    return new RequestError(asProblem(refusal()).message, 403, { [EGRESS_HEADER]: 'refused' });
  }
  options.onFailed?.(target, failure);
  const isUnknown = failure.name === 'ParamValidationError' && failure.facts.path === 'url';
  return new RequestError(failure.message, isUnknown ? 404 : 502, {
    [EGRESS_HEADER]: isUnknown ? 'unknown' : 'failed',
  });
}

const bareHost = (hostname: string) => hostname.replace(/^\[|\]$/g, '').toLowerCase();

/** A tunnel's host comes as it was written; one parse by the URL standard settles every odd spelling of an address. */
function parsedHost(host: string, port: number): string {
  const text = `http://${host.includes(':') ? `[${host}]` : host}:${port}/`;
  if (!URL.canParse(text)) throw refusal();
  return new URL(text).hostname;
}

/** Compares without telling by time how much of a guess was right. */
function matcher(secret: string): (guess: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(secret);
  return (guess) => timingSafeEqual(expected, digest(guess));
}
