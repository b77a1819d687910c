/** Sliding windows and an atomic `take`, for stores that compute in this process. */
import {
  type Lease,
  type LeaseTake,
  SLOT_MS,
  type Take,
  type TakeResult,
  WINDOW_MS,
  type WindowState,
  type WindowTake,
} from './counters.ts';

/** Number of slots that overlap the 60 s window, including the current slot. */
const LIVE_SLOTS = WINDOW_MS / SLOT_MS + 1;
/** Suggested wait when all leases are in use, because the next release cannot be predicted. */
const LEASE_WAIT_MS = 1_000;
const INITIAL_LENGTH = 8;

export const slotAt = (nowMs: number): number => Math.floor(nowMs / SLOT_MS);
const leavesAtMs = (slot: number): number => (slot + LIVE_SLOTS) * SLOT_MS;

/** Amounts by slot, oldest first. Methods first drop the slots that have left the window; getters do not. */
export class Window {
  /** Alternating slots and amounts, from #start to #end. */
  #pairs: Float64Array;
  #start = 0;
  #end: number;
  #used = 0;

  /** Creates a window from the `pairs` of another window. */
  constructor(pairs?: readonly number[]) {
    this.#pairs = Float64Array.from(pairs ?? { length: INITIAL_LENGTH });
    this.#end = pairs?.length ?? 0;
    for (let at = 1; at < this.#end; at += 2) this.#used += this.#pairs[at]!;
  }

  used(nowMs: number): number {
    const oldest = slotAt(nowMs) - LIVE_SLOTS;
    const pairs = this.#pairs;
    // A correction may leave a slot with amount 0. Such a slot must not count as the oldest.
    while (this.#start < this.#end && (pairs[this.#start]! <= oldest || pairs[this.#start + 1] === 0)) {
      this.#used -= pairs[this.#start + 1]!;
      this.#start += 2;
    }
    if (this.#start === this.#end) {
      this.#start = 0;
      this.#end = 0;
    }
    return this.#used;
  }

  state(nowMs: number): WindowState {
    const used = this.used(nowMs);
    return { used, resetMs: this.#start === this.#end ? 0 : leavesAtMs(this.#pairs[this.#start]!) - nowMs };
  }

  /** Adds `by` to the total of a slot, which never becomes negative. Does nothing if the slot has left the window. */
  change(slot: number, by: number, nowMs: number): void {
    this.used(nowMs);
    if (slot <= slotAt(nowMs) - LIVE_SLOTS) return;
    let at = this.#end;
    while (at > this.#start && this.#pairs[at - 2]! >= slot) at -= 2;
    const exists = at < this.#end && this.#pairs[at] === slot;
    if (!exists) {
      if (by <= 0) return;
      at = this.#insertGap(at);
      this.#pairs[at] = slot;
      this.#pairs[at + 1] = 0;
    }
    const before = this.#pairs[at + 1]!;
    const after = Math.max(0, before + by);
    this.#pairs[at + 1] = after;
    this.#used += after - before;
  }

  /** Milliseconds until the amount fits, if nothing else is added. */
  waitMs({ amount, limit }: WindowTake, nowMs: number): number {
    if (amount > limit) return WINDOW_MS;
    let used = this.used(nowMs);
    if (fits(used, amount, limit)) return 0;
    for (let at = this.#start; at < this.#end; at += 2) {
      used -= this.#pairs[at + 1]!;
      if (used + amount <= limit) return leavesAtMs(this.#pairs[at]!) - nowMs;
    }
    return WINDOW_MS;
  }

  /** Time when the last slot leaves the window; 0 if the window is empty. */
  get endsAtMs(): number {
    return this.#start === this.#end ? 0 : leavesAtMs(this.#pairs[this.#end - 2]!);
  }

  /** Alternating slots and amounts. */
  get pairs(): number[] {
    return [...this.#pairs.subarray(this.#start, this.#end)];
  }

  /**
   * Inserts a gap for one pair at index `at`. Returns the gap's index, which differs from `at` if the pairs were moved.
   */
  #insertGap(at: number): number {
    const length = this.#end - this.#start;
    let shift = 0;
    if (this.#end === this.#pairs.length) {
      // If more than half of the array is free at the front, the pairs are moved there. Otherwise the array is doubled.
      // As a result, each pair is moved only a few times.
      const target = this.#start > length ? this.#pairs : new Float64Array(Math.max(INITIAL_LENGTH, this.#end * 2));
      target.set(this.#pairs.subarray(this.#start, this.#end));
      shift = this.#start;
      this.#pairs = target;
      this.#start = 0;
      this.#end = length;
    }
    const gap = at - shift;
    this.#pairs.copyWithin(gap + 2, gap, this.#end);
    this.#end += 2;
    return gap;
  }
}

/** An amount of 0 always fits. */
const fits = (used: number, amount: number, limit: number): boolean => amount === 0 || used + amount <= limit;

/** The windows and leases that a call of `take` uses. */
export interface CounterState {
  window(bucket: string): Window;
  /** Number of active leases in a bucket. */
  held(bucket: string): number;
  grant(lease: LeaseTake): Lease;
}

/** Performs one call of `take`: all or nothing. */
export function takeFrom(state: CounterState, { windows, lease }: Take, nowMs: number): TakeResult {
  const held = lease ? state.held(lease.bucket) : 0;
  const leaseIsFull = lease !== undefined && held >= lease.limit;
  const full = windows.findIndex(({ bucket, limit, amount }) => !fits(state.window(bucket).used(nowMs), amount, limit));
  if (!leaseIsFull && full === -1) {
    const slot = slotAt(nowMs);
    const states = windows.map(({ bucket, amount }) => {
      const window = state.window(bucket);
      if (amount > 0) window.change(slot, amount, nowMs);
      return window.state(nowMs);
    });
    return { ok: true, windows: states, lease: lease && state.grant(lease), slot };
  }
  const states = windows.map(({ bucket }) => state.window(bucket).state(nowMs));
  if (leaseIsFull) {
    return { ok: false, over: 'lease', current: held, limit: lease.limit, waitMs: LEASE_WAIT_MS, windows: states };
  }
  const waitMs = Math.max(...windows.map((window) => state.window(window.bucket).waitMs(window, nowMs)));
  return { ok: false, over: full, current: states[full]!.used, limit: windows[full]!.limit, waitMs, windows: states };
}
