import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalize, quantize, similarity } from './quantize.ts';
import { createShortlist } from './shortlist.ts';

const seed = 20_264;

describe('vectors', () => {
  const vectors = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 64, maxLength: 64 });
  it('keep their similarity when quantized', () => {
    fc.assert(
      fc.property(vectors, vectors, (a, b) => {
        const [x, y] = [normalize(Float32Array.from(a)), normalize(Float32Array.from(b))];
        const cosine = x.reduce((sum, value, at) => sum + value * y[at]!, 0);
        expect(Math.abs(similarity(x, quantize(Float32Array.from(b))) - cosine)).toBeLessThan(0.05);
      }),
      { seed },
    );
  });

  it('of length zero are similar to nothing', () => {
    expect(similarity(normalize(new Float32Array(8).fill(1)), quantize(new Float32Array(8)))).toBe(0);
    expect(similarity(normalize(new Float32Array(8).fill(1)), quantize(new Float32Array(8).fill(Number.NaN)))).toBe(0);
  });

  it('of the shortlist are those whose signs agree most', () => {
    let state = seed;
    // Values are not close to zero, where rounding could change a sign.
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      const value = state / 2 ** 32 - 0.5;
      return value + Math.sign(value) * 0.1;
    };
    const all = Array.from({ length: 3_000 }, () => Float32Array.from({ length: 70 }, random));
    const list = createShortlist(70);
    for (const [id, vector] of all.entries()) list.add(id, quantize(vector), id % 2 ? 'odd' : 'even');
    for (let id = 0; id < 3_000; id += 3) list.remove(id);
    list.remove(0);
    expect(list.size).toBe(2_000);
    const query = all[1_000]!;
    const agreeing = (id: number) => all[id]!.filter((value, at) => value > 0 === query[at]! > 0).length;
    const kept = all.map((_, id) => id).filter((id) => id % 3 !== 0);
    const best = kept
      .map(agreeing)
      .sort((a, b) => b - a)
      .slice(0, 50);
    expect(list.nearest(query, 50).map(agreeing)).toEqual(best);
    expect(list.nearest(query, 1)).toEqual([1_000]);
    expect(list.nearest(query, 5, { among: [1, 2, 3, 1_000] }).toSorted()).toEqual([1, 1_000, 2]);
    const odd = kept
      .filter((id) => id % 2)
      .map(agreeing)
      .sort((a, b) => b - a);
    const ofOdd = list.nearest(query, 50, { owners: ['odd', 'nobody'] });
    expect(ofOdd.filter((id) => id % 2 === 0)).toEqual([]);
    expect(ofOdd.map(agreeing)).toEqual(odd.slice(0, 50));
    expect(list.nearest(query, 50, { owners: ['even', 'odd'] })).toEqual(list.nearest(query, 50));
    expect(list.nearest(query, 50, { owners: ['nobody'] })).toEqual([]);
    list.clear();
    expect(list.nearest(query, 5)).toEqual([]);
  });
});
