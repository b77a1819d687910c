/**
 * Finds kept text that the result already contains: the copy of a part for another screen width, a second list of the
 * same entries, and quotations of posts on the same page.
 */
import { attribute } from '#html/node.ts';
import { headingLevel } from '../blocks/headings.ts';
import { findSignatures } from '../blocks/signatures.ts';
import type { Block, Survey } from '../blocks/survey.ts';

/** Shorter texts, such as names and labels, repeat by chance. */
const MIN_WORDS = 5;
/** In a part with a smaller share of repeated words, a sentence that repeats belongs to the text of the part. */
const MIN_REPEATED_SHARE = 0.5;
/** A single short block, such as a question, introduces what follows it, even if it was listed before. */
const MIN_REPEATED_BLOCKS = 2;
const MIN_REPEATED_WORDS = 20;

/** A repeated command or program is needed in each place. */
const CODE_ELEMENTS = new Set(['pre', 'code', 'samp']);
const QUOTATION_ELEMENTS = new Set(['blockquote', 'q']);
/** Classes of quotations in forums: `bbcode_quote`, `quoteheader`, `bb-quote`, `quoted`. */
const QUOTATION_NAME = /(?:^|[-_ ])(?:bb)?(?:code_?)?quot(?:e|ation)/i;

/**
 * Returns 1 for each kept block that repeats an earlier one, or null if there is none. Siblings with the same structure
 * may repeat each other, like the refrain of a song or the prices of cards.
 */
export function findRepeats(survey: Survey, keep: Uint8Array): Uint8Array | null {
  const originals = findOriginals(survey, keep);
  if (originals.size === 0) return null;
  const signatures = findSignatures(survey);
  const kept = sumBlocks(survey, (at) => keep[at] === 1);
  const repeated = sumBlocks(survey, (at) => originals.has(at));
  const found = new Uint8Array(keep.length);
  for (const [at, original] of originals) {
    const parts = findParts(survey, at, original);
    if (!parts || isWithin(survey, at, parts.part, isCode)) continue;
    const { part, originalPart } = parts;
    const isQuoted = isWithin(survey, at, part, isQuotation) && !isWithin(survey, original, originalPart, isQuotation);
    if (isQuoted || (signatures[part] !== signatures[originalPart] && isCopy(survey, part, kept, repeated)))
      found[at] = 1;
  }
  return found.includes(1) ? found : null;
}

/** For each kept block that repeats an earlier one: the first block with its text. */
function findOriginals({ blocks, elements }: Survey, keep: Uint8Array): Map<number, number> {
  const first = new Map<string, number>();
  const originals = new Map<number, number>();
  for (let at = 0; at < keep.length; at++) {
    const block = blocks[at]!;
    if (!keep[at] || block.words < MIN_WORDS) continue;
    const original = first.get(block.text);
    if (original === undefined) first.set(block.text, at);
    // A block has only the start of a long text.
    else if (
      blocks[original]!.characters === block.characters &&
      blocks[original]!.words === block.words &&
      !(isLink(blocks[original]!) && !isLink(block)) &&
      headingLevel(elements[block.owner]!.name) === 0
    )
      originals.set(at, original);
  }
  return originals;
}

/** Entries of a table of contents are links to the headings and questions that they repeat. */
const isLink = ({ words, linkWords }: Block): boolean => linkWords === words;

interface Sums {
  readonly blocks: Int32Array;
  readonly words: Int32Array;
}

/** By block: number of chosen blocks before it and of their words; the last entries are the sums of all. */
function sumBlocks({ blocks }: Survey, isChosen: (at: number) => boolean): Sums {
  const sums: Sums = { blocks: new Int32Array(blocks.length + 1), words: new Int32Array(blocks.length + 1) };
  for (let at = 0; at < blocks.length; at++) {
    const chosen = isChosen(at);
    sums.blocks[at + 1] = sums.blocks[at]! + (chosen ? 1 : 0);
    sums.words[at + 1] = sums.words[at]! + (chosen ? blocks[at]!.words : 0);
  }
  return sums;
}

/**
 * The largest elements that contain one of two blocks, but not the other. Null if the element of one block contains the
 * other block.
 */
function findParts(survey: Survey, at: number, original: number): { part: number; originalPart: number } | null {
  const own = survey.blocks[at]!.owner;
  const other = survey.blocks[original]!.owner;
  const part = largestWithout(survey, own, other);
  const originalPart = largestWithout(survey, other, own);
  return part < 0 || originalPart < 0 ? null : { part, originalPart };
}

function largestWithout({ parent, end }: Survey, from: number, other: number): number {
  const hasOther = (element: number) => element <= other && other < end[element]!;
  if (hasOther(from)) return -1;
  let at = from;
  while (parent[at]! >= 0 && !hasOther(parent[at]!)) at = parent[at]!;
  return at;
}

function isCopy({ firstBlock, endBlock }: Survey, part: number, kept: Sums, repeated: Sums): boolean {
  const within = (sums: Int32Array) => sums[endBlock[part]!]! - sums[firstBlock[part]!]!;
  const words = within(repeated.words);
  return (
    words >= within(kept.words) * MIN_REPEATED_SHARE &&
    (words >= MIN_REPEATED_WORDS || within(repeated.blocks) >= MIN_REPEATED_BLOCKS)
  );
}

/** Whether an element around a block, at most `part`, fulfills a condition. */
function isWithin(
  survey: Survey,
  block: number,
  part: number,
  fulfills: (survey: Survey, element: number) => boolean,
): boolean {
  for (let at = survey.blocks[block]!.owner; at >= part; at = survey.parent[at]!) if (fulfills(survey, at)) return true;
  return false;
}

const isCode = ({ elements }: Survey, at: number): boolean => CODE_ELEMENTS.has(elements[at]!.name);

function isQuotation({ elements }: Survey, at: number): boolean {
  const element = elements[at]!;
  return QUOTATION_ELEMENTS.has(element.name) || QUOTATION_NAME.test(attribute(element, 'class') ?? '');
}
