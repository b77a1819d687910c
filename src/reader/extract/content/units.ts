/**
 * Repairs the choice where the trees, which judge line by line, split a unit. A code listing, table or list is kept
 * whole, and a short line between two kept paragraphs of one parent is kept too.
 */

import { PARTS, type Part } from '../blocks/class-words.ts';
import { headingLevel } from '../blocks/headings.ts';
import { PHRASES } from '../blocks/phrases.ts';
import type { Survey } from '../blocks/survey.ts';
import type { Choice } from './choose-blocks.ts';

const UNITS = new Set(['pre', 'table', 'ul', 'ol', 'dl', 'blockquote', 'figure', 'details']);
const LISTS = new Set(['ul', 'ol', 'details']);

const maskOf = (...parts: Part[]) => parts.reduce((mask, part) => mask | (1 << PARTS.indexOf(part)), 0);
/** Parts that stand between paragraphs without belonging to them. */
const NEVER = maskOf(
  'share',
  'related',
  'advert',
  'consent',
  'signup',
  'nav',
  'pager',
  'popup',
  'meta',
  'comment',
  'aside',
  'button',
  'footer',
);
/** Phrases that identify such parts if their names do not. */
const SAID = (['share', 'related', 'join', 'go', 'advert', 'legal'] as const).reduce(
  (mask, phrase) => mask | (1 << PHRASES.indexOf(phrase)),
  0,
);

/** A table with a larger share of the page's words and no head is a layout table. */
const LAYOUT = 0.6;
/** Share of links above which a list is a link list. */
const LINKED = 0.5;
/** If this share of a unit's words is kept, the rest is kept too. */
const MOSTLY = 0.6;
/** Longest gap that is filled, in words, and the smallest probability of each of its blocks. */
const LONGEST_GAP = 60;
const LEAST = 0.08;

/** Interactive parts of an item. */
const CONTROL = maskOf('share', 'advert', 'signup', 'pager', 'popup', 'button', 'form', 'search');
/**
 * Smallest share of the words of similar boxes, and of the boxes, that must be chosen for them to count as list
 * items.
 */
const MANY_KEPT = 0.5;
const MOST_RECORDS = 0.6;
/** Average words of an item; larger boxes are sections. */
const LARGEST_RECORD = 150;
/** Blocks with a lower probability are left out of items too. */
const LEAST_IN_RECORD = 0.1;

/** Completes the choice in place. */
export function completeUnits(survey: Survey, keep: Uint8Array, framed: Uint8Array, probabilities: Float32Array): void {
  fillGaps(survey, keep, framed, probabilities);
  keepHeadings(survey, keep, framed, probabilities);
  const keptWords = new Float64Array(keep.length + 1);
  for (let at = 0; at < keep.length; at++) {
    keptWords[at + 1] = keptWords[at]! + (keep[at] ? survey.blocks[at]!.words : 0);
  }
  for (let at = 1; at < survey.elements.length; at++) {
    const { name } = survey.elements[at]!;
    const first = survey.firstBlock[at]!;
    const end = survey.endBlock[at]!;
    const words = survey.words[at]!;
    if (!UNITS.has(name) || framed[at] || (survey.parts[at]! & NEVER) !== 0 || end <= first || words === 0) continue;
    if (name === 'table' && words > survey.words[0]! * LAYOUT && !hasHead(survey, first)) continue;
    const share = (keptWords[end]! - keptWords[first]!) / words;
    if (share >= MOSTLY || isEmbraced(survey, keep, at)) keep.fill(1, first, end);
  }
}

const hasHead = (survey: Survey, first: number): boolean => survey.elements[survey.blocks[first]!.owner]!.name === 'th';

/** Whether a unit follows kept text under its parent. A list must also be followed by kept text or by nothing. */
function isEmbraced(survey: Survey, keep: Uint8Array, at: number): boolean {
  const before = survey.firstBlock[at]! - 1;
  const end = survey.endBlock[at]!;
  const above = survey.parent[at]!;
  if (before < survey.firstBlock[above]! || !keep[before] || survey.linkWords[at]! > survey.words[at]! * LINKED)
    return false;
  return !LISTS.has(survey.elements[at]!.name) || end === survey.endBlock[above]! || keep[end] === 1;
}

