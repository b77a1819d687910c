/**
 * Vertical text in fonts for horizontal text: browsers place each character below the one before. Such characters are
 * turned, as if they were written in a font for vertical text.
 */
import { isUnspaced } from './characters.ts';
import type { RawPiece } from './drawn-content.ts';

/** Distances in multiples of the font size: between characters along the column, and across it. */
const MIN_STEP = -0.7;
const MAX_STEP = 1.6;
const MAX_SHIFT = 0.35;
/** Fonts without metrics for vertical text give characters uneven distances. They are kept in the order of painting. */
const LEAST_STEP = 0.4;
/** Number of characters that make a column, and the share of them among all such characters of a page. */
const MIN_COLUMN = 4;
const MIN_SHARE = 0.6;
/** From the top of a character to its baseline, and from the middle of a column to the baseline of vertical text. */
const ABOVE = 0.88;
const CENTER = 0.35;

export function withVerticalText(pieces: readonly RawPiece[]): readonly RawPiece[] {
  const single = pieces.filter(isSingle);
  const letters = pieces.reduce((sum, { text }) => sum + (isUnspaced(text.slice(0, 1)) ? text.length : 0), 0);
  if (single.length < MIN_COLUMN || single.length < MIN_SHARE * letters) return pieces;
  const columns = columnsOf(single);
  const inColumns = columns.reduce((sum, { length }) => sum + (length < MIN_COLUMN ? 0 : length), 0);
  if (inColumns < MIN_SHARE * letters) return pieces;
  const turned = new Map(columns.flatMap(turn));
  return pieces.map((piece) => turned.get(piece) ?? piece);
}

const isSingle = ({ text }: RawPiece): boolean => text.length === 1 && isUnspaced(text);

function columnsOf(single: readonly RawPiece[]): RawPiece[][] {
  const columns: RawPiece[][] = [];
  for (const piece of single) {
    const column = columns.at(-1);
    if (column && isBelow(column.at(-1)!, piece)) column.push(piece);
    else columns.push([piece]);
  }
  return columns;
}

function isBelow(before: RawPiece, piece: RawPiece): boolean {
  const { size, angle } = piece;
  if (Math.abs(before.angle - angle) > 1 || Math.abs(before.size - size) > 0.05 * size) return false;
  const step = (place(piece, angle).down - place(before, angle).down) / size;
  const shift = Math.abs(place(piece, angle).along - place(before, angle).along);
  return shift < MAX_SHIFT * size && step > MIN_STEP && step < MAX_STEP;
}

function turn(column: readonly RawPiece[]): [RawPiece, RawPiece][] {
  let least = Number.NEGATIVE_INFINITY;
  return column.map((piece) => {
    const { x0, x1, size, angle } = piece;
    const { along, down } = place(piece, angle);
    const start = Math.max(down - ABOVE * size, least);
    least = start + LEAST_STEP * size;
    const middle = along + (x1 - x0) / 2 - CENTER * size;
    const [cos, sin] = directionOf(angle);
    const x = middle * cos - start * sin;
    return [piece, { ...piece, x0: x, x1: x + size, y: middle * sin + start * cos, angle: angle + 90 }];
  });
}

/** The position of a piece along its own direction, and below it. */
function place({ x0, y }: RawPiece, angle: number): { readonly along: number; readonly down: number } {
  const [cos, sin] = directionOf(angle);
  return { along: x0 * cos + y * sin, down: y * cos - x0 * sin };
}

function directionOf(angle: number): readonly [cos: number, sin: number] {
  const radians = (angle * Math.PI) / 180;
  return [Math.cos(radians), Math.sin(radians)];
}
