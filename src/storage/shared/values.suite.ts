/** Tests for all stores of shared values. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SharedStore, SharedValues } from './values.ts';

export interface ValuesUnderTest {
  /** Opens the same store again, as another server does. */
  open(): Promise<SharedStore>;
  /** Whether two stores see the same values. */
  readonly isShared: boolean;
}

const LONG_MS = 3_600_000;

export function valuesSuite(name: string, { open, isShared }: ValuesUnderTest): void {
  describe(name, () => {
    const opened: SharedStore[] = [];
    let count = 0;
    let store: SharedStore;
    let values: SharedValues;
    const another = async () => {
      const opening = await open();
      opened.push(opening);
      return opening;
    };
    const spaceOf = (from: SharedStore, maxValues = 1_000) =>
      from.space({ name: `test ${process.pid} ${count}`, maxValues });
    beforeEach(async () => {
      count += 1;
      store = await another();
      values = spaceOf(store);
    });
    afterEach(async () => {
      for (const opening of opened.splice(0)) await opening.close();
    });

    it('returns what was set, in the order of the names, until it is removed', async () => {
      await values.set('tea', 'a cup: "ñ", \u{1f375}', LONG_MS);
      await values.set('rice', '', LONG_MS);
      expect(await values.get(['rice', 'none', 'tea'])).toEqual(['', undefined, 'a cup: "ñ", \u{1f375}']);
      expect(await values.get([])).toEqual([]);
      await values.set('tea', 'another', LONG_MS);
      expect(await values.get(['tea'])).toEqual(['another']);
      await values.remove('tea');
      await values.remove('tea');
      expect(await values.get(['tea'])).toEqual([undefined]);
      expect(store.healthy).toBe(true);
    });

    it('keeps spaces apart', async () => {
      const other = store.space({ name: `other ${process.pid} ${count}`, maxValues: 10 });
      await values.set('tea', 'here', LONG_MS);
      expect(await other.get(['tea'])).toEqual([undefined]);
    });

    it('forgets a value after its time', async () => {
      await values.set('short', 'x', 1);
      await values.update('changed', () => ({ value: 'x', keepMs: 1, result: undefined }));
      await expect.poll(() => values.get(['short', 'changed'])).toEqual([undefined, undefined]);
      expect(await values.update('short', (value) => ({ result: value }))).toBeUndefined();
    });

    it('changes a value atomically, and leaves it if there is no new one', async () => {
      const other = spaceOf(isShared ? await another() : store);
      const add = (to: SharedValues) =>
        to.update('count', (value) => ({ value: String(Number(value ?? 0) + 1), keepMs: LONG_MS, result: value }));
      const before = await Promise.all(Array.from({ length: 60 }, (_, at) => add(at % 2 ? values : other)));
      expect(await values.get(['count'])).toEqual(['60']);
      expect(new Set(before).size).toBe(60);
      expect(await other.update('count', (value) => ({ result: value }))).toBe('60');
      expect(await values.get(['count'])).toEqual(['60']);
    });

    it('gives a change the time, and passes on what it throws', async () => {
      const nowMs = await values.update('time', (_, now) => ({ result: now }));
      expect(Math.abs(nowMs - Date.now())).toBeLessThan(60_000);
      const failing = values.update('tea', () => {
        throw new RangeError('no tea');
      });
      await expect(failing).rejects.toThrow('no tea');
      await values.set('tea', 'x', LONG_MS);
      expect(await values.get(['tea'])).toEqual(['x']);
    });

    it('is bounded: the values that expire first are removed', async () => {
      const small = store.space({ name: `small ${process.pid} ${count}`, maxValues: 20 });
      const names = Array.from({ length: 501 }, (_, at) => `value ${at}`);
      for (const [at, name] of names.entries()) await small.set(name, 'x', LONG_MS + at * 1_000);
      const left = (await small.get(names)).filter((value) => value !== undefined).length;
      expect(left).toBeLessThanOrEqual(21);
      expect(await small.get(names.slice(-10))).not.toContain(undefined);
    });
  });
}
