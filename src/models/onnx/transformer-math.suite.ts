/** The float64 arithmetic of transformer.suite.ts, and its random weights. */
import type { TransformerShape, TransformerWeights } from './transformer.suite.ts';

export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

interface Linear {
  readonly weight: Matrix;
  readonly bias: Float32Array;
}

export interface LayerWeights {
  readonly query: Linear;
  readonly key: Linear;
  readonly value: Linear;
  readonly out: Matrix;
  readonly queryNorm: Float32Array;
  readonly keyNorm: Float32Array;
  readonly attentionNorm: Float32Array;
  readonly gate: Matrix;
  readonly up: Matrix;
  readonly down: Matrix;
  readonly outNorm: Float32Array;
}

const EPSILON = 1e-6;
const ROPE_BASE = 10_000;

/** Numbers around 0 from a seed (a linear congruential generator); the sum of four is close enough to a bell curve. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  return () => next() + next() + next() + next();
}

export function randomMatrix(next: () => number, rows: number, columns: number, spread = 1): Matrix {
  const scale = (1.7 * spread) / Math.sqrt(rows);
  return { rows, columns, values: Float32Array.from({ length: rows * columns }, () => next() * scale) };
}

export function randomWeights(shape: TransformerShape): TransformerWeights {
  const { vocabulary, hidden, heads, keyHeads, headSize, inner, layers, seed } = shape;
  const next = random(seed);
  const list = (length: number, around: number) => Float32Array.from({ length }, () => around + 0.2 * next());
  const linear = (columns: number): Linear => ({ weight: randomMatrix(next, hidden, columns), bias: list(columns, 0) });
  return {
    words: randomMatrix(next, vocabulary, hidden, Math.sqrt(vocabulary)),
    layers: Array.from({ length: layers }, () => ({
      query: linear(heads * headSize),
      key: linear(keyHeads * headSize),
      value: linear(keyHeads * headSize),
      out: randomMatrix(next, heads * headSize, hidden),
      queryNorm: list(headSize, 1),
      keyNorm: list(headSize, 1),
      attentionNorm: list(hidden, 1),
      gate: randomMatrix(next, hidden, inner),
      up: randomMatrix(next, hidden, inner),
      down: randomMatrix(next, inner, hidden),
      outNorm: list(hidden, 1),
    })),
    norm: list(hidden, 1),
  };
}

function apply(row: readonly number[], { columns, values }: Matrix): number[] {
  const out = new Array<number>(columns).fill(0);
  for (const [at, value] of row.entries())
    for (let column = 0; column < columns; column++) out[column]! += value * values[at * columns + column]!;
  return out;
}

export const applyAll = (rows: readonly number[][], matrix: Matrix): number[][] =>
  rows.map((row) => apply(row, matrix));

function normalized(row: readonly number[], scale: Float32Array, kind: 'rms' | 'layer'): number[] {
  const mean = kind === 'layer' ? row.reduce((sum, value) => sum + value, 0) / row.length : 0;
  const square = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length;
  const root = Math.sqrt(square + EPSILON);
  return row.map((value, at) => ((value - mean) / root) * scale[at]!);
}

export const normAll = (rows: readonly number[][], scale: Float32Array, kind: 'rms' | 'layer'): number[][] =>
  rows.map((row) => normalized(row, scale, kind));

/** Rotary positions (Su et al. 2021), with the halves of a head as the two coordinates. */
export const rotate = {
  frequency: (at: number, size: number) => ROPE_BASE ** ((-2 * at) / size),
  head(head: readonly number[], position: number): number[] {
    const half = head.length / 2;
    return head.map((value, at) => {
      const pair = at % half;
      const angle = position * rotate.frequency(pair, head.length);
      const other = at < half ? -head[at + half]! : head[at - half]!;
      return value * Math.cos(angle) + other * Math.sin(angle);
    });
  },
};

export function attend(
  input: readonly number[][],
  layer: LayerWeights,
  shape: TransformerShape,
  sees: (from: number, to: number) => boolean,
): number[][] {
  const { heads, keyHeads, headSize, headNorm, bias, norm } = shape;
  const split = ({ weight, bias: shift }: Linear, count: number) =>
    applyAll(input, weight).map((row) =>
      Array.from({ length: count }, (_, head) =>
        row
          .slice(head * headSize, (head + 1) * headSize)
          .map((value, at) => value + (bias ? shift[head * headSize + at]! : 0)),
      ),
    );
  const prepared = (all: number[][][], scale: Float32Array) =>
    all.map((own, position) =>
      own.map((head) => rotate.head(headNorm ? normalized(head, scale, norm) : head, position)),
    );
  const queries = prepared(split(layer.query, heads), layer.queryNorm);
  const keys = prepared(split(layer.key, keyHeads), layer.keyNorm);
  const values = split(layer.value, keyHeads);
  const groups = heads / keyHeads;
  return queries.map((own, from) => {
    const joined = own.flatMap((query, head) => {
      const shared = Math.floor(head / groups);
      const seen = keys.flatMap((_, to) => (sees(from, to) ? [to] : []));
      const scores = seen.map((to) => dot(query, keys[to]![shared]!) / Math.sqrt(headSize));
      const most = Math.max(...scores);
      const powers = scores.map((score) => Math.exp(score - most));
      const total = powers.reduce((sum, power) => sum + power, 0);
      return Array.from({ length: headSize }, (_, at) =>
        seen.reduce((sum, to, index) => sum + (powers[index]! / total) * values[to]![shared]![at]!, 0),
      );
    });
    return apply(joined, layer.out);
  });
}

const dot = (left: readonly number[], right: readonly number[]) =>
  left.reduce((sum, value, at) => sum + value * right[at]!, 0);

export function gated(input: readonly number[][], { gate, up, down }: LayerWeights, activation: 'silu' | 'gelu') {
  const bend = (x: number) =>
    activation === 'silu' ? x / (1 + Math.exp(-x)) : (x / 2) * (1 + errorFunction(x / Math.SQRT2));
  const gates = applyAll(input, gate);
  const wide = applyAll(input, up);
  return applyAll(
    gates.map((row, at) => row.map((value, column) => bend(value) * wide[at]![column]!)),
    down,
  );
}

/** By its series (Abramowitz and Stegun, 7.1.5), which is exact enough for the small numbers here. */
function errorFunction(x: number): number {
  if (Math.abs(x) > 5) return Math.sign(x);
  let term = x;
  let total = x;
  for (let n = 1; n < 120; n++) {
    term *= (-x * x) / n;
    total += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * total;
}