/** Keeps short runs of blocks between two kept blocks with the same parent. */
function fillGaps(survey: Survey, keep: Uint8Array, framed: Uint8Array, probabilities: Float32Array): void {
  let last = -1;
  let words = 0;
  let links = 0;
  let fits = true;
  for (let at = 0; at < keep.length; at++) {
    const block = survey.blocks[at]!;
    if (keep[at]) {
      const gap = last >= 0 && at - last > 1;
      if (gap && fits && words <= LONGEST_GAP && links * 3 < words + 3 && haveOneParent(survey, last, at)) {
        keep.fill(1, last + 1, at);
      }
      last = at;
      words = 0;
      links = 0;
      fits = true;
      continue;
    }
    words += block.words;
    links += block.linkWords;
    fits &&=
      probabilities[at]! >= LEAST &&
      !framed[block.owner] &&
      (block.phrases & SAID) === 0 &&
      !isApart(survey, block.owner);
  }
}

/**
 * Keeps a heading inside the content if what follows it in its own box is kept, so that no section loses its heading.
 */
function keepHeadings(survey: Survey, keep: Uint8Array, framed: Uint8Array, probabilities: Float32Array): void {
  for (let at = 1; at + 1 < keep.length; at++) {
    const { owner, phrases, words } = survey.blocks[at]!;
    if (keep[at] || !keep[at - 1] || !keep[at + 1] || probabilities[at]! < LEAST || framed[owner]) continue;
    if (headingLevel(survey.elements[owner]!.name) < 2 || (phrases & SAID) !== 0 || isApart(survey, owner)) continue;
    let box = survey.parent[owner]!;
    while (box > 0 && survey.words[box]! <= words) box = survey.parent[box]!;
    if (box >= 0 && at + 1 < survey.endBlock[box]!) keep[at] = 1;
  }
}

/** Texts of buttons that only trigger an action. Other buttons may be the heading of what they open. */
const PRESSED = (['share', 'shop', 'go', 'join'] as const).reduce(
  (mask, name) => mask | (1 << PHRASES.indexOf(name)),
  0,
);
const LONGEST_BUTTON = 4;

/** Removes short buttons from a choice. Returns the choice unchanged if nothing else would remain. */
export function withoutButtons(survey: Survey, keep: Uint8Array): Uint8Array {
  const rest = Uint8Array.from(keep);
  for (let at = 0; at < rest.length; at++) {
    const { owner, words, phrases } = survey.blocks[at]!;
    if (survey.elements[owner]!.name === 'button' && words <= LONGEST_BUTTON && (phrases & PRESSED) !== 0) rest[at] = 0;
  }
  return rest.includes(1) ? rest : keep;
}

/** Whether the name of an element, its parent or its grandparent marks a part that stands apart. */
function isApart(survey: Survey, owner: number): boolean {
  let at = owner;
  for (let step = 0; step < 3 && at > 0; step++) {
    if ((survey.parts[at]! & NEVER) !== 0) return true;
    at = survey.parent[at]!;
  }
  return false;
}

const haveOneParent = (survey: Survey, one: number, other: number): boolean =>
  survey.parent[survey.blocks[one]!.owner] === survey.parent[survey.blocks[other]!.owner];

/**
 * On a list page, keeps the rest of each item beside what was chosen of it: a name here, a price there. The controls
 * of items are left out.
 */
export function completeRecords(
  survey: Survey,
  keep: Uint8Array,
  framed: Uint8Array,
  { records, probabilities }: Choice,
): void {
  const { groups, groupOf } = records;
  const keptWords = new Float64Array(groups.size);
  const keptRecords = new Int32Array(groups.size);
  const before = new Float64Array(keep.length + 1);
  for (let at = 0; at < keep.length; at++) before[at + 1] = before[at]! + (keep[at] ? survey.blocks[at]!.words : 0);
  const keptIn = (at: number) => before[survey.endBlock[at]!]! - before[survey.firstBlock[at]!]!;
  for (let at = 1; at < survey.elements.length; at++) {
    const words = keptIn(at);
    keptWords[groupOf[at]!]! += words;
    if (words > 0) keptRecords[groupOf[at]!]! += 1;
  }
  const isFull = (at: number): boolean => {
    const count = groups.count[at]!;
    const words = groups.words[at]!;
    return (
      count >= 3 &&
      words >= 3 * count &&
      words <= LARGEST_RECORD * count &&
      keptWords[at]! >= MANY_KEPT * words &&
      keptRecords[at]! >= MOST_RECORDS * count
    );
  };
  for (let at = 0; at < keep.length; at++) {
    if (keep[at] || probabilities[at]! < LEAST_IN_RECORD) continue;
    for (let place = survey.blocks[at]!.owner; place > 0; place = survey.parent[place]!) {
      if (framed[place] || survey.elements[place]!.name === 'button' || (survey.parts[place]! & CONTROL) !== 0) break;
      if (!isFull(groupOf[place]!)) continue;
      keep[at] = 1;
      break;
    }
  }
}
