/** Parses and validates responses of remote servers, and converts them into backend outputs. */
import { problem } from '#errors.ts';
import type { Output, OutputKind } from '../backend.ts';
import type { EmbedAnswer, EmbedRow, RerankRow } from './protocol.ts';

export const malformed = (what: string) =>
  problem('DownstreamServiceFailureError', { message: `The response from the model server is invalid: ${what}` });

export type Fields = Readonly<Record<string, unknown>>;

/** Returns the value if it is an object, otherwise an empty object. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(`the list of ${what} is missing`);
  return value;
}

export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** Sorts rows by index. Rows without indexes are already in order. */
export function inOrder<Row extends { readonly index?: unknown }>(rows: readonly Row[], count: number): Row[] {
  if (rows.length !== count) throw malformed(`${rows.length} results for ${count} inputs`);
  if (rows.every(({ index }) => index === undefined)) return [...rows];
  const placed = new Map<number, Row>();
  for (const row of rows) {
    const { index } = row;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || placed.has(index)) {
      throw malformed('the indexes do not match the inputs');
    }
    placed.set(index, row);
  }
  return Array.from({ length: count }, (_, index) => placed.get(index)!);
}

/** Parses a vector from a list of numbers, or from base64-encoded little-endian float32 data. */
export function vectorOf(value: unknown): Float32Array {
  const vector = typeof value === 'string' ? fromBase64(value) : fromList(listOf(value, 'numbers'));
  for (const number of vector) {
    // This also rejects numbers beyond the range of float32.
    if (!Number.isFinite(number)) throw malformed('a vector contains values that are not finite numbers');
  }
  return vector;
}

function fromList(list: readonly unknown[]): Float32Array {
  const vector = new Float32Array(list.length);
  for (let at = 0; at < list.length; at++) {
    const number = list[at];
    vector[at] = typeof number === 'number' ? number : Number.NaN;
  }
  return vector;
}

function fromBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0 || bytes.length === 0) throw malformed('a vector is not base64-encoded float32 data');
  const vector = new Float32Array(bytes.length / 4);
  for (let at = 0; at < vector.length; at++) vector[at] = bytes.readFloatLE(at * 4);
  return vector;
}

/** One vector per token, row-major. */
export function matrixOf(value: unknown, dimensions: number): { values: Float32Array; rows: number } {
  const vectors = listOf(value, 'vectors').map(vectorOf);
  if (vectors.length === 0) throw malformed('an input has no vector');
  const values = new Float32Array(vectors.length * dimensions);
  for (const [row, vector] of vectors.entries()) {
    requireSize(vector, [dimensions]);
    values.set(vector, row * dimensions);
  }
  return { values, rows: vectors.length };
}

export function requireSize(vector: Float32Array, sizes: readonly number[]): void {
  if (!sizes.includes(vector.length)) {
    throw malformed(`a vector has ${vector.length} numbers instead of ${sizes.join(' or ')}`);
  }
}

export function piecesOf({ pieces }: EmbedRow, count: number): readonly string[] | undefined {
  if (!Array.isArray(pieces) || pieces.length !== count) return undefined;
  return pieces.every((piece) => typeof piece === 'string') ? (pieces as string[]) : undefined;
}

/** Weights by token. */
export function weightsOf(value: unknown): Record<string, number> {
  const entries = Object.entries(fieldsOf(value));
  if (!entries.every(([, weight]) => typeof weight === 'number' && Number.isFinite(weight))) {
    throw malformed('the weights are not finite numbers');
  }
  return Object.fromEntries(entries) as Record<string, number>;
}

/** Tolerance for rounding errors below 0 and above 1. */
const SLACK = 1e-3;

/**
 * Returns a score between 0 and 1. Cosines are clamped at 0. Any other score outside the range means that the server
 * returns raw scores.
 */
export function scoreOf({ score }: RerankRow, cosines: boolean): number {
  if (typeof score !== 'number' || !Number.isFinite(score)) throw malformed('a score is not a finite number');
  if (score > 1 + SLACK || score < (cosines ? -1 - SLACK : -SLACK))
    throw malformed('the scores are not between 0 and 1');
  return Math.min(Math.max(score, 0), 1);
}

/** Distributes a total in proportion to weights, as integers that add up to it. */
export function distribute(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0) || 1;
  let before = 0;
  let given = 0;
  return weights.map((weight, index) => {
    before += weight;
    const until = index === weights.length - 1 ? total : Math.round((total * before) / sum);
    const share = until - given;
    given = until;
    return share;
  });
}

interface Counted {
  readonly tokens: number;
}

/**
 * Size of a number in JSON, in bytes: sign, 17 digits, exponent, comma and space, doubled to allow for verbose
 * formatting.
 */
const BYTES_A_NUMBER = 32;
const BYTES_AN_ANSWER = 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;
/** Size of an entry of a sparse vector, in bytes: a token and its weight. */
const BYTES_A_WEIGHT = 128;
const MAX_WEIGHTS = 4_096;

/** Converts one row into an output. `sizes` lists the allowed vector lengths; the last is the model's full length. */
export function outputOf(
  row: EmbedRow,
  output: OutputKind,
  sizes: readonly number[],
  tokens: number | undefined,
): Output {
  const counted = tokens === undefined ? {} : { tokens };
  if (output === 'sparse') return { values: new Float32Array(), rows: 1, weights: weightsOf(row.value), ...counted };
  if (output === 'tokens') {
    const matrix = matrixOf(row.value, sizes.at(-1)!);
    return { ...matrix, pieces: piecesOf(row, matrix.rows), ...counted };
  }
  const values = vectorOf(row.value);
  requireSize(values, sizes);
  return { values, rows: 1, ...counted };
}

/** Combines the vectors of one document's chunks into one output. */
export function joined(rows: readonly EmbedRow[], sizes: readonly number[], tokens: number | undefined): Output {
  const vectors = rows.map(({ value }) => vectorOf(value));
  const size = vectors[0]!.length;
  requireSize(vectors[0]!, sizes);
  const values = new Float32Array(size * vectors.length);
  for (const [index, vector] of vectors.entries()) {
    requireSize(vector, [size]);
    values.set(vector, index * size);
  }
  return { values, rows: vectors.length, ...(tokens !== undefined && { tokens }) };
}

/** Token counts per input: the server's total, distributed in proportion to the estimated counts. */
export const tokensOf = ({ tokens }: EmbedAnswer, items: readonly Counted[]): number[] | undefined =>
  tokens === undefined
    ? undefined
    : distribute(
        tokens,
        items.map((item) => item.tokens),
      );

/** Maximum size in bytes of a response for this many texts. */
export function bytesOf(items: readonly Counted[], texts: number, output: OutputKind, dimensions: number): number {
  if (output === 'sparse') return Math.min(BYTES_AN_ANSWER + texts * MAX_WEIGHTS * BYTES_A_WEIGHT, MAX_BYTES);
  const tokens = items.reduce((sum, item) => sum + item.tokens, 0);
  // The real token count may be twice the estimate.
  const vectors = output === 'tokens' ? texts * 32 + tokens * 3 : texts;
  return Math.min(BYTES_AN_ANSWER + vectors * dimensions * BYTES_A_NUMBER, MAX_BYTES);
}
