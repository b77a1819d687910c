/**
 * Reranker based on the built-in model. It combines BM25 over words with a soft BM25 over pieces, in which similar
 * pieces count by their squared cosine. A score depends only on its own pair.
 */
import type { Prepared } from '../backends/backend.ts';
import type { StaticModel } from './model.ts';
import { createNeighbors } from './neighbors.ts';
import { createQueryReader, K1, type Query } from './query.ts';
import { STEP_UNITS, type YieldIfDue } from './steps.ts';

/** BM25's length normalization parameter. */
const B = 0.75;
/** Average document lengths. They are constant, so that a score does not depend on the other candidates. */
const AVERAGE_PIECES = 200;
const AVERAGE_WORDS = 150;

export interface PreparedPair {
  readonly query: Query;
  readonly ids: Int32Array;
  readonly text: string;
}

export interface ScoreParts {
  /** Score of BM25 over words. */
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
  score(pair: PreparedPair, yieldIfDue: YieldIfDue): Promise<number>;
  /**
   * Returns each part as a share of a perfect document's score, or undefined if the query has no terms of this kind.
   */
  parts(pair: PreparedPair, yieldIfDue: YieldIfDue): Promise<ScoreParts>;
}

export function createStaticScorer(model: StaticModel): StaticScorer {
  const { tokenizer, rows, scales } = model;
  const neighbors = createNeighbors(rows);
  const reader = createQueryReader(model, neighbors);
  const pieceCounts = new Int32Array(scales.length);

  const softScore = ({ pieces }: Query, ids: Int32Array): number => {
    for (const id of ids) pieceCounts[id]!++;
    let score = 0;
    for (const { id, weight } of pieces) {
      const near = neighbors.of(id);
      let count = 0;
      for (let at = 0; at < near.ids.length; at++) count += pieceCounts[near.ids[at]!]! * near.weights[at]!;
      score += weight * saturated(count, ids.length / AVERAGE_PIECES);
    }
    for (const id of ids) pieceCounts[id] = 0;
    return score;
  };

  const wordScore = async ({ terms }: Query, text: string, yieldIfDue: YieldIfDue): Promise<number> => {
    const counts = new Map<number, number>();
    const length = await reader.termsOf(text, yieldIfDue, (term) => {
      if (terms.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
    });
    let score = 0;
    for (const [term, count] of counts) score += terms.get(term)! * saturated(count, length / AVERAGE_WORDS);
    return score;
  };

  const parts = async ({ query, ids, text }: PreparedPair, yieldIfDue: YieldIfDue): Promise<ScoreParts> => ({
    words: query.bestTerms > 0 ? (await wordScore(query, text, yieldIfDue)) / query.bestTerms : undefined,
    pieces: query.bestPieces > 0 ? softScore(query, ids) / query.bestPieces : undefined,
  });

  return {
    async prepare(queryText, documents, maxTokens, yieldIfDue) {
      const { query, fullTokens } = await reader.readQuery(
        queryText,
        maxTokens && Math.floor(maxTokens / 2),
        yieldIfDue,
      );
      const maxDocumentTokens = maxTokens && maxTokens - query.ids.length;
      const pairs: Prepared[] = [];
      const positions: number[][] = [];
      for (const document of documents) {
        const own: number[] = [];
        let rest = document;
        do {
          const run = tokenizer.start(rest, maxDocumentTokens);
          while (!run.step(STEP_UNITS) && !run.full) await yieldIfDue();
          const ids = run.ids();
          const cut = run.total > ids.length || !run.done;
          const payload: PreparedPair = { query, ids, text: cut ? rest.slice(0, run.keptTo) : rest };
          own.push(pairs.length);
          pairs.push({ tokens: query.ids.length + ids.length, fullTokens: fullTokens + ids.length, payload });
          rest = cut ? rest.slice(run.keptTo) : '';
          await yieldIfDue();
        } while (rest !== '');
        positions.push(own);
      }
      return { pairs, documents: positions, isBlind: !query.bestTerms && !query.bestPieces };
    },
    async score(pair, yieldIfDue) {
      const { words, pieces } = await parts(pair, yieldIfDue);
      if (words === undefined || pieces === undefined) return words ?? pieces ?? 0;
      return (words + pieces) / 2;
    },
    parts,
  };
}

/** BM25's term saturation; approaches K1 + 1 for a perfect document. */
const saturated = (count: number, relativeLength: number): number =>
  (count * (K1 + 1)) / (count + K1 * (1 - B + B * relativeLength));
