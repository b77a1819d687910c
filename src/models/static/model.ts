/**
 * lectern-static-v2: combines the learned rows of the text's pieces with hashed features of its words, as defined in
 * the README in the folder of the model's files.
 */

import type { YieldIfDue } from '#concurrency/yielder.ts';
import { readStaticFiles, type StaticFiles } from './files.ts';
import { createTermMaker, HASHED, type Term } from './hashed.ts';
import { createLexicon, type Lexicon, WORD_MARK } from './lexicon.ts';
import { createVocabulary, UNKNOWN } from './pieces.ts';
import { createTextReader, type ReadText, type TextReader } from './reading.ts';

export const LEARNED = 256;
export const WHOLE = LEARNED + HASHED;
/** Approximate memory of the vocabulary and of the words that were seen. */
const OTHER_BYTES = 30_000_000;

export interface StaticModel {
  /** The vocabulary, by id. */
  readonly pieces: readonly string[];
  readonly lexicon: Lexicon;
  readonly reader: TextReader;
  readonly rows: Int8Array;
  readonly scales: Float32Array;
  readonly bytes: number;
  /**
   * Returns the first `dimensions` (at most 256) components of the whole vector, as a unit vector; zeros for a text
   * without words.
   */
  learned(ids: readonly number[], dimensions: number): Float32Array;
  /** Returns all 1,024 components, as a unit vector; zeros for a text without words. */
  whole(text: ReadText, yieldIfDue: YieldIfDue): Promise<Float32Array>;
}

export async function loadStaticModel(): Promise<StaticModel> {
  return createStaticModel(await readStaticFiles());
}

export function createStaticModel({ pieces, scores, config, rows, scales, idf }: StaticFiles): StaticModel {
  const vocabulary = createVocabulary(pieces, scores);
  const terms = createTermMaker({
    config: config.hashed,
    wordMark: WORD_MARK,
    idfOf(text) {
      const [id = UNKNOWN, ...others] = vocabulary.encode(text);
      return id === UNKNOWN || others.length > 0 ? undefined : idf[id]! / config.hashed.idf_steps;
    },
  });
  const lexicon = createLexicon(vocabulary, terms);
  const sumRows = createRowSum(rows, scales);

  return {
    pieces,
    lexicon,
    reader: createTextReader(lexicon),
    rows,
    scales,
    bytes: rows.byteLength + scales.byteLength + OTHER_BYTES,
    learned: (ids, dimensions) => unit(sumRows(ids, dimensions), dimensions),
    async whole({ ids, words }, yieldIfDue) {
      const counts = new Map<Term, number>();
      for (let at = 0; at < words.length; at++) {
        for (const term of lexicon.termsOf(words[at]!)) counts.set(term, (counts.get(term) ?? 0) + 1);
        if ((at & 1_023) === 1_023) await yieldIfDue();
      }
      const slots = new Float64Array(HASHED);
      terms.addTo(slots, counts);
      const sum = sumRows(ids, LEARNED);
      const learnedFactor = Math.sqrt(config.weights.learned) * inverseLength(sum, LEARNED);
      const hashedFactor = Math.sqrt(config.weights.hashed) * inverseLength(slots, HASHED);
      const whole = new Float64Array(WHOLE);
      for (let at = 0; at < LEARNED; at++) whole[at] = sum[at]! * learnedFactor;
      for (let at = 0; at < HASHED; at++) whole[LEARNED + at] = slots[at]! * hashedFactor;
      return unit(whole, WHOLE);
    },
  };
}

/**
 * Returns a function that adds the first `dimensions` numbers of the rows. Its result is valid until the next call. The
 * row of an unknown character is zero.
 */
function createRowSum(rows: Int8Array, scales: Float32Array) {
  const sums = new Float64Array(LEARNED);
  return (ids: readonly number[], dimensions: number): Float64Array => {
    sums.fill(0);
    let at = 0;
    // Adding four rows at a time halves the time.
    for (; at + 4 <= ids.length; at += 4) {
      const a = ids[at]!;
      const b = ids[at + 1]!;
      const c = ids[at + 2]!;
      const d = ids[at + 3]!;
      const [ofA, ofB, ofC, ofD] = [scales[a]!, scales[b]!, scales[c]!, scales[d]!];
      for (let column = 0; column < dimensions; column++) {
        sums[column]! +=
          rows[a * LEARNED + column]! * ofA +
          rows[b * LEARNED + column]! * ofB +
          rows[c * LEARNED + column]! * ofC +
          rows[d * LEARNED + column]! * ofD;
      }
    }
    for (; at < ids.length; at++) {
      const id = ids[at]!;
      for (let column = 0; column < dimensions; column++) sums[column]! += rows[id * LEARNED + column]! * scales[id]!;
    }
    return sums;
  };
}

/** The first `length` values as a unit vector. */
function unit(values: Float64Array, length: number): Float32Array {
  const vector = new Float32Array(length);
  const factor = inverseLength(values, length);
  for (let at = 0; at < length; at++) vector[at] = values[at]! * factor;
  return vector;
}

/** Returns 0 for the zero vector. */
function inverseLength(values: Float64Array, length: number): number {
  let squares = 0;
  for (let at = 0; at < length; at++) squares += values[at]! * values[at]!;
  return squares === 0 ? 0 : 1 / Math.sqrt(squares);
}
