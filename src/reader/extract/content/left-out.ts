/** Counts the text that was left out of the container of the content, for a warning if it is much. */
import type { Survey } from '../blocks/survey.ts';
import { findBoilerplate } from './boilerplate.ts';
import type { Selection } from './select-content.ts';

export interface LeftOut {
  /** Number of words that were left out. */
  words: number;
  /** How many of them are in comments. */
  comments: number;
}

/** The container of the content is the smallest element with at least this share of the kept words. */
const CONTAINER_SHARE = 0.7;
/**
 * Less than this share of the words of the container, or fewer words, are not worth a warning. On annotated pages, the
 * warning then appears on one page in 20, with a mean F1 of 0.69 instead of 0.89.
 */
const MIN_SHARE = 0.35;
const MIN_WORDS = 200;

/**
 * The words that were left out of the container of the content, without navigation and other boilerplate that landmarks
 * mark, without repetitions of kept text, and without comments that the caller excluded; null if they are few.
 */
export function countLeftOut(survey: Survey, { keep, comments, repeats }: Selection): LeftOut | null {
  const kept = sumsOf(survey, (at) => keep[at] === 1);
  const all = kept.at(-1)!;
  if (all === 0 || survey.words[0]! - all < MIN_WORDS) return null;
  const container = findContainer(survey, kept);
  const first = survey.firstBlock[container]!;
  const end = survey.endBlock[container]!;
  const boilerplate = findBoilerplate(survey, false);
  const leftOut: LeftOut = { words: 0, comments: 0 };
  for (let at = first; at < end; at++) {
    const { owner, words } = survey.blocks[at]!;
    if (keep[at] || repeats?.[at] || boilerplate[owner] || (comments?.onRequest && comments.removed[at])) continue;
    leftOut.words += words;
    if (comments?.removed[at]) leftOut.comments += words;
  }
  return leftOut.words >= MIN_WORDS && leftOut.words >= survey.words[container]! * MIN_SHARE ? leftOut : null;
}

/** By block: number of words in the chosen blocks before it; the last entry is their sum. */
function sumsOf({ blocks }: Survey, isChosen: (at: number) => boolean): Float64Array {
  const sums = new Float64Array(blocks.length + 1);
  for (let at = 0; at < blocks.length; at++) sums[at + 1] = sums[at]! + (isChosen(at) ? blocks[at]!.words : 0);
  return sums;
}

/** Elements that hold the share contain each other, because it is more than half; the last is the smallest. */
function findContainer({ elements, firstBlock, endBlock }: Survey, kept: Float64Array): number {
  const enough = kept.at(-1)! * CONTAINER_SHARE;
  let container = 0;
  for (let at = 0; at < elements.length; at++) {
    if (kept[endBlock[at]!]! - kept[firstBlock[at]!]! >= enough) container = at;
  }
  return container;
}
