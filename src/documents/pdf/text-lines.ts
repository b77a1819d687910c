/** The lines of text of a table, with each text in the columns that it covers. */
import { type Gutter, rangeOf } from './columns.ts';
import type { Piece } from './drawn-content.ts';
import { type Segment, segmentOf } from './lines.ts';
import { boxOfSegments } from './regions.ts';

/** Texts side by side in the same columns. */
export interface Placed {
  readonly first: number;
  readonly last: number;
  readonly segments: readonly Segment[];
  readonly text: string;
}

export interface TextLine {
  readonly cells: readonly Placed[];
  readonly baseline: number;
  readonly size: number;
  /** Number of ruling lines over the whole width that are above it. */
  readonly band: number;
}

/** The largest difference between baselines of one line, in multiples of the font size. */
const SAME_LINE = 0.35;

/** Segments by baseline, from top to bottom, each from left to right. */
export function segmentRows(segments: readonly Segment[]): Segment[][] {
  const rows: Segment[][] = [];
  for (const segment of segments.toSorted((one, two) => one.baseline - two.baseline)) {
    const row = rows[rows.length - 1];
    if (row && segment.baseline - row[0]!.baseline <= SAME_LINE * segment.size) row.push(segment);
    else rows.push([segment]);
  }
  for (const row of rows) row.sort((one, two) => one.x0 - two.x0);
  return rows;
}

/** `levels`: positions of the ruling lines over the whole width, from top to bottom. */
export function toTextLines(
  rows: readonly (readonly Segment[])[],
  gutters: readonly Gutter[],
  levels: readonly number[],
): TextLine[] {
  return rows.map((row) => {
    const cells: { first: number; last: number; segments: Segment[] }[] = [];
    for (const segment of row) {
      const { first, last } = rangeOf(segment, gutters);
      const before = cells[cells.length - 1];
      if (before && first <= before.last) {
        before.segments.push(segment);
        before.last = Math.max(before.last, last);
      } else cells.push({ first, last, segments: [segment] });
    }
    const [{ baseline }] = row as [Segment];
    return {
      cells: cells.map((cell) => ({ ...cell, text: textOf(cell.segments) })),
      baseline,
      size: Math.max(...row.map(({ size }) => size)),
      band: levels.filter((y) => y < baseline - ABOVE_BASELINE).length,
    };
  });
}

/** A ruling line this close above a baseline, in points, is below the text: it underlines it. */
const ABOVE_BASELINE = 1;

export const textOf = (segments: readonly Segment[]): string =>
  segments
    .map(({ pieces }) => pieces.map(({ text, spaced }, at) => (spaced && at > 0 ? ` ${text}` : text)).join(''))
    .join(' ');

/** Values this far apart, in multiples of the font size, are in different columns. */
const VALUE_GAP = 0.4;

/** Splits a segment between values that are further apart than words. */
export function splitValues(segment: Segment): Segment[] {
  const { pieces } = segment;
  const parts: Piece[][] = [];
  pieces.forEach((piece, at) => {
    const before = pieces[at - 1];
    const isFar = before && piece.x0 - before.x1 > VALUE_GAP * piece.size;
    if (!before || (isFar && isValue(before.text) && isValue(piece.text))) parts.push([piece]);
    else parts[parts.length - 1]!.push(piece);
  });
  return parts.length < 2 ? [segment] : parts.map(segmentOf);
}

/** Splits a segment at gutters between two values: a word space may separate the values of two columns. */
export function splitAt(segment: Segment, gutters: readonly Gutter[]): Segment[] {
  const { pieces, x0, x1 } = segment;
  const crossed = gutters.filter(({ from, to }) => x0 < from && x1 > to);
  if (crossed.length === 0 || pieces.length < 2) return [segment];
  const parts: Piece[][] = [[pieces[0]!]];
  for (let at = 1; at < pieces.length; at++) {
    const before = pieces[at - 1]!;
    const piece = pieces[at]!;
    const middle = (before.x1 + piece.x0) / 2;
    const reach = SPLIT_REACH * piece.size;
    const isBorder = crossed.some(({ from, to }) => middle > from - reach && middle < to + reach);
    if (isBorder && isValue(before.text) && isValue(piece.text) && piece.x0 - before.x1 > MIN_SPLIT * piece.size)
      parts.push([piece]);
    else parts[parts.length - 1]!.push(piece);
  }
  return parts.length === 1 ? [segment] : parts.map(segmentOf);
}

/** Distance from the gutter to the gap at which text is split, and smallest gap, in multiples of the font size. */
const SPLIT_REACH = 0.5;
const MIN_SPLIT = 0.12;

export const cellAt = ({ cells }: TextLine, column: number): Placed | undefined =>
  cells.find(({ first, last }) => first <= column && last >= column);

/**
 * Whether a text is a value: a number with its unit or mark, or a sign that stands for a missing one. Three letters in a
 * row make it a word.
 */
export const isValue = (text: string): boolean =>
  text.length > 0 &&
  !PERIOD.test(text) &&
  !LEADER.test(text) &&
  !/\p{L}{3}|\p{L}\s+\p{L}{2}/u.test(text) &&
  (/\d/.test(text) || !/\p{L}{2}/u.test(text));

/** A fiscal or calendar year, a quarter or a half year: the heading of a column. */
const PERIOD = /^\s*(?:FY|CY|Q[1-4]|H[12])(?![\p{L}])/u;

/** Dots that lead the eye to the values. */
const LEADER = /^[\s.·…_]+$/;

/** Whether a line has a value outside the first column. */
export const hasValues = ({ cells }: TextLine): boolean => cells.some(({ first, text }) => first > 0 && isValue(text));

/** The left and right edges of the text of each column. */
export function columnEdges(lines: readonly TextLine[], columns: number): { x0: number; x1: number }[] {
  const inside: Segment[][] = Array.from({ length: columns }, () => []);
  for (const { cells } of lines) {
    for (const { first, last, segments } of cells) if (first === last) inside[first]!.push(...segments);
  }
  return inside.map((segments) => boxOfSegments(segments));
}
