/** Real servers on loopback for network tests. Each server is closed when its test ends. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createFetch, type GuardedFetch } from './fetch/fetch.ts';
import { createGuard, type GuardOptions } from './guard/guard.ts';

export interface Loopback {
  readonly port: number;
  /** `127.0.0.1:port`, as an entry of the allow list. */
  readonly host: string;
  readonly origin: string;
  /** Number of connections so far. */
  connections(): number;
  /** Number of open connections. */
  open(): number;
}

/** An HTTP server. */
export const startServer = (answer: RequestListener, address = '127.0.0.1', port = 0): Promise<Loopback> =>
  started(createServer(answer), address, port);

/** A TCP server for any protocol. */
export const startTcp = (talk: (socket: Socket) => void, address = '127.0.0.1', port = 0): Promise<Loopback> =>
  started(createTcpServer(talk), address, port);

/** A server that tests must never reach. */
export const startSecret = (address = '127.0.0.1', port = 0): Promise<Loopback> =>
  startServer((_, response) => response.end('secret'), address, port);

export async function started(server: Server, address = '127.0.0.1', port = 0): Promise<Loopback> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(port, address);
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const host = `${address}:${(server.address() as AddressInfo).port}`;
  return {
    port: (server.address() as AddressInfo).port,
    host,
    origin: `http://${host}`,
    connections: () => connections,
    open: () => sockets.size,
  };
}

/** A guarded fetch that may connect only to these servers on this machine. */
export function startFetch(allowed: readonly Loopback[], options: Omit<GuardOptions, 'allow'> = {}): GuardedFetch {
  const fetch = createFetch({ guard: createGuard({ ...options, allow: allowed.map(({ host }) => host) }) });
  onTestFinished(() => fetch.close());
  return fetch;
}

/** A resolver with fixed names. */
export function resolverOf(names: Record<string, readonly string[]>): NonNullable<GuardOptions['lookup']> {
  return async (name) => {
    const found = names[name];
    if (!found) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
}

/** Polls until a condition is true. The test's timeout limits the wait. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}
