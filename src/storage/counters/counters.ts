/**
 * Counting in sliding windows, and slots that are held for a while: what limits are made of. One `take` is one atomic
 * check-and-take over everything that it names: all of it or nothing, however many ask at once and from however many
 * processes the store is shared by. Times are those of the store, so that servers with different clocks agree.
 */

/** How long a taken amount counts. */
export const WINDOW_MS = 60_000;
/**
 * Amounts are kept by slots of this length: one leaves the window when its whole slot is older than the window, so no
 * stretch of 60 s ever holds more than the limit, and an amount counts for 60.0 to 60.1 s.
 */
export const SLOT_MS = 100;
/** A lease whose process died is free again after so long; a living one is renewed well before. */
export const LEASE_MS = 60_000;

export interface WindowTake {
  /** What is counted: one window a bucket. */
  readonly bucket: string;
  /** The most that may stand in the window; a whole number. */
  readonly limit: number;
  /** What is taken; a whole number, 0 only looks. */
  readonly amount: number;
}

export interface LeaseTake {
  readonly bucket: string;
  /** How many leases may be held at once. */
  readonly limit: number;
}

export interface Take {
  readonly windows: readonly WindowTake[];
  readonly lease?: LeaseTake | undefined;
}

export interface WindowState {
  /** What stands in the window after the take, or without it when it was refused. */
  readonly used: number;
  /** Milliseconds until the oldest amount leaves the window; 0 when it is empty. */
  readonly resetMs: number;
}

/** A slot that is held until it is released. */
export interface Lease {
  readonly bucket: string;
  readonly id: string;
}

export type Taken =
  | {
      readonly ok: true;
      /** In the order of the take. */
      readonly windows: readonly WindowState[];
      readonly lease?: Lease | undefined;
      /** The slot of the window that the amounts stand in, for `settle`. */
      readonly slot: number;
    }
  | {
      readonly ok: false;
      /** The first that was full: the lease before the windows, the windows in their order. */
      readonly over: 'lease' | number;
      /** What was there when it was refused. */
      readonly current: number;
      readonly limit: number;
      /** Milliseconds until the same take can succeed if nobody else comes; WINDOW_MS when it never can. 1000 for a lease. */
      readonly waitMs: number;
      readonly windows: readonly WindowState[];
    };

export interface Counters {
  /** Rejects with CountersAway when the store cannot be reached. */
  take(take: Take): Promise<Taken>;
  /**
   * Changes an amount that was taken, by so much; the slot keeps what others took and never falls below zero. Nothing
   * happens when it has left the window. Does not wait and does not fail: what cannot be said to the store is dropped.
   */
  settle(bucket: string, slot: number, change: number): void;
  /** Does not wait and does not fail: a lease that cannot be given back ends by itself. */
  release(lease: Lease): void;
  /** Whether the store answered last time. */
  readonly healthy: boolean;
  /** Waits for what was settled and released, then ends. */
  close(): Promise<void>;
}

/** The store of counters cannot be reached; it is tried again by itself. */
export class CountersUnavailableError extends Error {}
