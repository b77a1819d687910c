import { describe, expect, it } from 'vitest';
import { HiddenRows } from './hidden-rows.ts';

describe('hidden rows', () => {
  it('counts those above a row, inside and between ranges', () => {
    const hidden = new HiddenRows();
    hidden.add(2, 4);
    hidden.add(4, 5);
    hidden.add(5, 5);
    hidden.add(8, 10);
    expect(hidden.count).toBe(5);
    expect([0, 2, 3, 4, 5, 8, 9, 10, 99].map((row) => hidden.above(row))).toEqual([0, 0, 1, 2, 3, 3, 4, 5, 5]);
  });

  it('stores a range of any length', () => {
    const hidden = new HiddenRows();
    for (let at = 0; at < 1_000; at++) hidden.add(at * 1_000_000, at * 1_000_000 + 999_999);
    expect(hidden.above(500_000_000)).toBe(500 * 999_999);
  });
});
