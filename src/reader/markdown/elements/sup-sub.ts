/**
 * Superscripts and subscripts. Digits and signs become Unicode superscripts and subscripts, so that x² does not become
 * x2; everything else is written as text.
 */
import { type Element, TEXT } from '#html/node.ts';
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

const handlerFor =
  (characters: ReadonlyMap<string, string>): EnterHandler =>
  (state, element) => {
    if (isFootnoteNumber(state, element)) return SKIP;
    const text = soleText(element);
    if (text === null || text === '') return null;
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
