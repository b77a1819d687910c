/**
 * Combines what is known about a passage into its relevance to a query: how well its words match, how many of the
 * query's words it has, and how similar its meaning is. The scores are on scales that do not depend on the query, the
 * index or the model, so they can be added. docs/decisions/0011-a-local-index.md explains how the weights were fitted.
 */

export interface PassageSignals {
  /**
   * BM25 score divided by the total inverse document frequency of the query's words: about 1 if each of them occurs
   * once in a passage of average length.
   */
  readonly words: number;
  /** The share of the query's words that occur in the passage, weighted by inverse document frequency; 0 to 1. */
  readonly coverage: number;
  /** Standard similarity of the meaning (`standardSimilarity`); `undefined` if it is not known. */
  readonly similarity: number | undefined;
}

/** How the cosines of unrelated texts are distributed in an embedding model. */
export interface Spread {
  readonly mean: number;
  readonly deviation: number;
}

/** Fitted on the development halves of retrieval sets in fifteen languages (bench/search-quality.ts). */
const COVERAGE_WEIGHT = 0.6;
/** Meaning counts this much less for each additional word: a long query says by its words what it is about. */
const LENGTH_EXPONENT = 0.4;
/** Queries of this many words have the plain weight. */
const USUAL_WORDS = 7;
/** Shorter and longer queries than those that the exponent was fitted on have the weight of these. */
const FEWEST_WORDS = 4;
const MOST_WORDS = 40;
/** The deviation of the built-in model, with which the weights were fitted. */
const FITTED_DEVIATION = 0.105;

/** A passage found by meaning is relevant if its cosine is this many deviations above that of unrelated texts. */
const FLOOR_DEVIATIONS = 1.5;

/** Returns a cosine on the scale of the built-in model: 0 for unrelated texts. */
export const standardSimilarity = (cosine: number, { mean, deviation }: Spread): number =>
  ((cosine - mean) / Math.max(deviation, Number.EPSILON)) * FITTED_DEVIATION;

const UNKNOWN_SPREAD: Spread = { mean: 0, deviation: 0.1 };
/** With fewer cosines, the spread is not known. */
const FEWEST_COSINES = 20;
/** Below it, all texts are the same to the model. */
const SMALLEST_VARIANCE = 1e-8;

/** Returns the distribution of the cosines of texts that are mostly unrelated. */
export function spreadOf(cosines: readonly number[]): Spread {
  if (cosines.length < FEWEST_COSINES) return UNKNOWN_SPREAD;
  const mean = cosines.reduce((sum, value) => sum + value, 0) / cosines.length;
  const variance = cosines.reduce((sum, value) => sum + (value - mean) ** 2, 0) / cosines.length;
  return variance > SMALLEST_VARIANCE ? { mean, deviation: Math.sqrt(variance) } : UNKNOWN_SPREAD;
}

/** The least standard similarity of a passage that has no word of the query, if other passages do. */
export const SIMILARITY_FLOOR = FLOOR_DEVIATIONS * FITTED_DEVIATION;

/** Weight of the meaning for a query of so many words. `modelWeight` is relative to the built-in model. */
export const meaningWeight = (words: number, modelWeight: number): number =>
  modelWeight * (Math.min(Math.max(words, FEWEST_WORDS), MOST_WORDS) / USUAL_WORDS) ** -LENGTH_EXPONENT;

/** Relevance; the higher the better. Passages of different queries can be compared, roughly. */
export const relevanceOf = ({ words, coverage, similarity = 0 }: PassageSignals, weight: number): number =>
  words + COVERAGE_WEIGHT * coverage + weight * similarity;

/** Maps a relevance to a score between 0 and 1 without changing the order of those above 0. */
export const scoreOf = (relevance: number): number => (relevance > 0 ? relevance / (1 + relevance) : 0);
