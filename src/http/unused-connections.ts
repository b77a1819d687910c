/**
 * Tracks connections on which no request has arrived. Browsers open some connections in advance, and `fetch` opens one
 * after an aborted request. Node does not treat them as idle, so they would delay the shutdown of a server.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface UnusedConnections {
  close(): void;
}

/** Tracks the connections of a server from now on. */
export function trackUnusedConnections(server: Server): UnusedConnections {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    close() {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}
