/** Converts the validated rows of a server's response into backend outputs. */
import type { Output, OutputKind } from '../backends/backend.ts';
import { distribute, matrixOf, piecesOf, requireSize, vectorOf, weightsOf } from './answers.ts';
import type { EmbedAnswer, EmbedRow } from './protocol.ts';

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
