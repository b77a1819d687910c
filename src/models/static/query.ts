/** Extracts the words and pieces of a query, with their weights, to score documents against them. */
import { FeatureReader } from './features.ts';
import { WINDOW_WEIGHT } from './hashed.ts';
import { LEARNED, MAX_HASHED_UNITS, type StaticModel } from './model.ts';
import type { NeighborFinder } from './neighbors.ts';
import { STEP_UNITS, type YieldIfDue } from './steps.ts';
import { WordWalk } from './words.ts';

/** BM25's saturation parameter. */
export const K1 = 1.2;
/** Maximum number of distinct pieces of a query that are used in the soft BM25. */
const MAX_SOFT_PIECES = 64;
const UNKNOWN_ID = 1;

/** Data shared by all pairs of a query. */
export interface Query {
  readonly ids: Int32Array;
  /** Weight by term. */
  readonly terms: ReadonlyMap<number, number>;
  /** Distinct known pieces with weights. */
  readonly pieces: readonly { readonly id: number; readonly weight: number }[];
  readonly bestTerms: number;
  readonly bestPieces: number;
}

/** Called with each term of a text and its weight. */
type EachTerm = (term: number, weight: number) => void;

export interface QueryReader {
  /** Passes each term of a text to `each`. Returns the length of the text, in words. */
  termsOf(text: string, yieldIfDue: YieldIfDue, each: EachTerm): Promise<number>;
  /** Parses a query. Also returns the token count of the whole text. */
  readQuery(
    text: string,
    maxTokens: number | undefined,
    yieldIfDue: YieldIfDue,
  ): Promise<{ readonly query: Query; readonly fullTokens: number }>;
}

export function createQueryReader(model: StaticModel, neighbors: NeighborFinder): QueryReader {
  const { tokenizer, rows, scales } = model;

  const termsOf = async (text: string, yieldIfDue: YieldIfDue, each: EachTerm) => {
    const reader = new FeatureReader();
    const idf = model.idf();
    let length = 0;
    const walk = new WordWalk(model.flags, text.length > MAX_HASHED_UNITS ? text.slice(0, MAX_HASHED_UNITS) : text, {
      word: (source, from, to, unspaced) =>
        reader.read(
          source.slice(from, to).toLowerCase(),
          unspaced,
          (crc, other, _bytes, count, whole) => {
            // In a script without spaces, each character pair counts as one word of the length.
            if (count === 1) length++;
            each(termKey(crc, other), whole ? idf.of(crc, other) : WINDOW_WEIGHT * count);
          },
          unspaced,
        ),
    });
    while (!walk.step(STEP_UNITS)) await yieldIfDue();
    return length;
  };

  const readQuery = async (text: string, maxTokens: number | undefined, yieldIfDue: YieldIfDue) => {
    const run = tokenizer.start(text, maxTokens);
    while (!run.step(STEP_UNITS)) await yieldIfDue();
    const ids = run.ids();
    const terms = new Map<number, number>();
    await termsOf(run.total > ids.length ? text.slice(0, run.keptTo) : text, yieldIfDue, (term, weight) => {
      terms.set(term, weight);
    });
    const pieces: { id: number; weight: number }[] = [];
    for (const id of new Set(ids)) {
      if (id === UNKNOWN_ID || pieces.length === MAX_SOFT_PIECES) continue;
      const row = rows.subarray(id * LEARNED, (id + 1) * LEARNED);
      pieces.push({ id, weight: Math.sqrt(row.reduce((sum, value) => sum + value * value, 0)) * scales[id]! });
      neighbors.of(id);
      await yieldIfDue();
    }
    const query: Query = {
      ids,
      terms,
      pieces,
      bestTerms: (K1 + 1) * sum(terms.values()),
      bestPieces: (K1 + 1) * sum(pieces.map(({ weight }) => weight)),
    };
    return { query, fullTokens: run.total };
  };

  return { termsOf, readQuery };
}

/** Combines the two hashes of a feature into one safe integer. */
const termKey = (crc: number, other: number): number => (crc >>> 0) * 2 ** 21 + (other & (2 ** 21 - 1));

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
