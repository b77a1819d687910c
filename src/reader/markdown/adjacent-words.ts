/**
 * Finds words that run together in the source but not on the screen: `<span>Price</span><span>19 €</span>` is shown as
 * two words, because style sheets make such elements blocks, columns or cells. External style sheets are not read, so
 * the texts themselves decide.
 */
import { attribute, ELEMENT, type Element, type Text } from '#html/node.ts';

/** Elements that are often laid out as boxes. */
const BOXES = new Set(['a', 'abbr', 'button', 'data', 'font', 'input', 'label', 'output', 'span', 'time']);
/** Elements that mark words in running text; beside a box, they may be boxes too. */
const MARKS = new Set(['b', 'bdi', 'cite', 'em', 'i', 'ins', 'mark', 'q', 's', 'small', 'strong', 'u']);
/** Further levels are not examined. */
const MAX_LEVELS = 12;

const isBox = ({ name }: Element): boolean => BOXES.has(name) || name.includes('-');

/** The text of such an element is not displayed, so authors do not separate it from the next one. */
const isForScreenReaders = (element: Element): boolean =>
  /(?:^|\s)(?:sr-only|visually-?hidden|screen-?reader(?:-text|-only)?)(?:\s|$)/.test(attribute(element, 'class') ?? '');

/** Whether a reader sees white space between two texts that follow each other in the tree. */
export function areSeparateWords(before: Text, after: Text): boolean {
  return areInBoxes(before, after) && isWordBoundary(before.value, after.value);
}

/**
 * Whether the texts are in adjacent elements that may be boxes, without any text between these elements, or whether an
 * empty box is between them.
 */
function areInBoxes(before: Text, after: Text): boolean {
  const right = outermostStart(after);
  let left = right?.prev;
  if (!right || !left) return false;
  const isBeforeBox = right.type === ELEMENT && isBox(right);
  let isEmptyBetween = false;
  while (left.type === ELEMENT && left.first === null && left.prev !== null && isBox(left)) {
    isEmptyBetween = true;
    left = left.prev;
  }
  if (isEmptyBetween) return left === before || (left.type === ELEMENT && isLastIn(before, left));
  if (left.type === ELEMENT && isBox(left) && isForScreenReaders(left)) return isLastIn(before, left);
  if (right.type !== ELEMENT || left.type !== ELEMENT || !isLastIn(before, left)) return false;
  return isBeforeBox ? isBox(left) || MARKS.has(left.name) : isBox(left) && MARKS.has(right.name);
}

/** The text, or the outermost element that starts with it. */
function outermostStart(text: Text): Text | Element | null {
  let found: Text | Element = text;
  for (let level = 0; level < MAX_LEVELS; level++) {
    if (found.prev !== null) return found;
    if (found.parent?.type !== ELEMENT) return null;
    found = found.parent;
  }
  return null;
}

function isLastIn(text: Text, element: Element): boolean {
  if (text.next !== null) return false;
  for (let at = text.parent, level = 0; at?.type === ELEMENT && level < MAX_LEVELS; at = at.parent, level++) {
    if (at === element) return true;
    if (at.next !== null) return false;
  }
  return false;
}

/** Longest part of a text that is examined. */
const MAX_CHARACTERS = 40;
const WORD_BEFORE = /\p{L}[\p{L}\p{M}]*$/u;
const WORD_AFTER = /^\p{L}[\p{L}\p{M}]*/u;
const NUMBER_BEFORE = /\d[\d.,]*$/;
const NUMBER_AFTER = /^\d[\d.,]*/;
/** A number, and the sign after it that may continue it: `1,` and `10:`. */
const OPEN_NUMBER = /\d[.,:]$/;
const SENTENCE_END = /[.,:;!?%)\]»”…]$/;
const CURRENCY = /^[$€£¥₹]/;
const UPPER = /^\p{Lu}/u;
const LOWER = /^\p{Ll}/u;
const ENDS_LOWER = /\p{Ll}$/u;

/**
 * Whether a new word starts between two texts, judged by the characters on both sides. Letters and digits that are
 * animated one by one stay together, and so do units (`5` `km`) and signs of currencies (`US` `$`).
 */
function isWordBoundary(before: string, after: string): boolean {
  const end = before.slice(-MAX_CHARACTERS);
  const start = after.slice(0, MAX_CHARACTERS);
  const left = WORD_BEFORE.exec(end)?.[0] ?? '';
  const right = WORD_AFTER.exec(start)?.[0] ?? '';
  const leftNumber = NUMBER_BEFORE.exec(end)?.[0] ?? '';
  const rightNumber = NUMBER_AFTER.exec(start)?.[0] ?? '';
  if (CURRENCY.test(start)) return leftNumber !== '' || SENTENCE_END.test(end) || left.length > 3;
  if (start.startsWith('(')) return left.length > 1 || leftNumber !== '';
  if (left !== '' && right !== '') return isNewWord(left, right);
  if (left !== '') return rightNumber !== '' && left.length > 2;
  if (OPEN_NUMBER.test(end)) return false;
  if (leftNumber !== '') {
    if (rightNumber !== '') return leftNumber.length > 1 && rightNumber.length > 1;
    return right.length > 2 || (right.length > 1 && UPPER.test(right));
  }
  if (!SENTENCE_END.test(end)) return false;
  // Names of files and hosts: `example.` `org`.
  if (end.endsWith('.')) return right.length > 1 && UPPER.test(right);
  if (end.endsWith(')') && UPPER.test(right)) return true;
  return right.length > 1 || rightNumber !== '';
}

function isNewWord(left: string, right: string): boolean {
  if (left.length < 2 || right.length < 2 || !UPPER.test(right)) return false;
  return ENDS_LOWER.test(left) || LOWER.test(right.slice(1)) || (left.length > 2 && right.length > 2);
}
