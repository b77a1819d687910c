/**
 * Repairs the choice where the trees, which judge line by line, have split a unit. A code listing, table or list is
 * kept whole, and so is a short line between two kept paragraphs with the same parent.
 */

import { attribute, type Element } from '#html/node.ts';
import { PARTS, type Part } from '../blocks/class-words.ts';
import { headingLevel } from '../blocks/headings.ts';
import { phraseMask } from '../blocks/phrases.ts';
import type { Survey } from '../blocks/survey.ts';
import type { Choice } from './choose-blocks.ts';

const UNITS = new Set(['pre', 'table', 'ul', 'ol', 'dl', 'blockquote', 'figure', 'details']);
const LISTS = new Set(['ul', 'ol', 'details']);
const QUOTATION = 'blockquote';

const maskOf = (...parts: Part[]) => parts.reduce((mask, part) => mask | (1 << PARTS.indexOf(part)), 0);
/** Parts that may be between paragraphs without belonging to them. */
const SEPARATE_PARTS = maskOf(
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
const SHARE = maskOf('share');
/** Phrases that identify these parts if their class names do not. */
const BOILERPLATE_PHRASES = phraseMask('share', 'related', 'join', 'go', 'advert', 'legal');

/** A table without a head that contains a larger share of the page's words than this is a layout table. */
const LAYOUT_TABLE_SHARE = 0.6;
/** Share of links above which a list is a link list. */
const LINK_LIST_SHARE = 0.5;
/** If this share of a unit's words is kept, the rest is kept too, except blocks with a lower probability. */
const UNIT_SHARE = 0.6;
const MIN_UNIT_PROBABILITY = 0.15;
/** Length of the longest gap that is filled, in words, and the minimum probability of each of its blocks. */
const MAX_GAP_WORDS = 60;
const MIN_PROBABILITY = 0.08;
const MIN_FIRST_PROBABILITY = 0.15;

/** The interactive parts of an item. */
const CONTROL_PARTS = maskOf('share', 'advert', 'signup', 'pager', 'popup', 'button', 'form', 'search');
/**
 * Minimum shares of the words of similar boxes, and of the boxes, that must be chosen for the boxes to count as list
 * items.
 */
const MIN_CHOSEN_WORD_SHARE = 0.5;
const MIN_CHOSEN_BOX_SHARE = 0.6;
/** Maximum average number of words of an item; larger boxes are sections. */
const MAX_AVERAGE_ITEM_WORDS = 150;
/** Blocks with a lower probability are omitted even inside items. */
const MIN_ITEM_PROBABILITY = 0.1;

/** Completes the choice; changes `keep` in place. */
export function completeUnits(
  survey: Survey,
  keep: Uint8Array,
  boilerplate: Uint8Array,
  probabilities: Float32Array,
): void {
  fillGaps(survey, keep, boilerplate, probabilities);
  keepHeadings(survey, keep, boilerplate, probabilities);
  keepRows(survey, keep, boilerplate, probabilities);
  keepParagraphs(survey, keep, boilerplate, probabilities);
  keepPanels(survey, keep, boilerplate, probabilities);
  const keptWords = new Float64Array(keep.length + 1);
  for (let at = 0; at < keep.length; at++) {
    keptWords[at + 1] = keptWords[at]! + (keep[at] ? survey.blocks[at]!.words : 0);
  }
  for (let at = 1; at < survey.elements.length; at++) {
    const { name } = survey.elements[at]!;
    const first = survey.firstBlock[at]!;
    const end = survey.endBlock[at]!;
    const words = survey.words[at]!;
    if (!UNITS.has(name) || boilerplate[at] || isSeparateUnit(survey, at) || end <= first || words === 0) continue;
    if (name === 'table' && words > survey.words[0]! * LAYOUT_TABLE_SHARE && !hasHead(survey, first)) continue;
    const share = (keptWords[end]! - keptWords[first]!) / words;
    if (share < UNIT_SHARE && !continuesKeptText(survey, keep, at)) continue;
    for (let block = first; block < end; block++) if (probabilities[block]! >= MIN_UNIT_PROBABILITY) keep[block] = 1;
  }
}

/** Embedded posts are quotations whose names look like those of share buttons (`twitter-tweet`). */
function isSeparateUnit(survey: Survey, at: number): boolean {
  const parts = survey.elements[at]!.name === QUOTATION ? SEPARATE_PARTS & ~SHARE : SEPARATE_PARTS;
  return (survey.parts[at]! & parts) !== 0;
}

const hasHead = (survey: Survey, first: number): boolean => survey.elements[survey.blocks[first]!.owner]!.name === 'th';

/**
 * Whether a unit follows kept text under its parent, and is not mostly links, which an embedded post may be. A list must
 * also be followed by kept text, or be the last element.
 */
function continuesKeptText(survey: Survey, keep: Uint8Array, at: number): boolean {
  const before = survey.firstBlock[at]! - 1;
  const end = survey.endBlock[at]!;
  const above = boxAround(survey, at);
  if (
    before < survey.firstBlock[above]! ||
    !keep[before] ||
    (survey.elements[at]!.name !== QUOTATION && survey.linkWords[at]! > survey.words[at]! * LINK_LIST_SHARE)
  )
    return false;
  return !LISTS.has(survey.elements[at]!.name) || end === survey.endBlock[above]! || keep[end] === 1;
}

/** Text between two kept blocks is inside the content if it has at most this many words. */
const MAX_WORDS_WITHIN = 100;

/**
 * Keeps the blocks between kept blocks from a lower threshold on. The higher one of articles is meant for
 * what precedes and follows the content, and would leave gaps in it.
 */
export function fillWithin(
  survey: Survey,
  keep: Uint8Array,
  boilerplate: Uint8Array,
  { probabilities, thresholdWithin }: Choice,
): void {
  const isContent = (at: number) => {
    const { owner, phrases } = survey.blocks[at]!;
    return (
      probabilities[at]! >= thresholdWithin &&
      (phrases & BOILERPLATE_PHRASES) === 0 &&
      !boilerplate[owner] &&
      !isInSeparatePart(survey, owner)
    );
  };
  let last = -1;
  let words = 0;
  for (let at = 0; at < keep.length; at++) {
    if (!keep[at]) {
      words += survey.blocks[at]!.words;
      continue;
    }
    if (last >= 0 && words <= MAX_WORDS_WITHIN)
      for (let within = last + 1; within < at; within++) if (isContent(within)) keep[within] = 1;
    last = at;
    words = 0;
  }
}

/** Units that are often alone in a wrapper, beside a button to copy or enlarge them. */
const WRAPPED = new Set(['pre', 'table', 'blockquote', 'figure']);

/** The parent of a unit, or of the wrappers that begin with it. */
function boxAround(survey: Survey, at: number): number {
  const { parent, firstBlock, parts } = survey;
  let above = parent[at]!;
  const { name } = survey.elements[at]!;
  if (!WRAPPED.has(name) || (name === 'table' && !hasHead(survey, firstBlock[at]!))) return above;
  while (parent[above]! > 0 && firstBlock[above] === firstBlock[at] && (parts[above]! & SEPARATE_PARTS) === 0)
    above = parent[above]!;
  return above;
}

/** Longer rows are parts of the layout. */
const MAX_ROW_BLOCKS = 12;
const MAX_ROW_WORDS = 60;

const hasLabel = (survey: Survey, first: number, end: number): boolean => {
  for (let at = first; at < end; at++) if (survey.elements[survey.blocks[at]!.owner]!.name === 'th') return true;
  return false;
};

/** Keeps the rest of a row with a label if a part of it is kept: a value means nothing without its label. */
function keepRows(survey: Survey, keep: Uint8Array, boilerplate: Uint8Array, probabilities: Float32Array): void {
  for (let at = 1; at < survey.elements.length; at++) {
    if (survey.elements[at]!.name !== 'tr' || boilerplate[at] || survey.words[at]! > MAX_ROW_WORDS) continue;
    const first = survey.firstBlock[at]!;
    const end = survey.endBlock[at]!;
    if (end - first > MAX_ROW_BLOCKS || !keep.subarray(first, end).includes(1)) continue;
    if (!hasLabel(survey, first, end)) continue;
    for (let block = first; block < end; block++) if (probabilities[block]! >= MIN_UNIT_PROBABILITY) keep[block] = 1;
  }
}

/** Names of panels that a visitor opens with a tab. */
const PANEL_NAME = /(?:^|[\s_-])tab(?:s)?[-_]*(?:panel|pane|content|body|item)(?:$|[\s_-])/i;
const MIN_PANEL_WORDS = 20;
/** Minimum share of the words of a panel that must be kept. */
const PANEL_SHARE = 0.6;

const isPanel = (element: Element): boolean =>
  attribute(element, 'role') === 'tabpanel' || PANEL_NAME.test(attribute(element, 'class') ?? '');

/** Keeps the other panels of a group of tabs if the first one is kept: each is a part of the same text. */
function keepPanels(survey: Survey, keep: Uint8Array, boilerplate: Uint8Array, probabilities: Float32Array): void {
  const { elements, parent, firstBlock, endBlock, words, linkWords } = survey;
  /** Whether the first panel under a parent is kept. */
  const firstKept = new Map<number, boolean>();
  for (let at = 1; at < elements.length; at++) {
    if (words[at] === 0 || !isPanel(elements[at]!)) continue;
    const first = firstBlock[at]!;
    const end = endBlock[at]!;
    const known = firstKept.get(parent[at]!);
    if (known === undefined) {
      let kept = 0;
      for (let block = first; block < end; block++) if (keep[block]) kept += survey.blocks[block]!.words;
      firstKept.set(parent[at]!, words[at]! >= MIN_PANEL_WORDS && kept >= words[at]! * PANEL_SHARE);
      continue;
    }
    if (!known || boilerplate[at] || isInSeparatePart(survey, parent[at]!) || linkWords[at]! * 2 > words[at]!) continue;
    for (let block = first; block < end; block++)
      if (probabilities[block]! >= MIN_UNIT_PROBABILITY && (survey.blocks[block]!.phrases & BOILERPLATE_PHRASES) === 0)
        keep[block] = 1;
  }
}

/** Minimum number of kept paragraphs of a text, and their minimum share of the words of its paragraphs. */
const MIN_PARAGRAPHS = 3;
const MIN_PARAGRAPH_SHARE = 0.7;
const MIN_PARAGRAPH_PROBABILITY = 0.3;

/** Keeps the other paragraphs of a text if most of it is kept: a short last sentence would be lost otherwise. */
function keepParagraphs(survey: Survey, keep: Uint8Array, boilerplate: Uint8Array, probabilities: Float32Array): void {
  const { blocks, elements, parent, parts } = survey;
  const isParagraph = (at: number) => elements[blocks[at]!.owner]!.name === 'p';
  /** The paragraphs of each element. */
  const texts = new Map<number, { words: number; kept: number; keptWords: number }>();
  for (let at = 0; at < keep.length; at++) {
    if (!isParagraph(at)) continue;
    const { owner, words } = blocks[at]!;
    const text = texts.get(parent[owner]!) ?? { words: 0, kept: 0, keptWords: 0 };
    texts.set(parent[owner]!, text);
    text.words += words;
    if (!keep[at]) continue;
    text.kept += 1;
    text.keptWords += words;
  }
  for (let at = 0; at < keep.length; at++) {
    if (keep[at] || probabilities[at]! < MIN_PARAGRAPH_PROBABILITY || !isParagraph(at)) continue;
    const { owner, phrases, linkWords, words } = blocks[at]!;
    const text = texts.get(parent[owner]!)!;
    if (
      text.kept >= MIN_PARAGRAPHS &&
      text.keptWords >= text.words * MIN_PARAGRAPH_SHARE &&
      linkWords * 3 <= words &&
      (phrases & BOILERPLATE_PHRASES) === 0 &&
      (parts[owner]! & SEPARATE_PARTS) === 0 &&
      !boilerplate[owner]
    )
      keep[at] = 1;
  }
}

/** Keeps short runs of blocks between two kept blocks with the same parent. */
function fillGaps(survey: Survey, keep: Uint8Array, boilerplate: Uint8Array, probabilities: Float32Array): void {
  let last = -1;
  let words = 0;
  let links = 0;
  let fits = true;
  for (let at = 0; at < keep.length; at++) {
    const block = survey.blocks[at]!;
    if (keep[at]) {
      const gap = last >= 0 && at - last > 1;
      if (gap && fits && words <= MAX_GAP_WORDS && links * 3 < words + 3 && haveSameParent(survey, last, at)) {
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
      probabilities[at]! >= MIN_PROBABILITY &&
      !boilerplate[block.owner] &&
      (block.phrases & BOILERPLATE_PHRASES) === 0 &&
      !isInSeparatePart(survey, block.owner);
  }
}

/**
 * Keeps a heading, or a control that opens a panel, inside the content if the text after it in its own box is kept, so
 * that no section loses its heading.
 * The names of the heading itself do not count: they describe its anchor (`anchorWithStickyNavbar`).
 */
function keepHeadings(survey: Survey, keep: Uint8Array, boilerplate: Uint8Array, probabilities: Float32Array): void {
  for (let at = 1; at + 1 < keep.length; at++) {
    const { owner, phrases, words } = survey.blocks[at]!;
    const least = keep[at - 1] ? MIN_PROBABILITY : MIN_FIRST_PROBABILITY;
    if (keep[at] || !keep[at + 1] || probabilities[at]! < least || boilerplate[owner]) continue;
    if (
      !(headsText(survey.elements[owner]!) || headsText(survey.elements[survey.parent[owner]!]!)) ||
      (phrases & BOILERPLATE_PHRASES) !== 0 ||
      isInSeparatePart(survey, survey.parent[owner]!)
    )
      continue;
    let box = survey.parent[owner]!;
    while (box > 0 && survey.words[box]! <= words) box = survey.parent[box]!;
    if (box >= 0 && at + 1 < survey.endBlock[box]!) keep[at] = 1;
  }
}

/** Whether an element is a heading below the title, or a control that opens what follows it. */
const headsText = (element: Element): boolean =>
  headingLevel(element.name) >= 2 || attribute(element, 'aria-expanded') !== null;

/** Phrases on buttons that only trigger an action. Other buttons may be the heading of the part that they open. */
const BUTTON_PHRASES = phraseMask('share', 'shop', 'go', 'join');
const MAX_BUTTON_WORDS = 4;

/** Removes short buttons from a choice. Returns the choice unchanged if nothing else would remain. */
export function withoutButtons(survey: Survey, keep: Uint8Array): Uint8Array {
  const rest = Uint8Array.from(keep);
  for (let at = 0; at < rest.length; at++) {
    const { owner, words, phrases } = survey.blocks[at]!;
    if (survey.elements[owner]!.name === 'button' && words <= MAX_BUTTON_WORDS && (phrases & BUTTON_PHRASES) !== 0)
      rest[at] = 0;
  }
  return rest.includes(1) ? rest : keep;
}

/**
 * Whether the name of an element, its parent or its grandparent indicates a part that does not belong to the
 * surrounding text.
 */
export function isInSeparatePart(survey: Survey, owner: number): boolean {
  let at = owner;
  for (let step = 0; step < 3 && at > 0; step++) {
    if ((survey.parts[at]! & SEPARATE_PARTS) !== 0) return true;
    at = survey.parent[at]!;
  }
  return false;
}

const haveSameParent = (survey: Survey, one: number, other: number): boolean =>
  survey.parent[survey.blocks[one]!.owner] === survey.parent[survey.blocks[other]!.owner];

/**
 * On a list page, if part of an item was chosen, keeps the rest of the item too, such as a name or a price. The
 * controls of items are omitted.
 */
export function completeRecords(
  survey: Survey,
  keep: Uint8Array,
  boilerplate: Uint8Array,
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
  const isChosenList = (at: number): boolean => {
    const count = groups.count[at]!;
    const words = groups.words[at]!;
    return (
      count >= 3 &&
      words >= 3 * count &&
      words <= MAX_AVERAGE_ITEM_WORDS * count &&
      keptWords[at]! >= MIN_CHOSEN_WORD_SHARE * words &&
      keptRecords[at]! >= MIN_CHOSEN_BOX_SHARE * count
    );
  };
  for (let at = 0; at < keep.length; at++) {
    if (keep[at] || probabilities[at]! < MIN_ITEM_PROBABILITY) continue;
    for (let element = survey.blocks[at]!.owner; element > 0; element = survey.parent[element]!) {
      if (
        boilerplate[element] ||
        survey.elements[element]!.name === 'button' ||
        (survey.parts[element]! & CONTROL_PARTS) !== 0
      )
        break;
      if (!isChosenList(groupOf[element]!)) continue;
      keep[at] = 1;
      break;
    }
  }
}
