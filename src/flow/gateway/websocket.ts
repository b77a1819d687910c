/**
 * The WebSocket gateway (docs/reference/wire/flow.md, WebSocket): many concurrent requests on each connection, with
 * responses in the order of completion. If a client does not read its responses, its requests are not read either.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Log } from '#telemetry/log.ts';
import type { GatewayOptions } from '../definition/definition.ts';
import type { Flow } from '../flow.ts';
import type { FlowObserver } from '../observer.ts';
import { type Connection, openConnection } from './websocket-connection.ts';
import { createCodecs, type FrameCodec } from './websocket-frames.ts';

export interface SocketLimits {
  /** Interval between pings. */
  readonly pingMs: number;
  /** Time to wait for a pong. */
  readonly pongMs: number;
  /** Maximum size of a received frame. */
  readonly maxMessageBytes: number;
  /** Maximum total size of the running requests of one connection. */
  readonly maxInWorkBytes: number;
  /** Maximum size of unsent responses of one client. Above it, no more requests are read. */
  readonly maxUnreadBytes: number;
}

const MIB = 2 ** 20;
/** Ping intervals and frame size match the original framework. */
const DEFAULT_LIMITS: SocketLimits = {
  pingMs: 20_000,
  pongMs: 20_000,
  maxMessageBytes: 16 * MIB,
  maxInWorkBytes: 64 * MIB,
  maxUnreadBytes: 4 * MIB,
};

export interface WebSocketGatewayTools {
  readonly flow: Flow;
  readonly options: GatewayOptions;
  readonly isAllowed: (request: IncomingMessage) => boolean;
  readonly refuse: (request: IncomingMessage) => string | undefined;
  readonly observe?: FlowObserver | undefined;
  readonly log?: Log | undefined;
  readonly limits?: Partial<SocketLimits> | undefined;
}

export interface WebSocketGateway {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Stops reading, waits up to `graceMs` for running requests, then closes the connections. */
  close(graceMs: number): Promise<void>;
}

/** Chooses the subprotocol: JSON if the client offers it, else bytes. */
function chooseSubprotocol(offered: ReadonlySet<string>): string | false {
  if (offered.has('json')) return 'json';
  return offered.has('bytes') ? 'bytes' : false;
}

type Path = 'data' | 'dry run';

function pathsOf({ debugEndpoints }: GatewayOptions): ReadonlyMap<string, Path> {
  const paths = new Map<string, Path>([
    ['/', 'data'],
    ['/stream', 'data'],
  ]);
  if (debugEndpoints) paths.set('/dry_run', 'dry run');
  return paths;
}

function rejectUpgrade(socket: Duplex, line: string): void {
  socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
}

export function createWebSocketGateway({
  flow,
  options,
  isAllowed,
  refuse,
  observe,
  log,
  limits,
}: WebSocketGatewayTools): WebSocketGateway {
  const allLimits: SocketLimits = {
    ...DEFAULT_LIMITS,
    ...(options.maxBodyBytes !== undefined && { maxMessageBytes: options.maxBodyBytes }),
    ...limits,
  };
  const codecOf = createCodecs(options);
  const paths = pathsOf(options);
  const connections = new Set<Connection>();
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: allLimits.maxMessageBytes,
    handleProtocols: chooseSubprotocol,
    clientTracking: false,
  });
  let isClosing = false;

  function accept(socket: WebSocket, request: IncomingMessage, path: Path): void {
    const codec = codecOf(socket.protocol);
    if (path === 'dry run') {
      void answerDryRun(socket, codec, flow);
      return;
    }
    const { headers } = request;
    const connection = openConnection(socket, {
      flow,
      codec,
      headers,
      prefetch: options.prefetch,
      limits: allLimits,
      observe,
      log,
    });
    connections.add(connection);
    void connection.closed.then(() => connections.delete(connection));
  }

  return {
    upgrade(request, socket, head) {
      socket.on('error', () => socket.destroy());
      const path = paths.get((request.url ?? '/').split('?', 1)[0]!);
      if (isClosing) rejectUpgrade(socket, '503 Service Unavailable');
      else if (!path || refuse(request) !== undefined) rejectUpgrade(socket, '403 Forbidden');
      else if (!isAllowed(request)) rejectUpgrade(socket, '401 Unauthorized\r\nwww-authenticate: Bearer');
      else server.handleUpgrade(request, socket, head, (made) => accept(made, request, path));
    },
    async close(graceMs) {
      isClosing = true;
      await Promise.all([...connections].map((connection) => connection.end(graceMs)));
    },
  };
}

/** Sends one response without waiting for a message. */
async function answerDryRun(socket: WebSocket, codec: FrameCodec, flow: Flow): Promise<void> {
  const disconnected = new AbortController();
  socket.on('close', () => disconnected.abort());
  socket.on('error', () => socket.terminate());
  socket.on('message', () => {});
  const status = await flow.dryRun(disconnected.signal);
  if (disconnected.signal.aborted) return;
  socket.send(codec.writeStatus(status), { binary: codec.isBinary });
  socket.close(1000);
}
