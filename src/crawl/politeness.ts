/**
 * Enforces limits for each host: how many of its pages are read in parallel, and when the next one may be read. The
 * limits apply across all crawls of a process, and across all processes if there is a shared limiter. Also limits the
 * total number of pages that the process reads in parallel.
 */
import { createHostTable, type Host, noteAnswer, restFor, slotReadyAt } from './host-table.ts';
import type { SharedPoliteness } from './shared-politeness.ts';

export interface HostLimits {
  /** Maximum number of pages of the host to read in parallel. */
  readonly maxAtOnce: number;
}

/** How a host responded. */
export interface HostAnswer {
  /** Set if the host reported that it is busy. Without `waitMs`, the back-off doubles each time. */
  readonly busy?: { readonly waitMs: number | undefined } | undefined;
  /** Whether the host could be reached; `undefined` if it was never contacted. */
  readonly isReached?: boolean | undefined;
}

export interface WaitLimit {
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
}

export interface Politeness {
  /**
   * Earliest time at which a slot of the host may be free, in ms since 1970; infinity while all slots are in use or
   * other pages are waiting for one.
   */
  readyAt(host: string, limits: HostLimits): number;
  /** Whether the process may read another page. */
  hasFreePage(): boolean;
  takePage(): void;
  releasePage(): void;
  /**
   * Acquires a slot of a host; calls are served in order. Returns `undefined` once the slot is acquired, or the time to
   * try again if none becomes free within `maxWaitMs`. Throws the signal's reason.
   */
  acquire(host: string, limits: HostLimits, limit: WaitLimit): Promise<number | undefined>;
  /** Releases the slot. The host is not contacted for `delayMs`. */
  release(host: string, delayMs: number): void;
  /** Starts a pause for a host that was contacted without a slot. */
  pause(host: string, delayMs: number): void;
  /** Records how the host responded. Returns the number of consecutive failures to reach it. */
  report(host: string, answer: HostAnswer): { readonly unreached: number };
  /** Calls the listener when a slot or page may be free. Returns a function that unsubscribes it. */
  onChange(listener: () => void): () => void;
}

/** How often a waiting call checks again, in milliseconds. It is not notified if another process releases a slot. */
const POLL_MS = 250;

export function createPoliteness(maxPagesAtOnce: number, now: () => number, shared?: SharedPoliteness): Politeness {
  const hosts = createHostTable(now);
  const listeners = new Set<() => void>();
  let activePages = 0;

  const notify = () => {
    for (const listener of [...listeners]) listener();
  };

  function freeSlot(host: Host): void {
    host.active--;
    host.waiting[0]?.();
    notify();
  }

  /**
   * Acquires a slot that is free in this process. If other processes are using all slots, returns when to try again.
   */
  async function claim(name: string, host: Host, { maxAtOnce }: HostLimits): Promise<number | undefined> {
    host.active++;
    try {
      const waitMs = await shared?.acquire(name, maxAtOnce);
      if (waitMs === undefined) return undefined;
      restFor(host, waitMs, now());
    } catch (error) {
      freeSlot(host);
      throw error;
    }
    freeSlot(host);
    return host.nextAt;
  }

  async function acquire(
    name: string,
    limits: HostLimits,
    { maxWaitMs, signal }: WaitLimit,
  ): Promise<number | undefined> {
    const host = hosts.get(name);
    const until = now() + maxWaitMs;
    const ticket = { wake: () => {} };
    const wake = () => ticket.wake();
    host.waiting.push(wake);
    try {
      for (;;) {
        signal.throwIfAborted();
        const isFirst = host.waiting[0] === wake;
        const readyAt = isFirst ? slotReadyAt(host, limits) : Number.POSITIVE_INFINITY;
        if (readyAt <= now()) {
          if ((await claim(name, host, limits)) === undefined) return undefined;
        } else if (now() >= until || (Number.isFinite(readyAt) && readyAt > until)) {
          return Math.max(host.nextAt, now());
        } else {
          await waitForChange(Math.min(readyAt, until) - now(), signal, ticket);
        }
      }
    } finally {
      host.waiting.splice(host.waiting.indexOf(wake), 1);
      host.waiting[0]?.();
      notify();
    }
  }

  return {
    readyAt(name, limits) {
      const host = hosts.find(name);
      if (!host) return 0;
      return host.waiting.length ? Number.POSITIVE_INFINITY : slotReadyAt(host, limits);
    },
    hasFreePage: () => activePages < maxPagesAtOnce,
    takePage() {
      activePages++;
    },
    releasePage() {
      activePages--;
      notify();
    },
    acquire,
    release(name, delayMs) {
      const host = hosts.get(name);
      restFor(host, delayMs, now());
      shared?.release(name, Math.max(0, host.nextAt - now()));
      freeSlot(host);
    },
    pause(name, delayMs) {
      restFor(hosts.get(name), delayMs, now());
      shared?.pause(name, delayMs);
    },
    report(name, answer) {
      const host = hosts.get(name);
      noteAnswer(host, answer, now());
      return { unreached: host.unreached };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Resolves when notified, when aborted, or after `ms`, but after POLL_MS at the latest. */
function waitForChange(ms: number, signal: AbortSignal, ticket: { wake: () => void }): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(POLL_MS, Math.max(1, ms)));
    signal.addEventListener('abort', done, { once: true });
    ticket.wake = done;
    if (signal.aborted) done();
  });
}
