/**
 * A BERT model of any size with random weights generated from a seed. It is available as a graph for the runtime and as
 * plain float64 arithmetic; the two share only the weights. (Devlin et al. 2018; the graph has the same layout as the
 * hub's exports.)
 */
import { createGraph, type Graph } from './onnx-file.suite.ts';
import type { Builder } from './transformer.suite.ts';

export interface BertShape {
  readonly vocabulary: number;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly inner: number;
  readonly positions: number;
  readonly seed: number;
  /** `encoder` returns hidden states, `classifier` one logit per pair. */
  readonly head: 'encoder' | 'classifier';
  /** The graph has positions as an input, as in some exports. */
  readonly positionInput?: boolean;
  /** The graph has an input that selects a task; the task's number is added to the embeddings. */
  readonly taskInput?: boolean;
  /** Weights are int8. The inputs of each product are quantized at run time, with one scale for the whole batch. */
  readonly quantized?: boolean;
}

export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

interface Linear {
  readonly weight: Matrix;
  readonly bias: Float32Array;
}

interface Norm {
  readonly scale: Float32Array;
  readonly shift: Float32Array;
}

export interface BertWeights {
  readonly words: Matrix;
  readonly positions: Matrix;
  readonly types: Matrix;
  readonly norm: Norm;
  readonly layers: readonly {
    readonly query: Linear;
    readonly key: Linear;
    readonly value: Linear;
    readonly out: Linear;
    readonly attentionNorm: Norm;
    readonly up: Linear;
    readonly down: Linear;
    readonly outNorm: Norm;
  }[];
  readonly pooler: Linear;
  readonly classifier: Linear;
}

const EPSILON = 1e-12;

/** Mulberry32. The sum of twelve values is close enough to a normal distribution for weights. */
function normals(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => {
    let sum = -6;
    for (let at = 0; at < 12; at++) sum += uniform();
    return sum;
  };
}

export function bertWeights({ vocabulary, hidden, layers, inner, positions, seed }: BertShape): BertWeights {
  const next = normals(seed);
  const array = (length: number, spread: number, around = 0) =>
    Float32Array.from({ length }, () => around + spread * next());
  const matrix = (rows: number, columns: number, spread: number): Matrix => ({
    rows,
    columns,
    values: array(rows * columns, spread),
  });
  const linear = (from: number, to: number): Linear => ({
    weight: matrix(from, to, 1 / Math.sqrt(from)),
    bias: array(to, 0.1),
  });
  const norm = (): Norm => ({ scale: array(hidden, 0.1, 1), shift: array(hidden, 0.1) });
  return {
    words: matrix(vocabulary, hidden, 0.5),
    positions: matrix(positions, hidden, 0.2),
    types: matrix(2, hidden, 0.3),
    norm: norm(),
    layers: Array.from({ length: layers }, () => ({
      query: linear(hidden, hidden),
      key: linear(hidden, hidden),
      value: linear(hidden, hidden),
      out: linear(hidden, hidden),
      attentionNorm: norm(),
      up: linear(hidden, inner),
      down: linear(inner, hidden),
      outNorm: norm(),
    })),
    pooler: linear(hidden, hidden),
    classifier: linear(hidden, 1),
  };
}

