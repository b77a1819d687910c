/**
 * Finds the comment sections of a page: by names, by microdata, and by headings such as "12 comments". Also tells the
 * text of the comments from the controls around it.
 */
import { attribute, type Element } from '#html/node.ts';
import { PARTS, type Part } from '../blocks/class-words.ts';
import { headingLevel } from '../blocks/headings.ts';
import { phraseMask } from '../blocks/phrases.ts';
import { type Block, INLINE_ELEMENTS, NAMING_ATTRIBUTES, type Survey } from '../blocks/survey.ts';
import { isCommentHeading } from './comment-headings.ts';

/** A comment section as a range of blocks: `endBlock` is one past the last. */
export interface CommentSection {
  firstBlock: number;
  endBlock: number;
  /** Number of the element that contains the section. */
  parent: number;
}

const maskOf = (...parts: Part[]) => parts.reduce((mask, part) => mask | (1 << PARTS.indexOf(part)), 0);
const COMMENT = maskOf('comment');

/** A larger share of the words of a page is not a section of it, except on a thread. */
const MAX_SECTION_SHARE = 0.9;

/** Too large for a section, or single lines, which have such a name as a label of their own. */
const UNSUITABLE_ELEMENTS = new Set(['body', 'p', 'td', 'th', 'figcaption', 'caption', 'label', 'button']);
const CODE_ELEMENTS = new Set(['pre', 'code', 'samp']);
const LANDMARKS = new Set(['footer', 'nav', 'aside', 'main']);

const COMMENT_NAME =
  /comment|kommentar|comentario|koment|reacties|disqus|livefyre|viafoura|hyvor|^respond$|^replies(?:$|[-_])|^yorum|coral[-_](?:talk|stream|thread|embed|comments?)/i;
/**
 * Names with these pieces describe opinion pieces, descriptions in generated references, categories, or the state and
 * the number of comments.
 */
const OTHER_NAME =
  /commentar(?:y|ies|ist)|commentator|doc-?comment|^(?:tsd|has|no|with|without|category|cat|tag|type|format|is|enable|show|hide|allow)[-_]|(?:open|closed|enabled|disabled|allowed|count|counts|counter|number|num|status|link|links|icon|btn|button)$/i;
const MAX_NAME_CHARACTERS = 400;

/**
 * The sections in the order of the page, without those inside other sections. `isThread` tells whether the page is a
 * thread; it is called only if that matters.
 */
export function findCommentSections(survey: Survey, isThread: () => boolean): CommentSection[] {
  const found: CommentSection[] = [];
  const titleAt = findTitleBlock(survey);
  const isSuitable = ({ firstBlock, endBlock }: CommentSection): boolean =>
    endBlock > firstBlock &&
    !(firstBlock <= titleAt && titleAt < endBlock) &&
    (wordsIn(survey, firstBlock, endBlock) <= survey.words[0]! * MAX_SECTION_SHARE || isThread());
  for (let at = 0; at < survey.elements.length; ) {
    const element = survey.elements[at]!;
    if (CODE_ELEMENTS.has(element.name)) {
      at = survey.end[at]!;
      continue;
    }
    const section = sectionAt(survey, at, isSuitable);
    if (section) found.push(section);
    at += 1;
    while (section && at < survey.elements.length && survey.firstBlock[at]! < section.endBlock) at += 1;
  }
  return found;
}

function sectionAt(
  survey: Survey,
  at: number,
  isSuitable: (section: CommentSection) => boolean,
): CommentSection | null {
  const section = hasCommentName(survey, at) ? sectionOf(survey, at) : sectionUnderHeading(survey, at, isSuitable);
  return section && isSuitable(section) ? section : null;
}

const sectionOf = (survey: Survey, at: number): CommentSection => ({
  firstBlock: survey.firstBlock[at]!,
  endBlock: survey.endBlock[at]!,
  parent: Math.max(0, survey.parent[at]!),
});

const wordsIn = ({ blocks, words }: Survey, first: number, end: number): number =>
  (end < blocks.length ? blocks[end]!.wordsBefore : words[0]!) - blocks[first]!.wordsBefore;

/** The block of the first level-1 heading that is not the heading of comments; -1 if there is none. */
function findTitleBlock({ elements, firstBlock, endBlock, blocks }: Survey): number {
  for (let at = 0; at < elements.length; at++) {
    if (elements[at]!.name !== 'h1' || firstBlock[at]! >= endBlock[at]!) continue;
    if (!isCommentHeading(blocks[firstBlock[at]!]!.text)) return firstBlock[at]!;
  }
  return -1;
}

