/** Decides which parts of a page PP-OCR reads too: where digits are at stake, and where Tesseract is unsure or blind. */
import type { Corners } from '../engines/pp-ocr/picture.ts';
import type { OcrBox, OcrPage, OcrWord } from '../hocr.ts';
import { boundsOf } from '../layout/segments.ts';
import { boxOfWords, meanOf } from './words.ts';

/** A part of a detected line, with the words that Tesseract read there. */
export interface Stretch {
  readonly corners: Corners;
  readonly words: readonly OcrWord[];
}

export interface Assigned {
  readonly box: OcrBox;
  readonly corners: Corners;
  readonly words: OcrWord[];
}

/** Words below this confidence are read twice. */
const DOUBTED = 0.9;
/** If the words of a line are less sure on average, the whole line is read twice. */
const DOUBTED_LINE = 0.8;
/** If a larger share of the width of a line is doubted, the whole line is read twice. */
const MOST = 0.5;
/** If a line has no more characters than this, all of it is read twice: it may be a digit taken for a letter. */
const FEW = 3;
/** If Tesseract's words cover a smaller share of a line, it missed some. */
const COVERED = 0.7;
/** Minimum share of a word that is inside a box, and maximum height of a word in multiples of its box. */
const INSIDE = 0.4;
const TALL = 1.8;
/** Margin of a cut around a word, as a share of its height. */
const MARGIN = 0.3;
/** Extra width of a detected line at both ends, as a share of its height, because full stops are cut off otherwise. */
const ENDS = 0.2;

export const boundsOfCorners = ({ topLeft, topRight, bottomLeft, bottomRight }: Corners): OcrBox =>
  boundsOf([topLeft, topRight, bottomLeft, bottomRight].map(({ x, y }) => ({ left: x, right: x, top: y, bottom: y })));

/** Height of the stripes that index boxes, in pixels. */
const STRIPE = 64;

/** Each detected box with the words inside it, from left to right; and the words outside all boxes. */
export function assignWords(
  boxes: readonly Corners[],
  { lines }: OcrPage,
): { lines: Assigned[]; outside: Set<OcrWord> } {
  const assigned = boxes.map((corners): Assigned => ({ box: boundsOfCorners(corners), corners, words: [] }));
  const stripes = new Map<number, Assigned[]>();
  for (const each of assigned) {
    for (let row = Math.floor(each.box.top / STRIPE); row <= Math.floor(each.box.bottom / STRIPE); row++) {
      const list = stripes.get(row);
      if (list) list.push(each);
      else stripes.set(row, [each]);
    }
  }
  const outside = new Set<OcrWord>();
  for (const word of lines.flatMap(({ words }) => words)) {
    const middle = (word.box.top + word.box.bottom) / 2;
    let best: { share: number; line: Assigned } | undefined;
    for (const line of stripes.get(Math.floor(middle / STRIPE)) ?? []) {
      const share = shareInside(word.box, line.box);
      if (share > (best?.share ?? INSIDE)) best = { share, line };
    }
    if (!best) outside.add(word);
    else if (word.box.bottom - word.box.top <= TALL * (best.line.box.bottom - best.line.box.top))
      best.line.words.push(word);
  }
  for (const { words } of assigned) words.sort((a, b) => a.box.left - b.box.left);
  return { lines: assigned, outside };
}

function shareInside(word: OcrBox, box: OcrBox): number {
  const width = Math.min(word.right, box.right) - Math.max(word.left, box.left);
  const height = Math.min(word.bottom, box.bottom) - Math.max(word.top, box.top);
  if (width <= 0 || height <= 0) return 0;
  return (width * height) / Math.max(1, (word.right - word.left) * (word.bottom - word.top));
}

/** Whether a word is read twice: it has digits, Tesseract is unsure, or it is so short that it may be a digit. */
const isAtStake = ({ text, confidence }: OcrWord): boolean =>
  confidence < DOUBTED || /\p{Nd}/u.test(text) || /^[^\p{L}]*[Il|OoSBZgq][^\p{L}]*$/u.test(text.replace(/^I$/, ''));

/** The parts of one line that are read twice. */
export function stretchesOf({ box, corners, words }: Assigned): Stretch[] {
  if (words.length === 0) return [{ corners: widened(corners), words }];
  const height = box.bottom - box.top;
  const width = Math.max(1, box.right - box.left - MARGIN * 2 * height);
  const widthOf = (some: readonly OcrWord[]) => some.reduce((sum, each) => sum + each.box.right - each.box.left, 0);
  const spread = boxOfWords(words);
  const doubted = words.filter(isAtStake);
  const isWhole =
    words.reduce((sum, { text }) => sum + text.length, 0) <= FEW ||
    meanOf(words) < DOUBTED_LINE ||
    (spread.right - spread.left) / width < COVERED ||
    widthOf(doubted) > MOST * (spread.right - spread.left);
  if (isWhole) return [{ corners: widened(corners), words }];
  const runs: OcrWord[][] = [];
  for (const [at, word] of words.entries()) {
    if (!isAtStake(word)) continue;
    if (at > 0 && isAtStake(words[at - 1]!)) runs.at(-1)!.push(word);
    else runs.push([word]);
  }
  return runs.map((run) => ({ corners: cornersAround(run, box), words: run }));
}

/** The corners of the part of a line that some of its words cover. */
function cornersAround(words: readonly OcrWord[], line: OcrBox): Corners {
  const { left, right, top, bottom } = boxOfWords(words);
  const margin = MARGIN * (line.bottom - line.top);
  const [above, below] = [Math.min(top, line.top), Math.max(bottom, line.bottom)];
  const [from, to] = [left - margin * 0.6, right + margin * 0.6];
  return {
    topLeft: { x: from, y: above },
    topRight: { x: to, y: above },
    bottomRight: { x: to, y: below },
    bottomLeft: { x: from, y: below },
  };
}

/** A line that is a little longer at both ends. */
export function widened({ topLeft, topRight, bottomRight, bottomLeft }: Corners): Corners {
  const width = Math.hypot(topRight.x - topLeft.x, topRight.y - topLeft.y) || 1;
  const height = Math.hypot(bottomLeft.x - topLeft.x, bottomLeft.y - topLeft.y);
  const by = (ENDS * height) / width;
  const step = { x: (topRight.x - topLeft.x) * by, y: (topRight.y - topLeft.y) * by };
  const moved = ({ x, y }: { x: number; y: number }, sign: number) => ({ x: x + sign * step.x, y: y + sign * step.y });
  return {
    topLeft: moved(topLeft, -1),
    topRight: moved(topRight, 1),
    bottomRight: moved(bottomRight, 1),
    bottomLeft: moved(bottomLeft, -1),
  };
}
