/**
 * Determines the reading order: cuts a page's segments into regions, each read from top to bottom. Consecutive bands
 * (segments side by side) with a common free vertical strip are columns; a segment across the strip is its own region.
 * The left side of a strip is read before the right side.
 */
import { alignedTable, isRunningText } from './aligned.ts';
import type { Inset, Line, Segment } from './lines.ts';
import { lineOf } from './runs.ts';

/** Lines and insets that are read in sequence. */
export interface Region {
  readonly x0: number;
  readonly x1: number;
  readonly items: readonly (Line | InsetSegment)[];
}

export interface InsetSegment extends Segment {
  readonly inset: Inset;
}

export const isInset = (item: Segment): item is InsetSegment => item.inset !== undefined;

interface Band {
  readonly segments: readonly Segment[];
  /** Free horizontal intervals between its segments. */
  readonly strips: readonly Interval[];
  readonly top: number;
  readonly bottom: number;
}

export interface Interval {
  readonly from: number;
  readonly to: number;
}

const MAX_DEPTH = 40;
/** Segments that overlap vertically by more than this, in multiples of the font size, are side by side. */
const MIN_OVERLAP = 0.15;
/** Lines that end this close to the edge of a column, in multiples of the font size, belong to it. */
const COLUMN_EDGE = 3;
/** Time limit, after which a page with many gaps is simply read from top to bottom. */
const MAX_CUTTING_MS = 2_000;

export interface RegionOptions {
  /** Size of body text on the page. */
  readonly bodySize: number;
}

/** The regions in reading order. */
export function toRegions(segments: readonly Segment[], { bodySize }: RegionOptions): Region[] {
  const regions: Region[] = [];
  const todo: { readonly segments: readonly Segment[]; readonly depth: number }[] = [{ segments, depth: 0 }];
  const stopAt = performance.now() + MAX_CUTTING_MS;
  for (let next = todo.pop(); next; next = todo.pop()) {
    const { depth } = next;
    const parts =
      depth < MAX_DEPTH && performance.now() < stopAt
        ? cut(next.segments, bodySize)
        : [{ segments: next.segments, whole: true }];
    if (parts.length === 1 && parts[0]!.whole) regions.push(regionOf(parts[0]!.segments));
    else todo.push(...parts.reverse().map((part) => ({ segments: part.segments, depth: depth + 1 })));
  }
  return regions.filter(({ items }) => items.length > 0);
}

interface Part {
  readonly segments: readonly Segment[];
  /** Whether the part needs no further splitting. */
  readonly whole: boolean;
}

/** Number of runs examined before a part of a page counts as having neither columns nor tables. */
const MAX_TRIES = 24;
const MAX_BANDS = 1_200;

function cut(segments: readonly Segment[], bodySize: number): Part[] {
  const bands = toBands(segments);
  const runs: Run[] = [];
  const below = extentsFrom(bands);
  for (let at = 0; at < bands.length && bands.length <= MAX_BANDS; at++) {
    const run = runFrom({ bands, below }, at, bodySize);
    if (run) runs.push(run);
  }
  runs.sort((one, two) => two.both - one.both || two.start - one.start);
  for (const found of runs.slice(0, MAX_TRIES)) {
    const run = trimmed(bands, extended(bands, found, bodySize), bodySize);
    const inside = bands.slice(run.start, run.end);
    const all = inside.flatMap((band) => band.segments);
    const typed = isTyped(all);
    const outside = (from: number, to: number): Part => ({
      segments: bands.slice(from, to).flatMap((band) => band.segments),
      whole: false,
    });
    const table = alignedTable(all, bodySize, { typed });
    if (table) {
      const rest = [...outside(0, run.start).segments, ...table, ...outside(run.end, bands.length).segments];
      return [{ segments: rest, whole: false }];
    }
    if (typed || !isProse(inside, run.gutter)) continue;
    const middle = (run.gutter.from + run.gutter.to) / 2;
    return [
      outside(0, run.start),
      { segments: all.filter(({ x0 }) => x0 < middle), whole: false },
      { segments: all.filter(({ x0 }) => x0 >= middle), whole: false },
      outside(run.end, bands.length),
    ].filter((part) => part.segments.length > 0);
  }
  return [{ segments, whole: true }];
}

/** Whether most text is monospaced. Columns in code were aligned by its author, and remain code unless they are numbers. */
function isTyped(segments: readonly Segment[]): boolean {
  const typed = segments.filter(({ pieces }) => pieces.length > 0 && pieces.every(({ style }) => style.mono)).length;
  return typed > 0.8 * segments.length;
}

