/**
 * Repeated boxes: siblings with the same signature, such as list items, cards of a grid, posts of a thread or links of
 * a menu. The averages of their contents distinguish these kinds.
 */
import { hasPrice } from './phrases.ts';
import type { Survey } from './survey.ts';

/** Siblings with the same signature, by group number; most groups have one member. */
export interface RecordGroups {
  size: number;
  count: Int32Array;
  words: Int32Array;
  linkWords: Int32Array;
  proseWords: Int32Array;
  images: Int32Array;
  prices: Int32Array;
}

export interface Records {
  groups: RecordGroups;
  /** For each element, its group number and its position in the group. */
  groupOf: Int32Array;
  indexInGroup: Int32Array;
  /**
   * For each element: the nearest repeated box that is the element or contains it, and the one with the largest group;
   * -1 for none.
   */
  inner: Int32Array;
  outer: Int32Array;
  /** For each block, whether it contains a price. */
  priced: Uint8Array;
  /** Number of images and of prices in each element and its descendants. */
  images: Int32Array;
  prices: Int32Array;
}

/** Minimum number of boxes in a group of records, and minimum average number of words per box. */
const MIN_COUNT = 3;
const MIN_WORDS = 2;

/** Finds the repeated boxes, based on the signature of each element. */
export function findRecords(survey: Survey, signatures: Int32Array): Records {
  const { parent, words } = survey;
  const size = survey.elements.length;
  const found: Records = {
    groups: newGroups(size),
    groupOf: new Int32Array(size),
    indexInGroup: new Int32Array(size),
    inner: new Int32Array(size).fill(-1),
    outer: new Int32Array(size).fill(-1),
    priced: new Uint8Array(survey.blocks.length),
    images: new Int32Array(size),
    prices: new Int32Array(size),
  };
  const { groups, groupOf, inner, outer } = found;
  countImagesAndPrices(survey, found);
  groupSiblings(survey, signatures, found);
  for (let at = 1; at < size; at++) {
    const above = parent[at]!;
    const own = groupOf[at]!;
    const around = above < 0 ? -1 : outer[above]!;
    const isRecord =
      groups.count[own]! >= MIN_COUNT && groups.words[own]! >= MIN_WORDS * groups.count[own]! && words[at]! > 0;
    inner[at] = isRecord || above < 0 ? at : inner[above]!;
    if (!isRecord && above < 0) inner[at] = -1;
    outer[at] = isRecord && (around < 0 || groups.words[own]! > groups.words[groupOf[around]!]!) ? at : around;
  }
  return found;
}

const newGroups = (size: number): RecordGroups => ({
  size: 0,
  count: new Int32Array(size),
  words: new Int32Array(size),
  linkWords: new Int32Array(size),
  proseWords: new Int32Array(size),
  images: new Int32Array(size),
  prices: new Int32Array(size),
});

/** Groups the children of each element by signature. Processing one parent at a time avoids hashing. */
function groupSiblings(survey: Survey, signatures: Int32Array, found: Records): void {
  const { words, linkWords, proseWords, end } = survey;
  const { groups, groupOf, indexInGroup, images, prices } = found;
  const size = signatures.length;
  // For each signature, the last parent that has a child with this signature, and the group of these children.
  const parentOf = new Int32Array(size).fill(-2);
  const latest = new Int32Array(size);
  for (let above = -1; above < size; above++) {
    const stop = above < 0 ? size : end[above]!;
    for (let at = above + 1; at < stop; at = end[at]!) {
      const own = signatures[at]!;
      if (parentOf[own] !== above) {
        parentOf[own] = above;
        latest[own] = groups.size++;
      }
      const number = latest[own]!;
      groupOf[at] = number;
      indexInGroup[at] = groups.count[number]!;
      groups.count[number]! += 1;
      groups.words[number]! += words[at]!;
      groups.linkWords[number]! += linkWords[at]!;
      groups.proseWords[number]! += proseWords[at]!;
      groups.images[number]! += images[at]!;
      groups.prices[number]! += prices[at]!;
    }
  }
}

function countImagesAndPrices({ elements, parent, blocks }: Survey, { images, prices, priced }: Records): void {
  for (let at = 0; at < blocks.length; at++) {
    const { text, owner, digits } = blocks[at]!;
    if (digits === 0 || !hasPrice(text)) continue;
    priced[at] = 1;
    prices[owner]! += 1;
  }
  for (let at = elements.length - 1; at > 0; at--) {
    if (elements[at]!.name === 'img') images[at]! += 1;
    const above = parent[at]!;
    if (above < 0) continue;
    images[above]! += images[at]!;
    prices[above]! += prices[at]!;
  }
}
