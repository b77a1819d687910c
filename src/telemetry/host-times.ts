/**
 * How long fetches from each host took, for the operator. It keeps the hosts that took the most time in the last 24 hours,
 * and of a URL nothing but the host. Memory is bounded: at most twice `MAX_HOSTS` hosts, each with its latest times.
 */

/** Number of hosts that are listed. */
export const MAX_HOSTS = 200;
/** Twice as many are kept, so that a new host has time to add up to more than the others. */
const MAX_KEPT = 2 * MAX_HOSTS;
/** Number of latest times of each host from which percentiles are computed. */
const MAX_TIMES = 64;
const MAX_AGE_MS = 86_400_000;

export interface HostTimes {
  /** Adds a fetch from `host`, such as `example.com:8080`. It has failed if no response came. */
  add(host: string, ms: number, failed: boolean): void;
  /** At most `limit` hosts, those with the most time first. */
  list(limit?: number): HostTime[];
}

export interface HostTime {
  readonly host: string;
  readonly fetches: number;
  readonly failed: number;
  /** Sum of the times of all fetches. */
  readonly totalMs: number;
  /** Percentiles of the latest fetches. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Time of the last fetch, ISO 8601. */
  readonly lastAt: string;
}

interface Entry {
  fetches: number;
  failed: number;
  totalMs: number;
  lastAtMs: number;
  /** A ring: the oldest time is replaced. */
  readonly times: number[];
}

export function createHostTimes(now: () => number = Date.now): HostTimes {
  const entries = new Map<string, Entry>();

  const byTime = () => [...entries].sort(([, one], [, other]) => other.totalMs - one.totalMs);
  function removeOld(): void {
    const since = now() - MAX_AGE_MS;
    for (const [host, { lastAtMs }] of entries) if (lastAtMs < since) entries.delete(host);
  }

  return {
    add(host, ms, failed) {
      const entry = entries.get(host) ?? { fetches: 0, failed: 0, totalMs: 0, lastAtMs: 0, times: [] };
      entry.times[entry.fetches % MAX_TIMES] = ms;
      entry.fetches++;
      if (failed) entry.failed++;
      entry.totalMs += ms;
      entry.lastAtMs = now();
      entries.set(host, entry);
      if (entries.size <= MAX_KEPT) return;
      removeOld();
      for (const [rare] of byTime().slice(MAX_HOSTS)) entries.delete(rare);
    },
    list(limit = MAX_HOSTS) {
      removeOld();
      return byTime()
        .slice(0, Math.min(limit, MAX_HOSTS))
        .map(([host, { fetches, failed, totalMs, lastAtMs, times }]) => ({
          ...{ host, fetches, failed, totalMs: Math.round(totalMs) },
          p50Ms: quantile(times, 0.5),
          p95Ms: quantile(times, 0.95),
          lastAt: new Date(lastAtMs).toISOString(),
        }));
    },
  };
}

/** The smallest time that at least this part of the times does not exceed, in whole milliseconds. */
function quantile(times: readonly number[], part: number): number {
  const sorted = [...times].sort((one, other) => one - other);
  return Math.round(sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)]!);
}
