/**
 * What the egress proxy refused to which visit, and which targets it could not reach for it. Each visit goes through the
 * proxy under a name of its own.
 */
import type { Problem } from '#errors.ts';
import { portOf } from '#net/guard/guard.ts';

interface Asked {
  readonly host: string;
  readonly port: number;
  readonly username: string;
}

export interface Refused {
  hosts(): ReadonlySet<string>;
  /** Why the server of an address could not be reached, or what was wrong with its answer, if it last was so. */
  failureOf(url: URL): Problem | undefined;
  stop(): void;
}

export interface RefusalLog {
  /** For the proxy's `onRefused`. */
  note(request: Asked): void;
  /** For the proxy's `onFailed`. */
  noteFailure(request: Asked, failure: Problem): void;
  /** What is refused to a name from now on, until `stop`; `heard` is told each time. */
  watch(name: string, heard?: (host: string) => void): Refused;
}

/** A page that asks for more servers than these has failed for other reasons. */
const MAX_FAILURES = 500;

export function createRefusalLog(): RefusalLog {
  const watched = new Map<string, { refused(host: string): void; failed(server: string, failure: Problem): void }>();
  return {
    note: ({ host, username }) => watched.get(username)?.refused(host),
    noteFailure: ({ host, port, username }, failure) => watched.get(username)?.failed(`${host}:${port}`, failure),
    watch(name, heard) {
      const hosts = new Set<string>();
      const failures = new Map<string, Problem>();
      watched.set(name, {
        refused(host) {
          hosts.add(host);
          heard?.(host);
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
