/** Which hosts the egress proxy refused to which visit. Each visit goes through the proxy under a name of its own. */

export interface Refused {
  hosts(): ReadonlySet<string>;
  stop(): void;
}

export interface RefusalLog {
  /** For the proxy's `onRefused`. */
  note(request: { readonly host: string; readonly username: string }): void;
  /** What is refused to a name from now on, until `stop`; `heard` is told each time. */
  watch(name: string, heard?: (host: string) => void): Refused;
}

export function createRefusalLog(): RefusalLog {
  const watched = new Map<string, (host: string) => void>();
  return {
    note: ({ host, username }) => watched.get(username)?.(host),
    watch(name, heard) {
      const hosts = new Set<string>();
      watched.set(name, (host) => {
        hosts.add(host);
        heard?.(host);
      });
      return { hosts: () => hosts, stop: () => void watched.delete(name) };
    },
  };
}
