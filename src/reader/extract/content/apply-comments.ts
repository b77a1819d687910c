/** Adds the comments of a page to its content, or removes them, as the caller or the kind of the page requires. */
import { isProse, type Survey } from '../blocks/survey.ts';
import { findBoilerplate, keepOutsideBoilerplate } from './boilerplate.ts';
import { type CommentSection, findCommentSections, isCommentControl } from './comments.ts';

export const COMMENT_CHOICES = ['keep', 'drop'] as const;
export type CommentChoice = (typeof COMMENT_CHOICES)[number];

/**
 * Comments are removed without a request only if at least this many words remain. With fewer words, the page may well be
 * about its comments, and a wrong removal would leave almost nothing.
 */
const MIN_ARTICLE_WORDS = 50;

/**
 * Comments with more words than the rest of the choice are the posts of a thread if the trees are this sure that they are
 * content. Mean probability over words.
 */
const MIN_POST_PROBABILITY = 0.85;

/** Number of blocks after a section that are searched for text that continues the text before it. */
const MAX_FOLLOWING_BLOCKS = 20;

/** Parts of comment sections that were removed from the content. */
export interface RemovedComments {
  /** 1 for each block. */
  readonly removed: Uint8Array;
  /** Whether the caller requested it. */
  readonly onRequest: boolean;
  /** The reason, for the explanation. */
  readonly rule: string;
}

interface PageRole {
  /** Whether the page consists of posts. */
  readonly isThread: boolean;
  /** Whether comments are removed if the caller made no choice. */
  readonly mayHaveComments: boolean;
  /** Probability that each block is content. */
  readonly probabilities: Float32Array;
}

/** Applies the choice of the caller to `keep`, in place. Returns null if nothing was removed. */
export function applyComments(
  survey: Survey,
  keep: Uint8Array,
  choice: CommentChoice | undefined,
  roleOf: () => PageRole,
): RemovedComments | null {
  let known: PageRole | undefined;
  // Determined only if there are comments, and before `keep` changes, because the kind of a page depends on it.
  const role = (): PageRole => {
    known ??= roleOf();
    return known;
  };
  const sections = findCommentSections(survey, () => role().isThread);
  if (sections.length === 0) return null;
  if (choice === 'keep') {
    return keepText(survey, keep, sections, role().isThread);
  }
  if (choice === 'drop') return removeSections(survey, keep, sections, true);
  if (!role().mayHaveComments) return null;
  const { probabilities } = role();
  const below = sections.filter((_, at) => !continuesAfter(survey, keep, sections, at));
  return arePosts(survey, keep, below, probabilities) ? null : removeSections(survey, keep, below, false);
}

/**
 * Whether the text around a section goes on after it: the section is then quoted in the text, not below it. The text of
 * other sections is no such text: each of them may be one comment.
 */
function continuesAfter(survey: Survey, keep: Uint8Array, sections: readonly CommentSection[], index: number): boolean {
  const { endBlock, parent } = sections[index]!;
  const end = Math.min(survey.endBlock[parent]!, endBlock + MAX_FOLLOWING_BLOCKS);
  let next = index + 1;
  for (let at = endBlock; at < end; ) {
    const other = sections[next];
    if (other && at >= other.firstBlock) {
      at = Math.max(at, other.endBlock);
      next++;
    } else if (keep[at] && isProse(survey.blocks[at]!)) return true;
    else at++;
  }
  return false;
}

function arePosts(
  { blocks }: Survey,
  keep: Uint8Array,
  sections: readonly CommentSection[],
  probabilities: Float32Array,
): boolean {
  let all = 0;
  let inside = 0;
  let expected = 0;
  for (let at = 0; at < keep.length; at++) if (keep[at]) all += blocks[at]!.words;
  for (const { firstBlock, endBlock } of sections) {
    for (let at = firstBlock; at < endBlock; at++) {
      if (!keep[at]) continue;
      inside += blocks[at]!.words;
      expected += probabilities[at]! * blocks[at]!.words;
    }
  }
  return inside * 2 > all && expected >= MIN_POST_PROBABILITY * inside;
}

function removeSections(
  survey: Survey,
  keep: Uint8Array,
  sections: readonly CommentSection[],
  onRequest: boolean,
): RemovedComments | null {
  const removed = new Uint8Array(keep.length);
  for (const { firstBlock, endBlock } of sections) removed.set(keep.subarray(firstBlock, endBlock), firstBlock);
  if (!removed.includes(1)) return null;
  const rest = keep.map((kept, at) => (kept && !removed[at] ? 1 : 0));
  const remaining = wordsOf(survey, rest);
  if (remaining < MIN_ARTICLE_WORDS && !onRequest) return null;
  if (remaining === 0) {
    // Long comments can be the whole choice on a page with a short article. The article is then what is outside them.
    const outside = keepOutsideBoilerplate(survey, findBoilerplate(survey, true));
    for (const { firstBlock, endBlock } of sections) outside.fill(0, firstBlock, endBlock);
    rest.set(outside);
  }
  if (wordsOf(survey, rest) === 0) return null;
  keep.set(rest);
  return {
    removed,
    onRequest,
    rule: onRequest ? 'comments is drop' : 'comments below an article or a video',
  };
}

function wordsOf({ blocks }: Survey, keep: Uint8Array): number {
  let words = 0;
  for (let at = 0; at < keep.length; at++) if (keep[at]) words += blocks[at]!.words;
  return words;
}

/** Keeps the text of the sections. Controls are removed, except on a thread, where forms may contain the posts. */
function keepText(
  survey: Survey,
  keep: Uint8Array,
  sections: readonly CommentSection[],
  isThread: boolean,
): RemovedComments | null {
  const removed = new Uint8Array(keep.length);
  for (const section of sections) {
    for (let at = section.firstBlock; at < section.endBlock; at++) {
      if (!isCommentControl(survey, survey.blocks[at]!, section)) keep[at] = 1;
      else if (!isThread) {
        removed[at] = keep[at]!;
        keep[at] = 0;
      }
    }
  }
  return removed.includes(1) ? { removed, onRequest: true, rule: 'a form, button or prompt in the comments' } : null;
}