/** Builds the ONNX file. `head` adds other outputs than those of `shape.head`. */
export function bertFile(
  shape: BertShape,
  weights: BertWeights = bertWeights(shape),
  head?: (builder: Builder) => void,
): Buffer {
  const graph = createGraph();
  const ids = graph.input('input_ids', 'int64', ['batch', 'sequence']);
  const mask = graph.input('attention_mask', 'int64', ['batch', 'sequence']);
  const types = graph.input('token_type_ids', 'int64', ['batch', 'sequence']);
  const { linear, norm, table, floats, longs } = parts(graph, shape.quantized ?? false);

  let state = graph.node('Add', [
    graph.node('Gather', [table('words', weights.words), ids]),
    graph.node('Gather', [table('types', weights.types), types]),
  ]);
  const positions = shape.positionInput
    ? graph.input('position_ids', 'int64', ['batch', 'sequence'])
    : countedPositions(graph, ids, longs);
  state = graph.node('Add', [state, graph.node('Gather', [table('positions', weights.positions), positions])]);
  if (shape.taskInput) {
    const task = graph.node('Cast', [graph.input('task_id', 'int64', [])], { to: 1 });
    // The values are unevenly distributed; otherwise the normalization would cancel them out.
    const direction = floats('task_direction', [shape.hidden], taskDirection(shape.hidden));
    state = graph.node('Add', [state, graph.node('Mul', [task, direction])]);
  }
  state = norm(state, 'norm', weights.norm);

  const hiddenMask = graph.node('Mul', [
    graph.node('Sub', [
      floats('one', [], new Float32Array([1])),
      graph.node('Cast', [graph.node('Unsqueeze', [mask, longs('mask_axes', [1, 2])])], { to: 1 }),
    ]),
    floats('lowest', [], new Float32Array([-1e9])),
  ]);
  const size = shape.hidden / shape.heads;
  const split = longs('split', [0, 0, shape.heads, size]);
  const merge = longs('merge', [0, 0, shape.hidden]);
  const root = floats('root', [], new Float32Array([Math.sqrt(size)]));
  for (const [at, layer] of weights.layers.entries()) {
    const name = (part: string) => `layer${at}_${part}`;
    const heads = (part: 'query' | 'key' | 'value', perm: readonly number[]) =>
      graph.node('Transpose', [graph.node('Reshape', [linear(state, name(part), layer[part]), split])], { perm });
    const scores = graph.node('Div', [
      graph.node('MatMul', [heads('query', [0, 2, 1, 3]), heads('key', [0, 2, 3, 1])]),
      root,
    ]);
    const shares = graph.node('Softmax', [graph.node('Add', [scores, hiddenMask])], { axis: -1 });
    const mixed = graph.node('MatMul', [shares, heads('value', [0, 2, 1, 3])]);
    const joined = graph.node('Reshape', [graph.node('Transpose', [mixed], { perm: [0, 2, 1, 3] }), merge]);
    const attended = graph.node('Add', [linear(joined, name('out'), layer.out), state]);
    state = norm(attended, name('attention_norm'), layer.attentionNorm);
    const wide = gelu(graph, linear(state, name('up'), layer.up), floats);
    state = norm(graph.node('Add', [linear(wide, name('down'), layer.down), state]), name('out_norm'), layer.outNorm);
  }
  if (head) head({ graph, ids, states: state, floats, longs, matrix: table });
  else if (shape.head === 'encoder') graph.output('last_hidden_state', state, ['batch', 'sequence', shape.hidden]);
  else {
    const first = graph.node('Gather', [state, longs('first', 0)], { axis: 1 });
    const pooled = graph.node('Tanh', [linear(first, 'pooler', weights.pooler)]);
    graph.output('logits', linear(pooled, 'classifier', weights.classifier), ['batch', 1]);
  }
  return graph.bytes();
}

const taskDirection = (hidden: number) => Float32Array.from({ length: hidden }, (_, at) => Math.sin(at + 1));

function parts(graph: Graph, quantized: boolean) {
  const floats = (name: string, dims: readonly number[], values: Float32Array) => graph.tensor(name, dims, values);
  const longs = (name: string, values: number | readonly number[]) =>
    typeof values === 'number'
      ? graph.tensor(name, [], BigInt64Array.of(BigInt(values)))
      : graph.tensor(name, [values.length], BigInt64Array.from(values, BigInt));
  const table = (name: string, { rows, columns, values }: Matrix) => floats(name, [rows, columns], values);

  const product = (from: string, name: string, weight: Matrix): string => {
    if (!quantized) return graph.node('MatMul', [from, table(name, weight)]);
    const largest = weight.values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const scale = largest / 127;
    const rounded = Int8Array.from(weight.values, (value) => Math.round(value / scale));
    graph.tensor(`${name}_int8`, [weight.rows, weight.columns], rounded);
    const input = graph.node('DynamicQuantizeLinear', [from], {}, 3);
    const zero = input.replace(/0$/, '2');
    const whole = graph.node('MatMulInteger', [input, `${name}_int8`, zero]);
    const scales = graph.node('Mul', [
      input.replace(/0$/, '1'),
      floats(`${name}_scale`, [], new Float32Array([scale])),
    ]);
    return graph.node('Mul', [graph.node('Cast', [whole], { to: 1 }), scales]);
  };
  const linear = (from: string, name: string, { weight, bias }: Linear) =>
    graph.node('Add', [product(from, `${name}_weight`, weight), floats(`${name}_bias`, [bias.length], bias)]);
  const norm = (from: string, name: string, { scale, shift }: Norm) =>
    graph.node(
      'LayerNormalization',
      [from, floats(`${name}_scale`, [scale.length], scale), floats(`${name}_shift`, [shift.length], shift)],
      { axis: -1, epsilon: EPSILON },
    );
  return { floats, longs, table, linear, norm };
}

type Floats = (name: string, dims: readonly number[], values: Float32Array) => string;
type Longs = (name: string, values: number | readonly number[]) => string;

function countedPositions(graph: Graph, ids: string, longs: Longs): string {
  const length = graph.node('Gather', [graph.node('Shape', [ids]), longs('sequence_axis', 1)]);
  return graph.node('Range', [longs('zero', 0), length, longs('step', 1)]);
}

