/**
 * Connects to a target through a proxy. The target has already been resolved and checked. `socks4` and `socks5` proxies
 * receive the checked IP address; other proxies receive the host name and resolve it themselves. This is not less
 * secure, because a proxy chosen by the caller could connect anywhere anyway.
 */
import { lookup as askSystem } from 'node:dns/promises';
import type { Socket } from 'node:net';
import { Problem, problem } from '#errors.ts';
import { networkProblem } from '../fetch/failures.ts';
import { type Guard, portOf, type Resolved } from '../guard/guard.ts';
import { OperatorProxy } from '../proxy/proxy-table.ts';
import type { Region } from '../region.ts';
import { type Destination, dial, remainingTime, startTlsOver } from './dial.ts';
import { connectByHttp, connectBySocks, type Handshake } from './proxy-handshake.ts';

export interface ProxyRules {
  readonly guard: Guard;
  /** Restricts proxies to a region. Default: no restriction. */
  readonly region?: Region | undefined;
}

export interface ProxyDialOptions {
  readonly proxy: URL;
  /** Accepts an invalid certificate of the proxy itself. */
  readonly acceptInvalidCertificates: boolean;
  /** Connects only to the proxy, for requests in absolute form (RFC 9112, section 3.2.2). */
  readonly toProxyOnly: boolean;
}

/** Whether the proxy accepts plain HTTP requests in absolute form. */
export const isHttpProxy = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

/**
 * Opens a connection to the target, or only to the proxy. Throws AssertionFailureError if the proxy is unreachable or
 * rejects the connection, SecurityCompromiseError if its IP address is not allowed, ParamValidationError if its host
 * name does not exist, and DownstreamServiceFailureError if it is outside the region. The error's `path` is `proxyUrl`,
 * or `proxy` for operator proxies.
 */
export async function dialThroughProxy(rules: ProxyRules, to: Destination, options: ProxyDialOptions): Promise<Socket> {
  const { proxy } = options;
  const remainingMs = remainingTime(to.timeoutMs);
  let socket: Socket | undefined;
  try {
    rules.region?.require(proxy, 'proxy');
    const addresses = await addressesOf(proxy, rules.guard, to.signal);
    const { hostname } = proxy;
    const proxyHost = { hostname, port: portOf(proxy), addresses, signal: to.signal };
    socket = await dial({ ...proxyHost, timeoutMs: remainingMs() });
    socket.on('error', () => {});
    if (proxy.protocol === 'https:') {
      const tls = { acceptInvalidCertificates: options.acceptInvalidCertificates, protocols: ['http/1.1'] };
      socket = await startTlsOver(socket, { ...proxyHost, timeoutMs: remainingMs() }, tls);
    }
    if (!options.toProxyOnly) await handshake(socket, proxy, { ...to, timeoutMs: remainingMs() });
    return socket;
  } catch (error) {
    socket?.on('error', () => {}).destroy();
    if (to.signal?.aborted) throw to.signal.reason;
    throw proxyProblem(error, proxy);
  }
}

/** Operator proxies may have any IP address. The guard checks a proxy chosen by a caller. */
async function addressesOf(proxy: URL, guard: Guard, signal: AbortSignal | undefined): Promise<readonly Resolved[]> {
  if (!(proxy instanceof OperatorProxy)) return guard.resolve(proxy.hostname, portOf(proxy), signal);
  const found = await askSystem(proxy.hostname.replace(/^\[|\]$/g, ''), { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

async function handshake(socket: Socket, proxy: URL, { timeoutMs, signal, ...to }: Destination): Promise<void> {
  const perform: Handshake = isHttpProxy(proxy) ? connectByHttp : connectBySocks;
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
    await Promise.race([perform(socket, proxy, to), stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
}

/**
 * Converts an error into a problem that names the proxy as the cause. Its message never contains the proxy's URL or
 * credentials.
 */
export function proxyProblem(error: unknown, proxy: URL): Problem {
  const path = proxy instanceof OperatorProxy ? 'proxy' : 'proxyUrl';
  const isUnknown = /^(?:ENOTFOUND|EAI_)/.test(String((error as NodeJS.ErrnoException).code));
  if (isUnknown) return problem('AssertionFailureError', { path, message: 'The proxy cannot be found' }, error);
  const { name, message } = networkProblem(error);
  if (name === 'SecurityCompromiseError' || name === 'HarmfulContentError')
    return problem(name, { path, message: 'Access to the proxy is not allowed' }, error);
  if (name === 'ParamValidationError')
    return problem(name, { path, message: 'The host name of the proxy does not exist' }, error);
  const isOwn = error instanceof Problem && /\bproxy\b/.test(message);
  const shown = isOwn ? message : message.replace('The host name', 'The name of the proxy').replace('target', 'proxy');
  return problem(name, { path, message: shown }, error);
}
