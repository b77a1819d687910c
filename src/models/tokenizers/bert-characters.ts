/**
 * Character classes of BERT's normalizer and pre-tokenizer: dropped, a space, a separate word, or part of a word after
 * folding (lower case, no accents). Characters are classified independently, except for the Greek final sigma.
 */

export const KIND = {
  /** Not classified yet. */
  unknown: 0,
  dropped: 1,
  space: 2,
  /** Part of a word, after folding. */
  letter: 3,
  /** A separate word, after folding. */
  alone: 4,
  /** A capital sigma, whose lower-case form depends on its neighbors. */
  sigma: 5,
  /** Half of a surrogate pair. It is classified together with its other half, and dropped if it is alone. */
  surrogate: 6,
} as const;

export interface BertNormalizer {
  readonly cleanText: boolean;
  readonly splitIdeographs: boolean;
  readonly lowerCase: boolean;
  readonly stripAccents: boolean;
}

export interface BertCharacters {
  /** The class of each code unit. Filled lazily: call `learn` for unknown ones. */
  readonly kinds: Uint8Array;
  /** The fold of each code unit if it is a single unit. Otherwise 0, and the fold is in `longFold`. */
  readonly folds: Uint16Array;
  learn(unit: number): number;
  longFold(unit: number): string;
  /** Classifies a character beyond the Basic Multilingual Plane. */
  beyond(codePoint: number): Character;
  /** The lower-case form of the capital sigma at `at`. */
  sigma(text: string, at: number): string;
}

export interface Character {
  readonly kind: number;
  readonly fold: string;
}

const PUNCTUATION = /^[\p{P}!-/:-@[-`{-~]$/u;
const DROPPED = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu;
const CASED = /[\p{Lu}\p{Ll}\p{Lt}]/u;
const MARKS = /\p{Mn}/gu;
/**
 * Number of characters that are examined on each side of a sigma. Longer runs of apostrophes and similar characters are
 * ignored.
 */
const SIGMA_CONTEXT = 32;
/** Maximum number of cached characters beyond the BMP; only hostile texts contain more. */
const MAX_BEYOND = 20_000;

export function bertCharacters(normalizer: BertNormalizer): BertCharacters {
  const kinds = new Uint8Array(65_536);
  const folds = new Uint16Array(65_536);
  const longFolds = new Map<number, string>();
  const beyond = new Map<number, Character>();
  kinds.fill(KIND.surrogate, 0xd800, 0xe000);

  const cleaned = (text: string) => (normalizer.cleanText ? text.replace(DROPPED, '') : text);

  return {
    kinds,
    folds,
    learn(unit) {
      const { kind, fold } = characterOf(String.fromCharCode(unit), normalizer);
      if (fold.length === 1) folds[unit] = fold.charCodeAt(0);
      else if (fold.length > 1) longFolds.set(unit, fold);
      kinds[unit] = kind;
      return kind;
    },
    longFold: (unit) => longFolds.get(unit) ?? '',
    beyond(codePoint) {
      let character = beyond.get(codePoint);
      if (character === undefined) {
        if (beyond.size >= MAX_BEYOND) beyond.clear();
        character = characterOf(String.fromCodePoint(codePoint), normalizer);
        beyond.set(codePoint, character);
      }
      return character;
    },
    sigma(text, at) {
      // Usually the sigma is within a word, and the next letter decides.
      if (CASED.test(text.charAt(at + 1))) return 'σ';
      const before = cleaned(text.slice(Math.max(0, at - SIGMA_CONTEXT), at));
      const after = cleaned(text.slice(at + 1, at + 1 + SIGMA_CONTEXT));
      return `${before}Σ${after}`.toLowerCase().charAt(before.toLowerCase().length);
    },
  };
}

function characterOf(char: string, { cleanText, splitIdeographs, lowerCase, stripAccents }: BertNormalizer): Character {
  if (cleanText && char.replace(DROPPED, '') === '') return { kind: KIND.dropped, fold: '' };
  if (/\s/u.test(char)) return { kind: KIND.space, fold: '' };
  if (char === 'Σ' && lowerCase) return { kind: KIND.sigma, fold: '' };
  const lower = lowerCase ? char.toLowerCase() : char;
  const fold = stripAccents ? lower.normalize('NFD').replace(MARKS, '') : lower;
  if (fold === '') return { kind: KIND.dropped, fold };
  const alone = PUNCTUATION.test(fold) || (splitIdeographs && isIdeograph(char.codePointAt(0)!));
  return { kind: alone ? KIND.alone : KIND.letter, fold };
}

/** The blocks that BERT treats as Chinese characters, without kana and Hangul. */
function isIdeograph(codePoint: number): boolean {
  return (
    (codePoint >= 0x4e00 && codePoint <= 0x9fff) ||
    (codePoint >= 0x3400 && codePoint <= 0x4dbf) ||
    (codePoint >= 0xf900 && codePoint <= 0xfaff) ||
    (codePoint >= 0x20000 && codePoint <= 0x2a6df) ||
    (codePoint >= 0x2a700 && codePoint <= 0x2ceaf) ||
    (codePoint >= 0x2f800 && codePoint <= 0x2fa1f)
  );
}
