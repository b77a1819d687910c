/** Which blocks of a page are its content: a probability for each, then the choice that promises the best F1. */
import { describeBlocks, FEATURES, type PageFacts } from './features.ts';
import type { Survey } from './survey.ts';
import { probability, readTrees, type Trees } from './trees.ts';
import { WEIGHTS } from './weights.ts';

export interface Choice {
  /** 1 for each block that is kept. */
  keep: Uint8Array;
  /** How probable it is that each block is content. */
  probabilities: Float32Array;
  /** The F1 over words that the probabilities promise for this choice; 0 to 1. */
  promise: number;
}

/**
 * Where the line is drawn, as a share of the best F1 that the probabilities promise. Half of it would be right if they
 * were exact and words were all that counts; a little more leaves out whole boxes that are probably not content.
 */
const STRICTNESS = 0.6;

let fitted: Trees | null = null;

function fittedTrees(): Trees {
  fitted ??= readTrees(WEIGHTS, FEATURES);
  return fitted;
}

/** The blocks that the fitted trees take for content. */
export function chooseBlocks(survey: Survey, facts: PageFacts, trees: Trees = fittedTrees()): Choice {
  const rows = describeBlocks(survey, facts);
  const size = survey.blocks.length;
  const probabilities = new Float32Array(size);
  for (let at = 0; at < size; at++) probabilities[at] = probability(trees, rows, at * FEATURES.length);
  const threshold = bestThreshold(survey, probabilities);
  const keep = new Uint8Array(size);
  for (let at = 0; at < size; at++) keep[at] = probabilities[at]! >= threshold ? 1 : 0;
  return { keep, probabilities, promise: promised(survey, probabilities, keep) };
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
