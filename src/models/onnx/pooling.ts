/** Pools a graph's output for a batch into one output per sequence. Padding is excluded. */
import type { Judge } from '../registry/catalogue.ts';
import type { RawOutput, RunKind, Sequence } from './messages.ts';

export interface GraphOutput {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

export interface PoolingOptions {
  readonly pooling: 'mean' | 'cls' | 'last' | 'none';
  readonly normalizes: boolean;
  /** Ids of the words whose logits give the score; see `Judge`. */
  readonly verdict?: { readonly yes: number; readonly no: number } | undefined;
  readonly judge?: Pick<Judge, 'midpoint'> | undefined;
}

/** Throws an Error for an unexpected shape or a number that is not finite. */
export function outputsOf(
  output: GraphOutput,
  batch: readonly Sequence[],
  kind: RunKind,
  options: PoolingOptions,
): RawOutput[] {
  const layout = layoutOf(output, batch, kind);
  const outputs = batch.map((sequence, at): RawOutput => {
    if (kind === 'score') return { values: Float32Array.of(scoreOf(output, layout, sequence, at, options)), rows: 1 };
    if (kind === 'sparse') return weightsOf(output, layout, sequence, at);
    return vectorOf(output, layout, sequence, at, kind, options);
  });
  if (!outputs.every(({ values }) => allFinite(values)))
    throw new Error('the graph returned numbers that are not finite');
  return outputs;
}

interface Layout {
  /** Numbers of one token, or of one sequence if the graph returns no tokens. */
  readonly size: number;
  /** Length of the longest sequence of the batch. */
  readonly longest: number;
  /** Number of padded positions per sequence; undefined if the graph returns one row per sequence. */
  readonly columns: number | undefined;
  /** Number of positions at the start that the graph leaves out. */
  readonly skipped: number;
}

function layoutOf({ data, dims }: GraphOutput, batch: readonly Sequence[], kind: RunKind): Layout {
  const longest = Math.max(...batch.map(({ ids }) => ids.length));
  const size = dims.length > 1 ? dims.at(-1)! : 1;
  const columns = dims.length === 3 ? dims[1]! : undefined;
  const skipped = columns === undefined ? 0 : longest - columns;
  // Multi-vector graphs may leave out the first token; language models may return only the logits of the last.
  const fits = skipped === 0 || (kind === 'tokens' && skipped === 1) || (kind === 'score' && columns === 1);
  if (dims[0] !== batch.length || !fits || data.length !== batch.length * (columns ?? 1) * size)
    throw new Error(`the graph returned the unexpected shape ${dims.join(' x ')}`);
  return { size, longest, columns, skipped };
}

/** A graph returns one score per pair, or the logits of all words at each position or at the last one. */
function scoreOf(
  { data }: GraphOutput,
  { size, columns = 1 }: Layout,
  { ids }: Sequence,
  at: number,
  { verdict, judge }: PoolingOptions,
): number {
  const last = (at * columns + (columns === 1 ? 0 : ids.length - 1)) * size;
  const midpoint = judge?.midpoint ?? 0;
  if (size === 1 && columns === 1) return data[last]! - midpoint;
  const words = verdict;
  if (!words || words.yes >= size || words.no >= size) throw new Error('the graph does not return one score per pair');
  return data[last + words.yes]! - data[last + words.no]! - midpoint;
}

function vectorOf(
  { data }: GraphOutput,
  { size, columns, skipped }: Layout,
  { ids, spans, kept }: Sequence,
  at: number,
  kind: RunKind,
  { pooling, normalizes }: PoolingOptions,
): RawOutput {
  if (columns === undefined) {
    if (kind !== 'pooled' || spans) throw new Error('the graph does not return token vectors');
    return { values: unit(data.slice(at * size, (at + 1) * size), size, normalizes), rows: 1 };
  }
  const tokens = ids.length - skipped;
  const own = data.subarray(at * columns * size, (at * columns + tokens) * size);
  if (kind === 'tokens') {
    const positions =
      kept ?? (skipped ? Int32Array.from({ length: tokens }, (_, token) => token + skipped) : undefined);
    if (!positions) return { values: unit(own.slice(), size, normalizes), rows: tokens };
    const returned = positions.filter((position) => position >= skipped);
    const values = new Float32Array(returned.length * size);
    for (const [row, position] of returned.entries()) {
      const from = (position - skipped) * size;
      values.set(own.subarray(from, from + size), row * size);
    }
    return { values: unit(values, size, normalizes), rows: returned.length, positions: returned };
  }
  const values = spans ? spanMeans(own, size, spans) : pooled(own, size, tokens, pooling);
  return { values: unit(values, size, normalizes), rows: values.length / size };
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

/**
 * The weights of a text's terms: one weight per token (BGE-M3), of which the largest of each id counts, or logits of the
 * whole vocabulary (SPLADE).
 */
function weightsOf({ data }: GraphOutput, layout: Layout, { ids }: Sequence, at: number): RawOutput {
  const { size, longest, columns } = layout;
  const isWeightPerToken = columns === undefined ? size === longest : size === 1;
  if (isWeightPerToken) return largest(data.subarray(at * longest, at * longest + ids.length), ids);
  if (columns === undefined) throw new Error('the graph does not return token vectors');
  return impacts(data.subarray(at * columns * size, (at * columns + ids.length) * size), size);
}

function largest(weights: Float32Array, ids: Int32Array): RawOutput {
  const most = new Map<number, number>();
  for (const [at, id] of ids.entries()) if (weights[at]! > (most.get(id) ?? 0)) most.set(id, weights[at]!);
  return { values: Float32Array.from(most.values()), rows: 1, ids: Int32Array.from(most.keys()) };
}

/** SPLADE (Formal et al. 2021): the maximum weight of each vocabulary entry over all tokens, on a log scale. */
function impacts(logits: Float32Array, size: number): RawOutput {
  const most = new Float32Array(size);
  for (let from = 0; from < logits.length; from += size)
    for (let id = 0; id < size; id++) most[id] = Math.max(most[id]!, logits[from + id]!);
  const ids = Int32Array.from(most.keys()).filter((id) => most[id]! > 0);
  return { values: Float32Array.from(ids, (id) => Math.log1p(most[id]!)), rows: 1, ids };
}
