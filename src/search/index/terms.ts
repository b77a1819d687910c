/**
 * Text as the terms that are looked up: lower case, without accents, stemmed by language; scripts without spaces as pairs
 * of neighbouring letters. Terms hold letters and digits only, so they stand in any query language as they are.
 */
import { own } from '#own.ts';
import { FUNCTION_WORDS } from './function-words.ts';
import { stem } from './stems.ts';

/** Longer words are cut: nobody types them, and what is that long is often no word at all. */
const MAX_WORD_UNITS = 48;

const UNSPACED =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\u30fc';
// Written as text: the flag for subtraction is newer than the language level of the sources.
const PIECES = new RegExp(`([${UNSPACED}]+)|[[\\p{L}\\p{M}\\p{N}]--[${UNSPACED}]]+`, 'gv');
const ACCENTS = /[\u0300-\u036f]/g;
const PLAIN = /^[\x00-\x7f]*$/;
const HUMP = /(?<=[a-z])(?=[A-Z])/;

export interface Terms {
  /** In the order of the text: phrases can be looked up in them. */
  readonly main: string[];
  /** Other forms under which words may be looked for. */
  readonly also: string[];
}

/** Without accents; letters of scripts whose marks are part of the spelling keep them. */
export const fold = (text: string): string =>
  PLAIN.test(text)
    ? text
    : text
        .normalize('NFD')
        .replace(ACCENTS, '')
        .normalize('NFC')
        .replace(/[ßøœæłđı]/g, (letter) => LETTERS[letter]!);
const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', ø: 'o', œ: 'oe', æ: 'ae', ł: 'l', đ: 'd', ı: 'i' };

/** Compatibility forms fall together with what they stand for, and what that has beside letters and digits goes. */
const composed = (text: string): string => text.normalize('NFKC').toLowerCase().replace(OTHERS, '');
const OTHERS = /[^\p{L}\p{M}\p{N}]+/gu;

const lower = (word: string): string => {
  const cut = word.length > MAX_WORD_UNITS ? word.slice(0, MAX_WORD_UNITS) : word;
  return PLAIN.test(cut) ? cut.toLowerCase() : composed(cut);
};

/** The terms of a text of a page. */
export function termsOf(text: string, language: string | undefined): Terms {
  const main: string[] = [];
  const also: string[] = [];
  for (const [piece, unspaced] of text.matchAll(PIECES)) {
    if (unspaced !== undefined) {
      pushPairs(main, unspaced);
      continue;
    }
    const word = lower(piece);
    const term = fold(stem(word, language));
    // Marks without a letter are no word.
    if (term === '') continue;
    main.push(term);
    if (!PLAIN.test(word)) {
      const other = stem(fold(word), language);
      if (other !== term && other !== '') also.push(other);
    }
    if (HUMP.test(piece)) for (const part of piece.split(HUMP)) also.push(stem(lower(part), language));
  }
  return { main, also };
}

/** Pairs, and the last letter alone, so that each letter begins a term. */
function pushPairs(into: string[], run: string): void {
  const letters = [...composed(run)];
  if (letters.length === 0) return;
  for (let at = 0; at + 1 < letters.length; at++) into.push(letters[at]! + letters[at + 1]!);
  into.push(letters.at(-1)!);
}

/** A place in a query: any of its terms will do. */
export interface Slot {
  readonly terms: readonly string[];
  /** Whether longer terms that begin so will do too. */
  readonly prefix: boolean;
  /** Whether the word is one that nobody searches for alone. */
  readonly common: boolean;
}

/** What is looked up for a query in any of these languages, in order; at most `most` slots. */
export function slotsOf(text: string, languages: readonly string[], most: number): Slot[] {
  const slots: Slot[] = [];
  for (const [piece, unspaced] of text.matchAll(PIECES)) {
    if (slots.length >= most) break;
    if (unspaced !== undefined) {
      const pairs: string[] = [];
      pushPairs(pairs, unspaced);
      if (pairs.length === 0) continue;
      if (pairs.length === 1) slots.push({ terms: pairs, prefix: true, common: false });
      else for (const pair of pairs.slice(0, -1)) slots.push({ terms: [pair], prefix: false, common: false });
      continue;
    }
    const word = lower(piece);
    const terms = new Set<string>();
    for (const language of [...languages, undefined]) {
      terms.add(fold(stem(word, language)));
      terms.add(stem(fold(word), language));
    }
    terms.delete('');
    if (terms.size > 0) slots.push({ terms: [...terms], prefix: false, common: isCommon(word, languages) });
  }
  return slots;
}

/** Terms that may follow each other where slots do. Alternatives are multiplied out where that stays small, else the first is taken. */
export function phrasesOf(slots: readonly Slot[]): string[][] {
  let phrases: string[][] = [[]];
  for (const { terms } of slots) {
    const choices = phrases.length * terms.length > MAX_PHRASES ? terms.slice(0, 1) : terms;
    phrases = phrases.flatMap((phrase) => choices.map((term) => [...phrase, term]));
  }
  return phrases;
}
const MAX_PHRASES = 64;

const commonWords = new Map<string, ReadonlySet<string>>();
function isCommon(word: string, languages: readonly string[]): boolean {
  return languages.some((language) => {
    let words = commonWords.get(language);
    if (!words) {
      words = new Set((own(FUNCTION_WORDS, language) ?? '').split(' ').map(fold));
      commonWords.set(language, words);
    }
    return words.has(fold(word));
  });
}

/**
 * The words as they are written, in lower case and without accents, a space between each two and around all; letters of
 * scripts without spaces stand together.
 */
export function surfaceOf(text: string): string {
  let surface = ' ';
  for (const [piece] of text.matchAll(PIECES)) surface += `${fold(lower(piece))} `;
  return surface;
}

/** Where the words of a text are that have one of these terms, in order. */
export function* placesOf(
  text: string,
  terms: ReadonlySet<string>,
  language: string | undefined,
): Generator<{ readonly start: number; readonly end: number; readonly term: string }> {
  for (const match of text.matchAll(PIECES)) {
    const [piece, unspaced] = match;
    if (unspaced !== undefined) {
      for (let at = 0; at < piece.length; at++) {
        const term = [piece.slice(at, at + 2), piece.slice(at, at + 1)].find((pair) => terms.has(pair));
        if (term !== undefined) yield { start: match.index + at, end: match.index + at + term.length, term };
      }
      continue;
    }
    const word = lower(piece);
    const term = fold(stem(word, language));
    const found = terms.has(term) ? term : [stem(fold(word), language)].find((other) => terms.has(other));
    if (found !== undefined) yield { start: match.index, end: match.index + piece.length, term: found };
  }
}
