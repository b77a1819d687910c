/** Tests for all counter stores, including a comparison with a simple reference implementation. */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type Counters, LEASE_MS, type Lease, SLOT_MS, type Take, type TakeResult, WINDOW_MS } from './counters.ts';

export interface CountersUnderTest {
  open(options: { clock?: () => number }): Promise<Counters>;
  /** Number of operation sequences that are compared with the reference. */
  readonly runs: number;
}

/** An arbitrary time that is not at the start of a slot. */
const START_MS = 1_800_000_000_050;
const LEAVES_MS = WINDOW_MS + SLOT_MS;

export function countersSuite(name: string, { open, runs }: CountersUnderTest): void {
  describe(name, () => {
    const opened: Counters[] = [];
    let nowMs = START_MS;
    let bucketCount = 0;
    /** Returns a bucket name that no other test uses. */
    const fresh = () => {
      bucketCount += 1;
      return `bucket ${process.pid} ${bucketCount}`;
    };
    const start = async () => {
      nowMs = START_MS;
      const counters = await open({ clock: () => nowMs });
      opened.push(counters);
      return counters;
    };
    afterEach(async () => {
      for (const counters of opened.splice(0)) await counters.close();
    });
    const one = (bucket: string, limit: number, amount = 1): Take => ({ windows: [{ bucket, limit, amount }] });

    it('takes up to the limit, and returns the wait for the next', async () => {
      const counters = await start();
      const bucket = fresh();
      const slot = Math.floor(START_MS / SLOT_MS);
      expect(await counters.take(one(bucket, 3, 2))).toEqual({
        ok: true,
        slot,
        windows: [{ used: 2, resetMs: LEAVES_MS - 50 }],
        lease: undefined,
      });
      nowMs += 1_000;
      expect(await counters.take(one(bucket, 3))).toMatchObject({ ok: true, slot: slot + 10 });
      expect(await counters.take(one(bucket, 3, 1))).toEqual({
        ok: false,
        over: 0,
        current: 3,
        limit: 3,
        waitMs: LEAVES_MS - 1_050,
        windows: [{ used: 3, resetMs: LEAVES_MS - 1_050 }],
      });
      expect(await counters.take(one(bucket, 3, 3))).toMatchObject({ ok: false, waitMs: LEAVES_MS - 50 });
      expect(await counters.take(one(bucket, 3, 4))).toMatchObject({ ok: false, current: 3, waitMs: WINDOW_MS });
      expect(await counters.take(one(bucket, 3, 0))).toMatchObject({ ok: true, windows: [{ used: 3 }] });
      expect(counters.healthy).toBe(true);
    });

    it('drops an amount only once its whole slot has left the window', async () => {
      const counters = await start();
      const bucket = fresh();
      await counters.take(one(bucket, 1));
      nowMs = START_MS - 50 + LEAVES_MS - 1;
      expect(await counters.take(one(bucket, 1))).toMatchObject({ ok: false, waitMs: 1 });
      nowMs += 1;
      expect(await counters.take(one(bucket, 1))).toMatchObject({ ok: true, windows: [{ used: 1 }] });
    });

    it('takes all or nothing, and returns the first limit exceeded', async () => {
      const counters = await start();
      const [requests, tokens, leases] = [fresh(), fresh(), fresh()];
      const take = (amount: number, lease = 2) =>
        counters.take({
          windows: [
            { bucket: requests, limit: 10, amount: 1 },
            { bucket: tokens, limit: 100, amount },
          ],
          lease: { bucket: leases, limit: lease },
        });
      const first = await take(60);
      expect(first).toMatchObject({ ok: true, lease: { bucket: leases } });
      expect(await take(60)).toMatchObject({ ok: false, over: 1, current: 60, limit: 100 });
      expect(await take(40)).toMatchObject({ ok: true, windows: [{ used: 2 }, { used: 100 }] });
      expect(await take(1)).toMatchObject({ ok: false, over: 'lease', current: 2, limit: 2, waitMs: 1_000 });
      expect(await take(0, 3)).toMatchObject({ ok: true, windows: [{ used: 3 }, { used: 100 }] });
    });

    it('settles an amount, down to zero', async () => {
      const counters = await start();
      const bucket = fresh();
      const first = await counters.take(one(bucket, 100, 50));
      nowMs += SLOT_MS;
      await counters.take(one(bucket, 100, 50));
      counters.settle(bucket, (first as { slot: number }).slot, -20);
      expect(await counters.take(one(bucket, 100, 0))).toMatchObject({ windows: [{ used: 80 }] });
      counters.settle(bucket, (first as { slot: number }).slot, -100);
      expect(await counters.take(one(bucket, 100, 0))).toMatchObject({
        windows: [{ used: 50, resetMs: LEAVES_MS - 50 }],
      });
      counters.settle(bucket, (first as { slot: number }).slot, 70);
      expect(await counters.take(one(bucket, 100, 0))).toMatchObject({ windows: [{ used: 120 }] });
      nowMs += WINDOW_MS;
      counters.settle(bucket, (first as { slot: number }).slot, 5);
      expect(await counters.take(one(bucket, 100, 0))).toMatchObject({ windows: [{ used: 50 }] });
    });

    it('holds leases until they are released', async () => {
      const counters = await start();
      const bucket = fresh();
      const take = () => counters.take({ windows: [], lease: { bucket, limit: 2 } });
      const first = await take();
      const second = await take();
      expect(await take()).toMatchObject({ ok: false, over: 'lease' });
      const { lease } = first as { lease: Lease };
      expect(lease.id).not.toBe((second as { lease: Lease }).lease.id);
      counters.release(lease);
      counters.release(lease);
      expect(await take()).toMatchObject({ ok: true });
      expect(await take()).toMatchObject({ ok: false });
    });

    it('passes exactly the limit of a thousand concurrent takes', async () => {
      const counters = await start();
      const bucket = fresh();
      const taken = await Promise.all(Array.from({ length: 1_000 }, () => counters.take(one(bucket, 137))));
      expect(taken.filter(({ ok }) => ok)).toHaveLength(137);
    });

    it('uses its own clock by default', async () => {
      const counters = await open({});
      opened.push(counters);
      const bucket = fresh();
      const first = (await counters.take({ ...one(bucket, 1), lease: { bucket, limit: 1 } })) as TakeResult & {
        ok: true;
      };
      expect(first.windows[0]!.resetMs).toBeGreaterThan(WINDOW_MS - 1_000);
      expect(first.windows[0]!.resetMs).toBeLessThanOrEqual(LEAVES_MS);
      expect(await counters.take(one(bucket, 1))).toMatchObject({ ok: false, current: 1 });
    });

    it('behaves like the reference', async () => {
      const counters = await start();
      const offset = () => nowMs - START_MS;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
          const prefix = fresh();
          const reference = createReference();
          const leases: { own: Lease; theirs: number; atMs: number }[] = [];
          const release = ({ own, theirs }: { own: Lease; theirs: number }) => {
            counters.release(own);
            reference.release(theirs);
          };
          const slots: number[] = [];
          for (const does of steps) {
            if (does.kind === 'wait') {
              nowMs += does.ms;
              // The clock jumps here without renewals, so leases that would expire are released.
              while (leases[0] && leases[0].atMs + LEASE_MS <= nowMs) release(leases.shift()!);
            }
            if (does.kind === 'settle') {
              const slot = slots[slots.length - 1 - (does.back % slots.length)];
              if (slot === undefined) continue;
              counters.settle(`${prefix} ${does.bucket}`, slot, does.change);
              reference.settle(does.bucket, slot, does.change, nowMs);
            }
            if (does.kind === 'release') {
              const [lease] = leases.splice(does.which % Math.max(1, leases.length), 1);
              if (lease) release(lease);
            }
            if (does.kind === 'take') {
              const windows = does.windows.map((window) => ({ ...window, bucket: `${prefix} ${window.bucket}` }));
              const lease = does.lease === undefined ? undefined : { bucket: `${prefix} lease`, limit: does.lease };
              const taken = await counters.take({ windows, lease });
              const expected = reference.take(does.windows, does.lease, nowMs);
              expect({ ...taken, lease: undefined, at: offset() }).toEqual({
                ...expected,
                lease: undefined,
                at: offset(),
              });
              if (taken.ok) slots.push(taken.slot);
              if (taken.ok && taken.lease) leases.push({ own: taken.lease, theirs: reference.lastLease, atMs: nowMs });
            }
          }
          for (const lease of leases) release(lease);
        }),
        { seed: 7, numRuns: runs },
      );
    });
  });
}