function hasCommentName(survey: Survey, at: number): boolean {
  if ((survey.parts[at]! & COMMENT) === 0) return false;
  const element = survey.elements[at]!;
  const { name } = element;
  if (INLINE_ELEMENTS.has(name) || UNSUITABLE_ELEMENTS.has(name) || headingLevel(name) > 0) return false;
  return namesOf(element).some((word) => COMMENT_NAME.test(word) && !OTHER_NAME.test(word));
}

/** The words of the attributes that describe the purpose of an element, and the name of a custom element. */
function namesOf({ name, attributes }: Element): string[] {
  const words = name.includes('-') ? [name] : [];
  for (const { name: key, value } of attributes) {
    if (key !== 'class' && !NAMING_ATTRIBUTES.has(key)) continue;
    words.push(...value.slice(0, MAX_NAME_CHARACTERS).split(/\s+/));
  }
  return words;
}

/**
 * The section that starts with a heading of comments: the largest suitable element that starts with it, or, if there is
 * only the heading in it, the elements that follow up to the next heading of that level or a landmark.
 */
function sectionUnderHeading(
  survey: Survey,
  at: number,
  isSuitable: (section: CommentSection) => boolean,
): CommentSection | null {
  const level = headingLevel(survey.elements[at]!.name);
  const heading = survey.firstBlock[at]!;
  if (level === 0 || survey.endBlock[at]! !== heading + 1 || !isCommentHeading(survey.blocks[heading]!.text)) {
    return null;
  }
  let box = at;
  for (let above = survey.parent[box]!; above > 0; above = survey.parent[above]!) {
    if (survey.firstBlock[above] !== heading || LANDMARKS.has(survey.elements[above]!.name)) break;
    if (!isSuitable(sectionOf(survey, above))) break;
    box = above;
  }
  const section = sectionOf(survey, box);
  if (section.endBlock > heading + 1) return section;
  const above = survey.parent[box]!;
  for (let next = survey.end[box]!; next < survey.elements.length; next = survey.end[next]!) {
    if (survey.parent[next] !== above || endsSection(survey, next, level)) break;
    section.endBlock = survey.endBlock[next]!;
  }
  return section;
}

function endsSection(survey: Survey, at: number, level: number): boolean {
  if (LANDMARKS.has(survey.elements[at]!.name)) return true;
  const first = survey.firstBlock[at]!;
  if (first >= survey.endBlock[at]!) return false;
  const own = headingLevel(survey.elements[survey.blocks[first]!.owner]!.name);
  return own > 0 && own <= level;
}

/** Parts whose text belongs to controls: answer forms, buttons, share bars, sign-up prompts. */
const CONTROL_PARTS = maskOf('share', 'signup', 'button', 'form', 'pager', 'popup', 'advert', 'search');
/** Parts of a comment. Their names may also contain a word for a control, as in `guest-author`. */
const COMMENT_PARTS = maskOf('content', 'author');
const CONTROL_ELEMENTS = new Set(['form', 'fieldset', 'label', 'button', 'legend']);
/** Number of words of the longest control that is recognized by its phrases. */
const MAX_CONTROL_WORDS = 4;
const CONTROL_PHRASES = phraseMask('share', 'talk', 'go', 'join', 'legal');

/** Whether a block of a comment section is a form, button or prompt rather than the text, author or date of a comment. */
export function isCommentControl(survey: Survey, block: Block, { firstBlock, endBlock }: CommentSection): boolean {
  const { owner, words, linkWords, phrases, text } = block;
  if (isCommentHeading(text)) return false;
  for (let at = owner; at > 0; at = survey.parent[at]!) {
    const [first, end] = [survey.firstBlock[at]!, survey.endBlock[at]!];
    if (first <= firstBlock && end >= endBlock) break;
    const element = survey.elements[at]!;
    const parts = survey.parts[at]!;
    if (CONTROL_ELEMENTS.has(element.name) || attribute(element, 'role') === 'button') return true;
    if ((parts & COMMENT_PARTS) === 0 && (parts & CONTROL_PARTS) !== 0) return true;
  }
  return words <= MAX_CONTROL_WORDS && linkWords * 2 >= words && (phrases & CONTROL_PHRASES) !== 0;
}
