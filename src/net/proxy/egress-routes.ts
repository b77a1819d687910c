/** Routes of the egress proxy: user names whose connections go through an upstream proxy. */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { Problem } from '#errors.ts';
import type { Destination } from '../connect/dial.ts';
import { dialThroughProxy, isHttpProxy, type ProxyRules, proxyProblem } from '../connect/tunnel.ts';

export interface RouteOptions {
  /** User name of the route. Default: a random name. */
  readonly username?: string;
  /** Whether to accept an invalid certificate of the upstream proxy itself. */
  readonly acceptInvalidCertificates?: boolean;
}

export interface Route {
  readonly username: string;
  /** The last failure of the upstream proxy; undefined while the proxy works. */
  failure(): Problem | undefined;
  /** Closes the route. Later connections of this user name are rejected, never sent directly. */
  close(): void;
}

/** How the connections of a user name are opened. */
export interface RouteTarget {
  /** Connects to the target. For plain requests that the proxy accepts in absolute form, connects only to the proxy. */
  dial(to: Destination, isPlainRequest: boolean): Promise<Socket>;
  /** URL of the proxy for plain requests, passed to proxy-chain; undefined if the proxy does not accept them. */
  readonly plainRequestsTo: string | undefined;
  readonly hasCredentials: boolean;
  /** Records a failure of the proxy and returns it as a problem. */
  fail(error: unknown): Problem;
}

export interface Routes {
  open(proxy: URL, options?: RouteOptions): Route;
  /** Returns undefined for a direct connection. Throws if the route was closed. */
  routeOf(username: string): RouteTarget | undefined;
}

/** A closed user name is rejected for `rememberMs`. */
export function createRoutes(rules: ProxyRules, rememberMs: number): Routes {
  const routes = new Map<string, RouteTarget>();
  const closed = new Set<string>();

  return {
    open(proxy, { username = randomBytes(12).toString('hex'), acceptInvalidCertificates = false } = {}) {
      let failure: Problem | undefined;
      const isPlain = isHttpProxy(proxy);
      closed.delete(username);
      routes.set(username, {
        plainRequestsTo: isPlain ? plainRequestsTo(proxy) : undefined,
        hasCredentials: proxy.username !== '',
        async dial(to, isPlainRequest) {
          const toProxyOnly = isPlainRequest && isPlain;
          try {
            const socket = await dialThroughProxy(rules, to, { proxy, acceptInvalidCertificates, toProxyOnly });
            failure = undefined;
            return socket;
          } catch (error) {
            if (error instanceof Problem) failure = error;
            throw error;
          }
        },
        fail(error) {
          failure = proxyProblem(error, proxy);
          return failure;
        },
      });
      return {
        username,
        failure: () => failure,
        close() {
          routes.delete(username);
          closed.add(username);
          setTimeout(() => closed.delete(username), rememberMs).unref();
        },
      };
    },
    routeOf(username) {
      if (closed.has(username)) throw new Error('The route is closed');
      return routes.get(username);
    },
  };
}

/** proxy-chain is given an open connection (with TLS if needed), so it needs only the credentials. */
function plainRequestsTo(proxy: URL): string {
  const url = new URL(`http://${proxy.host}`);
  url.username = proxy.username;
  url.password = proxy.password;
  return url.href;
}
