/**
 * WebSocket upgrades of the compat API. An upgrade is routed like any other request, so that it is admitted and refused
 * like one; its route then takes the connection over.
 */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket, WebSocketServer } from 'ws';
import type { Face } from '#http/server.ts';

interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/** Clients send no more than control frames. */
const MAX_PAYLOAD_BYTES = 64 * 1024;

/** Loaded when the first client opens a WebSocket. */
let sockets: Promise<WebSocketServer> | undefined;

async function createSockets(): Promise<WebSocketServer> {
  const { WebSocketServer: Sockets } = await import('ws');
  return new Sockets({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_PAYLOAD_BYTES,
    // Clients that send their key as the subprotocol drop the connection if it is not confirmed.
    handleProtocols: (offered) => offered.values().next().value ?? false,
  });
}

/** Returns the handler of the `upgrade` events of a server that passes its requests to the API. */
export const upgradeHandler =
  (face: Face) =>
  (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      servePlain(request, socket as Socket, head);
      return;
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once('finish', () => socket.end());
    socket.on('error', () => socket.destroy());
    upgrades.set(request, { socket, head });
    face.routing(request, response);
  };

/** Headers of an upgrade, which are removed if it is declined. */
const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'connection', 'http2-settings']);

/**
 * Declines an upgrade by serving the request over HTTP/1.1 (RFC 9110, section 7.8), because the HTTP clients of some
 * languages offer HTTP/2 with every request. Node has stopped parsing at the end of the headers, so the request is
 * given back to the server without the offer.
 */
function servePlain({ method, url, rawHeaders }: IncomingMessage, socket: Socket, head: Buffer): void {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!UPGRADE_HEADERS.has(rawHeaders[at]!.toLowerCase())) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  const { server } = socket as Socket & { readonly server: Server };
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

export const isUpgrade = ({ raw }: FastifyRequest): boolean => upgrades.has(raw);

/** Takes over the connection of an upgrade. The handler must not send a response. */
export async function acceptUpgrade({ raw, server }: FastifyRequest, reply: FastifyReply): Promise<WebSocket> {
  sockets ??= createSockets();
  const accepting = await sockets;
  const { socket, head } = upgrades.get(raw)!;
  const open = openSocketsOf(server.server);
  reply.hijack();
  return new Promise((resolve) =>
    accepting.handleUpgrade(raw, socket, head, (accepted) => {
      open.add(accepted);
      accepted.on('close', () => open.delete(accepted));
      resolve(accepted);
    }),
  );
}

const openSockets = new WeakMap<Server, Set<WebSocket>>();

function openSocketsOf(server: Server): Set<WebSocket> {
  const open = openSockets.get(server) ?? new Set();
  openSockets.set(server, open);
  return open;
}

const GOING_AWAY = 1001;

/** Closes the WebSockets of an API that is shutting down. */
export function closeWebSockets(face: Face): void {
  for (const socket of openSocketsOf(face.server)) socket.close(GOING_AWAY);
}
