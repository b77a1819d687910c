/** Finds out how a page is turned, by reading the starts of its longest lines with PP-OCR in both possible orientations. */
import type { Corners, Point } from '../engines/pp-ocr/picture.ts';
import { distance } from '../engines/pp-ocr/picture.ts';
import type { OcrLine } from '../hocr.ts';
import type { Rotation } from '../image/prepare.ts';
import { meanOf } from './words.ts';

/** The number of lines that are read first, and in all if the first ones are not clear. */
const FIRST = 3;
const SAMPLE = 6;
/** Only the start of each line is read, because the time grows with its length: as many times as the line is high. */
const START_LENGTH = 12;
/** At this mean confidence, the opposite orientation is not tried. */
const SURE = 0.93;
/** Below this mean confidence, the first lines are read in the opposite orientation before more lines are read. */
const DOUBTFUL = 0.85;
/** The opposite orientation must be this many times as plausible. */
const CLEARLY = 1.2;

export interface Orientation {
  /** Clockwise rotation of the picture as it was given that makes the page upright. */
  readonly turn: Rotation;
  /** Mean confidence of the lines that were read, 0 to 1. */
  readonly confidence: number;
  /** The text of these lines. */
  readonly text: string;
}

const widthOf = ({ topLeft, topRight }: Corners): number => distance(topLeft, topRight);
const heightOf = ({ topLeft, bottomLeft }: Corners): number => distance(topLeft, bottomLeft);

const areaOf = (boxes: readonly Corners[]): number => boxes.reduce((sum, box) => sum + widthOf(box) * heightOf(box), 0);
const isTall = (box: Corners): boolean => heightOf(box) > 1.5 * widthOf(box);

/** Whether most of the text runs up or down. */
export const liesSideways = (boxes: readonly Corners[]): boolean => areaOf(boxes.filter(isTall)) > areaOf(boxes) / 2;

interface Image {
  /** How the image has been turned already. */
  readonly turn: Rotation;
  read(boxes: readonly Corners[]): Promise<readonly (OcrLine | undefined)[]>;
}

/** The first part of a line, at its left or, if it is tall, at its top. */
function startOf(box: Corners): Corners {
  const { topLeft, topRight, bottomRight, bottomLeft } = box;
  const [width, height] = [widthOf(box), heightOf(box)];
  const share = Math.min(1, (START_LENGTH * Math.min(width, height)) / Math.max(width, height));
  const towards = (from: Point, to: Point): Point => ({
    x: from.x + (to.x - from.x) * share,
    y: from.y + (to.y - from.y) * share,
  });
  return isTall(box)
    ? { topLeft, topRight, bottomRight: towards(topRight, bottomRight), bottomLeft: towards(topLeft, bottomLeft) }
    : { topLeft, topRight: towards(topLeft, topRight), bottomRight: towards(bottomLeft, bottomRight), bottomLeft };
}

export async function orientationOf(boxes: readonly Corners[], image: Image): Promise<Orientation> {
  const isSideways = liesSideways(boxes);
  const longest = boxes
    .filter((box) => isTall(box) === isSideways)
    .toSorted((a, b) => Math.max(widthOf(b), heightOf(b)) - Math.max(widthOf(a), heightOf(a)))
    .slice(0, SAMPLE)
    .map(startOf);
  const look = async (turn: Rotation, some: readonly Corners[]): Promise<Orientation> => {
    const lines = (await image.read(some.map((box) => asTurned(box, turn)))).filter((line) => line !== undefined);
    const confidence = lines.reduce((sum, { words }) => sum + meanOf(words), 0) / Math.max(1, some.length);
    const whole = ((image.turn + turn) % 360) as Rotation;
    return { turn: whole, confidence, text: lines.flatMap(({ words }) => words.map(({ text }) => text)).join(' ') };
  };
  const [usual, opposite] = isSideways ? ([90, 270] as const) : ([0, 180] as const);
  const some = longest.slice(0, FIRST);
  const few = await look(usual, some);
  if (few.confidence >= SURE || longest.length === 0) return few;
  if (few.confidence < DOUBTFUL) {
    const turned = await look(opposite, some);
    if (turned.confidence >= SURE && isClearly(turned, few)) return turned;
  }
  const first = longest.length > FIRST ? await look(usual, longest) : few;
  if (first.confidence >= SURE) return first;
  const second = await look(opposite, longest);
  return isClearly(second, first) ? second : first;
}

const isClearly = (one: Orientation, other: Orientation): boolean => one.confidence > CLEARLY * other.confidence;

/** The same box on a page that is turned clockwise: its corners in the direction in which the text then runs. */
function asTurned(box: Corners, turn: Rotation): Corners {
  const { topLeft, topRight, bottomRight, bottomLeft } = box;
  switch (turn) {
    case 0:
      return box;
    case 90:
      return { topLeft: bottomLeft, topRight: topLeft, bottomRight: topRight, bottomLeft: bottomRight };
    case 180:
      return { topLeft: bottomRight, topRight: bottomLeft, bottomRight: topLeft, bottomLeft: topRight };
    case 270:
      return { topLeft: topRight, topRight: bottomRight, bottomRight: bottomLeft, bottomLeft: topLeft };
  }
}
