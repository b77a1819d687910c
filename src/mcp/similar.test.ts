import { describe, expect, it } from 'vitest';
import { removeDuplicates, selectMostDifferent } from './similar.ts';

const at = (degrees: number) =>
  Float32Array.from([Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]);
const going = new AbortController().signal;

describe('removing duplicates', () => {
  it('keeps vectors that are not similar to earlier kept ones', async () => {
    const found = await removeDuplicates([at(0), at(5), at(50), at(54), at(8)], 0.98, going);
    expect(found.kept).toEqual([0, 2]);
    expect(found.dropped.map(({ index, like }) => [index, like])).toEqual([
      [1, 0],
      [3, 2],
      [4, 0],
    ]);
    expect(found.dropped[0]!.similarity).toBeCloseTo(Math.cos((5 * Math.PI) / 180), 3);
  });

  it('compares only directions and keeps zero vectors', async () => {
    const long = at(0).map((value) => value * 100);
    expect((await removeDuplicates([at(0), long], 0.99, going)).kept).toEqual([0]);
    expect((await removeDuplicates([new Float32Array(2), new Float32Array(2)], 0.5, going)).kept).toEqual([0, 1]);
    expect(await removeDuplicates([], 0.5, going)).toEqual({ kept: [], dropped: [] });
  });
});

describe('selecting the most different', () => {
  it('starts with the first and adds the farthest', async () => {
    const found = await selectMostDifferent([at(0), at(10), at(90), at(170), at(100)], 3, going);
    expect(found.kept).toEqual([0, 3, 2]);
    expect(found.dropped.map(({ index, like }) => [index, like])).toEqual([
      [1, 0],
      [4, 2],
    ]);
  });

  it('returns all if there are fewer', async () => {
    expect(await selectMostDifferent([at(0), at(90)], 9, going)).toEqual({ kept: [0, 1], dropped: [] });
    expect(await selectMostDifferent([], 3, going)).toEqual({ kept: [], dropped: [] });
  });
});

it('rejects when aborted', async () => {
  const many = Array.from({ length: 400 }, (_, index) => {
    const vector = new Float32Array(512);
    vector[index] = 1;
    return vector;
  });
  const over = AbortSignal.abort(new Error('given up'));
  await expect(removeDuplicates(many, 0.9, over)).rejects.toThrow('given up');
  await expect(selectMostDifferent(many, 400, over)).rejects.toThrow('given up');
});