export function toBands(segments: readonly Segment[]): Band[] {
  const bands: { segments: Segment[]; top: number; bottom: number }[] = [];
  for (const segment of segments.toSorted((one, two) => one.top - two.top || one.x0 - two.x0)) {
    const band = bands[bands.length - 1];
    if (band && segment.top < band.bottom - MIN_OVERLAP * segment.size) {
      band.segments.push(segment);
      band.bottom = Math.max(band.bottom, segment.bottom);
    } else bands.push({ segments: [segment], top: segment.top, bottom: segment.bottom });
  }
  return bands.map((band) => ({ ...band, strips: freeStrips(band.segments) }));
}

/** The free intervals between segments, including the margins left and right of all. */
export function freeStrips(segments: readonly Segment[]): Interval[] {
  const strips: Interval[] = [];
  let from = Number.NEGATIVE_INFINITY;
  for (const { x0, x1 } of segments.toSorted((one, two) => one.x0 - two.x0)) {
    if (x0 > from) strips.push({ from, to: x0 });
    from = Math.max(from, x1);
  }
  strips.push({ from, to: Number.POSITIVE_INFINITY });
  return strips;
}

const common = (one: readonly Interval[], two: readonly Interval[], atLeast: number): Interval[] => {
  const out: Interval[] = [];
  for (let a = 0, b = 0; a < one.length && b < two.length; ) {
    const from = Math.max(one[a]!.from, two[b]!.from);
    const to = Math.min(one[a]!.to, two[b]!.to);
    if (to - from >= atLeast) out.push({ from, to });
    if (one[a]!.to < two[b]!.to) a += 1;
    else b += 1;
  }
  return out;
};

/** Minimum width of the gutter between columns, in multiples of the font size. */
const MIN_GUTTER = 0.85;

interface Run {
  readonly start: number;
  readonly end: number;
  readonly gutter: Interval;
  /** Number of bands with text on both sides of the strip. */
  readonly both: number;
}

/** How far segments reach: the end of the one that ends first, and the start of the one that starts last. */
interface Extent {
  readonly firstEnd: number;
  readonly lastStart: number;
}

/** For each band, the extent of the segments from there on; one more for what follows the last band. */
function extentsFrom(bands: readonly Band[]): Extent[] {
  const extents: Extent[] = [{ firstEnd: Number.POSITIVE_INFINITY, lastStart: Number.NEGATIVE_INFINITY }];
  for (let at = bands.length - 1; at >= 0; at--) {
    let { firstEnd, lastStart } = extents[extents.length - 1]!;
    for (const { x0, x1 } of bands[at]!.segments) {
      firstEnd = Math.min(firstEnd, x1);
      lastStart = Math.max(lastStart, x0);
    }
    extents.push({ firstEnd, lastStart });
  }
  return extents.reverse();
}

interface Search {
  readonly bands: readonly Band[];
  /** The extent of the bands from each band on. */
  readonly below: readonly Extent[];
}

/** The longest run of bands from `start` with a common free strip and text on both sides. */
function runFrom({ bands, below }: Search, start: number, bodySize: number): Run | null {
  const width = MIN_GUTTER * bodySize;
  let strips: Interval[] = [{ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }];
  let end = start;
  let gutter: Interval | null = null;
  let left = Number.POSITIVE_INFINITY;
  let right = Number.NEGATIVE_INFINITY;
  for (let at = start; at < bands.length; at++) {
    const { segments } = bands[at]!;
    strips = common(strips, bands[at]!.strips, width);
    for (const { x0, x1 } of segments) {
      left = Math.min(left, x0);
      right = Math.max(right, x1);
    }
    const between = strips.filter(({ from, to }) => from > left && to < right);
    if (between.length === 0) {
      if (gutter) break;
      // A gutter can only lie in one of these strips, beside text that is still to come.
      const { firstEnd, lastStart } = below[at + 1]!;
      const mayFollow = strips.some(
        ({ from, to }) =>
          (from > left || Math.max(from, firstEnd) + width <= to) &&
          (to < right || from + width <= Math.min(to, lastStart)),
      );
      if (!mayFollow) break;
      continue;
    }
    if (gutter && isSpanningHeading(bands, at, between, bodySize)) break;
    gutter = between.reduce((best, strip) => (strip.to - strip.from > best.to - best.from ? strip : best));
    end = at + 1;
  }
  if (!gutter) return null;
  const middle = (gutter.from + gutter.to) / 2;
  const both = bands.slice(start, end).filter(({ segments }) => {
    const lefts = segments.filter(({ x0 }) => x0 < middle).length;
    return lefts > 0 && lefts < segments.length;
  }).length;
  return { start, end, gutter, both };
}

/**
 * Extends a run by the lines just above it that are only on the right, where the left column begins with white space.
 */
function extended(bands: readonly Band[], run: Run, bodySize: number): Run {
  let { start } = run;
  while (start > 0) {
    const above = bands[start - 1]!;
    if (bands[start]!.top - above.bottom > 0.6 * bodySize) break;
    if (!above.segments.every(({ x0, size }) => x0 >= run.gutter.to - 1 && size < 1.15 * bodySize)) break;
    start -= 1;
  }
  return { ...run, start };
}

