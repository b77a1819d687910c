/** Output layers of models, as parts of a graph and as plain float64 arithmetic. */

import { type Builder, projected } from './transformer.suite.ts';
import { type Matrix, random, randomMatrix } from './transformer-math.suite.ts';

export const headMatrix = (rows: number, columns: number, seed: number): Matrix =>
  randomMatrix(random(seed), rows, columns);

/** Hidden states, optionally as 16-bit numbers. */
export const statesHead =
  (hidden: number, type: 'float' | 'float16' = 'float') =>
  ({ graph, states }: Builder): void => {
    const found = type === 'float16' ? graph.node('Cast', [states], { to: 10 }) : states;
    graph.output('last_hidden_state', found, ['batch', 'sequence', hidden], type);
  };

/** One product per token, such as the logits of a vocabulary or ColBERT's projection. */
export const productHead =
  (name: string, matrix: Matrix) =>
  ({ graph, states, matrix: table }: Builder): void =>
    graph.output(name, graph.node('MatMul', [states, table('head', matrix)]), ['batch', 'sequence', matrix.columns]);

/** The logits of the last positions only, as many as an input says. */
export const lastLogitsHead =
  (matrix: Matrix) =>
  ({ graph, states, matrix: table, longs }: Builder): void => {
    const kept = graph.input('num_logits_to_keep', 'int64', []);
    const from = graph.node('Neg', [graph.node('Reshape', [kept, longs('one_number', [1])])]);
    const last = graph.node('Slice', [states, from, longs('end', [2 ** 40]), longs('token_axis', [1])]);
    graph.output('logits', graph.node('MatMul', [last, table('head', matrix)]), ['batch', 'kept', matrix.columns]);
  };

/** The logit of a pair, from its first token. */
export const scoreHead =
  (matrix: Matrix) =>
  ({ graph, states, matrix: table, longs }: Builder): void => {
    const first = graph.node('Gather', [states, longs('first', 0)], { axis: 1 });
    graph.output('logits', graph.node('MatMul', [first, table('head', matrix)]), ['batch', 1]);
  };

export interface M3Heads {
  /** From a state to the weight of its token. */
  readonly sparse: Matrix;
  readonly colbert: Matrix;
}

/** The three outputs of BGE-M3 (Chen et al. 2024). The vectors of tokens begin with the second one. */
export const m3Head =
  (hidden: number, { sparse, colbert }: M3Heads) =>
  ({ graph, states, matrix, longs }: Builder): void => {
    const unit = (from: string) => {
      const square = graph.node('ReduceSum', [graph.node('Mul', [from, from]), longs('last_axis', [-1])], {
        keepdims: 1,
      });
      return graph.node('Div', [from, graph.node('Sqrt', [square])]);
    };
    const first = graph.node('Gather', [states, longs('first', 0)], { axis: 1 });
    graph.output('dense_vecs', unit(first), ['batch', hidden]);
    const weights = graph.node('Relu', [graph.node('MatMul', [states, matrix('sparse', sparse)])]);
    graph.output('sparse_vecs', weights, ['batch', 'sequence', 1]);
    const [start, end, axis] = [longs('second', [1]), longs('end', [2 ** 40]), longs('token_axis', [1])];
    const rest = graph.node('Slice', [states, start, end, axis]);
    const vectors = graph.node('MatMul', [rest, matrix('colbert', colbert)]);
    graph.output('colbert_vecs', unit(vectors), ['batch', 'rest', colbert.columns]);
  };

export function unitVector(values: readonly number[]): number[] {
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

/** The weight of each id: the largest of its tokens. */
export function m3Weights(
  states: readonly number[][],
  ids: readonly number[],
  { sparse }: M3Heads,
): Map<number, number> {
  const weights = new Map<number, number>();
  for (const [at, [value]] of projected(states, sparse).entries()) {
    const id = ids[at]!;
    if (value! > 0) weights.set(id, Math.max(value!, weights.get(id) ?? 0));
  }
  return weights;
}

/** SPLADE's weight of each id. */
export function spladeWeights(states: readonly number[][], logits: Matrix): Map<number, number> {
  const rows = projected(states, logits);
  const most = Array.from({ length: logits.columns }, (_, id) => Math.max(...rows.map((row) => row[id]!)));
  return new Map(most.flatMap((logit, id) => (logit > 0 ? [[id, Math.log1p(logit)] as const] : [])));
}

export interface Patches {
  /** Pixels of a side of the image; a patch has 4. */
  readonly side: number;
  /** From the pixels of a patch, channel by channel, to its embedding. */
  readonly kernel: Matrix;
}

const PATCH = 4;

/** Puts the embeddings of an image's patches in the places of a special token, as vision language models do. */
export const patchEmbeddings =
  ({ side, kernel, patch }: Patches & { readonly patch: number }) =>
  ({ graph, ids, states, longs, floats }: Builder): string => {
    const { node } = graph;
    const hidden = kernel.columns;
    // The convolution has its weights by output.
    const turned = Float32Array.from(
      { length: kernel.values.length },
      (_, at) => kernel.values[(at % kernel.rows) * hidden + Math.floor(at / kernel.rows)]!,
    );
    const pixels = graph.input('pixel_values', 'float', ['batch', 3, side, side]);
    const found = node('Conv', [pixels, floats('kernel', [hidden, 3, PATCH, PATCH], turned)], {
      kernel_shape: [PATCH, PATCH],
      strides: [PATCH, PATCH],
    });
    const flat = node('Reshape', [found, longs('flat', [0, 0, -1])]);
    const patches = node('Transpose', [flat], { perm: [0, 2, 1] });
    const isPatch = node('Equal', [ids, longs('patch_id', patch)]);
    const counted = node('CumSum', [node('Cast', [isPatch], { to: 7 }), longs('count_axis', 1)]);
    const place = node('Where', [isPatch, node('Sub', [counted, longs('one', 1)]), longs('zero', 0)]);
    const placed = node('GatherND', [patches, node('Unsqueeze', [place, longs('deepest', [2])])], { batch_dims: 1 });
    return node('Where', [node('Unsqueeze', [isPatch, longs('deepest', [2])]), placed, states]);
  };

/** The embeddings of an image's patches; pixels are scaled to numbers between -1 and 1, as for SigLIP. */
export function patchVectors(rgb: Uint8Array, { side, kernel }: Patches): number[][] {
  const count = side / PATCH;
  return Array.from({ length: count * count }, (_, patch) => {
    const pixels = Array.from({ length: kernel.rows }, (_, at) => {
      const [channel, y, x] = [Math.floor(at / PATCH ** 2), Math.floor(at / PATCH) % PATCH, at % PATCH];
      const row = Math.floor(patch / count) * PATCH + y;
      const column = (patch % count) * PATCH + x;
      return (rgb[(row * side + column) * 3 + channel]! / 255 - 0.5) / 0.5;
    });
    return projected([pixels], kernel)[0]!;
  });
}
