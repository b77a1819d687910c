/**
 * Superscripts and subscripts. Digits and signs become Unicode superscripts and subscripts, so that x² does not become
 * x2; everything else is written as text. The raised cents of a price are written after a decimal point.
 */
import { type Child, COMMENT, type Element, TEXT, textOf } from '#html/node.ts';
import { type EnterHandler, SKIP } from '../state.ts';
import { isFootnoteNumber } from './footnote.ts';

const SUPERSCRIPTS = new Map([...'0123456789+-−=()n'].map((plain, at) => [plain, [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ'][at]!]));
const SUBSCRIPTS = new Map([...'0123456789+-−=()'].map((plain, at) => [plain, [...'₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎'][at]!]));
const MAX_CHARACTERS = 12;

function soleText(element: Element): string | null {
  const { first } = element;
  return first && first.type === TEXT && !first.next && first.value.length <= MAX_CHARACTERS
    ? first.value.trim()
    : null;
}

const CENTS = /^\d\d$/;
/** Number of parts before and after a superscript that are searched for the number and the sign of its price. */
const MAX_PARTS = 3;
const MAX_PART_CHARACTERS = 40;
/** The end of a price that starts with its sign. A number with decimals has its cents already. */
const SIGN_AND_NUMBER = /[$€£¥₹]\s?(?:\d{1,3}(?:[.,]\d{3})+|\d+)$/;
const WHOLE_NUMBER = /(?:^|[^\d.,])(?:\d{1,3}(?:[.,]\d{3})+|\d+)$/;
const SIGN_AFTER = /^\s?(?:[$€£¥₹]|EUR\b|USD\b|zł|kr\b|Kč)/;

/** The decimal sign to write before a superscript that is the cents of a price; null for any other superscript. */
function decimalSign(element: Element, text: string): '.' | ',' | null {
  if (!CENTS.test(text)) return null;
  const before = textBeside(element, 'prev');
  if (!SIGN_AND_NUMBER.test(before) && !(WHOLE_NUMBER.test(before) && SIGN_AFTER.test(textBeside(element, 'next'))))
    return null;
  return /\d\.\d{3}$/.test(before) ? ',' : '.';
}

function textBeside(element: Element, side: 'prev' | 'next'): string {
  let text = '';
  let node: Child | null = element[side];
  for (let parts = 0; node && parts < MAX_PARTS; node = node[side]) {
    if (node.type === COMMENT) continue;
    const own = textOf(node);
    const part = side === 'prev' ? own.slice(-MAX_PART_CHARACTERS) : own.slice(0, MAX_PART_CHARACTERS);
    text = side === 'prev' ? part + text : text + part;
    parts++;
  }
  return text;
}

const handlerFor =
  (characters: ReadonlyMap<string, string>): EnterHandler =>
  (state, element) => {
    if (isFootnoteNumber(state, element)) return SKIP;
    const text = soleText(element);
    if (text === null || text === '') return null;
    const sign = characters === SUPERSCRIPTS ? decimalSign(element, text) : null;
    if (sign) {
      state.inline.text(sign + text);
      return SKIP;
    }
    let shown = '';
    for (const plain of text) {
      const character = characters.get(plain);
      if (character === undefined) return null;
      shown += character;
    }
    state.inline.text(shown);
    return SKIP;
  };

export const superscript = handlerFor(SUPERSCRIPTS);
export const subscript = handlerFor(SUBSCRIPTS);
