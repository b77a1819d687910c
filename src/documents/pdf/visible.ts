/** Filters the pieces of a page to those a person can see. */

import type { DrawnContent, Fill, RawPiece } from './drawn-content.ts';
import { area, containsPoint } from './geometry.ts';
import { withoutRepeats } from './overprint.ts';

const PAPER = '#ffffff';
/** Smallest visible text size, in points. */
const SMALLEST = 1.2;
/** Smallest visible opacity. */
const FAINTEST = 0.04;
/** Largest difference per color channel that is invisible. */
const SAME_COLOR = 10;
/** Height of the center of lower-case letters above the baseline, in multiples of the font size. */
const LETTER_CENTRE = 0.3;
/** Height above the baseline that a fill must cover to hide a letter, in multiples of the font size. */
const COVERED = 0.6;
/** A letter whose center is this far outside a clip, in multiples of the font size, is still partly visible. */
const CLIPPED = 0.4;
/** Tolerance at the sides of clips and fills, in points. */
const EDGE = 0.5;

export interface VisibleText {
  readonly pieces: readonly RawPiece[];
  readonly hidden: number;
}

/**
 * Keeps invisible text over an image, because it is the result of text recognition. Removes text in the color of a
 * known background, and text that is off the page, clipped, too small or painted over.
 */
export function visiblePieces({ pieces, fills, width, height, hiddenLayerCount }: DrawnContent): VisibleText {
  const visible: RawPiece[] = [];
  let hidden = hiddenLayerCount;
  const images = fills.filter(({ image }) => image);
  for (const piece of pieces) {
    const x = (piece.x0 + piece.x1) / 2;
    const y = piece.y - LETTER_CENTRE * piece.size;
    const onPage = x >= 0 && x <= width && y >= 0 && y <= height;
    if (!onPage || piece.size < SMALLEST || !Number.isFinite(piece.size) || !inClip(piece, x, y)) hidden += 1;
    else if (!piece.painted) {
      if (images.some((image) => containsPoint(image, x, y))) visible.push(piece);
      else hidden += 1;
    } else if (piece.opacity < FAINTEST || isLost(piece, fills, x, y)) hidden += 1;
    else visible.push(piece);
  }
  return { pieces: withoutRepeats(visible), hidden };
}

/**
 * Letters are also visible if a clip cuts off up to half of them, since a clip may be drawn tightly around the text.
 */
const inClip = ({ clip, size }: RawPiece, x: number, y: number): boolean =>
  x >= clip.x0 - EDGE && x <= clip.x1 + EDGE && y >= clip.y0 - CLIPPED * size && y <= clip.y1 + CLIPPED * size;

function isLost(piece: RawPiece, fills: readonly Fill[], x: number, y: number): boolean {
  let ground: string | null = PAPER;
  for (const fill of fills) {
    if (!containsPoint(fill, x, y)) continue;
    if (fill.order < piece.order) ground = fill.color;
    else if (fill.color !== null && covers(fill, piece)) return true;
  }
  return piece.color !== null && ground !== null && isSameColor(piece.color, ground);
}

const covers = (fill: Fill, piece: RawPiece): boolean =>
  fill.x0 <= piece.x0 + EDGE &&
  fill.x1 >= piece.x1 - EDGE &&
  fill.y0 <= piece.y - COVERED * piece.size &&
  fill.y1 >= piece.y;

function isSameColor(one: string, two: string): boolean {
  if (one === two) return true;
  const [first, second] = [one, two].map((color) => Number.parseInt(color.slice(1, 7), 16));
  return [16, 8, 0].every((shift) => Math.abs(((first! >> shift) & 255) - ((second! >> shift) & 255)) <= SAME_COLOR);
}

/** The share of the page covered by images, as a sum. */
export const pictureShare = ({ fills, width, height }: DrawnContent): number =>
  fills.reduce((sum, fill) => (fill.image ? sum + area(fill) : sum), 0) / (width * height);
