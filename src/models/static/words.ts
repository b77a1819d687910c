/** Splits a text into words for the built-in model: runs of letters, marks, numbers and underscores. */

export const FLAG = {
  /** Part of a word. */
  word: 1,
  letter: 2,
  latin: 4,
  /** Character of a script without spaces between words. */
  unspaced: 8,
  /** Set on every classified character. */
  known: 128,
} as const;

/** Maximum word length in UTF-16 units; longer words are split. */
export const MAX_WORD_UNITS = 2 ** 16;

export interface WordVisitor {
  /** Called with the start and end of a word, and whether it contains characters of an unspaced script. */
  word(text: string, from: number, to: number, unspaced: boolean): void;
}

/** Visits the words of a text in steps. */
export class WordWalk {
  letters = 0;
  otherLetters = 0;
  readonly #flags: Uint8Array;
  readonly #text: string;
  readonly #visitor: WordVisitor;
  #at = 0;
  #from = -1;
  #all = 0;

  constructor(flags: Uint8Array, text: string, visitor: WordVisitor) {
    this.#flags = flags;
    this.#text = text;
    this.#visitor = visitor;
  }

  /** Advances by about `units`. Returns true at the end of the text. */
  step(units: number): boolean {
    const text = this.#text;
    const until = Math.min(text.length, this.#at + units);
    let at = this.#at;
    while (at < until) {
      const unit = text.charCodeAt(at);
      let flags = this.#flags[unit]!;
      let width = 1;
      if (flags === 0) {
        if (unit >= 0xd800 && unit <= 0xdfff) {
          const codePoint = text.codePointAt(at)!;
          if (codePoint > 0xffff) width = 2;
          flags = flagsOf(String.fromCodePoint(codePoint));
        } else {
          flags = flagsOf(text.charAt(at));
          this.#flags[unit] = flags;
        }
      }
      if ((flags & FLAG.word) !== 0) {
        if (this.#from < 0) this.#from = at;
        this.#all |= flags;
        if ((flags & FLAG.letter) !== 0) {
          this.letters++;
          if ((flags & FLAG.latin) === 0) this.otherLetters++;
        }
        if (at - this.#from >= MAX_WORD_UNITS) this.#end(at + width);
      } else if (this.#from >= 0) {
        this.#end(at);
      }
      at += width;
    }
    this.#at = at;
    if (at < text.length) return false;
    if (this.#from >= 0) this.#end(text.length);
    return true;
  }

  #end(to: number): void {
    this.#visitor.word(this.#text, this.#from, to, (this.#all & FLAG.unspaced) !== 0);
    this.#from = -1;
    this.#all = 0;
  }
}

/** Flags of all code units, filled lazily. */
export const createFlags = (): Uint8Array => new Uint8Array(65_536);

function flagsOf(char: string): number {
  let flags: number = FLAG.known;
  if (/[\p{L}\p{M}\p{N}_]/u.test(char)) flags |= FLAG.word;
  if (/\p{L}/u.test(char)) flags |= FLAG.letter;
  if (/\p{Script=Latin}/u.test(char)) flags |= FLAG.latin;
  if (/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]/.test(char)) flags |= FLAG.unspaced;
  return flags;
}
