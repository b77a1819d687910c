/** Counters in the memory of one process. This is the default. */
import type { Counters, Lease } from './counters.ts';
import { takeFrom, Window } from './window.ts';

export interface MemoryCountersOptions {
  /** A monotonic clock, in milliseconds from an arbitrary start. */
  readonly clock?: () => number;
}

/** Number of windows that each call checks, and drops if empty, in addition to as many as it may create. */
const SWEPT_PER_TAKE = 2;

const monotonic = () => Math.floor(performance.now());

export function createMemoryCounters({ clock = monotonic }: MemoryCountersOptions = {}): Counters & {
  /** Number of buckets in memory. */
  readonly size: number;
} {
  const windows = new Map<string, Window>();
  const leases = new Map<string, Set<string>>();
  let leaseCount = 0;
  let sweep = windows.entries();

  const state = {
    window(bucket: string): Window {
      let window = windows.get(bucket);
      if (!window) {
        window = new Window();
        windows.set(bucket, window);
      }
      return window;
    },
    held: (bucket: string) => leases.get(bucket)?.size ?? 0,
    grant({ bucket }: { bucket: string }): Lease {
      leaseCount += 1;
      const id = String(leaseCount);
      const held = leases.get(bucket);
      if (held) held.add(id);
      else leases.set(bucket, new Set([id]));
      return { bucket, id };
    },
  };

  const dropEmpty = (count: number, nowMs: number) => {
    for (let checked = 0; checked < count; checked += 1) {
      const next = sweep.next();
      if (next.done) {
        sweep = windows.entries();
        return;
      }
      const [bucket, window] = next.value;
      if (window.used(nowMs) === 0) windows.delete(bucket);
    }
  };

  return {
    async take(take) {
      const nowMs = clock();
      dropEmpty(SWEPT_PER_TAKE + take.windows.length, nowMs);
      return takeFrom(state, take, nowMs);
    },
    settle(bucket, slot, change) {
      state.window(bucket).change(slot, change, clock());
    },
    release({ bucket, id }) {
      const held = leases.get(bucket);
      if (held?.delete(id) && held.size === 0) leases.delete(bucket);
    },
    get size() {
      return windows.size + leases.size;
    },
    healthy: true,
    async close() {},
  };
}
