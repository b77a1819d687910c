/**
 * Selects the content of a page: completes and checks the choice of the trees, and uses a fallback if the choice is
 * poor.
 */

import type { PageKind } from '../../article.ts';
import type { Survey } from '../blocks/survey.ts';
import type { PageFacts } from '../trees/features.ts';
import { withoutUrl } from '../trees/page-facts.ts';
import { probabilityOfKind } from '../trees/page-features.ts';
import { estimatePageKind } from '../trees/page-kind.ts';
import { applyComments, type CommentChoice, type RemovedComments } from './apply-comments.ts';
import { findBoilerplate, isAllBoilerplate, keepOutsideBoilerplate } from './boilerplate.ts';
import { type Choice, chooseBlocks, expectedF1Of, type FittedTrees } from './choose-blocks.ts';
import { keepLead } from './lead.ts';
import { keepNotes } from './notes.ts';
import { keepPosts } from './posts.ts';
import { keepPrice } from './price.ts';
import { findRepeats } from './repeats.ts';
import { completeRecords, completeUnits, fillWithin, withoutButtons } from './units.ts';

export interface Selection {
  /** 1 for each block of the survey that is content. */
  keep: Uint8Array;
  /** Expected F1 over words. */
  confidence: number;
  source: 'main' | 'container' | 'nothing';
  /** The choice of the trees; null for a page that is too large to score. */
  choice: Choice | null;
  /** Set if comments were removed. */
  comments?: RemovedComments;
  /** 1 for each block that was removed because it repeats an earlier one. */
  repeats?: Uint8Array;
}

export interface SelectionOptions {
  /** Whether to keep comments. By default, they are removed from articles and videos. */
  comments?: CommentChoice | undefined;
}

/** A choice with a lower expected F1 is not trusted. */
const MIN_EXPECTED_F1 = 0.15;
/** A page with fewer words is too small to score. It is so short that everything except boilerplate is returned. */
const MIN_SCORED_WORDS = 150;
/**
 * Below and above these probabilities, the trees are sure enough about a block of a small page to overrule the names of
 * its boxes.
 */
const SURE_BOILERPLATE = 0.2;
/** The same for a block beside one that is probably content. */
const SURE_BOILERPLATE_WITHIN = 0.07;
const PROBABLE_CONTENT = 0.5;
const SURE_CONTENT = 0.6;
/** Class names are trusted only if at least this share of the words is outside the boilerplate that they mark. */
const MIN_OUTSIDE_SHARE = 0.2;
/** Text with the title of the page is trusted even if it is a smaller share. Number of words. */
const MIN_TITLED_WORDS = 3;

/**
 * Maximum number of blocks of a page that is scored: the features of more blocks would exhaust the memory of a thread.
 */
const MAX_BLOCKS = 30_000;
const MAX_ELEMENTS = 150_000;

/** Kinds of pages that consist of posts, which are often named like comments. */
const THREADS: ReadonlySet<PageKind | undefined> = new Set<PageKind>(['forum', 'question']);
/**
 * Kinds of pages that are complete without comments. Shops name reviews like comments, and entries of lists and items of
 * references have fields with such names.
 */
const COMMENTED: ReadonlySet<PageKind | undefined> = new Set<PageKind>(['article', 'video']);

/** Minimum probability for a page to count as a list. */
const MIN_LIST_PROBABILITY = 0.5;

const likelyList = ({ kinds }: Choice): boolean =>
  probabilityOfKind(kinds, 'listing') + probabilityOfKind(kinds, 'collection') >= MIN_LIST_PROBABILITY;

/**
 * Selects the content. Benchmarks pass a `fitted` other than the bundled one. Keeps at least one block of every page
 * that is more than boilerplate.
 */
export function selectContent(
  survey: Survey,
  facts: PageFacts,
  fitted?: FittedTrees,
  { comments }: SelectionOptions = {},
): Selection {
  const selection = selectBlocks(survey, facts, fitted);
  if (selection.source === 'nothing') return selection;
  keepNotes(survey, selection.keep);
  const removed = applyComments(survey, selection.keep, comments, () => {
    const kind = estimatePageKind(survey, selection, withoutUrl(facts))?.kind;
    const probabilities = selection.choice?.probabilities ?? new Float32Array(selection.keep.length);
    return { isThread: THREADS.has(kind), mayHaveComments: COMMENTED.has(kind), probabilities };
  });
  const repeats = removeRepeats(survey, selection.keep);
  return { ...selection, ...(removed && { comments: removed }), ...(repeats && { repeats }) };
}

