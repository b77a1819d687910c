/**
 * Reranker based on the built-in model. It combines BM25 over words, BM25 over the n-grams of words, which finds other
 * forms of a word in any language, and a soft BM25 over pieces, in which similar pieces count by their squared cosine. A
 * score depends only on its own pair.
 */

import type { YieldIfDue } from '#concurrency/yielder.ts';
import type { Prepared } from '../backend.ts';
import type { StaticModel } from './model.ts';
import { createQuery, K1, type Query } from './query.ts';
import type { ReadText } from './reading.ts';

/** BM25's length normalization parameter. */
const B = 0.75;
/** Average document lengths. They are constant, so that a score does not depend on the other candidates. */
const AVERAGE_PIECES = 200;
const AVERAGE_WORDS = 150;

export interface PreparedPair {
  readonly query: Query;
  /** A document, or a window of it. */
  readonly text: ReadText;
}

export interface ScoreParts {
  /** Mean of the scores of BM25 over words and over their n-grams. */
  readonly words: number | undefined;
  /** Score of the soft BM25 over pieces. */
  readonly pieces: number | undefined;
}

export interface StaticScorer {
  prepare(
    query: string,
    documents: readonly string[],
    maxTokens: number | undefined,
    yieldIfDue: YieldIfDue,
  ): Promise<{ pairs: Prepared[]; documents: number[][]; isBlind: boolean }>;
  /** Returns the mean of both parts, between 0 and 1. */
  score(pair: PreparedPair): number;
  /**
   * Returns each part as a share of a perfect document's score, or undefined if the query has no terms of this kind.
   */
  parts(pair: PreparedPair): ScoreParts;
}

export function createStaticScorer(model: StaticModel): StaticScorer {
  const { lexicon, reader } = model;

  const softScore = ({ pieces, likenessOf }: Query, ids: readonly number[]): number => {
    const counts = new Float64Array(pieces.length);
    for (const id of ids) {
      const likeness = likenessOf(id);
      if (likeness) for (let at = 0; at < counts.length; at++) counts[at]! += likeness[at]!;
    }
    let score = 0;
    for (const [at, weight] of pieces.entries()) score += weight * saturated(counts[at]!, ids.length / AVERAGE_PIECES);
    return score;
  };

  const wordScore = ({ terms, grams, bestTerms }: Query, { words }: ReadText): number => {
    const counts = new Map<number, number>();
    let length = 0;
    for (const word of words) {
      // In a script without spaces, each pair of characters counts as one word of the length.
      length += word.isRun ? Math.max(1, word.text.length - 1) : 1;
      for (const { hashes } of lexicon.termsOf(word)) {
        for (const hash of hashes)
          if (terms.has(hash) || grams.has(hash)) counts.set(hash, (counts.get(hash) ?? 0) + 1);
      }
    }
    let ofTerms = 0;
    let ofGrams = 0;
    for (const [hash, count] of counts) {
      const value = saturated(count, length / AVERAGE_WORDS);
      ofTerms += (terms.get(hash) ?? 0) * value;
      if (grams.has(hash)) ofGrams += value;
    }
    const share = ofTerms / bestTerms;
    // Runs of scripts without spaces have no n-grams.
    return grams.size === 0 ? share : (share + ofGrams / (grams.size * (K1 + 1))) / 2;
  };

  const parts = ({ query, text }: PreparedPair): ScoreParts => ({
    words: query.bestTerms > 0 ? wordScore(query, text) : undefined,
    pieces: query.bestPieces > 0 ? softScore(query, text.ids) / query.bestPieces : undefined,
  });

  return {
    async prepare(queryText, documents, maxTokens, yieldIfDue) {
      const maxQueryTokens = maxTokens && Math.floor(maxTokens / 2);
      const { kept, fullTokens } = await reader.read(queryText, { maxTokens: maxQueryTokens, yieldIfDue });
      const query = createQuery(model, kept);
      const maxDocumentTokens = maxTokens && maxTokens - kept.ids.length;
      const pairs: Prepared[] = [];
      const positions: number[][] = [];
      for (const document of documents) {
        const windows = await reader.readWindows(document, { maxTokens: maxDocumentTokens, yieldIfDue });
        positions.push(windows.map((_, at) => pairs.length + at));
        for (const text of windows) {
          const payload: PreparedPair = { query, text };
          pairs.push({ tokens: kept.ids.length + text.ids.length, fullTokens: fullTokens + text.ids.length, payload });
        }
        await yieldIfDue();
      }
      return { pairs, documents: positions, isBlind: !query.bestTerms && !query.bestPieces };
    },
    score(pair) {
      const { words, pieces } = parts(pair);
      if (words === undefined || pieces === undefined) return words ?? pieces ?? 0;
      return (words + pieces) / 2;
    },
    parts,
  };
}

/** BM25's term saturation; approaches K1 + 1 for a perfect document. */
const saturated = (count: number, relativeLength: number): number =>
  (count * (K1 + 1)) / (count + K1 * (1 - B + B * relativeLength));
