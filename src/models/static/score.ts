/**
 * Reranker based on the built-in model: BM25 over words, and a soft BM25 over pieces in which similar pieces count by
 * their squared cosine. A score depends only on its pair.
 */
import type { Prepared } from '../backends/backend.ts';
import { FeatureReader } from './features.ts';
import { WINDOW_WEIGHT } from './hashed.ts';
import { LEARNED, MAX_HASHED_UNITS, type StaticModel } from './model.ts';
import { createNeighbours } from './neighbours.ts';
import { STEP_UNITS, type YieldIfDue } from './steps.ts';
import { WordWalk } from './words.ts';

/** BM25's saturation and length normalisation. */
const K1 = 1.2;
const B = 0.75;
/** Average document lengths; constant, so that a score does not depend on the other candidates. */
const AVERAGE_PIECES = 200;
const AVERAGE_WORDS = 150;
/** Only this many distinct pieces of a query take part in the soft BM25. */
const MAX_SOFT_PIECES = 64;
const UNKNOWN_ID = 1;

/** Data that all pairs of a query share. */
interface Query {
  readonly ids: Int32Array;
  /** Weight by term. */
  readonly terms: ReadonlyMap<number, number>;
  /** Distinct known pieces with weights. */
  readonly pieces: readonly { readonly id: number; readonly weight: number }[];
  readonly bestTerms: number;
  readonly bestPieces: number;
}

export interface PreparedPair {
  readonly query: Query;
  readonly ids: Int32Array;
  readonly text: string;
}

export interface ScoreParts {
  /** BM25 over words. */
  readonly words: number | undefined;
  /** Soft BM25 over pieces. */
  readonly pieces: number | undefined;
}

export interface StaticScorer {
  prepare(
    query: string,
    documents: readonly string[],
    maxTokens: number | undefined,
    yieldIfDue: YieldIfDue,
  ): Promise<{ pairs: Prepared[]; documents: number[][]; isBlind: boolean }>;
  /** The mean of both parts, between 0 and 1. */
  score(pair: PreparedPair, yieldIfDue: YieldIfDue): Promise<number>;
  /** Each part as a share of a perfect document's score; undefined if the query has no terms of this kind. */
  parts(pair: PreparedPair, yieldIfDue: YieldIfDue): Promise<ScoreParts>;
}

export function createStaticScorer(model: StaticModel): StaticScorer {
  const { tokenizer, rows, scales } = model;
  const neighbours = createNeighbours(rows);
  const pieceCounts = new Int32Array(scales.length);

  const termsOf = async (text: string, yieldIfDue: YieldIfDue, each: (term: number, weight: number) => void) => {
    const reader = new FeatureReader();
    const idf = model.idf();
    let length = 0;
    const walk = new WordWalk(model.flags, text.length > MAX_HASHED_UNITS ? text.slice(0, MAX_HASHED_UNITS) : text, {
      word: (source, from, to, unspaced) =>
        reader.read(
          source.slice(from, to).toLowerCase(),
          unspaced,
          (crc, other, _bytes, count, whole) => {
            // In a script without spaces, character pairs count as words for the length.
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
      neighbours.of(id);
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

  const softScore = ({ pieces }: Query, ids: Int32Array): number => {
    for (const id of ids) pieceCounts[id]!++;
    let score = 0;
    for (const { id, weight } of pieces) {
      const near = neighbours.of(id);
      let count = 0;
      for (let at = 0; at < near.ids.length; at++) count += pieceCounts[near.ids[at]!]! * near.weights[at]!;
      score += weight * saturated(count, ids.length / AVERAGE_PIECES);
    }
    for (const id of ids) pieceCounts[id] = 0;
    return score;
  };

  const wordScore = async ({ terms }: Query, text: string, yieldIfDue: YieldIfDue): Promise<number> => {
    const counts = new Map<number, number>();
    const length = await termsOf(text, yieldIfDue, (term) => {
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
      const { query, fullTokens } = await readQuery(queryText, maxTokens && Math.floor(maxTokens / 2), yieldIfDue);
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

/** Combines both hashes of a feature in one safe integer. */
const termKey = (crc: number, other: number): number => (crc >>> 0) * 2 ** 21 + (other & (2 ** 21 - 1));

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
