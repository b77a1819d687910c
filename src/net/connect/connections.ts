/**
 * A pool of connections to checked IP addresses. A connection serves one request at a time, then stays idle for a few
 * seconds for the next request to the same origin. Reuse is safe: it still leads to the IP address that was checked.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Trace, traceStep } from '#telemetry/trace.ts';
import { portOf } from '../guard/guard.ts';
import type { Channel, ChannelFacts } from './channel.ts';
import { dial, remainingTime, startTlsOver } from './dial.ts';
import { loadHttp1 } from './http1.ts';
import { openHttp2 } from './http2.ts';
import { dialThroughProxy, isHttpProxy, type ProxyRules } from './tunnel.ts';

export interface LeaseOptions {
  readonly connectTimeoutMs: number;
  readonly proxy: URL | undefined;
  readonly acceptInvalidCertificates: boolean;
  readonly signal: AbortSignal;
  /** Opens a new connection even if an idle one exists. */
  readonly fresh?: boolean;
  /** Does not offer HTTP/2. */
  readonly http1Only?: boolean;
  readonly trace?: Trace | undefined;
}

export interface Lease {
  readonly channel: Channel;
  /**
   * Whether the connection has already served another request. The server may have closed it since, without our
   * noticing.
   */
  readonly reused: boolean;
  /**
   * Returns the connection to the pool if the response was read completely; otherwise closes it. Later calls do
   * nothing.
   */
  release(intact: boolean): void;
}

export interface Connections {
  lease(url: URL, options: LeaseOptions): Promise<Lease>;
  close(): Promise<void>;
}

const IDLE_MS = 4_000;
const MAX_IDLE = 64;

export function createConnections(rules: ProxyRules): Connections {
  const idle = new Map<Channel, { readonly key: string; readonly timer: NodeJS.Timeout }>();
  const open = new Set<Channel>();
  let closed = false;

  const takeIdle = (channel: Channel) => {
    clearTimeout(idle.get(channel)?.timer);
    idle.delete(channel);
    channel.markBusy();
  };

  const end = (channel: Channel) => {
    takeIdle(channel);
    open.delete(channel);
    channel.end();
  };

  const makeIdle = (channel: Channel, key: string) => {
    if (closed || !channel.isOpen()) return end(channel);
    channel.markIdle();
    idle.set(channel, { key, timer: setTimeout(end, IDLE_MS, channel).unref() });
    const [oldest] = idle.keys();
    if (idle.size > MAX_IDLE && oldest) end(oldest);
  };

  const openSocket = async (url: URL, options: LeaseOptions): Promise<Socket> => {
    const { signal, proxy, acceptInvalidCertificates, trace } = options;
    const { hostname } = url;
    const port = portOf(url);
    const addresses = await traceStep('dns', trace, () => rules.guard.resolve(hostname, port, signal));
    const remainingMs = remainingTime(options.connectTimeoutMs);
    const to = () => ({ hostname, port, addresses, signal, timeoutMs: remainingMs() });
    const isSecure = url.protocol === 'https:';
    const toProxyOnly = proxy !== undefined && !isSecure && isHttpProxy(proxy);
    const socket = await traceStep('connect', trace, () =>
      proxy ? dialThroughProxy(rules, to(), { proxy, acceptInvalidCertificates, toProxyOnly }) : dial(to()),
    );
    const protocols = options.http1Only ? ['http/1.1'] : ['h2', 'http/1.1'];
    if (!isSecure) return socket;
    return traceStep('tls', trace, () => startTlsOver(socket, to(), { acceptInvalidCertificates, protocols }));
  };

  const connect = async (url: URL, options: LeaseOptions): Promise<Channel> => {
    const openHttp1 = await loadHttp1();
    const socket = await openSocket(url, options);
    // Without a listener, an error before the channel exists would crash the process.
    socket.on('error', () => {});
    let channel: Channel | undefined;
    const facts: ChannelFacts = {
      origin: url.origin,
      onGoAway: () => void (channel && idle.has(channel) && end(channel)),
      onEnd: () => void (channel && end(channel)),
    };
    const { alpnProtocol } = socket as Partial<TLSSocket>;
    channel = alpnProtocol === 'h2' ? openHttp2(socket as TLSSocket, facts) : openHttp1(socket, facts);
    open.add(channel);
    return channel;
  };

  return {
    async lease(url, options) {
      const key = `${url.origin} ${options.acceptInvalidCertificates} ${options.proxy?.href ?? ''}`;
      const found = options.fresh ? undefined : [...idle].findLast(([, other]) => other.key === key)?.[0];
      if (found) takeIdle(found);
      const channel = found ?? (await connect(url, options));
      if (closed) {
        end(channel);
        throw new Error('The connection pool is closed');
      }
      let isReleased = false;
      return {
        channel,
        reused: Boolean(found),
        release(intact) {
          // After the first call, the channel may belong to another request.
          if (isReleased) return;
          isReleased = true;
          if (intact) makeIdle(channel, key);
          else end(channel);
        },
      };
    },
    async close() {
      closed = true;
      for (const channel of open) end(channel);
    },
  };
}
