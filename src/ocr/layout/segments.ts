/** Segments: groups of words in a line that are not separated by a column gap. */
import type { OcrBox, OcrLine, OcrWord } from '../hocr.ts';
import type { OcrTable } from './layout.ts';

export interface Segment {
  readonly box: OcrBox;
  /** Letter size in pixels, as in OcrLine. */
  readonly size: number;
  readonly words: readonly OcrWord[];
  /** Set instead of words: a ruled table, which forms its own line. */
  readonly table?: OcrTable | undefined;
}

/** A wider space between two words, in multiples of the letter size, separates cells or columns. */
const WIDE_SPACE = 1.3;

export const segmentsOf = (lines: readonly OcrLine[]): Segment[] => lines.flatMap(split);

export const textOf = ({ words }: Segment): string =>
  joinTexts(
    words.map(({ text }) => text),
    false,
  );

/** Chinese and Japanese are written without spaces between words, and between words and numbers. */
const SPACELESS_END = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}，：；！？（）]$/u;
const SPACELESS_START = /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}，：；！？（）]/u;
const NUMBER_END = /\d$/;
const NUMBER_START = /^\d/;
const isSpaceless = (before: string, after: string): boolean =>
  SPACELESS_END.test(before)
    ? SPACELESS_START.test(after) || NUMBER_START.test(after)
    : NUMBER_END.test(before) && SPACELESS_START.test(after);
const BROKEN_WORD = /\p{Ll}[-\u00ad\u2010]$/u;

/** Joins words into a line, or lines into a paragraph. A hyphenated word at the end of a line is rejoined. */
export function joinTexts(texts: readonly string[], areLines = true): string {
  const out: string[] = [];
  for (const text of texts) {
    const before = out.at(-1);
    if (before === undefined) out.push(text);
    else if (areLines && BROKEN_WORD.test(before.slice(-2)) && /^\p{Ll}/u.test(text)) {
      out[out.length - 1] = before.slice(0, -1);
      out.push(text);
    } else if (isSpaceless(before.slice(-2), text)) out.push(text);
    else out.push(' ', text);
  }
  return out.join('');
}

function split({ words, size }: OcrLine): Segment[] {
  const segments: Segment[] = [];
  let current: OcrWord[] = [];
  for (const word of words) {
    const before = current.at(-1);
    if (before && spaceBetween(before.box, word.box) > WIDE_SPACE * size) {
      segments.push(segmentOf(current, size));
      current = [];
    }
    current.push(word);
  }
  segments.push(segmentOf(current, size));
  return segments;
}

/** Works for both text directions. */
const spaceBetween = (a: OcrBox, b: OcrBox): number => Math.max(b.left - a.right, a.left - b.right);

const segmentOf = (words: readonly OcrWord[], size: number): Segment => ({
  box: boundsOf(words.map(({ box }) => box)),
  size,
  words,
});

/** Merges adjacent segments into one line. */
export function joinSegments(segments: readonly Segment[]): Segment {
  if (segments.length === 1) return segments[0]!;
  const words = segments.flatMap((segment) => segment.words);
  return segmentOf(words, Math.max(...segments.map(({ size }) => size)));
}

export function boundsOf(boxes: readonly OcrBox[]): OcrBox {
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { left, top, right, bottom } of boxes) {
    bounds.left = Math.min(bounds.left, left);
    bounds.top = Math.min(bounds.top, top);
    bounds.right = Math.max(bounds.right, right);
    bounds.bottom = Math.max(bounds.bottom, bottom);
  }
  return bounds;
}
