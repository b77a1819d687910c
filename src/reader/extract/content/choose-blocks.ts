/** Chooses the content blocks of a page: estimates a probability for each block, then maximizes the expected F1. */

import { WEIGHTS } from '#generated/content-weights.ts';
import { KIND_WEIGHTS } from '#generated/page-kind-weights.ts';
import { TOKEN_WEIGHTS } from '#generated/token-weights.ts';
import type { Records } from '../blocks/records.ts';
import type { Survey } from '../blocks/survey.ts';
import {
  createFeatureWriter,
  createPageContext,
  FEATURES,
  type FeatureWriter,
  type PageFacts,
} from '../trees/features.ts';
import { withoutUrl } from '../trees/page-facts.ts';
import {
  computePageFeatures,
  FITTED_KINDS,
  PAGE_FEATURES,
  probabilityOfKind,
  withUrlFeatures,
} from '../trees/page-features.ts';
import { parseTokenModel, type TokenModel } from '../trees/token-model.ts';
import { scoreTokens } from '../trees/token-scores.ts';
import { parseTrees, probabilities, probability, type Trees } from '../trees/trees.ts';
import { discountAdvertising } from './advertising.ts';
import { discountReadAlso } from './read-also.ts';
import { smoothRuns } from './runs.ts';

export interface Choice {
  /** 1 for each kept block. */
  keep: Uint8Array;
  /** Probability that each block is content. */
  probabilities: Float32Array;
  /** Blocks with at least this probability are kept. */
  threshold: number;
  /** The same for blocks between kept blocks: lower on articles, which consist of one text. */
  thresholdWithin: number;
  /** Expected F1 over words of this choice; 0 to 1. */
  expectedF1: number;
  /** Returns the row of FEATURES of a block. */
  featuresOf(block: number): Float32Array;
  /** Probability of each of FITTED_KINDS according to the page alone; they sum to 1. */
  kinds: Float32Array;
  /** Probability of each of FITTED_KINDS according to the page and its URL. */
  kindsAt(facts: PageFacts): Float32Array;
  records: Records;
  /** Signature of each element (findSignatures). */
  signatures: Int32Array;
  /** Blocks that only refer to other articles. Their probabilities are lowered. */
  references: ReadonlySet<number>;
  /** Blocks that say that they are advertising. Their probabilities are lowered. */
  advertising: ReadonlySet<number>;
}

/** Models fitted to annotated pages. */
export interface FittedTrees {
  /** Trees over FEATURES that decide whether a block is content. */
  blocks: Trees;
  /** Trees over PAGE_FEATURES, one set for each of FITTED_KINDS: is the page of this kind? */
  kinds: readonly Trees[];
  /** Weights of words in names and short texts. */
  tokens: TokenModel;
}

/**
 * Threshold as a share of the best expected F1. 0.5 is optimal if the probabilities are exact. On articles and threads,
 * a higher value omits whole boxes that are probably not content, and the text remains complete. The lists of other pages
 * would lose parts. Products and services consist of short parts, such as a price, of which the trees are less sure: with
 * a lower value, F1 is the same and fewer of them are lost.
 */
const THRESHOLD_FACTOR = 0.5;
const TEXT_THRESHOLD_FACTOR = 0.65;
const OFFER_THRESHOLD_FACTOR = 0.4;

let shipped: FittedTrees | null = null;

function shippedTrees(): FittedTrees {
  shipped ??= {
    blocks: parseTrees(WEIGHTS, FEATURES),
    tokens: parseTokenModel(TOKEN_WEIGHTS),
    kinds: FITTED_KINDS.map((kind) => parseTrees(KIND_WEIGHTS[kind], PAGE_FEATURES)),
  };
  return shipped;
}

/** Probability of each of FITTED_KINDS for a page with these features; they sum to 1. */
export function kindProbabilities(trees: readonly Trees[], features: Float32Array): Float32Array {
  const all = new Float32Array(trees.length);
  let sum = 0;
  for (let at = 0; at < trees.length; at++) {
    all[at] = probability(trees[at]!, features, 0);
    sum += all[at]!;
  }
  for (let at = 0; at < all.length; at++) all[at]! /= sum;
  return all;
}

/**
 * Chooses the blocks that are content according to the trees, at any URL the same. Benchmarks pass trees other than the
 * bundled ones.
 */
