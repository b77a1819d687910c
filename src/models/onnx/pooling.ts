/** Pools a graph's output for a batch into one output per sequence. Padding is excluded. */
import type { RawOutput, RunKind, Sequence } from './messages.ts';

export interface GraphOutput {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

export interface PoolingOptions {
  readonly pooling: 'mean' | 'cls' | 'last' | 'none';
  readonly normalizes: boolean;
}

/** Throws an Error for an unexpected shape or a number that is not finite. */
export function outputsOf(
  { data, dims }: GraphOutput,
  batch: readonly Sequence[],
  kind: RunKind,
  { pooling, normalizes }: PoolingOptions,
): RawOutput[] {
  const columns = Math.max(...batch.map(({ ids }) => ids.length));
  const size = dims.length > 1 ? dims.at(-1)! : 1;
  const perToken = dims.length === 3;
  const expected = batch.length * size * (perToken ? columns : 1);
  if (dims[0] !== batch.length || (perToken && dims[1] !== columns) || data.length !== expected)
    throw new Error(`the graph returned the unexpected shape ${dims.join(' x ')}`);
  if (kind === 'score' && expected !== batch.length) throw new Error('the graph does not return one score per pair');

  const states = (at: number, length: number) => {
    const from = at * columns * size;
    return data.subarray(from, from + length * size);
  };
  const outputs = batch.map((sequence, at): RawOutput => {
    const { ids, spans } = sequence;
    if (kind === 'score') return { values: Float32Array.of(data[at]!), rows: 1 };
    if (!perToken) {
      if (kind !== 'pooled' || spans) throw new Error('the graph does not return token vectors');
      return { values: unit(data.slice(at * size, (at + 1) * size), size, normalizes), rows: 1 };
    }
    const own = states(at, ids.length);
    if (kind === 'sparse') return weightsOf(own, size);
    if (kind === 'tokens') return { values: unit(own.slice(), size, normalizes), rows: ids.length };
    const values = spans ? spanMeans(own, size, spans) : pooled(own, size, ids.length, pooling);
    return { values: unit(values, size, normalizes), rows: values.length / size };
  });
  if (!outputs.every(({ values }) => allFinite(values)))
    throw new Error('the graph returned numbers that are not finite');
  return outputs;
}

/** Returns one vector per input. Throws an Error for an unexpected shape or a number that is not finite. */
export function vectorsOf({ data, dims }: GraphOutput, count: number, normalizes: boolean): RawOutput[] {
  if (dims.length !== 2 || dims[0] !== count)
    throw new Error(`the graph returned the unexpected shape ${dims.join(' x ')}`);
  const size = dims[1]!;
  if (!allFinite(data)) throw new Error('the graph returned numbers that are not finite');
  return Array.from({ length: count }, (_, at) => ({
    values: unit(data.slice(at * size, (at + 1) * size), size, normalizes),
    rows: 1,
  }));
}

/** Whether all numbers are finite: `value - value` is NaN for any other. */
function allFinite(values: Float32Array): boolean {
  let sum = 0;
  for (const value of values) sum += value - value;
  return sum === 0;
}

function pooled(states: Float32Array, size: number, tokens: number, pooling: PoolingOptions['pooling']): Float32Array {
  if (pooling === 'cls') return states.slice(0, size);
  if (pooling === 'last') return states.slice((tokens - 1) * size, tokens * size);
  return mean(states, size, 0, tokens);
}

function spanMeans(states: Float32Array, size: number, spans: Int32Array): Float32Array {
  const values = new Float32Array((spans.length / 2) * size);
  for (let at = 0; at < spans.length; at += 2) {
    const [from, to] = [spans[at]!, spans[at + 1]!];
    // A chunk without tokens uses the state of the first token.
    values.set(to > from ? mean(states, size, from, to) : states.slice(0, size), (at / 2) * size);
  }
  return values;
}

function mean(states: Float32Array, size: number, from: number, to: number): Float32Array {
  const sums = new Float64Array(size);
  for (let token = from; token < to; token++)
    for (let at = 0, state = token * size; at < size; at++, state++) sums[at] = sums[at]! + states[state]!;
  return Float32Array.from(sums, (sum) => sum / (to - from));
}

/** Normalizes each row of `size` numbers in place; zero rows stay zero. */
function unit(values: Float32Array, size: number, normalizes: boolean): Float32Array {
  if (!normalizes) return values;
  for (let from = 0; from < values.length; from += size) {
    let square = 0;
    for (let at = from; at < from + size; at++) square += values[at]! ** 2;
    if (square === 0) continue;
    const factor = 1 / Math.sqrt(square);
    for (let at = from; at < from + size; at++) values[at] = values[at]! * factor;
  }
  return values;
}

/** SPLADE (Formal et al. 2021): the maximum weight of each vocabulary entry over all tokens, on a log scale. */
function weightsOf(logits: Float32Array, size: number): RawOutput {
  const most = new Float32Array(size);
  for (let from = 0; from < logits.length; from += size)
    for (let id = 0; id < size; id++) most[id] = Math.max(most[id]!, logits[from + id]!);
  const ids = Int32Array.from(most.keys()).filter((id) => most[id]! > 0);
  return { values: Float32Array.from(ids, (id) => Math.log1p(most[id]!)), rows: 1, ids };
}
