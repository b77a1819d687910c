/**
 * Selects the content of a page: completes and checks the choice of the trees, and uses a fallback if the choice is
 * poor.
 */

import type { Survey } from '../blocks/survey.ts';
import type { PageFacts } from '../trees/features.ts';
import { FITTED_KINDS } from '../trees/page-features.ts';
import { findBoilerplate, isAllBoilerplate, keepOutsideBoilerplate } from './boilerplate.ts';
import { type Choice, chooseBlocks, expectedF1Of, type FittedTrees } from './choose-blocks.ts';
import { completeRecords, completeUnits, withoutButtons } from './units.ts';

export interface Selection {
  /** 1 for each block of the survey that is content. */
  keep: Uint8Array;
  /** Expected F1 over words. */
  confidence: number;
  source: 'main' | 'container' | 'nothing';
  /** What the trees chose; null for a page that is too large to score. */
  choice: Choice | null;
}

/** A choice with a lower expected F1 is not trusted. */
const MIN_EXPECTED_F1 = 0.15;
/** A page with fewer words is too small to score, and so short that everything except boilerplate is returned. */
const MIN_SCORED_WORDS = 150;
/** Class names are trusted only if at least this share of the words is outside the boilerplate that they mark. */
const MIN_OUTSIDE_SHARE = 0.2;

/** Larger pages are not scored: the features of their blocks would fill the memory of a thread. */
const MAX_BLOCKS = 30_000;
const MAX_ELEMENTS = 150_000;

const LISTING = FITTED_KINDS.indexOf('listing');
const COLLECTION = FITTED_KINDS.indexOf('collection');
/** Minimum probability at which a page counts as a list. */
const MIN_LIST_PROBABILITY = 0.5;

const likelyList = ({ kinds }: Choice): boolean => kinds[LISTING]! + kinds[COLLECTION]! >= MIN_LIST_PROBABILITY;

/**
 * Selects the content. Measurements pass a `fitted` other than the bundled one. Keeps at least one block of every page
 * that is more than boilerplate.
 */
export function selectContent(survey: Survey, facts: PageFacts, fitted?: FittedTrees): Selection {
  const boilerplate = findBoilerplate(survey, true);
  if (survey.blocks.length > MAX_BLOCKS || survey.elements.length > MAX_ELEMENTS) {
    return { keep: blocksOutsideBoilerplate(survey, boilerplate), confidence: 0, source: 'container', choice: null };
  }
  const choice = chooseBlocks(survey, facts, fitted);
  if (isAllBoilerplate(survey)) {
    return { keep: new Uint8Array(survey.blocks.length), confidence: 1 - choice.expectedF1, source: 'nothing', choice };
  }
  const { probabilities, expectedF1 } = choice;
  if (survey.words[0]! < MIN_SCORED_WORDS || expectedF1 < MIN_EXPECTED_F1 || !choice.keep.includes(1)) {
    const outside = blocksOutsideBoilerplate(survey, boilerplate);
    return { keep: outside, confidence: expectedF1Of(survey, probabilities, outside), source: 'container', choice };
  }
  const keep = Uint8Array.from(choice.keep);
  completeUnits(survey, keep, boilerplate, probabilities);
  if (likelyList(choice)) completeRecords(survey, keep, boilerplate, choice);
  return { keep, confidence: expectedF1, source: 'main', choice };
}

/**
 * The blocks outside the boilerplate, without buttons. Boilerplate is found by landmarks and names; if too little
 * remains, by landmarks alone; otherwise all blocks are returned.
 */
function blocksOutsideBoilerplate(survey: Survey, boilerplate: Uint8Array): Uint8Array {
  const isEnough = (keep: Uint8Array) => {
    let words = 0;
    for (let at = 0; at < keep.length; at++) if (keep[at]) words += survey.blocks[at]!.words;
    return words >= survey.words[0]! * MIN_OUTSIDE_SHARE;
  };
  let keep = keepOutsideBoilerplate(survey, boilerplate);
  if (!isEnough(keep)) keep = keepOutsideBoilerplate(survey, findBoilerplate(survey, false));
  if (!isEnough(keep)) keep.fill(1);
  return withoutButtons(survey, keep);
}
