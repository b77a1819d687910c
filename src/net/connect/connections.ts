/**
 * Connections to checked addresses. A connection belongs to one request at a time, and rests for a few seconds
 * afterwards for the next one to the same origin: it still leads to the address that was checked when it was dialled.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Trace, traceStep } from '#telemetry/trace.ts';
import { portOf } from '../guard/guard.ts';
import type { Channel, ChannelFacts } from './channel.ts';
import { countdown, dial, startTlsOver } from './dial.ts';
import { loadHttp1 } from './http1.ts';
import { openHttp2 } from './http2.ts';
import { dialThroughProxy, isHttpProxy, type ProxyRules } from './tunnel.ts';

export interface LeaseOptions {
  readonly connectTimeoutMs: number;
  readonly proxy: URL | undefined;
  readonly acceptInvalidCertificates: boolean;
  readonly signal: AbortSignal;
  /** Dials anew even when a connection rests. */
  readonly fresh?: boolean;
  /** Speaks no later version of HTTP. */
  readonly http1Only?: boolean;
  readonly trace?: Trace | undefined;
}

export interface Lease {
  readonly channel: Channel;
  /** Whether it served another request before; the other side may have closed it without our knowing. */
  readonly reused: boolean;
  /** Gives it back, once: to rest when the last answer was read to its end, else it is closed. */
  release(intact: boolean): void;
}

export interface Connections {
  lease(url: URL, options: LeaseOptions): Promise<Lease>;
  close(): Promise<void>;
}

const REST_MS = 4_000;
const MAX_RESTING = 64;

export function createConnections(rules: ProxyRules): Connections {
  const resting = new Map<Channel, { readonly key: string; readonly timer: NodeJS.Timeout }>();
  const open = new Set<Channel>();
  let closed = false;

  const wake = (channel: Channel) => {
    clearTimeout(resting.get(channel)?.timer);
    resting.delete(channel);
    channel.wake();
  };

  const end = (channel: Channel) => {
    wake(channel);
    open.delete(channel);
    channel.end();
  };

  const rest = (channel: Channel, key: string) => {
    if (closed || !channel.isOpen()) return end(channel);
    channel.rest();
    resting.set(channel, { key, timer: setTimeout(end, REST_MS, channel).unref() });
    const [oldest] = resting.keys();
    if (resting.size > MAX_RESTING && oldest) end(oldest);
  };

  const dialled = async (url: URL, options: LeaseOptions): Promise<Socket> => {
    const { signal, proxy, acceptInvalidCertificates, trace } = options;
    const { hostname } = url;
    const port = portOf(url);
    const addresses = await traceStep('dns', trace, () => rules.guard.resolve(hostname, port, signal));
    const left = countdown(options.connectTimeoutMs);
    const to = () => ({ hostname, port, addresses, signal, timeoutMs: left() });
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
    const socket = await dialled(url, options);
    // A socket that dies before a channel took it would otherwise throw.
    socket.on('error', () => {});
    let channel: Channel | undefined;
    const facts: ChannelFacts = {
      origin: url.origin,
      onLeaving: () => void (channel && resting.has(channel) && end(channel)),
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
      const found = options.fresh ? undefined : [...resting].findLast(([, other]) => other.key === key)?.[0];
      if (found) wake(found);
      const channel = found ?? (await connect(url, options));
      if (closed) {
        end(channel);
        throw new Error('The way out is closed');
      }
      let isReleased = false;
      return {
        channel,
        reused: Boolean(found),
        release(intact) {
          // It may be another's by the time that somebody says again that they are done.
          if (isReleased) return;
          isReleased = true;
          if (intact) rest(channel, key);
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