export function chooseBlocks(survey: Survey, pageFacts: PageFacts, fitted: FittedTrees = shippedTrees()): Choice {
  const size = survey.blocks.length;
  const facts = withoutUrl(pageFacts);
  const context = createPageContext(survey);
  const features = computePageFeatures(survey, context.records, facts);
  const kinds = kindProbabilities(fitted.kinds, features);
  const writer = createFeatureWriter(survey, context, {
    ...facts,
    features,
    kinds,
    tokens: scoreTokens(survey, fitted.tokens),
  });
  const scored = estimateProbabilities(fitted.blocks, writer, size);
  const references = discountReadAlso(survey, kinds, scored);
  const advertising = discountAdvertising(survey, scored);
  const all = smoothRuns(survey, context.signatures, context.records, scored);
  const isThread = probabilityOfKind(kinds, 'forum');
  const isText = probabilityOfKind(kinds, 'article') + isThread;
  const isOffer = probabilityOfKind(kinds, 'product') + probabilityOfKind(kinds, 'service');
  const factorFor = (textShare: number) =>
    THRESHOLD_FACTOR +
    textShare * (TEXT_THRESHOLD_FACTOR - THRESHOLD_FACTOR) +
    isOffer * (OFFER_THRESHOLD_FACTOR - THRESHOLD_FACTOR);
  const bestF1 = bestExpectedF1(survey, all);
  const threshold = factorFor(isText) * bestF1;
  const keep = new Uint8Array(size);
  for (let at = 0; at < size; at++) if (all[at]! >= threshold) keep[at] = 1;
  return {
    keep,
    probabilities: all,
    threshold,
    thresholdWithin: factorFor(isThread) * bestF1,
    expectedF1: expectedF1Of(survey, all, keep),
    featuresOf: (block) => {
      const row = new Float32Array(FEATURES.length);
      writer.page(row, 0);
      writer.block(row, 0, block);
      return row;
    },
    kinds,
    kindsAt: (known) => kindProbabilities(fitted.kinds, withUrlFeatures(features.slice(), known)),
    records: context.records,
    signatures: context.signatures,
    references,
    advertising,
  };
}

/**
 * Number of rows computed and scored in one batch: few enough to stay in the processor's cache, regardless of the size
 * of the page.
 */
const BATCH_ROWS = 64;

function estimateProbabilities(trees: Trees, writer: FeatureWriter, count: number): Float32Array {
  const all = new Float32Array(count);
  const width = FEATURES.length;
  const rows = new Float32Array(Math.min(count, BATCH_ROWS) * width);
  for (let at = 0; at < rows.length; at += width) writer.page(rows, at);
  for (let from = 0; from < count; from += BATCH_ROWS) {
    const size = Math.min(BATCH_ROWS, count - from);
    for (let at = 0; at < size; at++) writer.block(rows, at * width, from + at);
    all.set(probabilities(trees, rows, size, width), from);
  }
  return all;
}

/**
 * If block i has w(i) words and is content with probability p(i), the expected F1 of a kept set K is about 2 * sum over
 * K of p w / (sum over K of w + sum over all of p w). The best set consists of all blocks above some threshold. Blocks
 * are therefore added in order of probability, and the highest value reached is the best possible F1.
 */
function bestExpectedF1(survey: Survey, probabilities: Float32Array): number {
  const order = rankByProbability(probabilities);
  let expected = 0;
  for (let at = 0; at < probabilities.length; at++) expected += probabilities[at]! * survey.blocks[at]!.words;
  let hits = 0;
  let kept = 0;
  let best = 0;
  for (let rank = 0; rank < order.length; rank++) {
    const at = order[rank]!;
    const { words } = survey.blocks[at]!;
    hits += probabilities[at]! * words;
    kept += words;
    if (hits > 0) best = Math.max(best, (2 * hits) / (kept + expected));
  }
  return best;
}

/** The block numbers, most probable first. Blocks with equal probability keep their order. */
function rankByProbability(probabilities: Float32Array): Float64Array {
  // The bits of positive floats sort like the floats. With the block number appended they become integers, which sort
  // without a comparison function; that function would take most of the time.
  const bits = new Uint32Array(probabilities.buffer, probabilities.byteOffset, probabilities.length);
  const order = new Float64Array(bits.length);
  for (let at = 0; at < order.length; at++) order[at] = bits[at]! * MAX_RANKED_BLOCKS + (MAX_RANKED_BLOCKS - 1 - at);
  order.sort().reverse();
  for (let at = 0; at < order.length; at++) order[at] = MAX_RANKED_BLOCKS - 1 - (order[at]! % MAX_RANKED_BLOCKS);
  return order;
}

/**
 * Greater than the number of blocks of any page that is scored. Multiplied by the bits of a float, it still fits into a
 * double.
 */
const MAX_RANKED_BLOCKS = 2 ** 20;

/** The expected F1 of a choice. */
export function expectedF1Of(survey: Survey, probabilities: Float32Array, keep: Uint8Array): number {
  let expected = 0;
  let hits = 0;
  let kept = 0;
  for (let at = 0; at < keep.length; at++) {
    const { words } = survey.blocks[at]!;
    expected += probabilities[at]! * words;
    if (!keep[at]) continue;
    hits += probabilities[at]! * words;
    kept += words;
  }
  return kept + expected === 0 ? 0 : (2 * hits) / (kept + expected);
}
