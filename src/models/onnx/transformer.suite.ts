/**
 * Transformers of the newer kinds with random weights generated from a seed: rotary positions, gated layers, grouped
 * keys, causal or local attention. Each is available as a graph for the runtime and as plain float64 arithmetic; the two
 * share only the weights.
 */
import { createGraph, type Graph } from './onnx-file.suite.ts';
import {
  applyAll,
  attend,
  gated,
  type LayerWeights,
  type Matrix,
  normAll,
  randomWeights,
  rotate,
} from './transformer-math.suite.ts';

export interface TransformerShape {
  readonly vocabulary: number;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  /** Heads of keys and values; each serves several heads of queries. */
  readonly keyHeads: number;
  readonly headSize: number;
  readonly inner: number;
  readonly seed: number;
  readonly norm: 'rms' | 'layer';
  /** Whether a layer normalizes its input, or the sum of its input and its result. */
  readonly normPlace: 'before' | 'after';
  readonly activation: 'silu' | 'gelu';
  readonly causal: boolean;
  /** In every second layer, a token attends only to tokens at most this far away. */
  readonly window?: number | undefined;
  /** Queries and keys are normalized per head. */
  readonly headNorm?: boolean | undefined;
  /** Queries, keys and values have a bias. */
  readonly bias?: boolean | undefined;
}

const BASE = { vocabulary: 0, hidden: 24, layers: 3, heads: 4, keyHeads: 4, headSize: 6, inner: 32, seed: 5 };

/** Qwen3 (Yang et al. 2025): the architecture of Qwen3-Embedding and Qwen3-Reranker. */
export const QWEN3 = {
  ...BASE,
  keyHeads: 2,
  headSize: 8,
  norm: 'rms',
  normPlace: 'before',
  activation: 'silu',
  causal: true,
  headNorm: true,
} as const satisfies TransformerShape;

/** Qwen2.5: the architecture of mxbai-rerank v2. */
export const QWEN2 = { ...QWEN3, headSize: 6, headNorm: false, bias: true } as const satisfies TransformerShape;

/** ModernBERT (Warner et al. 2024), without its local layers being rarer than every second. */
export const MODERN_BERT = {
  ...BASE,
  norm: 'layer',
  normPlace: 'before',
  activation: 'gelu',
  causal: false,
  window: 2,
} as const satisfies TransformerShape;

/** The encoder of gte-multilingual and snowflake-arctic-embed-m v2 (Zhang et al. 2024). */
export const GTE = {
  ...BASE,
  norm: 'layer',
  normPlace: 'after',
  activation: 'gelu',
  causal: false,
  bias: true,
} as const satisfies TransformerShape;

/** EuroBERT (Boizard et al. 2025): the architecture of jina-embeddings-v5-text-nano. */
export const EURO_BERT = { ...QWEN3, headSize: 6, headNorm: false, causal: false } as const satisfies TransformerShape;

const EPSILON = 1e-6;

export interface TransformerWeights {
  readonly words: Matrix;
  readonly layers: readonly LayerWeights[];
  readonly norm: Float32Array;
}

export const transformerWeights = (shape: TransformerShape): TransformerWeights => randomWeights(shape);

/** The embedding of each id. */
export const wordVectors = ({ hidden }: TransformerShape, { words }: TransformerWeights, ids: ArrayLike<number>) =>
  Array.from(ids, (id) => Array.from(words.values.subarray(id * hidden, (id + 1) * hidden)));

/** Hidden states of one sequence in float64, one array per token. */
export function transformerStates(
  shape: TransformerShape,
  weights: TransformerWeights,
  ids: ArrayLike<number>,
  start: number[][] = wordVectors(shape, weights, ids),
): number[][] {
  const { norm, normPlace } = shape;
  let states = start;
  for (const [at, layer] of weights.layers.entries()) {
    const isLocal = shape.window !== undefined && at % 2 === 1;
    const sees = (from: number, to: number) =>
      (!shape.causal || to <= from) && (!isLocal || Math.abs(from - to) <= shape.window!);
    const attention = (input: number[][]) => attend(input, layer, shape, sees);
    const mlp = (input: number[][]) => gated(input, layer, shape.activation);
    if (normPlace === 'before') {
      states = add(states, attention(normAll(states, layer.attentionNorm, norm)));
      states = add(states, mlp(normAll(states, layer.outNorm, norm)));
    } else {
      states = normAll(add(states, attention(states)), layer.attentionNorm, norm);
      states = normAll(add(states, mlp(states)), layer.outNorm, norm);
    }
  }
  return normPlace === 'before' ? normAll(states, weights.norm, norm) : states;
}

