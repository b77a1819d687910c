/** Validates responses of remote servers: number of rows, order, vector length and finite numbers. */
import { fieldsOf, listOf, malformed } from './fields.ts';
import type { EmbedRow, RerankRow } from './protocol.ts';

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
