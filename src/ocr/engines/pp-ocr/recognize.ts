/**
 * Input and output of the PP-OCR recognition network: cuts out lines at one height, and decodes text from the
 * probabilities (connectionist temporal classification: equal neighbors are one letter, a blank separates them).
 */
import type { OcrLine, OcrWord } from '../../hocr.ts';
import type { Gray } from '../../image/ink.ts';
import { boundsOf } from '../../layout/segments.ts';
import { type Corners, cropCorners, distance, type Point, toChannels } from './picture.ts';
import { spacedWords } from './spacing.ts';

/** Mean and deviation, the same for every channel. */
const HALVES = [0.5, 0.5, 0.5];
/** Minimum width, in pixels. Narrower lines are padded to it, because the network needs some context. */
const MIN_WIDTH = 96;
const MAX_WIDTH = 3_200;
/** Input height of networks since version 3. Exports with a fixed height declare their own. */
export const LINE_HEIGHT = 48;
/** Batch size. Lines of similar length go into the same batch. */
export const LINES_AT_ONCE = 6;
/** Height of letters, as a share of the height of a detected box, which has a margin. */
const LETTERS = 0.72;
/** Minimum height-to-width ratio of text that is considered vertical. */
const UPRIGHT = 1.5;

export interface CutLine {
  readonly corners: Corners;
  readonly picture: Gray;
}

/** Vertical text is rotated to horizontal. */
export function cutLine(gray: Gray, box: Corners, height: number): CutLine {
  const corners = readingCorners(box);
  return { corners, picture: cropCorners(gray, corners, widthOfCut(box, height), height) };
}

const readingCorners = (box: Corners): Corners => (isUpright(box) ? rotateCounterClockwise(box) : box);

/** Width of a line that is cut out at a height of `height` pixels. Batches are made of lines of similar width. */
export function widthOfCut(box: Corners, height: number = LINE_HEIGHT): number {
  const { topLeft, topRight, bottomRight, bottomLeft } = readingCorners(box);
  const long = Math.max(distance(topLeft, topRight), distance(bottomLeft, bottomRight));
  const high = Math.max(distance(topLeft, bottomLeft), distance(topRight, bottomRight));
  return Math.max(1, Math.min(MAX_WIDTH, Math.ceil((height * long) / Math.max(1, high))));
}

const isUpright = ({ topLeft, topRight, bottomLeft }: Corners): boolean =>
  distance(topLeft, bottomLeft) >= UPRIGHT * distance(topLeft, topRight);

/** Rotates by 90 degrees counter-clockwise. */
const rotateCounterClockwise = ({ topLeft, topRight, bottomRight, bottomLeft }: Corners): Corners => ({
  topLeft: topRight,
  topRight: bottomRight,
  bottomRight: bottomLeft,
  bottomLeft: topLeft,
});

export interface RecognitionInput {
  readonly data: Float32Array;
  readonly width: number;
}

/** Builds a batch of lines of one height, padded to the widest with medium gray. */
export function recognitionInput(lines: readonly CutLine[], height: number): RecognitionInput {
  const width = Math.max(MIN_WIDTH, ...lines.map(({ picture }) => picture.width));
  const size = 3 * height * width;
  const data = new Float32Array(lines.length * size);
  for (const [at, { picture }] of lines.entries()) {
    toChannels(picture, HALVES, HALVES, data.subarray(at * size, (at + 1) * size), width);
  }
  return { data, width };
}

export interface Letter {
  readonly text: string;
  readonly confidence: number;
  /** Time step in the network's output. */
  readonly step: number;
}

const widths = new WeakMap<readonly string[], ReadonlyMap<number, number>>();

/**
 * The class of the same digit in its other width, for the classes of digits. The network knows the wide digits of Chinese
 * too, and divides the probability of a lone digit between both.
 */
function otherWidths(dictionary: readonly string[]): ReadonlyMap<number, number> {
  const known = widths.get(dictionary);
  if (known) return known;
  const twins = new Map<number, number>();
  for (let digit = 0; digit < 10; digit++) {
    const [narrow, full] = [dictionary.indexOf(`${digit}`), dictionary.indexOf(String.fromCharCode(0xff10 + digit))];
    if (narrow < 0 || full < 0) continue;
    twins.set(narrow + 1, full + 1);
    twins.set(full + 1, narrow + 1);
  }
  widths.set(dictionary, twins);
  return twins;
}

/**
 * Decodes the letters of one line. Class 0 is the blank, the next classes are the characters of the dictionary, and an
 * additional class is the space.
 */
export function decodeLetters(probabilities: Float32Array, classes: number, dictionary: readonly string[]): Letter[] {
  const letters: Letter[] = [];
  const wide = otherWidths(dictionary);
  let before = 0;
  for (let step = 0; step * classes < probabilities.length; step++) {
    let best = 0;
    for (let index = 1; index < classes; index++) {
      if (probabilities[step * classes + index]! > probabilities[step * classes + best]!) best = index;
    }
    if (best !== 0 && best !== before) {
      const twin = wide.get(best);
      const confidence = probabilities[step * classes + best]! + (twin ? probabilities[step * classes + twin]! : 0);
      letters.push({ text: dictionary[best - 1] ?? ' ', confidence, step });
    }
    before = best;
  }
  return letters;
}

interface Answer {
  readonly letters: readonly Letter[];
  readonly steps: number;
  /** Width of the network's input, including padding. */
  readonly width: number;
}

/** A line with its words and positions; `undefined` if it is blank. */
export function lineOf({ corners, picture }: CutLine, { letters, steps, width }: Answer): OcrLine | undefined {
  /** Start of a step along the line, from 0 to 1. */
  const along = (step: number) => Math.max(0, Math.min(1, ((step / steps) * width) / picture.width));
  const words = spacedWords(picture, letters, (step) => along(step) * picture.width).map(
    (word): OcrWord => ({
      text: word.letters.map(({ text }) => text).join(''),
      box: partOf(corners, word.from / picture.width, word.to / picture.width),
      confidence: meanOf(word.letters),
    }),
  );
  if (words.length === 0) return undefined;
  const size = distance(corners.topLeft, corners.bottomLeft) * LETTERS;
  return { box: boundsOf(words.map(({ box }) => box)), size, words };
}

const meanOf = (letters: readonly Letter[]): number =>
  letters.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, letters.length);

/** The bounding box of a part of a line. */
function partOf({ topLeft, topRight, bottomRight, bottomLeft }: Corners, from: number, to: number) {
  const between = (a: Point, b: Point, part: number) => ({ x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part });
  const points = [from, to].flatMap((part) => [
    between(topLeft, topRight, part),
    between(bottomLeft, bottomRight, part),
  ]);
  const { left, top, right, bottom } = boundsOf(points.map(({ x, y }) => ({ left: x, right: x, top: y, bottom: y })));
  return { left: Math.round(left), top: Math.round(top), right: Math.round(right), bottom: Math.round(bottom) };
}
