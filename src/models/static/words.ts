/**
 * Splits a text into the words of the built-in model: normalizes it (compatibility forms, lower case, Arabic and Hebrew
 * marks), splits it at everything but letters, marks and numbers, and separates runs of scripts that are written
 * without spaces. The rules are those of the model's `tokenizer.json`.
 */
import { limitCombiningMarks } from '../tokenizers/tokenizer.ts';

export interface WordVisitor {
  /** A run is a part of a word in a script without spaces. */
  word(text: string, isRun: boolean): void;
}

const FLAG = {
  /** Part of a word. */
  word: 1,
  /** Character of a script without spaces between words. */
  run: 2,
  /** Arabic or Hebrew character that is removed or replaced. */
  folded: 4,
  /** Set on every classified character. */
  known: 128,
} as const;

const RUN = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/;
const RUNS = new RegExp(`${RUN.source}+`, 'g');
// Tatweel and vowel marks.
const REMOVED = /[\u0640\u064b-\u065f\u0670\u0591-\u05bd]/g;
const ALEFS = /[\u0623\u0625\u0622\u0671]/g;
const FOLDED = /[\u0640\u064b-\u065f\u0670\u0591-\u05bd\u0623\u0625\u0622\u0671\u0649]/;

/** Flags of all code units, filled lazily. */
const flags = new Uint8Array(65_536);

/** Maximum length of text without a white space that is normalized at once. A longer word is split here. */
const MAX_UNITS = 2 ** 16;
/** Normalization sorts combining marks in quadratic time, which does not matter in a short text. */
const MARKS_MATTER_FROM = 512;
const ASCII = /^[\0-\x7f]*$/;

/** Visits the words of a text in steps. */
export class WordWalk {
  /** Offset in the text up to which its words were visited. */
  at = 0;
  readonly #text: string;
  readonly #visitor: WordVisitor;

  constructor(text: string, visitor: WordVisitor) {
    this.#text = text;
    this.#visitor = visitor;
  }

  /** Advances by about `units`. Returns true at the end of the text. */
  step(units: number): boolean {
    const text = this.#text;
    const from = this.at;
    this.at = text.length - from <= units ? text.length : boundaryAfter(text, from, units);
    const part = from === 0 && this.at === text.length ? text : text.slice(from, this.at);
    visitWords(normalized(part), this.#visitor);
    return this.at === text.length;
  }
}

/** Returns a position at which the text can be cut without changing its words, if there is one. */
function boundaryAfter(text: string, from: number, units: number): number {
  for (let at = from + units; at > from; at--) if (isBoundary(text.charCodeAt(at - 1))) return at;
  const end = Math.min(text.length, from + Math.max(units, MAX_UNITS));
  for (let at = from + units + 1; at <= end; at++) if (isBoundary(text.charCodeAt(at - 1))) return at;
  const isPair = end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00;
  return isPair ? end + 1 : end;
}

/** White space, control characters, and ideographic space, comma and full stop. */
const isBoundary = (unit: number): boolean => unit <= 0x20 || (unit >= 0x3000 && unit <= 0x3002);

function normalized(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const safe = text.length > MARKS_MATTER_FROM ? limitCombiningMarks(text) : text;
  return safe.normalize('NFKC').toLowerCase();
}

function visitWords(text: string, visitor: WordVisitor): void {
  let from = -1;
  let all = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    let own = flags[unit]!;
    let width = 1;
    if (own === 0) {
      if ((unit & 0xf800) === 0xd800) {
        const point = text.codePointAt(at)!;
        own = flagsOf(String.fromCodePoint(point));
        if (point > 0xffff) width = 2;
      } else {
        own = flagsOf(text.charAt(at));
        flags[unit] = own;
      }
    }
    if ((own & FLAG.word) !== 0) {
      if (from < 0) from = at;
      all |= own;
    } else if (from >= 0) {
      visitSpan(text.slice(from, at), all, visitor);
      from = -1;
      all = 0;
    }
    at += width - 1;
  }
  if (from >= 0) visitSpan(text.slice(from), all, visitor);
}

function visitSpan(text: string, all: number, visitor: WordVisitor): void {
  const span =
    (all & FLAG.folded) === 0
      ? text
      : text.replace(REMOVED, '').replace(ALEFS, '\u0627').replaceAll('\u0649', '\u064a');
  if ((all & FLAG.run) === 0) {
    if (span !== '') visitor.word(span, false);
    return;
  }
  let at = 0;
  for (const { 0: run, index } of span.matchAll(RUNS)) {
    if (index > at) visitor.word(span.slice(at, index), false);
    visitor.word(run, true);
    at = index + run.length;
  }
  if (at < span.length) visitor.word(span.slice(at), false);
}

function flagsOf(char: string): number {
  let own: number = FLAG.known;
  if (/[\p{L}\p{M}\p{N}]/u.test(char)) own |= FLAG.word;
  if (RUN.test(char)) own |= FLAG.run;
  if (FOLDED.test(char)) own |= FLAG.folded;
  return own;
}
