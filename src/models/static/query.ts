/** The terms and pieces of a query with their weights, and how similar the pieces of documents are to them. */
import { LEARNED, type StaticModel } from './model.ts';
import { UNKNOWN } from './pieces.ts';
import type { ReadText } from './reading.ts';

/** BM25's saturation parameter. */
export const K1 = 1.2;
/** Maximum number of distinct pieces of a query that are used in the soft BM25. */
const MAX_SOFT_PIECES = 64;
/** Minimum cosine similarity of pieces that count as similar. */
const NEAR = 0.5;

/** Data shared by all pairs of a query. */
export interface Query {
  readonly ids: readonly number[];
  /** Idf of each word, and of each window of a run, by its hash. */
  readonly terms: ReadonlyMap<number, number>;
  /** Hashes of the n-grams of its words. */
  readonly grams: ReadonlySet<number>;
  /** Weight of each distinct known piece. */
  readonly pieces: readonly number[];
  /** The squared cosine of a document's piece with each of the query's pieces; undefined if it is near none. */
  readonly likenessOf: (id: number) => Float32Array | undefined;
  readonly bestTerms: number;
  readonly bestPieces: number;
}

export function createQuery(model: StaticModel, { ids, words }: ReadText): Query {
  const { rows, scales, lexicon } = model;
  const terms = new Map<number, number>();
  const grams = new Set<number>();
  for (const word of words) {
    for (const { hashes, weight } of lexicon.termsOf(word)) {
      terms.set(hashes[0]!, weight);
      for (let at = 1; at < hashes.length; at++) grams.add(hashes[at]!);
    }
  }
  const distinct = [...new Set(ids)].filter((id) => id !== UNKNOWN).slice(0, MAX_SOFT_PIECES);
  const pieces = distinct.map((id) => lengthOf(rows, id) * scales[id]!);
  return {
    ids,
    terms,
    grams,
    pieces,
    likenessOf: createLikeness(rows, distinct),
    bestTerms: (K1 + 1) * sum(terms.values()),
    bestPieces: (K1 + 1) * sum(pieces),
  };
}

/** Computes the similarities of each piece once. The scale of a row does not affect the cosine. */
function createLikeness(rows: Int8Array, pieces: readonly number[]): Query['likenessOf'] {
  const known = new Map<number, Float32Array | undefined>();
  const lengths = pieces.map((id) => lengthOf(rows, id));
  const compute = (id: number): Float32Array | undefined => {
    const length = lengthOf(rows, id);
    let found: Float32Array | undefined;
    for (let at = 0; at < pieces.length; at++) {
      const cosine = dot(rows, id, pieces[at]!) / (length * lengths[at]!);
      // A zero row gives 0 / 0, which is not near.
      if (!(cosine > NEAR)) continue;
      found ??= new Float32Array(pieces.length);
      found[at] = Math.min(1, cosine * cosine);
    }
    return found;
  };
  return (id) => {
    if (known.has(id)) return known.get(id);
    const found = compute(id);
    known.set(id, found);
    return found;
  };
}

function dot(rows: Int8Array, one: number, other: number): number {
  const from = one * LEARNED;
  const to = other * LEARNED;
  let total = 0;
  for (let at = 0; at < LEARNED; at++) total = (total + Math.imul(rows[from + at]!, rows[to + at]!)) | 0;
  return total;
}

const lengthOf = (rows: Int8Array, id: number): number => Math.sqrt(dot(rows, id, id));

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