/** Removes repeated text from the choice, in place. Returns what was removed; null for nothing. */
function removeRepeats(survey: Survey, keep: Uint8Array): Uint8Array | null {
  const repeats = findRepeats(survey, keep);
  if (repeats) for (let at = 0; at < keep.length; at++) if (repeats[at]) keep[at] = 0;
  return repeats;
}

function selectBlocks(survey: Survey, facts: PageFacts, fitted: FittedTrees | undefined): Selection {
  const boilerplate = findBoilerplate(survey, true);
  if (survey.blocks.length > MAX_BLOCKS || survey.elements.length > MAX_ELEMENTS) {
    return { keep: blocksOutsideBoilerplate(survey, boilerplate), confidence: 0, source: 'container', choice: null };
  }
  const choice = chooseBlocks(survey, facts, fitted);
  if (isAllBoilerplate(survey)) {
    return { keep: new Uint8Array(survey.blocks.length), confidence: 1 - choice.expectedF1, source: 'nothing', choice };
  }
  const { probabilities, expectedF1 } = choice;
  const isSmall = survey.words[0]! < MIN_SCORED_WORDS;
  if (isSmall || expectedF1 < MIN_EXPECTED_F1 || !choice.keep.includes(1)) {
    let outside = blocksOutsideBoilerplate(survey, boilerplate);
    if (isSmall) {
      outside = overrule(survey, outside, probabilities);
      completeUnits(survey, outside, boilerplate, probabilities);
    }
    return { keep: outside, confidence: expectedF1Of(survey, probabilities, outside), source: 'container', choice };
  }
  const keep = Uint8Array.from(choice.keep);
  fillWithin(survey, keep, boilerplate, choice);
  keepLead(survey, keep, boilerplate, choice);
  keepPosts(survey, keep, choice);
  keepPrice(survey, keep, boilerplate, choice);
  completeUnits(survey, keep, boilerplate, probabilities);
  if (likelyList(choice)) completeRecords(survey, keep, boilerplate, choice);
  return { keep, confidence: expectedF1, source: 'main', choice };
}

/** Elements that hold a part of a list, a table or a figure. */
const ITEMS = new Set(['li', 'dt', 'dd', 'td', 'th', 'tr', 'figcaption', 'caption']);

/** Applies the estimates of which the trees are sure. Returns the choice unchanged if nothing would remain of it. */
function overrule(survey: Survey, keep: Uint8Array, probabilities: Float32Array): Uint8Array {
  const probable = new Int32Array(keep.length + 1);
  for (let at = 0; at < keep.length; at++)
    probable[at + 1] = probable[at]! + (probabilities[at]! >= PROBABLE_CONTENT ? 1 : 0);
  const isBesideContent = (at: number) => {
    let box = survey.blocks[at]!.owner;
    while (box > 0 && ITEMS.has(survey.elements[box]!.name)) box = survey.parent[box]!;
    box = survey.parent[box]!;
    return box >= 0 && probable[survey.endBlock[box]!]! > probable[survey.firstBlock[box]!]!;
  };
  const changed = keep.map((kept, at) => {
    const p = probabilities[at]!;
    if (p >= SURE_CONTENT) return 1;
    if (p >= SURE_BOILERPLATE || (p >= SURE_BOILERPLATE_WITHIN && isBesideContent(at))) return kept;
    return 0;
  });
  return changed.includes(1) ? changed : keep;
}

/**
 * The blocks outside the boilerplate, without buttons. Boilerplate is found by landmarks and names; if too little
 * remains, by landmarks alone; otherwise all blocks are returned.
 */
function blocksOutsideBoilerplate(survey: Survey, boilerplate: Uint8Array): Uint8Array {
  const isEnough = (keep: Uint8Array) => {
    let words = 0;
    let hasTitle = false;
    for (let at = 0; at < keep.length; at++) {
      if (!keep[at]) continue;
      const { owner, words: own } = survey.blocks[at]!;
      words += own;
      hasTitle ||= survey.elements[owner]!.name === 'h1';
    }
    return words >= survey.words[0]! * MIN_OUTSIDE_SHARE || (hasTitle && words >= MIN_TITLED_WORDS);
  };
  let keep = keepOutsideBoilerplate(survey, boilerplate);
  if (!isEnough(keep)) keep = keepOutsideBoilerplate(survey, findBoilerplate(survey, false));
  if (!isEnough(keep)) keep.fill(1);
  return withoutButtons(survey, keep);
}
