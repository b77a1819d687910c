/**
 * Puts the spaces back into a line that PP-OCR has read. The network was trained mostly on Chinese and omits most spaces
 * of other scripts, so they are derived from the gaps between the letters in the picture.
 */
import type { Gray } from '../../image/ink.ts';
import type { Letter } from './recognize.ts';

/** A word, from and to in pixels of the cut-out line. */
export interface SpacedWord {
  readonly letters: readonly Letter[];
  readonly from: number;
  readonly to: number;
}

/**
 * A line of at least `ENOUGH` letters has gaps of two kinds, and the limit is in the middle of the largest jump between
 * them that is at least `JUMP` wide. In shorter lines, and in those without a jump, a gap is a space if it is wider than
 * `TIMES` the usual gap plus `MORE`. The limit is between `LEAST` and `MOST`. All are shares of the height of the line.
 */
const ENOUGH = 8;
const JUMP = 2.5 / 48;
const TIMES = 2.2;
const MORE = 3 / 48;
const LEAST = 6 / 48;
const MOST = 18 / 48;
/** A space that the network read itself needs only this share of that width. */
const READ_SHARE = 0.5;
/** A space next to the decimal sign of a number needs this multiple. */
const NUMBER_TIMES = 1.6;
/** Share of the range of levels, from the background on, from which a pixel is ink. */
const INK_SHARE = 0.4;

/** `step` converts a time step to its position in the picture, in pixels. */
export function spacedWords(picture: Gray, letters: readonly Letter[], at: (step: number) => number): SpacedWord[] {
  const written = letters.filter(({ text }) => text.trim() !== '');
  if (written.length === 0) return [];
  const isInk = inkColumns(picture);
  const centers = written.map(({ step }) => at(step + 0.5));
  const gaps = centers.slice(1).map((center, index) => widestGap(isInk, centers[index]!, center));
  const readSpaces = spacesRead(letters);
  const widths = gaps.map(({ from, to }) => to - from).sort((a, b) => a - b);
  const limit = limitOf(widths, picture.height);
  const words: { letters: Letter[]; from: number; to: number }[] = [];
  const [first, last] = [isInk.indexOf(1), isInk.lastIndexOf(1)];
  for (const [index, letter] of written.entries()) {
    const gap = gaps[index - 1];
    const before = written[index - 1];
    const word = words.at(-1);
    if (word && gap && before && !isSpace(before, letter, gap.to - gap.from, limit, readSpaces.has(letter)))
      word.letters.push(letter);
    else {
      if (word && gap) word.to = gap.from;
      words.push({ letters: [letter], from: gap ? gap.to : Math.max(0, first), to: Math.max(1, last + 1) });
    }
  }
  return words;
}

/** The width from which a gap is a space, in pixels. `widths` are sorted. */
function limitOf(widths: readonly number[], height: number): number {
  const usual = widths[Math.floor(widths.length / 2)] ?? 0;
  let best = { limit: TIMES * usual + MORE * height, jump: JUMP * height };
  for (let at = 1; widths.length >= ENOUGH && at < widths.length; at++) {
    const [below, above] = [widths[at - 1]!, widths[at]!];
    const limit = (below + above) / 2;
    if (above - below > best.jump && limit > Math.max(usual, LEAST * height) && limit < MOST * height)
      best = { limit, jump: above - below };
  }
  return Math.min(MOST * height, Math.max(LEAST * height, best.limit));
}

const SPACELESS = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}，。、；：？！（）]/u;

function isSpace(before: Letter, after: Letter, gap: number, limit: number, wasRead: boolean): boolean {
  if (SPACELESS.test(before.text) || SPACELESS.test(after.text)) return gap > 2 * limit;
  const isInNumber = /[\d.,]/.test(before.text) && /[\d.,]/.test(after.text);
  if (isInNumber) return gap > limit * NUMBER_TIMES;
  return gap > (wasRead ? READ_SHARE * limit : limit);
}

/** The letters that follow a space that the network read. */
function spacesRead(letters: readonly Letter[]): Set<Letter> {
  return new Set(letters.filter((_, index) => letters[index - 1]?.text.trim() === ''));
}

function inkColumns({ pixels, width, height }: Gray): Uint8Array {
  const counts = new Uint32Array(256);
  for (const level of pixels) counts[level]!++;
  const levelAt = (share: number) => {
    let seen = 0;
    for (let level = 0; level < 256; level++) {
      seen += counts[level]!;
      if (seen >= share * pixels.length) return level;
    }
    return 255;
  };
  const [dark, light] = [levelAt(0.02), levelAt(0.9)];
  const limit = light - INK_SHARE * (light - dark);
  const columns = new Uint8Array(width);
  for (let x = 0; x < width; x++) {
    for (let y = 0; y < height; y++) if (pixels[y * width + x]! < limit) columns[x] = 1;
  }
  return columns;
}

/** The widest run without ink between two positions. */
function widestGap(isInk: Uint8Array, start: number, end: number): { from: number; to: number } {
  const middle = Math.round((start + end) / 2);
  let best = { from: middle, to: middle };
  let from = -1;
  const [first, last] = [Math.max(0, Math.floor(start)), Math.min(isInk.length - 1, Math.ceil(end))];
  for (let x = first; x <= last + 1; x++) {
    if (x <= last && isInk[x] === 0) {
      if (from < 0) from = x;
    } else if (from >= 0) {
      if (x - from > best.to - best.from) best = { from, to: x };
      from = -1;
    }
  }
  return best;
}
