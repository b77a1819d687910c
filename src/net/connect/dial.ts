/** Opens a socket to addresses that were checked, and to no others: no name is looked up here. */
import { connect, type LookupFunction, type Socket } from 'node:net';
import { connect as startTls, type TLSSocket } from 'node:tls';
import { problem } from '#errors.ts';
import type { Resolved } from '../guard/guard.ts';

export interface Destination {
  /** The host as the address names it: for SNI and for the certificate's name, not for dialling. */
  readonly hostname: string;
  readonly port: number;
  /** Tried in turn, a quarter of a second apart (RFC 8305). */
  readonly addresses: readonly Resolved[];
  /** For this step. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A TCP connection. Rejects with the socket's error, a problem when time is up, or the signal's reason. */
export const dial = (to: Destination): Promise<Socket> =>
  inTime(
    to,
    () =>
      connect({
        host: to.addresses.length === 1 ? to.addresses[0]!.address : to.hostname,
        port: to.port,
        lookup: pinned(to.addresses),
        autoSelectFamily: true,
        noDelay: true,
      }),
    'connect',
    (socket) => to.addresses.some(({ address }) => address === socket.remoteAddress),
  );

export interface TlsOptions {
  readonly acceptInvalidCertificates: boolean;
  /** What may be spoken inside, best first. */
  readonly protocols: readonly string[];
}

/** TLS over a connection that stands; an invalid certificate is an error unless accepted. Closes it when it fails. */
export function startTlsOver(socket: Socket, to: Destination, options: TlsOptions): Promise<TLSSocket> {
  const literal = to.hostname.startsWith('[') ? to.hostname.slice(1, -1) : to.hostname;
  const isName = !to.addresses.some(({ address }) => address === literal) && !/^[\d.]+$|:/.test(literal);
  return inTime(
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

/** The milliseconds that are left of so many, one at least. */
export function countdown(timeoutMs: number): () => number {
  const endsAt = performance.now() + timeoutMs;
  return () => Math.max(1, endsAt - performance.now());
}

/** Answers every look-up with what is known already. */
const pinned =
  (addresses: readonly Resolved[]): LookupFunction =>
  (_hostname, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };

function inTime<S extends Socket>(
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
        // Whatever the socket says after this is nobody's concern.
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
