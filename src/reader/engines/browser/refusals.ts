/**
 * Records which requests of each visit the egress proxy refused, and which servers it could not reach. Each visit has
 * its own username at the proxy.
 */
import type { Problem } from '#errors.ts';
import { portOf } from '#net/guard/guard.ts';

interface ProxyRequest {
  readonly host: string;
  readonly port: number;
  readonly username: string;
}

export interface Refusals {
  hosts(): ReadonlySet<string>;
  /** The reason why the server of a URL could not be reached, or what was wrong with its last response. */
  failureOf(url: URL): Problem | undefined;
  stop(): void;
}

export interface RefusalLog {
  /** Callback for the proxy's `onRefused`. */
  note(request: ProxyRequest): void;
  /** Callback for the proxy's `onFailed`. */
  noteFailure(request: ProxyRequest, failure: Problem): void;
  /** Collects the refusals of a username until `stop`; calls `onRefused` for each. */
  watch(name: string, onRefused?: (host: string) => void): Refusals;
}

/** Maximum number of recorded failures. A page that contacts more servers has failed for other reasons. */
const MAX_FAILURES = 500;

export function createRefusalLog(): RefusalLog {
  const watched = new Map<string, { refused(host: string): void; failed(server: string, failure: Problem): void }>();
  return {
    note: ({ host, username }) => watched.get(username)?.refused(host),
    noteFailure: ({ host, port, username }, failure) => watched.get(username)?.failed(`${host}:${port}`, failure),
    watch(name, onRefused) {
      const hosts = new Set<string>();
      const failures = new Map<string, Problem>();
      watched.set(name, {
        refused(host) {
          hosts.add(host);
          onRefused?.(host);
        },
        failed(server, failure) {
          if (failures.size < MAX_FAILURES || failures.has(server)) failures.set(server, failure);
        },
      });
      return {
        hosts: () => hosts,
        failureOf: (url) => failures.get(`${url.hostname.replace(/^\[|\]$/g, '')}:${portOf(url)}`),
        stop: () => void watched.delete(name),
      };
    },
  };
}
