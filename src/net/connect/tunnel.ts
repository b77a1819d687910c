/**
 * A connection to a target through a proxy. The target was resolved and checked before; with `socks4` and `socks5` the
 * proxy is told the address that was checked, with the others the name. A proxy looks that name up for itself then, so
 * where it ends is in the proxy's hands: a proxy that a caller chose could go anywhere anyway.
 */
import { lookup as askSystem } from 'node:dns/promises';
import type { Socket } from 'node:net';
import { Problem, problem } from '#errors.ts';
import { networkProblem } from '../fetch/failures.ts';
import { type Guard, portOf, type Resolved } from '../guard/guard.ts';
import { OperatorProxy } from '../proxy/proxy-table.ts';
import type { Region } from '../region.ts';
import { countdown, type Destination, dial, startTlsOver } from './dial.ts';
import { connectByHttp, connectBySocks, type Handshake } from './proxy-handshake.ts';

export interface ProxyRules {
  readonly guard: Guard;
  /** Where proxies must be; anywhere unless given. */
  readonly region?: Region | undefined;
}

export interface ProxyDialOptions {
  readonly proxy: URL;
  /** Of the proxy's own certificate. */
  readonly acceptInvalidCertificates: boolean;
  /** Stops at the proxy, for requests that name their target in full (RFC 9112, section 3.2.2). */
  readonly toProxyOnly: boolean;
}

/** Whether plain requests through this proxy are written with the whole address of their target. */
export const isHttpProxy = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

/**
 * A connection to the target, or to the proxy alone. AssertionFailureError: the proxy cannot be reached or refuses.
 * SecurityCompromiseError: the proxy is at an address that is not allowed. ParamValidationError: its name does not
 * exist. DownstreamServiceFailureError: it is outside the region. The path of each is `proxyUrl`, or `proxy` for one of
 * the operator.
 */
export async function dialThroughProxy(rules: ProxyRules, to: Destination, options: ProxyDialOptions): Promise<Socket> {
  const { proxy } = options;
  const left = countdown(to.timeoutMs);
  let socket: Socket | undefined;
  try {
    rules.region?.require(proxy, 'proxy');
    const addresses = await addressesOf(proxy, rules.guard, to.signal);
    const { hostname } = proxy;
    const door = { hostname, port: portOf(proxy), addresses, signal: to.signal };
    socket = await dial({ ...door, timeoutMs: left() });
    socket.on('error', () => {});
    if (proxy.protocol === 'https:') {
      const tls = { acceptInvalidCertificates: options.acceptInvalidCertificates, protocols: ['http/1.1'] };
      socket = await startTlsOver(socket, { ...door, timeoutMs: left() }, tls);
    }
    if (!options.toProxyOnly) await handshake(socket, proxy, { ...to, timeoutMs: left() });
    return socket;
  } catch (error) {
    socket?.on('error', () => {}).destroy();
    if (to.signal?.aborted) throw to.signal.reason;
    throw proxyProblem(error, proxy);
  }
}

/** An operator's proxy may be anywhere; that of a caller is a destination like any other. */
async function addressesOf(proxy: URL, guard: Guard, signal: AbortSignal | undefined): Promise<readonly Resolved[]> {
  if (!(proxy instanceof OperatorProxy)) return guard.resolve(proxy.hostname, portOf(proxy), signal);
  const found = await askSystem(proxy.hostname.replace(/^\[|\]$/g, ''), { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

async function handshake(socket: Socket, proxy: URL, { timeoutMs, signal, ...to }: Destination): Promise<void> {
  const shake: Handshake = isHttpProxy(proxy) ? connectByHttp : connectBySocks;
  let stop = (_: unknown) => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = reject;
  });
  const timer = setTimeout(
    () => stop(problem('AssertionFailureError', { message: 'The proxy did not reach the target in time' })),
    timeoutMs,
  );
  const leave = () => stop(signal?.reason);
  signal?.addEventListener('abort', leave, { once: true });
  try {
    await Promise.race([shake(socket, proxy, to), stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
}

/** The failure of a proxy, in words that say that it is the proxy; never its address or credentials. */
export function proxyProblem(error: unknown, proxy: URL): Problem {
  const path = proxy instanceof OperatorProxy ? 'proxy' : 'proxyUrl';
  const isUnknown = /^(?:ENOTFOUND|EAI_)/.test(String((error as NodeJS.ErrnoException).code));
  if (isUnknown) return problem('AssertionFailureError', { path, message: 'The proxy cannot be found' }, error);
  const { name, message } = networkProblem(error);
  if (name === 'SecurityCompromiseError')
    return problem(name, { path, message: 'The address of the proxy is not allowed' }, error);
  if (name === 'ParamValidationError')
    return problem(name, { path, message: 'The host name of the proxy does not exist' }, error);
  const isOwn = error instanceof Problem && /\bproxy\b/.test(message);
  const told = isOwn ? message : message.replace('The host name', 'The name of the proxy').replace('target', 'proxy');
  return problem(name, { path, message: told }, error);
}
