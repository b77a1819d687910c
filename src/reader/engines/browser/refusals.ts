/** Which hosts the egress proxy refused to which visit. Each visit goes through the proxy under a name of its own. */

export interface Refused {
  hosts(): ReadonlySet<string>;
  stop(): void;
}

export interface RefusalLog {
  /** For the proxy's `onRefused`. */
  note(request: { readonly host: string; readonly username: string }): void;
  /** What is refused to a name from now on, until `stop`. */
  watch(name: string): Refused;
}

export function createRefusalLog(): RefusalLog {
  const watched = new Map<string, Set<string>>();
  return {
    note: ({ host, username }) => void watched.get(username)?.add(host),
    watch(name) {
      const hosts = new Set<string>();
      watched.set(name, hosts);
      return { hosts: () => hosts, stop: () => void watched.delete(name) };
    },
  };
}
