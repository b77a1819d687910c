/**
 * Converts text to index terms: lower case, without accents, stemmed by language. Scripts without spaces are split into
 * pairs of adjacent letters. Terms consist of letters and digits, so they need no escaping in any query language.
 */
import { ownValue } from '#own-value.ts';
import { FUNCTION_WORDS } from './function-words.ts';
import { guessLanguage, PLAIN } from './guess-language.ts';
import { stem } from './stems.ts';

/** Longer words are truncated, because they are rarely real words. */
const MAX_WORD_UNITS = 48;

const UNSPACED =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\u30fc';
// Built from a string, because the `v` flag is newer than the language level of the sources.
const PIECES = new RegExp(`([${UNSPACED}]+)|[[\\p{L}\\p{M}\\p{N}]--[${UNSPACED}]]+`, 'gv');
const UNSPACED_START = new RegExp(`^[${UNSPACED}]`, 'v');
const ACCENTS = /[\u0300-\u036f]/g;
const HUMP = /(?<=[a-z])(?=[A-Z])/;

export interface Terms {
  /** Terms in the order of the text, so that phrases can be matched. */
  readonly main: string[];
  /** Other forms by which a word can be found. */
  readonly variants: string[];
}

/** Removes accents from Latin letters. Marks that are part of the spelling in other scripts are retained. */
export const fold = (text: string): string =>
  PLAIN.test(text)
    ? text
    : text
        .normalize('NFD')
        .replace(ACCENTS, '')
        .normalize('NFC')
        .replace(/[ßøœæłđı]/g, (letter) => LETTERS[letter]!);
const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', ø: 'o', œ: 'oe', æ: 'ae', ł: 'l', đ: 'd', ı: 'i' };

/** Normalizes compatibility forms (NFKC), and removes everything except letters, marks and digits. */
const composed = (text: string): string => text.normalize('NFKC').toLowerCase().replace(OTHERS, '');
const OTHERS = /[^\p{L}\p{M}\p{N}]+/gu;

const lower = (word: string): string => {
  const cut = word.length > MAX_WORD_UNITS ? word.slice(0, MAX_WORD_UNITS) : word;
  return PLAIN.test(cut) ? cut.toLowerCase() : composed(cut);
};

/**
 * Languages in which a Latin letter without its accent is another letter, and most words exist with several accents.
 * Their terms keep the accents, and a query without accents finds them by their variants.
 */
const ACCENTED: ReadonlySet<string> = new Set(['vi']);

/** The main term of a word in a text, or in a query, of this language. */
const mainTerm = (word: string, language: string | undefined): string =>
  language !== undefined && ACCENTED.has(language) ? word : fold(stem(word, language));

/** The terms of one word. */
interface WordTerms {
  /** Empty for combining marks alone, which are not a word. */
  readonly main: string;
  readonly variants: readonly string[];
}

/** Maximum number of words whose terms are cached for each language. */
const MAX_CACHED = 40_000;

/** The terms of words as they are written in texts of one language. Few words make up most of a text. */
interface CachedTerms {
  known(piece: string): WordTerms | undefined;
  /** Computes the terms of a word that is not known. */
  add(piece: string): WordTerms;
}

const cachedTerms = new Map<string | undefined, CachedTerms>();

function wordTermsOf(language: string | undefined): CachedTerms {
  const cached = cachedTerms.get(language);
  if (cached) return cached;
  let recent = new Map<string, WordTerms>();
  // Words of the last generation that are used again move to the new one, so that frequent words are never forgotten.
  let former = new Map<string, WordTerms>();
  const put = (piece: string, terms: WordTerms) => {
    if (recent.size >= MAX_CACHED / 2) {
      former = recent;
      recent = new Map();
    }
    recent.set(piece, terms);
  };
  const created: CachedTerms = {
    known(piece) {
      const found = recent.get(piece);
      if (found) return found;
      const old = former.get(piece);
      if (old) put(copyOf(piece), old);
      return old;
    },
    add(piece) {
      const terms = computeTerms(piece, language);
      if (piece.length <= MAX_WORD_UNITS) put(copyOf(piece), terms);
      return terms;
    },
  };
  cachedTerms.set(language, created);
  return created;
}

