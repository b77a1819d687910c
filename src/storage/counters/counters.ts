/**
 * Sliding-window counters and leases, which implement all limits. One call of `take` atomically checks and acquires
 * several of them: all or nothing, across all processes that share the store. Times come from the store, so servers
 * with different clocks agree.
 */

/** Length of the window, in milliseconds: how long an amount counts. */
export const WINDOW_MS = 60_000;
/**
 * Amounts are grouped into slots of this length, in milliseconds. A slot leaves the window once its whole period is
 * older than the window. No period of 60 s can therefore exceed the limit, and an amount counts for 60.0 to 60.1 s.
 */
export const SLOT_MS = 100;
/** A lease expires after this time if its process has died. A running process renews its leases well before then. */
export const LEASE_MS = 60_000;

export interface WindowTake {
  /** Name of the window. */
  readonly bucket: string;
  /** Maximum total in the window; an integer. */
  readonly limit: number;
  /** Amount to add; an integer. 0 only reads the window. */
  readonly amount: number;
}

export interface LeaseTake {
  readonly bucket: string;
  /** Maximum number of concurrent leases. */
  readonly limit: number;
}

export interface Take {
  readonly windows: readonly WindowTake[];
  readonly lease?: LeaseTake | undefined;
}

export interface WindowState {
  /** Total in the window, including the new amount unless it was refused. */
  readonly used: number;
  /** Milliseconds until the oldest amount leaves the window; 0 if the window is empty. */
  readonly resetMs: number;
}

/** One unit of concurrency, in use until it is released. */
export interface Lease {
  readonly bucket: string;
  readonly id: string;
}

export type TakeResult =
  | {
      readonly ok: true;
      /** States of the windows, in the order in which they were requested. */
      readonly windows: readonly WindowState[];
      readonly lease?: Lease | undefined;
      /** The slot to which the amounts were added, for `settle`. */
      readonly slot: number;
    }
  | {
      readonly ok: false;
      /** The first limit that was exceeded: the lease, or else the index of a window. */
      readonly over: 'lease' | number;
      /** Number of leases, or total in the window, at the time of the refusal. */
      readonly current: number;
      readonly limit: number;
      /**
       * Milliseconds until the request can succeed if nothing else is acquired. WINDOW_MS if it never can; 1000 for a
       * lease.
       */
      readonly waitMs: number;
      readonly windows: readonly WindowState[];
    };

export interface Counters {
  /** Checks the limits and acquires. Rejects with CountersUnavailableError if the store is unreachable. */
  take(take: Take): Promise<TakeResult>;
  /**
   * Adds `change` to the total of a slot, which never becomes negative. Does nothing once the slot has left the window.
   * Returns immediately and never fails: the change is dropped if the store is unreachable.
   */
  settle(bucket: string, slot: number, change: number): void;
  /** Releases a lease. Returns immediately and never fails: a lease that cannot be released expires. */
  release(lease: Lease): void;
  /** Whether the last request to the store succeeded. */
  readonly healthy: boolean;
  /** Sends pending changes and releases, and then closes. */
  close(): Promise<void>;
}

/** The counter store is unreachable. It reconnects automatically. */
export class CountersUnavailableError extends Error {}