const add = (left: readonly number[][], right: readonly number[][]) =>
  left.map((row, at) => row.map((value, column) => value + right[at]![column]!));

/** Multiplies each state by a matrix. */
export const projected = (states: readonly number[][], matrix: Matrix): number[][] => applyAll(states, matrix);

export interface Builder {
  readonly graph: Graph;
  readonly ids: string;
  /** Name of the tensor of hidden states, or of embeddings: batch x tokens x hidden. */
  readonly states: string;
  readonly floats: (name: string, dims: readonly number[], values: Float32Array) => string;
  readonly longs: (name: string, values: readonly number[] | number) => string;
  readonly matrix: (name: string, matrix: Matrix) => string;
}

export interface GraphOptions {
  /** The graph takes the keys and values of earlier tokens, as exports for text generation do. */
  readonly memory?: 'float' | 'float16' | undefined;
  readonly positionInput?: boolean | undefined;
  /** Replaces the embeddings of tokens. */
  readonly embed?: ((builder: Builder) => string) | undefined;
  /** Adds the outputs. */
  readonly head: (builder: Builder) => void;
}

/** Builds the ONNX file. */
export function transformerFile(
  shape: TransformerShape,
  weights: TransformerWeights,
  { memory, positionInput, embed, head }: GraphOptions,
): Buffer {
  const graph = createGraph();
  const made = new Set<string>();
  const once = (name: string, make: () => void) => {
    if (!made.has(name)) make();
    made.add(name);
    return name;
  };
  const floats = (name: string, dims: readonly number[], values: ArrayLike<number>) =>
    once(name, () => graph.tensor(name, dims, Float32Array.from(values)));
  const longs = (name: string, values: readonly number[] | number) =>
    once(name, () =>
      typeof values === 'number'
        ? graph.tensor(name, [], BigInt64Array.of(BigInt(values)))
        : graph.tensor(name, [values.length], BigInt64Array.from(values, BigInt)),
    );
  const matrix = (name: string, { rows, columns, values }: Matrix) => floats(name, [rows, columns], values);
  const node = graph.node;

  const ids = graph.input('input_ids', 'int64', ['batch', 'sequence']);
  const mask = graph.input('attention_mask', 'int64', ['batch', 'sequence']);
  const length = node('Gather', [node('Shape', [ids]), longs('axis_one', 1)]);
  const counted = node('Range', [longs('zero', 0), length, longs('one', 1)]);
  const positions = positionInput
    ? graph.input('position_ids', 'int64', ['batch', 'sequence'])
    : node('Unsqueeze', [counted, longs('first_axis', [0])]);

  const scale = (name: string, values: Float32Array) => floats(name, [values.length], values);
  const norm = (from: string, name: string, values: Float32Array) => {
    if (shape.norm === 'layer')
      return node('LayerNormalization', [from, scale(name, values)], { axis: -1, epsilon: EPSILON });
    const square = node('ReduceMean', [node('Mul', [from, from])], { axes: [-1], keepdims: 1 });
    const root = node('Sqrt', [node('Add', [square, floats('epsilon', [], [EPSILON])])]);
    return node('Mul', [node('Div', [from, root]), scale(name, values)]);
  };

  const half = shape.headSize / 2;
  const frequencies = Array.from({ length: half }, (_, at) => rotate.frequency(at, shape.headSize));
  const angles = node('Mul', [
    node('Unsqueeze', [node('Cast', [positions], { to: 1 }), longs('position_axes', [1, 3])]),
    floats('frequencies', [half], frequencies),
  ]);
  const both = node('Concat', [angles, angles], { axis: -1 });
  const [cosine, sine] = [node('Cos', [both]), node('Sin', [both])];
  const turned = (from: string) => {
    const first = node('Split', [from, longs('halves', [half, half])], { axis: -1 }, 2);
    const second = first.replace(/0$/, '1');
    const rotated = node('Concat', [node('Neg', [second]), first], { axis: -1 });
    return node('Add', [node('Mul', [from, cosine]), node('Mul', [rotated, sine])]);
  };

  const lowest = floats('lowest', [], [-1e9]);
  const zero = floats('zero_float', [], [0]);
  const unseen = node('Mul', [
    node('Sub', [
      floats('one_float', [], [1]),
      node('Cast', [node('Unsqueeze', [mask, longs('mask_axes', [1, 2])])], { to: 1 }),
    ]),
    lowest,
  ]);
  const distance = node(
    'Cast',
    [
      node('Sub', [
        node('Unsqueeze', [counted, longs('row_axis', [1])]),
        node('Unsqueeze', [counted, longs('first_axis', [0])]),
      ]),
    ],
    { to: 1 },
  );
  const hidden = (isLocal: boolean) => {
    let rule = unseen;
    if (shape.causal) rule = node('Add', [rule, node('Where', [node('Less', [distance, zero]), lowest, zero])]);
    if (!isLocal) return rule;
    const far = node('Greater', [node('Abs', [distance]), floats('window', [], [shape.window!])]);
    return node('Add', [rule, node('Where', [far, lowest, zero])]);
  };

  const { heads, keyHeads, headSize } = shape;
  const groups = heads / keyHeads;
  const attention = (from: string, layer: LayerWeights, at: number) => {
    const name = (part: string) => `layer${at}_${part}`;
    const split = (part: 'query' | 'key' | 'value', count: number) => {
      const { weight, bias } = layer[part];
      let all = node('MatMul', [from, matrix(name(part), weight)]);
      if (shape.bias) all = node('Add', [all, scale(name(`${part}_bias`), bias)]);
      return node('Transpose', [node('Reshape', [all, longs(`split_${count}`, [0, 0, count, headSize])])], {
        perm: [0, 2, 1, 3],
      });
    };
    let [query, key] = [split('query', heads), split('key', keyHeads)];
    if (shape.headNorm) {
      query = norm(query, name('query_norm'), layer.queryNorm);
      key = norm(key, name('key_norm'), layer.keyNorm);
    }
    query = turned(query);
    let [keys, values] = [turned(key), split('value', keyHeads)];
    if (memory) {
      const past = (part: 'key' | 'value', own: string) => {
        const given = graph.input(`past_key_values.${at}.${part}`, memory, ['batch', keyHeads, 'past', headSize]);
        const joined = node('Concat', [node('Cast', [given], { to: 1 }), own], { axis: 2 });
        graph.output(`present.${at}.${part}`, joined, ['batch', keyHeads, 'all', headSize]);
        return joined;
      };
      keys = past('key', keys);
      values = past('value', values);
    }
    const repeated = (one: string) => {
      if (groups === 1) return one;
      const wide = node('Concat', Array<string>(groups).fill(node('Unsqueeze', [one, longs('group_axis', [2])])), {
        axis: 2,
      });
      return node('Reshape', [wide, longs('grouped', [0, heads, -1, headSize])]);
    };
    const scores = node('Div', [
      node('MatMul', [query, node('Transpose', [repeated(keys)], { perm: [0, 1, 3, 2] })]),
      floats('root', [], [Math.sqrt(headSize)]),
    ]);
    const isLocal = shape.window !== undefined && at % 2 === 1;
    const shares = node('Softmax', [node('Add', [scores, hidden(isLocal)])], { axis: -1 });
    const mixed = node('Transpose', [node('MatMul', [shares, repeated(values)])], { perm: [0, 2, 1, 3] });
    const joined = node('Reshape', [mixed, longs('merge', [0, 0, heads * headSize])]);
    return node('MatMul', [joined, matrix(name('out'), layer.out)]);
  };
  const mlp = (from: string, layer: LayerWeights, at: number) => {
    const gate = node('MatMul', [from, matrix(`layer${at}_gate`, layer.gate)]);
    const up = node('MatMul', [from, matrix(`layer${at}_up`, layer.up)]);
    const bent =
      shape.activation === 'silu'
        ? node('Mul', [gate, node('Sigmoid', [gate])])
        : node('Mul', [
            node('Mul', [gate, floats('half', [], [0.5])]),
            node('Add', [
              node('Erf', [node('Div', [gate, floats('root_two', [], [Math.SQRT2])])]),
              floats('one_float', [], [1]),
            ]),
          ]);
    return node('MatMul', [node('Mul', [bent, up]), matrix(`layer${at}_down`, layer.down)]);
  };

  const builder = { graph, ids, floats, longs, matrix };
  let states = node('Gather', [matrix('words', weights.words), ids]);
  if (embed) states = embed({ ...builder, states });
  for (const [at, layer] of weights.layers.entries()) {
    const [first, second] = [`layer${at}_attention_norm`, `layer${at}_out_norm`];
    if (shape.normPlace === 'before') {
      states = node('Add', [states, attention(norm(states, first, layer.attentionNorm), layer, at)]);
      states = node('Add', [states, mlp(norm(states, second, layer.outNorm), layer, at)]);
    } else {
      states = norm(node('Add', [states, attention(states, layer, at)]), first, layer.attentionNorm);
      states = norm(node('Add', [states, mlp(states, layer, at)]), second, layer.outNorm);
    }
  }
  if (shape.normPlace === 'before') states = norm(states, 'final_norm', weights.norm);
  head({ ...builder, states });
  return graph.bytes();
}
