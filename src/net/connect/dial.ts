/** Opens sockets only to checked IP addresses. This module never resolves a host name. */
import { connect, type LookupFunction, type Socket } from 'node:net';
import { connect as startTls, type TLSSocket } from 'node:tls';
import { problem } from '#errors.ts';
import type { Resolved } from '../guard/guard.ts';

export interface Destination {
  /** The host of the URL, used for SNI and certificate checks. It is not resolved. */
  readonly hostname: string;
  readonly port: number;
  /** Tried in order, at intervals of 250 ms (Happy Eyeballs, RFC 8305). */
  readonly addresses: readonly Resolved[];
  /** Timeout of this step. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a TCP connection. Rejects with the socket's error, the signal's reason, or a Problem (on timeout, or if the
 * connected address is not the expected one).
 */
export const dial = (to: Destination): Promise<Socket> =>
  connectInTime(
    to,
    () =>
      connect({
        host: to.addresses.length === 1 ? to.addresses[0]!.address : to.hostname,
        port: to.port,
        lookup: lookupOf(to.addresses),
        autoSelectFamily: true,
        noDelay: true,
      }),
    'connect',
    (socket) => to.addresses.some(({ address }) => address === socket.remoteAddress),
  );

export interface TlsOptions {
  readonly acceptInvalidCertificates: boolean;
  /** ALPN protocols, in order of preference. */
  readonly protocols: readonly string[];
}

/**
 * Starts TLS over an open connection. Rejects an invalid certificate unless invalid certificates are accepted. Closes
 * the socket on failure.
 */
export function startTlsOver(socket: Socket, to: Destination, options: TlsOptions): Promise<TLSSocket> {
  const literal = to.hostname.startsWith('[') ? to.hostname.slice(1, -1) : to.hostname;
  const isName = !to.addresses.some(({ address }) => address === literal) && !/^[\d.]+$|:/.test(literal);
  return connectInTime(
    to,
    () =>
      startTls({
        socket,
        host: literal,
        ...(isName && { servername: literal.replace(/\.$/, '') }),
        ALPNProtocols: [...options.protocols],
        rejectUnauthorized: !options.acceptInvalidCertificates,
      }),
    'secureConnect',
  );
}

/** Returns a function that returns the milliseconds left until the timeout, at least 1. */
export function remainingTime(timeoutMs: number): () => number {
  const deadline = performance.now() + timeoutMs;
  return () => Math.max(1, deadline - performance.now());
}

/** Creates a lookup function that returns the checked IP addresses. */
const lookupOf =
  (addresses: readonly Resolved[]): LookupFunction =>
  (_hostname, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };

function connectInTime<S extends Socket>(
  { timeoutMs, signal }: Pick<Destination, 'timeoutMs' | 'signal'>,
  open: () => S,
  ready: 'connect' | 'secureConnect',
  isExpected: (socket: S) => boolean = () => true,
): Promise<S> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const socket = open();
    const settle = (act: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      socket.off(ready, succeed).off('error', fail).off('close', close);
      act();
    };
    const fail = (error: unknown) =>
      settle(() => {
        // Later errors of the socket are irrelevant.
        socket.on('error', () => {});
        socket.destroy();
        reject(error);
      });
    const succeed = () =>
      isExpected(socket) ? settle(() => resolve(socket)) : fail(problem('SecurityCompromiseError', { path: 'url' }));
    const close = () => fail(Object.assign(new Error('closed while connecting'), { code: 'ECONNRESET' }));
    const stop = () => fail(signal?.reason);
    const timer = setTimeout(
      () => fail(problem('AssertionFailureError', { message: 'The target could not be reached in time' })),
      timeoutMs,
    );
    signal?.addEventListener('abort', stop, { once: true });
    socket.once(ready, succeed).once('error', fail).once('close', close);
  });
}
