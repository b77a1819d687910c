/**
 * lectern-static-v1: combines the learned rows of the text's pieces with hashed features of its words, as defined in
 * the README in the folder of the model's files.
 */
import { createWordPiece, type WordPiece } from '../tokenizers/wordpiece.ts';
import { readStaticFiles, type StaticFiles } from './files.ts';
import { FeatureCounts, HASHED, type Idf, readIdf } from './hashed.ts';
import type { YieldIfDue } from './steps.ts';
import { STEP_UNITS } from './steps.ts';
import { createFlags, WordWalk } from './words.ts';

export const LEARNED = 256;
export const WHOLE = LEARNED + HASHED;
/** Approximate memory of the tokenizer and the idf table. */
const OTHER_BYTES = 10_000_000;
/** A text without pieces is represented by [PAD], because a zero vector has no cosine. */
const NO_PIECES = Int32Array.of(0);
/**
 * Weight of the learned component for scripts that the vocabulary barely covers, where tokens carry little meaning. It
 * is too small to affect a similarity. It is not zero, so that a shortened vector is a prefix of the whole one in every
 * script.
 */
const BARELY = 2 ** -16;
/** Maximum length of text for the hashed part, in UTF-16 units. Memory use grows with this length. */
export const MAX_HASHED_UNITS = 2 ** 20;

export interface StaticModel {
  readonly tokenizer: WordPiece;
  readonly rows: Int8Array;
  readonly scales: Float32Array;
  idf(): Idf;
  readonly flags: Uint8Array;
  readonly bytes: number;
  /** Returns the first `dimensions` (at most 256) components of the whole vector, as a unit vector. */
  learned(ids: Int32Array, dimensions: number): Float32Array;
  /** Returns all 1,024 components, as a unit vector. */
  whole(ids: Int32Array, text: string, yieldIfDue: YieldIfDue): Promise<Float32Array>;
}

export async function loadStaticModel(): Promise<StaticModel> {
  return createStaticModel(await readStaticFiles());
}

export function createStaticModel({ tokenizer: json, config, rows, scales, idf: idfLines }: StaticFiles): StaticModel {
  const tokenizer = createWordPiece({
    vocabulary: json.model.vocab,
    lowerCase: true,
    stripAccents: true,
    specialPieces: ['[PAD]', '[UNK]'],
  });
  const flags = createFlags();
  const sums = new Float64Array(LEARNED);
  // Loaded lazily, because short vectors do not need it.
  let idfRead: Idf | undefined;
  const idf = () => {
    idfRead ??= readIdf(idfLines, config.idf.unseen);
    return idfRead;
  };
  // Tables that are currently unused. A text that is processed in steps needs its own table.
  const spareCounts: FeatureCounts[] = [];

  /** The sum of the rows has the same direction as their mean. */
  const sumRows = (given: Int32Array, dimensions: number): Float64Array => {
    const ids = given.length ? given : NO_PIECES;
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

  return {
    tokenizer,
    rows,
    scales,
    idf,
    flags,
    bytes: rows.byteLength + scales.byteLength + OTHER_BYTES,
    learned(ids, dimensions) {
      const sum = sumRows(ids, dimensions);
      const vector = new Float32Array(dimensions);
      const factor = inverseLength(sum, dimensions);
      for (let at = 0; at < dimensions; at++) vector[at] = sum[at]! * factor;
      return vector;
    },
    async whole(ids, text, yieldIfDue) {
      const counts = spareCounts.pop() ?? new FeatureCounts(idf());
      counts.begin();
      const walk = new WordWalk(flags, text.length > MAX_HASHED_UNITS ? text.slice(0, MAX_HASHED_UNITS) : text, counts);
      while (!walk.step(STEP_UNITS)) await yieldIfDue();
      const slots = new Float64Array(HASHED);
      counts.addTo(slots);
      spareCounts.push(counts);

      const isCovered = walk.otherLetters * 2 <= walk.letters;
      const sum = sumRows(ids, LEARNED);
      const learnedFactor = (isCovered ? Math.SQRT1_2 : BARELY) * inverseLength(sum, LEARNED);
      const hashedFactor = (isCovered ? Math.SQRT1_2 : 1) * inverseLength(slots, HASHED);
      const whole = new Float64Array(WHOLE);
      for (let at = 0; at < LEARNED; at++) whole[at] = sum[at]! * learnedFactor;
      for (let at = 0; at < HASHED; at++) whole[LEARNED + at] = slots[at]! * hashedFactor;
      const factor = inverseLength(whole, WHOLE);
      const vector = new Float32Array(WHOLE);
      for (let at = 0; at < WHOLE; at++) vector[at] = whole[at]! * factor;
      return vector;
    },
  };
}

/** Returns 0 for the zero vector. */
function inverseLength(values: Float64Array, length: number): number {
  let squares = 0;
  for (let at = 0; at < length; at++) squares += values[at]! * values[at]!;
  return squares === 0 ? 0 : 1 / Math.sqrt(squares);
}