/** Shortens a run by separate lines on the left below both columns, if full-width text follows. */
function trimmed(bands: readonly Band[], run: Run, bodySize: number): Run {
  if (run.end >= bands.length) return run;
  let lastRight = run.end - 1;
  while (lastRight > run.start && bands[lastRight]!.segments.every(({ x0 }) => x0 < run.gutter.to)) lastRight -= 1;
  const left = bands
    .slice(run.start, lastRight + 1)
    .flatMap(({ segments }) => segments.filter(({ x0 }) => x0 < run.gutter.from));
  const edge = Math.max(...left.map(({ x1 }) => x1));
  for (let at = lastRight + 1; at < run.end; at++) {
    if (bands[at]!.top - bands[at - 1]!.bottom < 0.8 * bodySize) continue;
    // Lines that end where the lines of the column end are part of the column.
    const rest = bands.slice(at, run.end);
    const full = rest.filter(({ segments }) =>
      segments.some(({ x1 }) => x1 > edge - COLUMN_EDGE * bodySize && x1 < edge + bodySize),
    ).length;
    if (rest.length < 2 || full < 0.5 * rest.length) return { ...run, end: at };
  }
  return run;
}

/** A large heading across both columns separates the columns above from those below. */
function isSpanningHeading(
  bands: readonly Band[],
  at: number,
  [strip]: readonly Interval[],
  bodySize: number,
): boolean {
  const { segments } = bands[at]!;
  if (!strip || segments.length !== 1 || segments[0]!.size < 1.15 * bodySize) return false;
  if (segments[0]!.x0 > strip.from) return false;
  const next = bands[at + 1];
  return next?.segments.some(({ x0 }) => x0 >= strip.to) === true;
}

/** Share of the column width from which a line is full. */
const FULL = 0.72;
const MIN_LINES = 3;

/** Whether text on both sides fills its column like running text. */
function isProse(bands: readonly Band[], gutter: Interval): boolean {
  const middle = (gutter.from + gutter.to) / 2;
  const segments = bands.flatMap((band) => band.segments);
  return [segments.filter(({ x0 }) => x0 < middle), segments.filter(({ x0 }) => x0 >= middle)].every((side) => {
    if (side.some(isInset)) return true;
    const rows = new Set(side.map(({ baseline }) => Math.round(baseline)));
    if (rows.size < MIN_LINES) return false;
    if (isRunningText(side.map((segment) => [segment]))) return true;
    const x0 = Math.min(...side.map((segment) => segment.x0));
    const x1 = Math.max(...side.map((segment) => segment.x1));
    const full = side.filter((segment) => segment.x1 - segment.x0 > FULL * (x1 - x0)).length;
    const letters = side.reduce((sum, { pieces }) => sum + pieces.reduce((all, { text }) => all + text.length, 0), 0);
    return full >= 0.5 * rows.size || letters / rows.size >= 24 || rows.size >= 8;
  });
}

/** Segments on one baseline become one line. */
export function regionOf(segments: readonly Segment[]): Region {
  const items: (Line | InsetSegment)[] = [];
  let row: Segment[] = [];
  const close = () => {
    if (row.length > 0) items.push(lineOf(row));
    row = [];
  };
  for (const segment of segments.toSorted((one, two) => one.baseline - two.baseline)) {
    if (isInset(segment)) {
      close();
      items.push(segment);
      continue;
    }
    const before = row[row.length - 1];
    if (before && segment.baseline - row[0]!.baseline > 0.3 * Math.min(before.size, segment.size)) close();
    row.push(segment);
  }
  close();
  const x0 = items.reduce((least, item) => Math.min(least, item.x0), Number.POSITIVE_INFINITY);
  const x1 = items.reduce((most, item) => Math.max(most, item.x1), Number.NEGATIVE_INFINITY);
  return { x0, x1, items };
}

/** A segment that contains an inset instead of text. */
export const insetSegment = (
  { x0, y0, x1, y1 }: { x0: number; y0: number; x1: number; y1: number },
  inset: Inset,
  size: number,
): InsetSegment => ({ x0, x1, top: y0, bottom: y1, baseline: y0 + size, size, pieces: [], inset });

export const boxOfSegments = (segments: readonly Segment[]) => ({
  x0: segments.reduce((least, { x0 }) => Math.min(least, x0), Number.POSITIVE_INFINITY),
  y0: segments.reduce((least, { top }) => Math.min(least, top), Number.POSITIVE_INFINITY),
  x1: segments.reduce((most, { x1 }) => Math.max(most, x1), Number.NEGATIVE_INFINITY),
  y1: segments.reduce((most, { bottom }) => Math.max(most, bottom), Number.NEGATIVE_INFINITY),
});
