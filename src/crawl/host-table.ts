/** The hosts that a process has contacted recently: slots in use, pauses, and consecutive failures. */
import type { HostAnswer, HostLimits } from './politeness.ts';

export interface Host {
  /** Number of slots in use. */
  active: number;
  /** Earliest time of the next page, in ms since 1970. */
  nextAt: number;
  /** Callbacks of the callers waiting for a slot, in order. */
  readonly waiting: (() => void)[];
  /** Number of consecutive responses that reported that the host is busy. */
  busy: number;
  unreached: number;
  unreachedAt: number;
}

export interface HostTable {
  find(name: string): Host | undefined;
  /** Adds the host if it is new. */
  get(name: string): Host;
}

const FIRST_BACK_OFF_MS = 5_000;
const MAX_BACK_OFF_MS = 600_000;
/** Failures that are further apart than this do not count as consecutive. */
const CONSECUTIVE_MS = 600_000;
const MAX_HOSTS = 10_000;

export function createHostTable(now: () => number): HostTable {
  const hosts = new Map<string, Host>();

  /** Removes idle hosts, oldest first, until the table is half full. */
  function evictIdle(): void {
    if (hosts.size < MAX_HOSTS) return;
    for (const [name, host] of hosts) {
      if (host.active === 0 && !host.waiting.length && host.nextAt <= now()) hosts.delete(name);
      if (hosts.size < MAX_HOSTS / 2) return;
    }
  }

  return {
    find: (name) => hosts.get(name),
    get(name) {
      let host = hosts.get(name);
      if (!host) {
        evictIdle();
        host = { active: 0, nextAt: 0, waiting: [], busy: 0, unreached: 0, unreachedAt: 0 };
        hosts.set(name, host);
      }
      return host;
    },
  };
}

/** Earliest time at which a slot of the host may be free; infinity while all slots are in use. */
export const slotReadyAt = (host: Host, { maxAtOnce }: HostLimits): number =>
  host.active >= maxAtOnce ? Number.POSITIVE_INFINITY : host.nextAt;

export function restFor(host: Host, delayMs: number, nowMs: number): void {
  host.nextAt = Math.max(host.nextAt, nowMs + delayMs);
}

/**
 * Records how a host responded. A busy host is not contacted for the time that it requested, or for an increasing
 * back-off.
 */
export function noteAnswer(host: Host, { busy, isReached }: HostAnswer, nowMs: number): void {
  if (isReached === undefined) return;
  host.busy = busy ? host.busy + 1 : 0;
  if (isReached || nowMs - host.unreachedAt > CONSECUTIVE_MS) host.unreached = 0;
  if (!isReached) {
    host.unreached++;
    host.unreachedAt = nowMs;
  }
  const backOffMs = busy ? (busy.waitMs ?? FIRST_BACK_OFF_MS * 2 ** Math.min(host.busy - 1, 10)) : 0;
  restFor(host, Math.min(backOffMs, MAX_BACK_OFF_MS), nowMs);
}
