/**
 * Computes the mask of a text, the union of the masks of its words, without slicing the words out. Masks are cached in
 * a table with a fixed number of slots, and a new word replaces the old one in its slot. No page can therefore make the
 * table grow, and the table retains no page in memory.
 */

const SLOTS = 16_384;
/** Longer words are rare and not cached. */
const MAX_CACHED_CHARACTERS = 40;

const UPPER_Z = 0x5a;

/** Lower-case codes of ASCII letters by character code; 0 for other characters. */
const LETTERS = Uint8Array.from({ length: 0x80 }, (_, code) =>
  /[a-z]/i.test(String.fromCharCode(code)) ? code | 0x20 : 0,
);

const CAMEL_CASE_BORDER = /([a-z])(?=[A-Z])/g;
const NOT_LETTERS = /[^\p{L}©]+/u;

export interface WordReaderOptions {
  /** Whether a capital after a lower-case letter starts a word, as in `navBar`. */
  camelCase: boolean;
  /** The maximum number of UTF-16 code units that are read from a text. */
  maxCharacters: number;
  /** All words that have a mask, if they form a list. Most other words are then skipped by hash alone. */
  words?: () => Iterable<string>;
}

/** Creates a function that maps a text to its mask. `maskOf` receives lower-case words and must be deterministic. */
export function createWordReader(
  maskOf: (word: string) => number,
  { camelCase, maxCharacters, words }: WordReaderOptions,
): (text: string) => number {
  const cached = withCache(maskOf);
  const maskAt = words ? withHashFilter(words, cached) : cached;
  return (text) => {
    let mask = 0;
    const length = Math.min(text.length, maxCharacters);
    for (let at = 0; at < length; ) {
      let unit = text.charCodeAt(at);
      let letter = unit < 0x80 ? LETTERS[unit]! : 0;
      if (unit >= 0x80 && !isSeparator(unit)) return readBeyondAscii(text.slice(0, maxCharacters), maskAt, camelCase);
      if (letter === 0) {
        at++;
        continue;
      }
      const start = at;
      let hash = 0;
      let isCamelCaseBorder = false;
      while (letter !== 0 && !isCamelCaseBorder) {
        hash = (Math.imul(hash, 31) + letter) | 0;
        if (++at >= length) break;
        const wasSmall = letter === unit;
        unit = text.charCodeAt(at);
        letter = unit < 0x80 ? LETTERS[unit]! : 0;
        isCamelCaseBorder = camelCase && wasSmall && letter !== unit;
      }
      mask |= maskAt(text, start, at, hash);
    }
    return mask;
  };
}

/** Whether a non-ASCII character is a space, dash or quotation mark; these separate words too. */
const isSeparator = (unit: number): boolean =>
  (unit >= 0x2000 && unit <= 0x206f) || unit === 0xa0 || unit === 0xab || unit === 0xb7 || unit === 0xbb;

/** The mask of the word at `[start, end)`; `hash` is computed over its lower-cased code units, from 0. */
type MaskAt = (text: string, start: number, end: number, hash: number) => number;

function withCache(maskOf: (word: string) => number): MaskAt {
  const words: string[] = new Array(SLOTS).fill('');
  const hashes = new Int32Array(SLOTS);
  const masks = new Int32Array(SLOTS);
  return (text, start, end, hash) => {
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    if (hashes[slot] === hash && isSame(words[slot]!, text, start, end)) return masks[slot]!;
    const word = copyLowered(text, start, end);
    const mask = maskOf(word);
    if (word.length > MAX_CACHED_CHARACTERS) return mask;
    words[slot] = word;
    hashes[slot] = hash;
    masks[slot] = mask;
    return mask;
  };
}

const HASHES = 65_536;

/** Skips words that are not in the list, using a table of the hashes of the listed words. */
function withHashFilter(words: () => Iterable<string>, maskAt: MaskAt): MaskAt {
  let table: Uint8Array | null = null;
  return (text, start, end, hash) => {
    if (!table) {
      table = new Uint8Array(HASHES);
      for (const word of words()) table[hashOf(word) & (HASHES - 1)] = 1;
    }
    return table[hash & (HASHES - 1)] === 0 ? 0 : maskAt(text, start, end, hash);
  };
}

function hashOf(word: string): number {
  let hash = 0;
  for (let at = 0; at < word.length; at++) hash = (Math.imul(hash, 31) + word.charCodeAt(at)) | 0;
  return hash;
}

function readBeyondAscii(text: string, maskAt: MaskAt, camelCase: boolean): number {
  let mask = 0;
  const spaced = camelCase ? text.replace(CAMEL_CASE_BORDER, '$1-') : text;
  for (const word of spaced.toLowerCase().split(NOT_LETTERS)) {
    if (word === '') continue;
    mask |= maskAt(word, 0, word.length, hashOf(word));
  }
  return mask;
}

function isSame(known: string, text: string, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let at = start, i = 0; at < end; at++, i++) {
    const unit = text.charCodeAt(at);
    if ((unit <= UPPER_Z ? unit + 32 : unit) !== known.charCodeAt(i)) return false;
  }
  return true;
}

/** Builds the word from its characters, because a slice would retain the whole text in memory. */
function copyLowered(text: string, start: number, end: number): string {
  const units: number[] = [];
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    units.push(unit <= UPPER_Z ? unit + 32 : unit);
  }
  return String.fromCharCode(...units);
}