/** A piece is part of a whole page, which a cache must not keep in memory. */
const copyOf = (piece: string): string => Buffer.from(piece).toString();

function computeTerms(piece: string, language: string | undefined): WordTerms {
  const word = lower(piece);
  const main = mainTerm(word, language);
  const variants: string[] = [];
  if (main !== '' && !PLAIN.test(word)) {
    const other = stem(fold(word), language);
    if (other !== main && other !== '') variants.push(other);
  }
  if (main !== '' && HUMP.test(piece)) for (const part of piece.split(HUMP)) variants.push(stem(lower(part), language));
  return { main, variants };
}

/** Returns the index terms of a text. */
export function termsOf(text: string, language: string | undefined): Terms {
  const main: string[] = [];
  const variants: string[] = [];
  const words = wordTermsOf(language);
  // Much faster than `matchAll`, which returns an array for each word.
  for (const piece of text.match(PIECES) ?? []) {
    const known = words.known(piece);
    if (known === undefined && UNSPACED_START.test(piece)) {
      pushPairs(main, piece);
      continue;
    }
    const terms = known ?? words.add(piece);
    if (terms.main === '') continue;
    main.push(terms.main);
    for (const variant of terms.variants) variants.push(variant);
  }
  return { main, variants };
}

/** Adds pairs of adjacent letters, and the last letter by itself, so that a term starts at each letter. */
function pushPairs(into: string[], run: string): void {
  const letters = [...composed(run)];
  if (letters.length === 0) return;
  for (let at = 0; at + 1 < letters.length; at++) into.push(letters[at]! + letters[at + 1]!);
  into.push(letters.at(-1)!);
}

/** A position in a query. A word matches if it has any of its terms. */
export interface Slot {
  readonly terms: readonly string[];
  /** Whether the terms are prefixes, which also match longer terms that start with one of them. */
  readonly prefix: boolean;
  /** Whether the slot represents a function word. */
  readonly common: boolean;
}

/** Returns the slots of a query, stemmed for each of the languages; at most `limit`, in order. */
export function querySlots(text: string, languages: readonly string[], limit: number): Slot[] {
  const slots: Slot[] = [];
  const language = guessLanguage(text);
  const own = language !== undefined && ACCENTED.has(language);
  for (const [piece, unspaced] of text.matchAll(PIECES)) {
    if (slots.length >= limit) break;
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
    for (const other of own && !PLAIN.test(word) ? [language] : [...languages, undefined]) {
      terms.add(mainTerm(word, other));
      if (!own) terms.add(stem(fold(word), other));
    }
    terms.delete('');
    if (terms.size > 0) slots.push({ terms: [...terms], prefix: false, common: isCommon(word, languages) });
  }
  return slots;
}

/**
 * Returns the sequences of terms that match the slots in order. If there are more than MAX_PHRASES sequences, only the
 * first term of each slot is used.
 */
export function phraseAlternatives(slots: readonly Slot[]): string[][] {
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
      words = new Set((ownValue(FUNCTION_WORDS, language) ?? '').split(' ').map(fold));
      commonWords.set(language, words);
    }
    return words.has(fold(word));
  });
}

/**
 * Returns the unstemmed words in lower case and without accents, each surrounded by spaces. Runs of letters in scripts
 * without spaces are not split.
 */
export function surfaceText(text: string): string {
  let surface = ' ';
  for (const [piece] of text.matchAll(PIECES)) surface += `${fold(lower(piece))} `;
  return surface;
}

/** Finds the words in a text that match one of the terms, in order. */
export function* findTerms(
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
    const term = mainTerm(word, language);
    const found = terms.has(term) ? term : [stem(fold(word), language)].find((other) => terms.has(other));
    if (found !== undefined) yield { start: match.index, end: match.index + piece.length, term: found };
  }
}
