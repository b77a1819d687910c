/**
 * HTTP/1.1 connections to checked addresses. A connection belongs to one request at a time, and rests for a few seconds
 * afterwards for the next one to the same origin: it still leads to the address that was checked when it was dialled.
 */
import type { Socket } from 'node:net';
import type { Client } from 'undici';
import { countdown, dial, secure } from './dial.ts';
import { portOf } from './guard.ts';
import { dialThrough, type ProxyRules, takesPlainRequests } from './tunnel.ts';

export interface LeaseOptions {
  readonly connectTimeoutMs: number;
  readonly proxy: URL | undefined;
  readonly acceptInvalidCertificates: boolean;
  readonly signal: AbortSignal;
  /** Dials anew even when a connection rests. */
  readonly fresh?: boolean;
}

export interface Lease {
  readonly client: Client;
  /** Whether it served another request before; the other side may have closed it without our knowing. */
  readonly reused: boolean;
  /** Gives it back: to rest when the last answer was read to its end, else it is closed. */
  release(intact: boolean): void;
}

export interface Connections {
  lease(url: URL, options: LeaseOptions): Promise<Lease>;
  close(): Promise<void>;
}

const REST_MS = 4_000;
const MAX_RESTING = 64;
const MAX_HEADER_BYTES = 64 * 1024;

export function createConnections(rules: ProxyRules): Connections {
  const resting = new Map<Client, string>();
  const open = new Set<Client>();
  let closed = false;

  const end = (client: Client) => {
    resting.delete(client);
    open.delete(client);
    client.destroy().catch(() => {});
  };

  const rest = (client: Client, key: string) => {
    if (closed || client.destroyed || !open.has(client)) return end(client);
    resting.set(client, key);
    const [oldest] = resting.keys();
    if (resting.size > MAX_RESTING && oldest) end(oldest);
  };

  const dialled = async (url: URL, options: LeaseOptions): Promise<Socket> => {
    const { signal, proxy, acceptInvalidCertificates } = options;
    const { hostname } = url;
    const port = portOf(url);
    const addresses = await rules.guard.resolve(hostname, port, signal);
    const left = countdown(options.connectTimeoutMs);
    const to = () => ({ hostname, port, addresses, signal, timeoutMs: left() });
    const isSecure = url.protocol === 'https:';
    const toProxyOnly = proxy !== undefined && !isSecure && takesPlainRequests(proxy);
    const socket = proxy
      ? await dialThrough(rules, to(), { proxy, acceptInvalidCertificates, toProxyOnly })
      : await dial(to());
    return isSecure ? secure(socket, to(), { acceptInvalidCertificates, protocols: ['http/1.1'] }) : socket;
  };

  const connect = async (url: URL, options: LeaseOptions): Promise<Client> => {
    // Here because loading it takes longer than a start should; before the socket, which must not be left unheard.
    const { Client } = await import('undici');
    const socket = await dialled(url, options);
    let given = false;
    const client = new Client(url.origin, {
      // A client dials again by itself when its socket closes; this one has its one checked socket or none. It expects
      // to be called back later, not at once.
      connect: (_, callback) =>
        queueMicrotask(() => {
          if (given || socket.destroyed)
            return callback(Object.assign(new Error('closed'), { code: 'ECONNRESET' }), null);
          given = true;
          callback(null, socket);
        }),
      pipelining: 1,
      keepAliveTimeout: REST_MS,
      keepAliveMaxTimeout: REST_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    client.on('disconnect', () => end(client));
    // A socket that dies before its client took it would otherwise throw.
    socket.on('error', () => {});
    open.add(client);
    return client;
  };

  return {
    async lease(url, options) {
      const key = `${url.origin} ${options.acceptInvalidCertificates} ${options.proxy?.href ?? ''}`;
      const found = options.fresh ? undefined : [...resting].findLast(([, other]) => other === key)?.[0];
      if (found) resting.delete(found);
      const client = found ?? (await connect(url, options));
      if (closed) {
        end(client);
        throw new Error('The way out is closed');
      }
      return { client, reused: Boolean(found), release: (intact) => (intact ? rest(client, key) : end(client)) };
    },
    async close() {
      closed = true;
      await Promise.all([...open].map((client) => client.destroy().catch(() => {})));
      open.clear();
      resting.clear();
    },
  };
}
