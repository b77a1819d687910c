/** Tests for all stores of kept results. */
import { describe, expect, it } from 'vitest';
import type { KeptFiles, KeptRecord } from './kept-files.ts';

interface Named extends KeptRecord {
  readonly name: string;
}

export type OpenKept = (limits: {
  readonly lifetimeMs: number;
  readonly maxTotalBytes: number;
}) => Promise<KeptFiles<Named>>;

const HOUR_MS = 3_600_000;

export function keptFilesSuite(name: string, open: OpenKept): void {
  describe(name, () => {
    let count = 0;
    const record = (more: Partial<Named> = {}): Named => {
      count += 1;
      return { id: `${process.pid}-${count}`, owner: 'me', createdAt: Date.now(), name: 'tea', ...more };
    };
    const openWide = () => open({ lifetimeMs: HOUR_MS, maxTotalBytes: 1_000_000_000 });

    it('returns a record and its bytes to its owner, also after a change', async () => {
      const kept = await openWide();
      const bytes = Buffer.alloc(700_000, 'abc');
      const mine = record();
      await kept.put(mine);
      expect(await kept.bytes(mine.id)).toBeUndefined();
      await kept.put({ ...mine, name: 'rice' }, bytes);
      expect(await kept.record(mine.id, 'me')).toEqual({ ...mine, name: 'rice' });
      expect(Buffer.from((await kept.bytes(mine.id))!).equals(bytes)).toBe(true);
      expect(await kept.record(mine.id, 'you')).toBeUndefined();
      expect(await kept.record(mine.id)).toEqual({ ...mine, name: 'rice' });
      for (const odd of ['none', '../secret', "'; --", 'a\0', 'x'.repeat(500)]) {
        expect([await kept.record(odd), await kept.bytes(odd)]).toEqual([undefined, undefined]);
      }
      await kept.remove(mine.id);
      expect([await kept.record(mine.id), await kept.bytes(mine.id)]).toEqual([undefined, undefined]);
      await kept.close();
    });

    it('lists the records of an owner, newest first', async () => {
      const kept = await openWide();
      const owner = `lister ${process.pid}`;
      const made = [-300, -100, -200].map((ago) => record({ owner, createdAt: Date.now() + ago }));
      for (const one of [...made, record()]) await kept.put(one);
      expect((await kept.list(owner)).map(({ id }) => id)).toEqual([made[1]!.id, made[2]!.id, made[0]!.id]);
      await kept.close();
    });

    it('removes what is old, and the oldest of too many', async () => {
      const kept = await open({ lifetimeMs: HOUR_MS, maxTotalBytes: 2_500 });
      const old = record({ createdAt: Date.now() - 2 * HOUR_MS });
      await kept.put(old, Buffer.alloc(10));
      expect(await kept.record(old.id)).toBeUndefined();
      const made = [];
      for (let at = 0; at < 4; at++) {
        made.push(record({ createdAt: Date.now() - 1_000 + at }));
        await kept.put(made[at]!, Buffer.alloc(1_000));
        // Files are ordered by the time of their last change.
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const left = await Promise.all(made.map(({ id }) => kept.bytes(id)));
      expect(left.map((bytes) => bytes !== undefined)).toEqual([false, false, true, true]);
      await kept.close();
    });
  });
}
