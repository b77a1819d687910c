/** The arithmetic of a sliding window, and of a take over several: for stores that compute in this process. */
import {
  type Lease,
  type LeaseTake,
  SLOT_MS,
  type Take,
  type Taken,
  WINDOW_MS,
  type WindowState,
  type WindowTake,
} from './counters.ts';

/** The slots that are in the window at any moment: those that are wholly or partly in its 60 s, and the current one. */
const LIVE_SLOTS = WINDOW_MS / SLOT_MS + 1;
/** What to wait when all leases are held: nobody knows when one is released. */
const LEASE_WAIT_MS = 1_000;
const FIRST_LENGTH = 8;

export const slotAt = (nowMs: number): number => Math.floor(nowMs / SLOT_MS);
const leavesAtMs = (slot: number): number => (slot + LIVE_SLOTS) * SLOT_MS;

/** Amounts by slot, oldest first. Every call but `pairs` first forgets what has left the window. */
export class Window {
  /** Slot and amount by turns, from #start to #end. */
  #pairs: Float64Array;
  #start = 0;
  #end: number;
  #used = 0;

  /** `pairs` are those of another window. */
  constructor(pairs?: readonly number[]) {
    this.#pairs = Float64Array.from(pairs ?? { length: FIRST_LENGTH });
    this.#end = pairs?.length ?? 0;
    for (let at = 1; at < this.#end; at += 2) this.#used += this.#pairs[at]!;
  }

  used(nowMs: number): number {
    const oldest = slotAt(nowMs) - LIVE_SLOTS;
    const pairs = this.#pairs;
    // What was taken back leaves an empty slot, from which nobody should wait for anything.
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

  /** Changes what stands in a slot, which never falls below zero; nothing happens to one that has left. */
  change(slot: number, by: number, nowMs: number): void {
    this.used(nowMs);
    if (slot <= slotAt(nowMs) - LIVE_SLOTS) return;
    let at = this.#end;
    while (at > this.#start && this.#pairs[at - 2]! >= slot) at -= 2;
    const isThere = at < this.#end && this.#pairs[at] === slot;
    if (!isThere) {
      if (by <= 0) return;
      at = this.#makeRoom(at);
      this.#pairs[at] = slot;
      this.#pairs[at + 1] = 0;
    }
    const before = this.#pairs[at + 1]!;
    const after = Math.max(0, before + by);
    this.#pairs[at + 1] = after;
    this.#used += after - before;
  }

  /** Milliseconds until so much more fits, if nobody else comes. */
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

  /** When all of it has left; 0 when it is empty. */
  get endsAtMs(): number {
    return this.#start === this.#end ? 0 : leavesAtMs(this.#pairs[this.#end - 2]!);
  }

  /** Slots and amounts by turns. */
  get pairs(): number[] {
    return [...this.#pairs.subarray(this.#start, this.#end)];
  }

  /** Opens a gap for one pair; gives its place, which moves when the window does. */
  #makeRoom(at: number): number {
    const length = this.#end - this.#start;
    let shift = 0;
    if (this.#end === this.#pairs.length) {
      // Over half of it empty at the front: move. Else twice the room, so that each pair moves a few times at most.
      const roomy = this.#start > length ? this.#pairs : new Float64Array(Math.max(FIRST_LENGTH, this.#end * 2));
      roomy.set(this.#pairs.subarray(this.#start, this.#end));
      shift = this.#start;
      this.#pairs = roomy;
      this.#start = 0;
      this.#end = length;
    }
    const gap = at - shift;
    this.#pairs.copyWithin(gap + 2, gap, this.#end);
    this.#end += 2;
    return gap;
  }
}

/** What only looks always may. */
const fits = (used: number, amount: number, limit: number): boolean => amount === 0 || used + amount <= limit;

/** Where the windows and leases of a take stand. */
export interface CounterState {
  window(bucket: string): Window;
  /** How many leases of a bucket are held. */
  held(bucket: string): number;
  grant(lease: LeaseTake): Lease;
}

/** One take, all of it or nothing. */
export function takeFrom(books: CounterState, { windows, lease }: Take, nowMs: number): Taken {
  const held = lease ? books.held(lease.bucket) : 0;
  const leaseIsFull = lease !== undefined && held >= lease.limit;
  const full = windows.findIndex(({ bucket, limit, amount }) => !fits(books.window(bucket).used(nowMs), amount, limit));
  if (!leaseIsFull && full === -1) {
    const slot = slotAt(nowMs);
    const states = windows.map(({ bucket, amount }) => {
      const window = books.window(bucket);
      if (amount > 0) window.change(slot, amount, nowMs);
      return window.state(nowMs);
    });
    return { ok: true, windows: states, lease: lease && books.grant(lease), slot };
  }
  const states = windows.map(({ bucket }) => books.window(bucket).state(nowMs));
  if (leaseIsFull) {
    return { ok: false, over: 'lease', current: held, limit: lease.limit, waitMs: LEASE_WAIT_MS, windows: states };
  }
  const waitMs = Math.max(...windows.map((window) => books.window(window.bucket).waitMs(window, nowMs)));
  return { ok: false, over: full, current: states[full]!.used, limit: windows[full]!.limit, waitMs, windows: states };
}