const constants = new WeakMap<Graph, { half: string; one: string; rootTwo: string }>();

/** x / 2 * (1 + erf(x / sqrt 2)) */
function gelu(graph: Graph, x: string, floats: Floats): string {
  let made = constants.get(graph);
  if (!made) {
    made = {
      half: floats('gelu_half', [], new Float32Array([0.5])),
      one: floats('gelu_one', [], new Float32Array([1])),
      rootTwo: floats('gelu_root_two', [], new Float32Array([Math.SQRT2])),
    };
    constants.set(graph, made);
  }
  const bent = graph.node('Add', [graph.node('Erf', [graph.node('Div', [x, made.rootTwo])]), made.one]);
  return graph.node('Mul', [graph.node('Mul', [x, bent]), made.half]);
}

/** Hidden states for one sequence in float64, one array per token. Tokens from `attended` on are not attended to. */
export function bertStates(
  shape: BertShape,
  weights: BertWeights,
  ids: ArrayLike<number>,
  types?: ArrayLike<number>,
  task = 0,
  attended = ids.length,
): number[][] {
  const direction = taskDirection(shape.hidden);
  const size = shape.hidden / shape.heads;
  const tokens = Array.from(ids);
  let states = tokens.map((id, at) =>
    normalized(
      Array.from({ length: shape.hidden }, (_, column) => {
        const word = weights.words.values[id * shape.hidden + column]!;
        const type = weights.types.values[(types?.[at] ?? 0) * shape.hidden + column]!;
        const moved = shape.taskInput ? task * direction[column]! : 0;
        return word + type + weights.positions.values[at * shape.hidden + column]! + moved;
      }),
      weights.norm,
    ),
  );
  for (const layer of weights.layers) {
    const [queries, keys, values] = [layer.query, layer.key, layer.value].map((part) =>
      states.map((state) => applied(state, part)),
    ) as [number[][], number[][], number[][]];
    const mixed = queries.map((query) => {
      const out = new Array<number>(shape.hidden).fill(0);
      for (let head = 0; head < shape.heads; head++) {
        const from = head * size;
        const scores = keys.slice(0, attended).map((key) => {
          let sum = 0;
          for (let at = from; at < from + size; at++) sum += query[at]! * key[at]!;
          return sum / Math.sqrt(size);
        });
        const most = Math.max(...scores);
        const powers = scores.map((score) => Math.exp(score - most));
        const total = powers.reduce((sum, power) => sum + power, 0);
        for (const [token, power] of powers.entries())
          for (let at = from; at < from + size; at++) out[at] = out[at]! + (power / total) * values[token]![at]!;
      }
      return out;
    });
    states = states.map((state, at) => {
      const attended = normalized(sum(applied(mixed[at]!, layer.out), state), layer.attentionNorm);
      const wide = applied(attended, layer.up).map((x) => (x / 2) * (1 + erf(x / Math.SQRT2)));
      return normalized(sum(applied(wide, layer.down), attended), layer.outNorm);
    });
  }
  return states;
}

/** The logit of one pair. */
export function bertLogit(
  shape: BertShape,
  weights: BertWeights,
  ids: ArrayLike<number>,
  types: ArrayLike<number>,
): number {
  const first = bertStates(shape, weights, ids, types)[0]!;
  return applied(applied(first, weights.pooler).map(Math.tanh), weights.classifier)[0]!;
}

const sum = (left: readonly number[], right: readonly number[]) => left.map((value, at) => value + right[at]!);

function applied(vector: readonly number[], { weight, bias }: Linear): number[] {
  const out = Array.from(bias);
  for (const [row, value] of vector.entries())
    for (let column = 0; column < weight.columns; column++)
      out[column] = out[column]! + value * weight.values[row * weight.columns + column]!;
  return out;
}

function normalized(vector: readonly number[], { scale, shift }: Norm): number[] {
  const mean = vector.reduce((total, value) => total + value, 0) / vector.length;
  const variance = vector.reduce((total, value) => total + (value - mean) ** 2, 0) / vector.length;
  const deviation = Math.sqrt(variance + EPSILON);
  return vector.map((value, at) => ((value - mean) / deviation) * scale[at]! + shift[at]!);
}

/**
 * Uses the series, or the continued fraction of the complement if that converges faster (Abramowitz and Stegun, 7.1.5
 * and 7.1.14).
 */
function erf(x: number): number {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x);
  if (size < 2.5) {
    let term = x;
    let total = x;
    for (let n = 1; n < 60; n++) {
      term *= (-x * x) / n;
      total += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * total;
  }
  let fraction = size;
  for (let n = 60; n > 0; n--) fraction = size + n / 2 / fraction;
  return Math.sign(x) * (1 - Math.exp(-size * size) / (Math.sqrt(Math.PI) * fraction));
}
