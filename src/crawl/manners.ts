/**
 * Manners towards hosts, for all crawls of a process together: how many pages of one are read at once, and when the next
 * one may be asked for. Also how many pages are read at once in all.
 */

export interface HostRules {
  /** Pages of the host at once. */
  readonly atOnce: number;
}

export interface Heard {
  /** Whether the host said that it has too much to do; the pause is then longer each time, unless it named a time. */
  readonly busy?: { readonly waitMs: number | undefined } | undefined;
  /** Whether it could be reached; undefined when it was not asked, of which nothing follows. */
  readonly reached?: boolean | undefined;
}

export interface Manners {
  /** When the host may be asked, in ms since 1970; infinity while enough of its pages are being read. */
  readyAt(host: string, rules: HostRules): number;
  /** Whether there is a place among the pages that are read at once. */
  hasPlace(): boolean;
  /** Takes one; false when there is none. */
  begin(host: string): boolean;
  /** Notes how the host answered; how often in a row it could not be reached. */
  heard(host: string, heard: Heard): { readonly unreached: number };
  /** Gives the place back; the host is asked again after a pause. */
  end(host: string, delayMs: number): void;
  /** Calls when a place may have become free; gives what ends that. */
  onChange(listener: () => void): () => void;
}

interface Host {
  active: number;
  nextAt: number;
  /** Answers in a row that said it was too busy. */
  busy: number;
  unreached: number;
  unreachedAt: number;
}

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 600_000;
/** What happened longer ago is not in a row with what happens now. */
const ROW_MS = 600_000;
const KEPT_HOSTS = 10_000;

export function createManners(pagesAtOnce: number, now: () => number): Manners {
  const hosts = new Map<string, Host>();
  const listeners = new Set<() => void>();
  let active = 0;

  function of(name: string): Host {
    let host = hosts.get(name);
    if (!host) {
      forgetSome();
      host = { active: 0, nextAt: 0, busy: 0, unreached: 0, unreachedAt: 0 };
      hosts.set(name, host);
    }
    return host;
  }

  /** Those longest known that nobody waits for. */
  function forgetSome(): void {
    if (hosts.size < KEPT_HOSTS) return;
    for (const [name, host] of hosts) {
      if (host.active === 0 && host.nextAt <= now()) hosts.delete(name);
      if (hosts.size < KEPT_HOSTS / 2) return;
    }
  }

  return {
    readyAt(name, { atOnce }) {
      const host = hosts.get(name);
      if (!host) return 0;
      return host.active >= atOnce ? Number.POSITIVE_INFINITY : host.nextAt;
    },
    hasPlace: () => active < pagesAtOnce,
    begin(name) {
      if (active >= pagesAtOnce) return false;
      active++;
      of(name).active++;
      return true;
    },
    heard(name, { busy, reached }) {
      const host = of(name);
      if (reached === undefined) return { unreached: host.unreached };
      host.busy = busy ? host.busy + 1 : 0;
      if (reached || now() - host.unreachedAt > ROW_MS) host.unreached = 0;
      if (!reached) {
        host.unreached++;
        host.unreachedAt = now();
      }
      const pauseMs = busy ? (busy.waitMs ?? FIRST_PAUSE_MS * 2 ** Math.min(host.busy - 1, 10)) : 0;
      host.nextAt = Math.max(host.nextAt, now() + Math.min(pauseMs, LONGEST_PAUSE_MS));
      return { unreached: host.unreached };
    },
    end(name, delayMs) {
      const host = of(name);
      active--;
      host.active--;
      host.nextAt = Math.max(host.nextAt, now() + delayMs);
      for (const listener of listeners) listener();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
