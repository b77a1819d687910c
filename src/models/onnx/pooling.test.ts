import { describe, expect, it } from 'vitest';
import type { Sequence } from './messages.ts';
import { outputsOf } from './pooling.ts';

const sequence = (length: number): Sequence => ({ ids: new Int32Array(length) });
const mean = { pooling: 'mean', normalizes: false } as const;

/**
 * Two sequences, of one and two tokens, with states of two numbers each. If padding were included, every mean would
 * change.
 */
const states = { data: Float32Array.of(1, 2, 99, 99, 3, 4, 5, 8), dims: [2, 2, 2] };
const batch = [sequence(1), sequence(2)];
const values = (outputs: readonly { values: Float32Array }[]) => outputs.map((one) => [...one.values]);

describe('the output of a graph', () => {
  it('is pooled without its padding', () => {
    expect(values(outputsOf(states, batch, 'pooled', mean))).toEqual([
      [1, 2],
      [4, 6],
    ]);
    expect(values(outputsOf(states, batch, 'pooled', { ...mean, pooling: 'cls' }))).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(values(outputsOf(states, batch, 'pooled', { ...mean, pooling: 'last' }))).toEqual([
      [1, 2],
      [5, 8],
    ]);
  });

  it('is used unchanged if the graph pools', () => {
    const pooled = { data: Float32Array.of(3, 4, 0, 0), dims: [2, 2] };
    const options = { pooling: 'none', normalizes: true } as const;
    const [first, zero] = values(outputsOf(pooled, batch, 'pooled', options));
    expect(first!.map((value) => Math.round(value * 1e6) / 1e6)).toEqual([0.6, 0.8]);
    expect(zero).toEqual([0, 0]);
  });

  it('is a list of word weights for a sparse model', () => {
    const logits = {
      data: Float32Array.of(Math.E - 1, -1, 0, 0, 0, 0, -2, -3, 1, Math.E - 1, -1, -1),
      dims: [2, 2, 3],
    };
    const [first, second] = outputsOf(logits, batch, 'sparse', mean);
    expect([...first!.ids!]).toEqual([0]);
    expect(first!.values[0]).toBeCloseTo(1, 6);
    expect([...second!.ids!]).toEqual([0, 2]);
    expect([...second!.values].map((value) => value.toFixed(4))).toEqual(['1.0000', '0.6931']);
  });

  it('is refused in an unexpected shape', () => {
    for (const dims of [[1, 2, 2], [2, 3, 2], [2, 2, 3], [8]])
      expect(() => outputsOf({ data: states.data, dims }, batch, 'pooled', mean)).toThrow('unexpected shape');
  });

  it('is one score per pair, or refused', () => {
    const scoresOf = (dims: number[]) =>
      values(
        outputsOf(
          {
            data: states.data.subarray(
              0,
              dims.reduce((a, b) => a * b),
            ),
            dims,
          },
          batch,
          'score',
          mean,
        ),
      );
    expect(scoresOf([2, 1])).toEqual([[1], [2]]);
    expect(scoresOf([2])).toEqual([[1], [2]]);
    expect(() => scoresOf([2, 2])).toThrow('one score per pair');
    expect(() => scoresOf([2, 2, 1])).toThrow('one score per pair');
  });

  it('is refused if a number is not finite', () => {
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const data = Float32Array.from(states.data);
      data[7] = wrong;
      expect(() => outputsOf({ data, dims: states.dims }, batch, 'pooled', mean)).toThrow(
        'numbers that are not finite',
      );
    }
  });
});
