/** Determines which runs of delimiters can open and close emphasis (CommonMark 0.31, section 6.2). */

const PUNCTUATION = /[\p{P}\p{S}]/u;

/** Whether a character is an ASCII letter or digit, the most frequent case. */
export const isPlainWord = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39);

/** White space, or the edge of the text (represented by ''). */
export const isSpace = (character: string): boolean =>
  character === '' || character === ' ' || (!isPlainWord(character.charCodeAt(0)) && /\s/.test(character));

export const isPunctuation = (character: string): boolean =>
  !isPlainWord(character.charCodeAt(0)) && PUNCTUATION.test(character);

export interface Flanking {
  readonly opens: boolean;
  readonly closes: boolean;
}

/** Whether a run of `mark` between two characters can open or close emphasis. */
function flanks(mark: string, before: string, after: string): Flanking {
  const left = !isSpace(after) && (!isPunctuation(after) || isSpace(before) || isPunctuation(before));
  const right = !isSpace(before) && (!isPunctuation(before) || isSpace(after) || isPunctuation(after));
  if (mark !== '_') return { opens: left, closes: right };
  return { opens: left && (!right || isPunctuation(before)), closes: right && (!left || isPunctuation(after)) };
}

/**
 * Whether a run can open or close emphasis, as different parsers see it. For a supplementary character, some parsers
 * see surrogate halves, which are not punctuation; others see the character.
 */
export function flankingByParser(mark: string, before: string, after: string): Flanking[] {
  if (!isSurrogate(before) && !isSurrogate(after)) return [flanks(mark, before, after)];
  return variants(before).flatMap((one) => variants(after).map((other) => flanks(mark, one, other)));
}

const variants = (character: string): string[] =>
  isSurrogate(character) && (character.length === 1 || isPunctuation(character)) ? ['!', 'x'] : [character];

const isSurrogate = (character: string): boolean => character >= '\ud800' && character < '\ue000';

/** The first character of a text, with surrogate pairs kept whole; '' for an empty text. */
function firstOf(text: string): string {
  const code = text.codePointAt(0);
  return code === undefined ? '' : code < 0x80 ? text[0]! : String.fromCodePoint(code);
}

/** The last character of a text, with surrogate pairs kept whole; '' for an empty text. */
function lastOf(text: string): string {
  const last = text.at(-1) ?? '';
  const isLow = last >= '\udc00' && last <= '\udfff';
  return isLow && text.length > 1 ? text.slice(-2) : last;
}

/** The character before a piece of a text, and the one after it; empty pieces are skipped. */
export function characterBefore(pieces: readonly string[], at: number): string {
  let index = at - 1;
  while (pieces[index] === '') index -= 1;
  return lastOf(pieces[index] ?? '');
}

export function characterAfter(pieces: readonly string[], at: number): string {
  let index = at + 1;
  while (pieces[index] === '') index += 1;
  return firstOf(pieces[index] ?? '');
}
