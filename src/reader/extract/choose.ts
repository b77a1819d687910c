/** Which blocks of a page are its content: a probability for each, then the choice that promises the best F1. */
import { describeBlocks, FEATURES, layGround, type PageFacts } from './features.ts';
import { KIND_WEIGHTS } from './kind-weights.ts';
import { describePage, FITTED_KINDS, PAGE_FEATURES } from './page-features.ts';
import type { Records } from './records.ts';
import type { Survey } from './survey.ts';
import { probabilities, probability, readTrees, type Trees } from './trees.ts';
import { WEIGHTS } from './weights.ts';

export interface Choice {
  /** 1 for each block that is kept. */
  keep: Uint8Array;
  /** How probable it is that each block is content. */
  probabilities: Float32Array;
  /** The probability from which on a block is kept. */
  threshold: number;
  /** The F1 over words that the probabilities promise for this choice; 0 to 1. */
  promise: number;
  /** A row of FEATURES for each block. */
  rows: Float32Array;
  /** How probable each of FITTED_KINDS is; they sum to 1. */
  kinds: Float32Array;
  records: Records;
}

/** What is fitted to annotated pages. */
export interface Fitted {
  /** By FEATURES: whether a block is content. */
  blocks: Trees;
  /** By PAGE_FEATURES, for each of FITTED_KINDS: whether the page is of that kind. */
  kinds: readonly Trees[];
}

/**
 * Where the line is drawn, as a share of the best F1 that the probabilities promise. Half of it would be right if they
 * were exact and words were all that counts; a little more leaves out whole boxes that are probably not content.
 */
const STRICTNESS = 0.6;

let shipped: Fitted | null = null;

function shippedTrees(): Fitted {
  shipped ??= {
    blocks: readTrees(WEIGHTS, FEATURES),
    kinds: FITTED_KINDS.map((kind) => readTrees(KIND_WEIGHTS[kind], PAGE_FEATURES)),
  };
  return shipped;
}

/** How probable each of FITTED_KINDS is for a page of these numbers; they sum to 1. */
export function kindProbabilities(trees: readonly Trees[], numbers: Float32Array): Float32Array {
  const all = new Float32Array(trees.length);
  let sum = 0;
  for (let at = 0; at < trees.length; at++) {
    all[at] = probability(trees[at]!, numbers, 0);
    sum += all[at]!;
  }
  for (let at = 0; at < all.length; at++) all[at]! /= sum;
  return all;
}

/** The blocks that the trees take for content; other trees than the shipped ones are for measuring. */
export function chooseBlocks(survey: Survey, facts: PageFacts, fitted: Fitted = shippedTrees()): Choice {
  const size = survey.blocks.length;
  const ground = layGround(survey);
  const numbers = describePage(survey, ground.records, facts);
  const kinds = kindProbabilities(fitted.kinds, numbers);
  const rows = describeBlocks(survey, ground, { ...facts, numbers, kinds });
  const all = probabilities(fitted.blocks, rows, size, FEATURES.length);
  const threshold = bestThreshold(survey, all);
  const keep = new Uint8Array(size);
  for (let at = 0; at < size; at++) if (all[at]! >= threshold) keep[at] = 1;
  return {
    keep,
    probabilities: all,
    threshold,
    promise: promised(survey, all, keep),
    rows,
    kinds,
    records: ground.records,
  };
}

/**
 * With block i holding w(i) words and being content with probability p(i), keeping a set K promises about
 * 2 * sum over K of p w / (sum over K of w + sum over all of p w). The best set is all above some threshold: so the
 * blocks are taken in order of their probability, and the best promise on the way is what the page can give.
 */
function bestThreshold(survey: Survey, probabilities: Float32Array): number {
  const order = Array.from(probabilities, (_, at) => at).sort((a, b) => probabilities[b]! - probabilities[a]! || a - b);
  let expected = 0;
  for (let at = 0; at < probabilities.length; at++) expected += probabilities[at]! * survey.blocks[at]!.words;
  let hits = 0;
  let kept = 0;
  let best = 0;
  for (const at of order) {
    hits += probabilities[at]! * survey.blocks[at]!.words;
    kept += survey.blocks[at]!.words;
    if (hits > 0) best = Math.max(best, (2 * hits) / (kept + expected));
  }
  return STRICTNESS * best;
}

/** The F1 that a choice promises. */
export function promised(survey: Survey, probabilities: Float32Array, keep: Uint8Array): number {
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
