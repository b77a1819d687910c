/** The HTTP server of a gateway: TLS, limits, and requests that are not plain HTTP/1. */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { problem } from '#errors.ts';
import { closeOtherAddresses, openServer } from '#http/open-server.ts';
import { trackUnusedConnections, type UnusedConnections } from '#http/unused-connections.ts';
import type { GatewayOptions } from '../definition/definition.ts';

const MAX_HEADER_BYTES = 64 * 1024;
/** Longer than clients keep idle connections open, so that the client closes them first. */
const KEEP_ALIVE_MS = 65_000;
/** Maximum time to receive a request. */
const REQUEST_MS = 300_000;

export interface ListenerHandlers {
  readonly onRequest: RequestListener;
  readonly onWebSocket: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export interface Listener {
  readonly server: Server;
  /** Maximum number of connections that wait to be accepted. */
  readonly backlog: number | undefined;
  readonly unused: UnusedConnections;
}

/** Throws if only one of certificate and key is set, or if either cannot be read. */
export async function createListener(
  options: GatewayOptions,
  { onRequest, onWebSocket }: ListenerHandlers,
): Promise<Listener> {
  const server = await createPlainListener(options);
  const unused = trackUnusedConnections(server);
  server.on('request', onRequest);
  server.on('upgrade', (request, socket, head) => {
    if (request.headers.upgrade?.toLowerCase() === 'websocket') onWebSocket(request, socket, head);
    else server.emit(options.sslCertfile ? 'secureConnection' : 'connection', withoutUpgrade(request, socket, head));
  });
  server.on('clientError', refuseMalformed);
  return { server, backlog: options.httpServer.backlog, unused };
}

/** Returns the opened port. Rejects with the system's error when it is in use. */
export async function openPort({ server, backlog }: Listener, port: number, host: string): Promise<number> {
  await openServer(server, { host, port, backlog });
  return (server.address() as { port: number }).port;
}

/** Refuses new connections and closes the open ones after `graceMs` at the latest. */
export async function closeListener({ server, unused }: Listener, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    if (server.listening) server.close(() => resolve());
    else resolve();
  });
  closeOtherAddresses(server);
  server.closeIdleConnections();
  unused.close();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

async function createPlainListener({ sslCertfile, sslKeyfile, httpServer }: GatewayOptions): Promise<Server> {
  const settings = {
    maxHeaderSize: httpServer.maxHeaderBytes ?? MAX_HEADER_BYTES,
    keepAliveTimeout: httpServer.keepAliveMs ?? KEEP_ALIVE_MS,
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
 * Some clients offer an HTTP/2 upgrade but accept an HTTP/1 response. Node has already detached the connection, so this
 * returns the connection with the request, without its upgrade headers, prepended to the data.
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

/** Responds to requests that are not valid HTTP or whose header is too long. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (socket.destroyed || error.code === 'ECONNRESET') return;
  const isLong = error.code === 'HPE_HEADER_OVERFLOW';
  const line = isLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
  const body = JSON.stringify({ detail: isLong ? 'The request header is too long' : 'This is not valid HTTP' });
  socket.end(
    `HTTP/1.1 ${line}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
