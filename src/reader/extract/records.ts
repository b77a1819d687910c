/**
 * Boxes that repeat: siblings of one look, as the items of a list, the cards of a grid, the posts of a thread or the
 * links of a menu. What they hold on average tells them apart.
 */
import { hasPrice } from './phrases.ts';
import type { Survey } from './survey.ts';

/** Siblings of one look. */
export interface RecordGroup {
  count: number;
  words: number;
  linkWords: number;
  proseWords: number;
  images: number;
  prices: number;
}

export interface Records {
  /** All groups; most have one member. */
  groups: RecordGroup[];
  /** For each element, the number of its group, and its place in it. */
  groupOf: Int32Array;
  placeIn: Int32Array;
  /** For each element, the nearest repeated box at or above it, and the one of the largest group; -1 for none. */
  inner: Int32Array;
  outer: Int32Array;
  /** For each block, whether a price stands in it. */
  priced: Uint8Array;
  /** How many images and prices stand in and under each element. */
  images: Int32Array;
  prices: Int32Array;
}

/** So many boxes of so many words on average are taken for records. */
const LEAST_COUNT = 3;
const LEAST_WORDS = 2;

/** Finds what repeats, with the look of each element. */
export function findRecords(survey: Survey, look: Int32Array): Records {
  const { elements, parent, words, linkWords, proseWords } = survey;
  const size = elements.length;
  const found: Records = {
    groups: [],
    groupOf: new Int32Array(size),
    placeIn: new Int32Array(size),
    inner: new Int32Array(size).fill(-1),
    outer: new Int32Array(size).fill(-1),
    priced: new Uint8Array(survey.blocks.length),
    images: new Int32Array(size),
    prices: new Int32Array(size),
  };
  const { groups, groupOf, placeIn, inner, outer, images, prices } = found;
  count(survey, found);
  const known = new Map<number, number>();
  for (let at = 0; at < size; at++) {
    const key = parent[at]! * 65_536 + look[at]!;
    let number = known.get(key);
    if (number === undefined) {
      number = groups.length;
      known.set(key, number);
      groups.push({ count: 0, words: 0, linkWords: 0, proseWords: 0, images: 0, prices: 0 });
    }
    const group = groups[number]!;
    groupOf[at] = number;
    placeIn[at] = group.count;
    group.count += 1;
    group.words += words[at]!;
    group.linkWords += linkWords[at]!;
    group.proseWords += proseWords[at]!;
    group.images += images[at]!;
    group.prices += prices[at]!;
  }
  for (let at = 1; at < size; at++) {
    const above = parent[at]!;
    const group = groups[groupOf[at]!]!;
    const around = above < 0 ? -1 : outer[above]!;
    const isRecord = group.count >= LEAST_COUNT && group.words >= LEAST_WORDS * group.count && words[at]! > 0;
    inner[at] = isRecord || above < 0 ? at : inner[above]!;
    if (!isRecord && above < 0) inner[at] = -1;
    outer[at] = isRecord && (around < 0 || group.words > groups[groupOf[around]!]!.words) ? at : around;
  }
  return found;
}

function count({ elements, parent, blocks }: Survey, { images, prices, priced }: Records): void {
  for (let at = 0; at < blocks.length; at++) {
    const { text, owner } = blocks[at]!;
    if (!hasPrice(text)) continue;
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
