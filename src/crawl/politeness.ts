/**
 * Manners towards hosts, for all crawls of a process together, and of all processes where turns are shared: how many pages
 * of one are read at once, and when the next one may be asked for. Also how many pages this process reads at once in all.
 */
import type { SharedPoliteness } from './shared-politeness.ts';

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

export interface Patience {
  /** How long is waited. */
  readonly mostMs: number;
  readonly signal: AbortSignal;
}

export interface Politeness {
  /** When the host may be asked, in ms since 1970; infinity while enough of its pages are being read, or others wait. */
  readyAt(host: string, rules: HostRules): number;
  /** Whether there is a place among the pages that are read at once. */
  hasPlace(): boolean;
  /** Takes one. */
  begin(): void;
  /** Gives it back. */
  end(): void;
  /**
   * Takes a turn at a host when it comes, before those who ask later: undefined when it is taken, else when it may be asked
   * for again. Throws the reason of the signal.
   */
  enter(host: string, rules: HostRules, patience: Patience): Promise<number | undefined>;
  /** Gives the turn back; the host is asked again after a pause. */
  leave(host: string, delayMs: number): void;
  /** A host was asked without a turn: its next one is after a pause. */
  rest(host: string, delayMs: number): void;
  /** Notes how the host answered; how often in a row it could not be reached. */
  heard(host: string, heard: Heard): { readonly unreached: number };
  /** Calls when a turn or a place may have become free; gives what ends that. */
  onChange(listener: () => void): () => void;
}

interface Host {
  active: number;
  nextAt: number;
  /** Who waits for a turn, in the order of coming. */
  readonly waiting: (() => void)[];
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
/** How often a waiting one looks: what is free now is not always said. */
const LOOK_MS = 250;

export function createPoliteness(pagesAtOnce: number, now: () => number, shared?: SharedPoliteness): Politeness {
  const hosts = new Map<string, Host>();
  const listeners = new Set<() => void>();
  let active = 0;

  function of(name: string): Host {
    let host = hosts.get(name);
    if (!host) {
      forgetSome();
      host = { active: 0, nextAt: 0, waiting: [], busy: 0, unreached: 0, unreachedAt: 0 };
      hosts.set(name, host);
    }
    return host;
  }

  /** Those longest known that nobody waits for. */
  function forgetSome(): void {
    if (hosts.size < KEPT_HOSTS) return;
    for (const [name, host] of hosts) {
      if (host.active === 0 && !host.waiting.length && host.nextAt <= now()) hosts.delete(name);
      if (hosts.size < KEPT_HOSTS / 2) return;
    }
  }

  const readyAtOf = (host: Host, { atOnce }: HostRules): number =>
    host.active >= atOnce ? Number.POSITIVE_INFINITY : host.nextAt;

  const changed = () => {
    for (const listener of [...listeners]) listener();
  };

  const wait = (host: Host, delayMs: number) => {
    host.nextAt = Math.max(host.nextAt, now() + delayMs);
  };

  function free(host: Host): void {
    host.active--;
    host.waiting[0]?.();
    changed();
  }

  /** Takes a turn that is there for this process; undefined, or when to ask again because another process has it. */
  async function claim(name: string, host: Host, { atOnce }: HostRules): Promise<number | undefined> {
    host.active++;
    try {
      const waitMs = await shared?.take(name, atOnce);
      if (waitMs === undefined) return undefined;
      wait(host, waitMs);
    } catch (error) {
      free(host);
      throw error;
    }
    free(host);
    return host.nextAt;
  }

  /** Resolves when something may have changed, or after a time. */
  function change(ms: number, signal: AbortSignal, ticket: { wake: () => void }): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(LOOK_MS, Math.max(1, ms)));
      signal.addEventListener('abort', done, { once: true });
      ticket.wake = done;
      if (signal.aborted) done();
    });
  }

  return {
    readyAt(name, rules) {
      const host = hosts.get(name);
      if (!host) return 0;
      return host.waiting.length ? Number.POSITIVE_INFINITY : readyAtOf(host, rules);
    },
    hasPlace: () => active < pagesAtOnce,
    begin() {
      active++;
    },
    end() {
      active--;
      changed();
    },
    async enter(name, rules, { mostMs, signal }) {
      const host = of(name);
      const until = now() + mostMs;
      const ticket = { wake: () => {} };
      const turn = () => ticket.wake();
      host.waiting.push(turn);
      try {
        for (;;) {
          signal.throwIfAborted();
          const isNext = host.waiting[0] === turn;
          const readyAt = isNext ? readyAtOf(host, rules) : Number.POSITIVE_INFINITY;
          if (readyAt <= now()) {
            if ((await claim(name, host, rules)) === undefined) return undefined;
          } else if (now() >= until || (Number.isFinite(readyAt) && readyAt > until)) {
            return Math.max(host.nextAt, now());
          } else {
            await change(Math.min(readyAt, until) - now(), signal, ticket);
          }
        }
      } finally {
        host.waiting.splice(host.waiting.indexOf(turn), 1);
        host.waiting[0]?.();
        changed();
      }
    },
    leave(name, delayMs) {
      const host = of(name);
      wait(host, delayMs);
      shared?.give(name, Math.max(0, host.nextAt - now()));
      free(host);
    },
    rest(name, delayMs) {
      wait(of(name), delayMs);
      shared?.rest(name, delayMs);
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
      wait(host, Math.min(pauseMs, LONGEST_PAUSE_MS));
      return { unreached: host.unreached };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
