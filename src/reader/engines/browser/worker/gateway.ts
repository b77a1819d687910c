/**
 * The port of `lectern browser-worker`: a DevTools endpoint that requires a token, and its health. The DevTools port of
 * the browser itself is open on loopback only, because it has no authentication.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { Problem } from '#errors.ts';
import { browserUnavailable } from '../page-slots.ts';
import type { Pool } from '../pool.ts';
import { type Bridge, MAX_MESSAGE_BYTES, openBridge } from './bridge.ts';

export interface BrowserGatewayConfig {
  /** Each connection is a lease; closing the gateway closes the pool. */
  readonly pool: Pool;
  readonly token: string;
  /** Age at which a connection is drained, so that the browser is replaced. */
  readonly maxAgeMs: number;
  /** Metrics in text format, and their media type. */
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
}

export interface BrowserGatewayStatus {
  /** Number of connected servers. */
  readonly connections: number;
  /** Number of open contexts; each read has one. */
  readonly contexts: number;
  /** Number of contexts opened so far. */
  readonly opened: number;
}

export interface BrowserGateway {
  readonly server: Server;
  status(): BrowserGatewayStatus;
  /** Opens no more contexts, waits at most `drainMs` until the open ones are closed, and closes everything. */
  close(drainMs: number): Promise<void>;
}

const DEVTOOLS_PATH = '/devtools/browser/lectern';
const VERSION_PATHS = new Set(['/json/version', '/json/version/']);

export function createBrowserGateway({ pool, token, maxAgeMs, metrics }: BrowserGatewayConfig): BrowserGateway {
  const isAdmitted = tokenMatcher(token);
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  const bridges = new Set<Bridge>();
  let draining = false;
  let opened = 0;

  const status = (): BrowserGatewayStatus => ({
    connections: bridges.size,
    contexts: [...bridges].reduce((sum, bridge) => sum + bridge.contexts(), 0),
    opened,
  });
  const health = () => {
    const { version, sandboxed, healthy } = pool.status();
    const state = draining ? 'draining' : healthy ? 'ok' : 'no browser';
    return { status: state, browser: { version, sandboxed, healthy }, ...status() };
  };

  const server = createServer(async (request, response) => {
    const send = (code: number, body: unknown) =>
      response.writeHead(code, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
    const path = pathOf(request);
    if (path === '/live') return send(200, { status: 'ok' });
    if (path === '/ready' || path === '/health') {
      const found = health();
      return send(found.status === 'ok' ? 200 : 503, found);
    }
    if (!isAdmitted(request)) {
      response.setHeader('www-authenticate', 'Bearer');
      return send(401, { error: 'The token is missing or wrong' });
    }
    if (path === '/metrics') {
      const { type, text } = await metrics();
      return response.writeHead(200, { 'content-type': type }).end(text);
    }
    if (!VERSION_PATHS.has(path)) return send(404, { error: 'There is nothing at this path' });
    if (draining) {
      response.setHeader('retry-after', '1');
      return send(503, { error: 'The browser is draining' });
    }
    const scheme = request.headers['x-forwarded-proto'] === 'https' ? 'wss' : 'ws';
    const webSocketDebuggerUrl = `${scheme}://${request.headers.host}${DEVTOOLS_PATH}`;
    return send(200, { Browser: `Chromium/${pool.status().version ?? ''}`, webSocketDebuggerUrl });
  });

  server.on('upgrade', (request, socket: Duplex, head) => {
    socket.on('error', () => {});
    const refuse = (line: string) => socket.end(`HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    if (!isAdmitted(request)) return refuse('401 Unauthorized');
    if (pathOf(request) !== DEVTOOLS_PATH) return refuse('404 Not Found');
    if (draining) return refuse('503 Service Unavailable');
    void connect(request, socket, head).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      refuse('503 Service Unavailable');
    });
  });

  const connect = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const left = new AbortController();
    socket.once('close', () => left.abort(browserUnavailable()));
    const lease = await pool.lease(left.signal);
    const { devtoolsUrl, release } = lease;
    if (draining || devtoolsUrl === undefined) {
      release();
      throw browserUnavailable();
    }
    sockets.handleUpgrade(request, socket, head, (server) => {
      const bridge = openBridge({ server, devtoolsUrl, onContext: () => opened++ });
      bridges.add(bridge);
      const age = setTimeout(() => bridge.drain(), maxAgeMs).unref();
      void bridge.closed.then(() => {
        clearTimeout(age);
        bridges.delete(bridge);
        release();
      });
    });
  };

  return {
    server,
    status,
    async close(drainMs) {
      draining = true;
      for (const bridge of bridges) bridge.drain();
      const late = setTimeout(() => {
        for (const bridge of bridges) bridge.end();
      }, drainMs);
      await Promise.all([...bridges].map(({ closed }) => closed));
      clearTimeout(late);
      await pool.close();
      const closed = new Promise((resolve) => (server.listening ? server.close(resolve) : resolve(undefined)));
      server.closeAllConnections();
      await closed;
    },
  };
}

const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0]!;

/** Compares the bearer token in constant time. */
function tokenMatcher(token: string): (request: IncomingMessage) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(token);
  return ({ headers }) =>
    timingSafeEqual(digest(/^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''), expected);
}
