/** What a server answered about each input, checked, as the outputs of a backend. */
import type { Output, OutputKind } from '../backends/backend.ts';
import { matrixOf, piecesOf, requireSize, shared, vectorOf, weightsOf } from './answers.ts';
import type { EmbedAnswer, EmbedRow } from './protocol.ts';

interface Counted {
  readonly tokens: number;
}

/** A number in JSON: sign, 17 digits, exponent, comma, space; more when it is printed with care for nothing. */
const BYTES_A_NUMBER = 32;
const BYTES_AN_ANSWER = 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;
/** A sparse vector's entry: a token and its weight. */
const BYTES_A_WEIGHT = 128;
const MAX_WEIGHTS = 4_096;

/** `sizes` are those that its vectors may have; the last is the model's own. */
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

/** The rows of one document, one below the other. */
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

/** What the server counted for all, shared out by the estimates; exact for one. */
export const tokensOf = ({ tokens }: EmbedAnswer, items: readonly Counted[]): number[] | undefined =>
  tokens === undefined
    ? undefined
    : shared(
        tokens,
        items.map((item) => item.tokens),
      );

/** The most that an answer to so many texts can have, if it is one. */
export function bytesOf(items: readonly Counted[], texts: number, output: OutputKind, dimensions: number): number {
  if (output === 'sparse') return Math.min(BYTES_AN_ANSWER + texts * MAX_WEIGHTS * BYTES_A_WEIGHT, MAX_BYTES);
  const tokens = items.reduce((sum, item) => sum + item.tokens, 0);
  // An estimate of tokens may be half of what they are.
  const vectors = output === 'tokens' ? texts * 32 + tokens * 3 : texts;
  return Math.min(BYTES_AN_ANSWER + vectors * dimensions * BYTES_A_NUMBER, MAX_BYTES);
}
