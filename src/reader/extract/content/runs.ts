/**
 * Makes uniform runs stay together. Blocks in the same position of similar siblings (list items, cards, rows, comments)
 * get the mean log odds of all of them, so that all are kept or all are dropped.
 */

import type { Records } from '../blocks/records.ts';
import type { Survey } from '../blocks/survey.ts';

/** Minimum number of siblings in a run. Two items of a list, two rows or two texts, such as reviews, are a run too. */
const MIN_SIBLINGS = 3;
const MIN_ITEMS = 2;
/** Siblings with at least this mean number of words are texts. */
const MIN_TEXT_WORDS = 10;
const ITEMS = new Set(['li', 'tr', 'dt', 'dd', 'td', 'th']);
/** Larger siblings are sections or columns of the page, each with a purpose of its own. Mean number of words. */
const MAX_MEAN_WORDS = 150;
/** A sequence of these is no run: paragraphs differ in purpose even if their markup is the same. */
const SEPARATE = new Set(['p']);
/** Longer blocks do not count more in the mean. */
const MAX_WEIGHT_WORDS = 30;
/** Bounds of a probability, so that its log odds are finite. */
const MIN_PROBABILITY = 1e-4;

/** Replaces the probabilities of blocks in runs by those of their run. */
export function smoothRuns(
  survey: Survey,
  signatures: Int32Array,
  records: Records,
  probabilities: Float32Array,
): Float32Array {
  const runs = findRuns(survey, signatures, records);
  const { blocks, elements } = survey;
  const sums = new Float64Array(elements.length);
  const weights = new Float64Array(elements.length);
  const isInRun = (at: number) => runs[blocks[at]!.owner]! >= 0;
  for (let at = 0; at < blocks.length; at++) {
    if (!isInRun(at)) continue;
    const { owner, words } = blocks[at]!;
    const weight = Math.min(words, MAX_WEIGHT_WORDS) + 1;
    const p = Math.min(Math.max(probabilities[at]!, MIN_PROBABILITY), 1 - MIN_PROBABILITY);
    sums[runs[owner]!]! += weight * Math.log(p / (1 - p));
    weights[runs[owner]!]! += weight;
  }
  return probabilities.map((probability, at) => {
    if (!isInRun(at)) return probability;
    const run = runs[blocks[at]!.owner]!;
    return 1 / (1 + Math.exp(-sums[run]! / weights[run]!));
  });
}

/**
 * For each element, the number of its run; -1 for none. Elements of a run have the same path of signatures below the
 * nearest siblings that repeat.
 */
function findRuns(survey: Survey, signatures: Int32Array, { groups, groupOf }: Records): Int32Array {
  const { elements, parent } = survey;
  const size = elements.length;
  const runs = new Int32Array(size).fill(-1);
  const numbers = new Map<number, number>();
  for (let at = 1; at < size; at++) {
    const group = groupOf[at]!;
    const count = groups.count[group]!;
    const isRun =
      count >=
        (ITEMS.has(elements[at]!.name) || groups.words[group]! >= MIN_TEXT_WORDS * count ? MIN_ITEMS : MIN_SIBLINGS) &&
      groups.words[group]! <= MAX_MEAN_WORDS * count &&
      !SEPARATE.has(elements[at]!.name);
    const above = parent[at]! < 0 ? -1 : runs[parent[at]!]!;
    if (!isRun && above < 0) continue;
    // A run inside a run continues the outer one: the lists of all cards are alike.
    const key = above < 0 ? -1 - group : above * size + signatures[at]!;
    let run = numbers.get(key);
    if (run === undefined) {
      run = numbers.size;
      numbers.set(key, run);
    }
    runs[at] = run;
  }
  return runs;
}
