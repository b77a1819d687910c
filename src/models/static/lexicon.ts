/** The words that the built-in model has seen, with their pieces and terms. Most words of a text were seen before. */
import type { Term, TermMaker } from './hashed.ts';
import type { Vocabulary } from './pieces.ts';

/** The mark of a word's start in the vocabulary. A run has none. */
export const WORD_MARK = '\u2581';

/** A word of a text, or a run of a script without spaces. */
export interface Word {
  readonly text: string;
  readonly isRun: boolean;
  readonly ids: readonly number[];
}

export interface Lexicon {
  word(text: string, isRun: boolean): Word;
  /** One term for a word, several for a run. */
  termsOf(word: Word): readonly Term[];
}

/** Longer words are rare; keeping them would allow a caller to fill the memory. */
const MAX_KEPT_UNITS = 32;
/** Maximum number of words in each of the two halves of the cache, some 10 MB together. */
const MAX_HALF = 16_384;

interface KeptWord extends Word {
  terms: readonly Term[] | undefined;
}

export function createLexicon(vocabulary: Vocabulary, terms: TermMaker): Lexicon {
  // When the newer half is full, it becomes the older one, whose words are forgotten unless they are used again.
  let newer = new Map<string, KeptWord>();
  let older = new Map<string, KeptWord>();
  const keep = (word: KeptWord) => {
    if (newer.size >= MAX_HALF) {
      older = newer;
      newer = new Map();
    }
    newer.set(word.text, word);
  };
  return {
    word(text, isRun) {
      const known = newer.get(text);
      if (known) return known;
      const old = older.get(text);
      if (old) {
        keep(old);
        return old;
      }
      const ids = vocabulary.encode(isRun ? text : WORD_MARK + text);
      if (text.length > MAX_KEPT_UNITS) return { text, isRun, ids, terms: undefined } as KeptWord;
      const word: KeptWord = { text: copied(text), isRun, ids, terms: undefined };
      keep(word);
      return word;
    },
    termsOf(word) {
      const kept = word as KeptWord;
      kept.terms ??= kept.isRun ? terms.windows(kept.text) : [terms.word(kept.text)];
      return kept.terms;
    },
  };
}

/** A part of a string refers to the whole string, which would stay in memory with it. */
const copied = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');