const BUCKETS = ['a', 'b', 'c'] as const;
type Bucket = (typeof BUCKETS)[number];
interface ReferenceTake {
  readonly bucket: Bucket;
  readonly limit: number;
  readonly amount: number;
}

const waiting = fc.oneof(
  fc.integer({ min: 0, max: 250 }),
  fc.integer({ min: 0, max: LEAVES_MS + 500 }),
  fc.constantFrom(1, SLOT_MS, WINDOW_MS, LEAVES_MS),
);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      windows: fc
        .subarray([...BUCKETS])
        .chain((buckets) =>
          fc.tuple(
            ...buckets.map((bucket) =>
              fc.record({ bucket: fc.constant(bucket), limit: fc.integer({ min: 1, max: 12 }), amount: fc.nat(14) }),
            ),
          ),
        ),
      lease: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: waiting }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      bucket: fc.constantFrom(...BUCKETS),
      back: fc.nat(10),
      change: fc.integer({ min: -15, max: 15 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), which: fc.nat(5) }) },
);

/** The reference implementation: stores every amount and checks all amounts each time. */
function createReference() {
  const amounts = new Map<Bucket, Map<number, number>>();
  let leases: number[] = [];
  let made = 0;
  const leavesAtMs = (slot: number) => slot * SLOT_MS + LEAVES_MS;
  const standing = (bucket: Bucket, nowMs: number) =>
    [...(amounts.get(bucket) ?? [])]
      .filter(([slot, amount]) => leavesAtMs(slot) > nowMs && amount > 0)
      .sort(([a], [b]) => a - b);
  const sum = (pairs: [number, number][]) => pairs.reduce((total, [, amount]) => total + amount, 0);
  const state = (bucket: Bucket, nowMs: number) => {
    const pairs = standing(bucket, nowMs);
    return { used: sum(pairs), resetMs: pairs.length ? leavesAtMs(pairs[0]![0]) - nowMs : 0 };
  };
  const isFull = ({ bucket, limit, amount }: ReferenceTake, nowMs: number) =>
    amount > 0 && sum(standing(bucket, nowMs)) + amount > limit;
  /** Returns the number of milliseconds until the window is no longer full. */
  const wait = (take: ReferenceTake, nowMs: number): number => {
    if (take.amount > take.limit) return WINDOW_MS;
    const times = [nowMs, ...standing(take.bucket, nowMs).map(([slot]) => leavesAtMs(slot))];
    return times.find((time) => !isFull(take, time))! - nowMs;
  };
  const add = (bucket: Bucket, slot: number, change: number) => {
    const slots = amounts.get(bucket) ?? new Map<number, number>();
    slots.set(slot, Math.max(0, (slots.get(slot) ?? 0) + change));
    amounts.set(bucket, slots);
  };
  return {
    get lastLease() {
      return made;
    },
    take(windows: readonly ReferenceTake[], leaseLimit: number | undefined, nowMs: number) {
      const full = windows.findIndex((take) => isFull(take, nowMs));
      const states = () => windows.map(({ bucket }) => state(bucket, nowMs));
      if (leaseLimit !== undefined && leases.length >= leaseLimit) {
        const refusal = { over: 'lease', current: leases.length, limit: leaseLimit, waitMs: 1_000 };
        return { ok: false, ...refusal, windows: states() };
      }
      if (full !== -1) {
        const waitMs = Math.max(...windows.map((take) => wait(take, nowMs)));
        const { limit, bucket } = windows[full]!;
        return { ok: false, over: full, current: state(bucket, nowMs).used, limit, waitMs, windows: states() };
      }
      const slot = Math.floor(nowMs / SLOT_MS);
      for (const { bucket, amount } of windows) add(bucket, slot, amount);
      if (leaseLimit !== undefined) {
        made += 1;
        leases.push(made);
      }
      return { ok: true, slot, windows: states() };
    },
    settle(bucket: Bucket, slot: number, change: number, nowMs: number) {
      if (leavesAtMs(slot) > nowMs) add(bucket, slot, change);
    },
    release(id: number) {
      leases = leases.filter((lease) => lease !== id);
    },
  };
}
