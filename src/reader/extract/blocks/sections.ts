/**
 * Sections: for each block of a page, the heading to which it belongs, determined by the box that the heading opens.
 */
import { headingLevel } from './headings.ts';
import type { Survey } from './survey.ts';

export interface Sections {
  /** For each block, the number of its heading; its own number if it is a heading; -1 for none. */
  heading: Int32Array;
  /** For each block, the combined phrases of the headings above it (a mask of PHRASES). */
  headingPhrases: Int32Array;
}

/** Level of a heading without a number, such as `role=heading`. */
const DEFAULT_LEVEL = 3;
/** Maximum depth of the outline; deeper levels are ignored. */
const MAX_DEPTH = 12;

/**
 * A heading's section ends with the nearest box that contains more than the heading, or at the next heading of the same
 * level. A sidebar heading therefore stays inside the sidebar, while the section of a wrapped heading extends beyond
 * the wrapper.
 */
export function findSections(survey: Survey): Sections {
  const { blocks, parent, words, endBlock } = survey;
  const found: Sections = {
    heading: new Int32Array(blocks.length).fill(-1),
    headingPhrases: new Int32Array(blocks.length),
  };
  const open: { block: number; end: number; level: number }[] = [];
  for (let at = 0; at < blocks.length; at++) {
    const { owner, words: own, phrases } = blocks[at]!;
    while (open.length > 0 && open[open.length - 1]!.end <= at) open.pop();
    const level = levelOf(survey, owner);
    if (level > 0) {
      while (open.length > 0 && open[open.length - 1]!.level >= level) open.pop();
      let box = parent[owner]!;
      while (box > 0 && words[box]! <= own) box = parent[box]!;
      if (open.length < MAX_DEPTH) open.push({ block: at, end: box < 0 ? blocks.length : endBlock[box]!, level });
    }
    const under = open[open.length - 1];
    if (!under) continue;
    found.heading[at] = under.block;
    found.headingPhrases[at] = under.block === at ? phrases : found.headingPhrases[under.block]!;
    if (under.block === at && open.length > 1)
      found.headingPhrases[at]! |= found.headingPhrases[open[open.length - 2]!.block]!;
  }
  return found;
}

function levelOf({ elements }: Survey, owner: number): number {
  const element = elements[owner]!;
  const level = headingLevel(element.name);
  if (level > 0) return level;
  for (const { name, value } of element.attributes) if (name === 'role' && value === 'heading') return DEFAULT_LEVEL;
  return 0;
}
