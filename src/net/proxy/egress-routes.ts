/** Which user names of the egress proxy go out through another proxy, and how that goes. */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { Problem } from '#errors.ts';
import type { Destination } from '../connect/dial.ts';
import { dialThroughProxy, isHttpProxy, type ProxyRules, proxyProblem } from '../connect/tunnel.ts';

export interface RouteOptions {
  /** Default: a new one. */
  readonly username?: string;
  /** Also a proxy that is reached by TLS need not have a certificate that verifies. */
  readonly acceptInvalidCertificates?: boolean;
}

export interface Route {
  readonly username: string;
  /** What last went wrong with the proxy itself; undefined while it works. */
  failure(): Problem | undefined;
  /** Ends the route; whoever still comes under this user name is turned away rather than let out by another way. */
  close(): void;
}

/** Where the connections of a user name go. */
export interface RouteTarget {
  /** A connection to the target; for plain requests to the proxy alone, when that reads them itself. */
  dial(to: Destination, isPlainRequest: boolean): Promise<Socket>;
  /** The proxy as proxy-chain is to ask it for plain requests; undefined when it reads none. */
  readonly plainRequestsTo: string | undefined;
  readonly hasCredentials: boolean;
  /** Notes a failure of the proxy, and gives it in words of its own. */
  fail(error: unknown): Problem;
}

export interface Routes {
  open(proxy: URL, options?: RouteOptions): Route;
  /** Undefined: straight to the target. Throws when the route is over. */
  routeOf(username: string): RouteTarget | undefined;
}

/** A user name whose route is over is remembered for so long. */
export function createRoutes(rules: ProxyRules, rememberMs: number): Routes {
  const ways = new Map<string, RouteTarget>();
  const over = new Set<string>();

  return {
    open(proxy, { username = randomBytes(12).toString('hex'), acceptInvalidCertificates = false } = {}) {
      let failure: Problem | undefined;
      const isPlain = isHttpProxy(proxy);
      over.delete(username);
      ways.set(username, {
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
          ways.delete(username);
          over.add(username);
          setTimeout(() => over.delete(username), rememberMs).unref();
        },
      };
    },
    routeOf(username) {
      if (over.has(username)) throw new Error('The route is over');
      return ways.get(username);
    },
  };
}

/** The connection stands already, by TLS when the proxy wants that: what is left to say is who asks. */
function plainRequestsTo(proxy: URL): string {
  const url = new URL(`http://${proxy.host}`);
  url.username = proxy.username;
  url.password = proxy.password;
  return url.href;
}
