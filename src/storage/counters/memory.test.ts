import { describe, expect, it } from 'vitest';
import { countersSuite } from './counters.suite.ts';
import { SLOT_MS, WINDOW_MS } from './counters.ts';
import { createMemoryCounters } from './memory.ts';

countersSuite('counters in memory', { open: async (options) => createMemoryCounters(options), runs: 300 });

describe('counters in memory', () => {
  it('passes exactly the limit at the edge of the window, whatever was taken before', async () => {
    for (let seed = 0; seed < 100; seed += 1) {
      let nowMs = 0;
      const counters = createMemoryCounters({ clock: () => nowMs });
      const limit = 100 + seed * 5;
      const take = (amount: number) => counters.take({ windows: [{ bucket: 'all', limit, amount }] });
      const staying = seed % 90;
      await take(limit - staying);
      nowMs += SLOT_MS;
      await take(staying);
      const wave = async () => (await Promise.all(Array.from({ length: 1_000 }, () => take(1)))).filter(({ ok }) => ok);
      nowMs = WINDOW_MS + SLOT_MS - 1;
      expect(await wave()).toHaveLength(0);
      nowMs += 1;
      expect(await wave()).toHaveLength(limit - staying);
    }
  });

  it('drops buckets that are empty', async () => {
    let nowMs = 0;
    const counters = createMemoryCounters({ clock: () => nowMs });
    const visit = (name: number) => counters.take({ windows: [{ bucket: `caller ${name}`, limit: 1, amount: 1 }] });
    for (let name = 0; name < 5_000; name += 1) await visit(name);
    expect(counters.size).toBe(5_000);
    nowMs += 2 * WINDOW_MS;
    for (let name = 0; name < 5_000; name += 1) await visit(-1 - (name % 3));
    expect(counters.size).toBeLessThanOrEqual(3);
  });
});
