/** Counters of one process, the default. */
import type { Counters, Lease } from './counters.ts';
import { takeFrom, Window } from './window.ts';

export interface MemoryCountersOptions {
  /** Milliseconds from any start, never less than before. */
  readonly clock?: () => number;
}

/** How many windows a take looks at, beside as many as it may make, to drop those that are empty. */
const SWEPT_A_TAKE = 2;

const monotonic = () => Math.floor(performance.now());

export function createMemoryCounters({ clock = monotonic }: MemoryCountersOptions = {}): Counters & {
  /** How many buckets take up memory. */
  readonly size: number;
} {
  const windows = new Map<string, Window>();
  const leases = new Map<string, Set<string>>();
  let made = 0;
  let sweep = windows.entries();

  const books = {
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
      made += 1;
      const id = String(made);
      const held = leases.get(bucket);
      if (held) held.add(id);
      else leases.set(bucket, new Set([id]));
      return { bucket, id };
    },
  };

  const dropEmpty = (count: number, nowMs: number) => {
    for (let looks = 0; looks < count; looks += 1) {
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
      dropEmpty(SWEPT_A_TAKE + take.windows.length, nowMs);
      return takeFrom(books, take, nowMs);
    },
    settle(bucket, slot, change) {
      books.window(bucket).change(slot, change, clock());
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
