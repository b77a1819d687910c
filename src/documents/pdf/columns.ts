/**
 * Finds the columns of a table without vertical lines. A heading over several columns bridges the gaps between them, so
 * gaps are not intersected: each row votes for its own, and the segments that bridge the chosen ones are set aside.
 */
import type { Segment } from './lines.ts';

export interface Gutter {
  readonly from: number;
  readonly to: number;
}

/** The columns that a segment covers, both included. */
export interface ColumnRange {
  readonly first: number;
  readonly last: number;
}

/** Width of a step of the count over the page, in points, and maximum number of steps. */
const STEP = 0.5;
const MAX_STEPS = 8_000;
/** Number of rows with text across a gutter, as a share of the rows that it separates. */
const MAX_BRIDGED = 0.4;
/** Tolerance where segments touch, in points. */
const TOUCHING = 0.75;

/** The gutters, at least `width` wide, from left to right. */
export function guttersOf(rows: readonly (readonly Segment[])[], width: number): Gutter[] {
  const voted = countedGutters(rows, width, () => true, MAX_BRIDGED);
  if (voted.length === 0) return voted;
  const isInside = (segment: Segment) => !voted.some((gutter) => bridges(segment, gutter));
  // A column that few rows fill looks like a part of a gutter until the bridging segments are gone.
  const exact = countedGutters(rows, width, isInside, 0);
  const lost = voted.filter(({ from, to }) => !exact.some((gutter) => gutter.from < to && gutter.to > from));
  return [...exact, ...lost].sort((one, two) => one.from - two.from);
}

const bridges = ({ x0, x1 }: Segment, { from, to }: Gutter): boolean => x0 < from + TOUCHING && x1 > to - TOUCHING;

function countedGutters(
  rows: readonly (readonly Segment[])[],
  width: number,
  isCounted: (segment: Segment) => boolean,
  maxBridged: number,
): Gutter[] {
  const all = rows.flat();
  const left = all.reduce((least, { x0 }) => Math.min(least, x0), Number.POSITIVE_INFINITY);
  const right = all.reduce((most, { x1 }) => Math.max(most, x1), Number.NEGATIVE_INFINITY);
  if (!(right > left)) return [];
  const step = Math.max(STEP, (right - left) / MAX_STEPS);
  const size = Math.ceil((right - left) / step) + 1;
  const covering = new Int32Array(size + 1);
  const separating = new Int32Array(size + 1);
  const count = (counts: Int32Array, from: number, to: number) => {
    const start = Math.ceil((from - left) / step);
    const end = Math.floor((to - left) / step);
    if (end < start) return;
    counts[start]! += 1;
    counts[end + 1]! -= 1;
  };
  for (const row of rows) {
    const counted = row.filter(isCounted);
    // A row with one text, such as the heading of a group of rows, says nothing about columns.
    if (counted.length === 0 || row.length < 2) continue;
    let end = Number.NaN;
    for (const { x0, x1 } of counted.toSorted((one, two) => one.x0 - two.x0)) {
      count(covering, x0, x1);
      if (x0 > end) count(separating, end, x0);
      end = Number.isNaN(end) ? x1 : Math.max(end, x1);
    }
  }
  const gutters: Gutter[] = [];
  let covers = 0;
  let separates = 0;
  let start = -1;
  for (let at = 0; at <= size; at++) {
    covers += covering[at]!;
    separates += separating[at]!;
    const isFree = at < size && separates > 0 && covers <= maxBridged * separates;
    if (isFree && start < 0) start = at;
    if (isFree || start < 0) continue;
    const gutter = { from: left + (start - 0.5) * step, to: left + (at - 0.5) * step };
    if (gutter.to - gutter.from >= width) gutters.push(gutter);
    start = -1;
  }
  return gutters;
}

/** Text that crosses a ruling line by no more than this, in points, touches it. */
const OVERHANG = 2;

/** The columns that a segment covers: it continues over a gutter only if it crosses all of it. */
export function rangeOf({ x0, x1 }: { x0: number; x1: number }, gutters: readonly Gutter[]): ColumnRange {
  const reach = (gutter: Gutter) => (gutter.to > gutter.from ? TOUCHING : OVERHANG);
  let first = 0;
  while (first < gutters.length && x0 >= middleOf(gutters[first]!) - reach(gutters[first]!)) first += 1;
  let last = first;
  while (last < gutters.length && x1 > gutters[last]!.to + reach(gutters[last]!)) last += 1;
  return { first, last };
}

const middleOf = ({ from, to }: Gutter): number => (from + to) / 2;
