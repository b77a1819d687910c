/** Detects tables without ruling lines: rows on one baseline each, with short cells in common columns. */
import type { Segment } from './lines.ts';
import { boxOfSegments, freeStrips, type Interval, insetSegment } from './regions.ts';
import { lineOf } from './runs.ts';
import type { Cell } from './table.ts';

/**
 * Minimum number of rows and columns of a table without ruling lines, and minimum width of its gutters, in multiples of
 * the font size.
 */
const MIN_ROWS = 3;
/** The same minimum values for a table between ruling lines. */
const MIN_RULED_ROWS = 2;
/** A row of a table has at least this many filled cells. */
const MIN_CELLS = 2;
const MIN_SEGMENTS = MIN_RULED_ROWS * MIN_CELLS;
/** Minimum share of rows with several filled cells. */
const FULL_ROWS = 0.55;
/** Minimum share of rows in which a column is filled. A column that is filled less often may belong to its neighbor. */
const RARELY_FILLED = 0.34;
/** The largest difference between baselines of one row, in multiples of the font size. */
const SAME_ROW = 0.35;
/** Tolerance for rounding, in points. */
const ROUNDING = 0.01;
/** Segments with at least this share of numeric cells, or this number of columns, are certainly a table. */
const MANY_NUMERIC = 0.3;
const MANY_TABLE_COLUMNS = 4;
/** A column of running text has more than this share of full lines. */
const FULL_LINES = 0.6;
/** Cells with at most this mean number of letters are not running text. */
const SHORT_CELL = 12;
/**
 * Running text: minimum number of lines, share of lines that continue a sentence, mean number of letters, and share of
 * full lines.
 */
const MIN_TEXT_LINES = 4;
const CONTINUING_LINES = 0.5;
const MIN_LINE_LENGTH = 9;
const FULL_TEXT_LINES = 0.4;
/** Minimum length of a full line, as a share of the longest line. */
const FULL_LINE = 0.8;
/**
 * Largest distance between lines of one cell: as a multiple of the smallest distance between rows, and in multiples of
 * the font size.
 */
const CLOSE_TO_TIGHTEST = 1.15;
const CLOSE_PITCH = 1.6;
const MAX_COLUMNS = 60;
const MIN_GUTTER = 0.6;
/** With at least this many rows, even a narrow gutter is deliberate. */
const MANY_ROWS = 6;
const NARROW_GUTTER = 0.15;
/**
 * Minimum number of letters of a long cell. Table cells are short and rarely fill their column; text columns are the
 * opposite.
 */
const LONG_CELL = 42;

export interface AlignedOptions {
  /** Whether there are ruling lines above and below the table. */
  readonly ruled?: boolean;
}

/** Returns the table as one inset, with the lines around it; null if the segments are not a table. */
export function alignedTable(
  segments: readonly Segment[],
  bodySize: number,
  { ruled = false }: AlignedOptions = {},
): Segment[] | null {
  if (segments.length < MIN_SEGMENTS || segments.some(({ inset }) => inset)) return null;
  const all = toRows(segments);
  const gutters = guttersOf(segments, bodySize);
  if (gutters.length === 0 || gutters.length > MAX_COLUMNS) return null;
  const counts = all.map((row) => intoColumns(row, gutters).filter((cell) => cell.length > 0).length);
  const isRow = (count: number) => count >= MIN_CELLS;
  const start = ruled ? 0 : counts.findIndex(isRow);
  const end = ruled ? all.length : counts.findLastIndex(isRow) + 1;
  const rows = all.slice(start, end);
  const inner = rows.flat();
  const strips = mergeColumns(rows, guttersOf(inner, bodySize).slice(0, MAX_COLUMNS));
  const cells = rows.map((row) => intoColumns(row, strips));
  const full = cells.filter((row) => row.filter((cell) => cell.length > 0).length >= MIN_CELLS).length;
  if (strips.length === 0 || full < (ruled ? MIN_RULED_ROWS : MIN_ROWS) || full < FULL_ROWS * rows.length) return null;
  if (!ruled && !isTabular(cells, strips.length + 1)) return null;
  const table = { rows: joinRows(cells, rows, bodySize) };
  return [
    ...all.slice(0, start).flat(),
    insetSegment(boxOfSegments(inner), { table }, bodySize),
    ...all.slice(end).flat(),
  ];
}

function guttersOf(segments: readonly Segment[], bodySize: number): Interval[] {
  const width = (toRows(segments).length >= MANY_ROWS ? NARROW_GUTTER : MIN_GUTTER) * bodySize;
  return freeStrips(segments).filter(
    ({ from, to }) => Number.isFinite(from) && Number.isFinite(to) && to - from >= width,
  );
}

/** Merges columns that are almost never both filled: headers are sometimes offset from their cells. */
function mergeColumns(rows: readonly (readonly Segment[])[], gutters: readonly Interval[]): Interval[] {
  let remaining = [...gutters];
  for (let at = 0; at < remaining.length; ) {
    const cells = rows.map((row) => intoColumns(row, remaining));
    const filled = (column: number) => cells.filter((row) => row[column]!.length > 0).length;
    const both = cells.some((row) => row[at]!.length > 0 && row[at + 1]!.length > 0);
    if (!both && Math.min(filled(at), filled(at + 1)) <= Math.max(1, RARELY_FILLED * rows.length)) {
      remaining = remaining.filter((_, index) => index !== at);
    } else at += 1;
  }
  return remaining;
}

function toRows(segments: readonly Segment[]): Segment[][] {
  const rows: Segment[][] = [];
  for (const segment of segments.toSorted((one, two) => one.baseline - two.baseline)) {
    const row = rows[rows.length - 1];
    if (row && segment.baseline - row[0]!.baseline <= SAME_ROW * segment.size) row.push(segment);
    else rows.push([segment]);
  }
  return rows;
}

function intoColumns(row: readonly Segment[], gutters: readonly Interval[]): Segment[][] {
  const cells: Segment[][] = Array.from({ length: gutters.length + 1 }, () => []);
  for (const segment of row) {
    const column = gutters.findIndex(({ from }) => segment.x1 <= from + ROUNDING);
    cells[column < 0 ? gutters.length : column]!.push(segment);
  }
  return cells;
}

const lengthOf = (cell: readonly Segment[]): number =>
  cell.reduce((sum, { pieces }) => sum + pieces.reduce((all, { text }) => all + text.length + 1, 0), 0);

function isTabular(cells: readonly (readonly Segment[][])[], columns: number): boolean {
  const lengths = cells.flatMap((row) => row.filter((cell) => cell.length > 0).map(lengthOf));
  if (Array.from({ length: columns }, (_, at) => cells.map((row) => row[at]!)).some(isRunningText)) return false;
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  if (mean > LONG_CELL) return false;
  const numeric = lengths.length > 0 ? cells.flat().filter(isNumeric).length / lengths.length : 0;
  if (numeric > MANY_NUMERIC || columns >= MANY_TABLE_COLUMNS) return true;
  // Columns of running text are filled to their edge, line after line.
  const filled = Array.from({ length: columns }, (_, column) => fillOf(cells.map((row) => row[column]!)));
  return filled.filter((share) => share > FULL_LINES).length < columns || mean < SHORT_CELL;
}

/** Most lines of running text continue in the middle of a sentence; few cells do. */
export function isRunningText(lines: readonly (readonly Segment[])[]): boolean {
  let before = '';
  let continuing = 0;
  let filled = 0;
  let letters = 0;
  for (const line of lines) {
    if (line.length === 0) {
      before = '';
      continue;
    }
    const text = line.flatMap(({ pieces }) => pieces.map((piece) => piece.text)).join('');
    if (before !== '' && /^\p{Ll}/u.test(text) && !/[.!?:]$/.test(before)) continuing += 1;
    before = text;
    filled += 1;
    letters += text.length;
  }
  return (
    filled >= MIN_TEXT_LINES &&
    continuing >= CONTINUING_LINES * filled &&
    letters >= MIN_LINE_LENGTH * filled &&
    fillOf(lines) >= FULL_TEXT_LINES
  );
}

const isNumeric = (cell: readonly Segment[]): boolean =>
  cell.length > 0 &&
  /^[\s(]*[-+−±$€£¥]?[\d.,:%/]+[\s%)]*$/.test(cell.flatMap(({ pieces }) => pieces.map(({ text }) => text)).join(''));

/** The share of lines that are nearly as long as the longest. */
function fillOf(column: readonly (readonly Segment[])[]): number {
  const ends = column
    .filter((cell) => cell.length > 0)
    .map((cell) => ({ x0: cell[0]!.x0, x1: cell[cell.length - 1]!.x1 }));
  if (ends.length === 0) return 0;
  const x0 = Math.min(...ends.map((end) => end.x0));
  const x1 = Math.max(...ends.map((end) => end.x1));
  return ends.filter((end) => end.x1 - end.x0 > FULL_LINE * (x1 - x0)).length / ends.length;
}

/** A row without a first cell, close below another, continues that row's cells. */
function joinRows(
  cells: readonly (readonly Segment[][])[],
  rows: readonly (readonly Segment[])[],
  bodySize: number,
): Cell[][] {
  const pitches = rows.slice(1).map((row, at) => row[0]!.baseline - rows[at]![0]!.baseline);
  const tightest = Math.min(...pitches);
  const joined: { lines: Segment[][] }[][] = [];
  cells.forEach((row, at) => {
    const above = joined[joined.length - 1];
    const continuesRow =
      above !== undefined &&
      row[0]!.length === 0 &&
      pitches[at - 1]! <= Math.min(tightest * CLOSE_TO_TIGHTEST, CLOSE_PITCH * bodySize) &&
      row.every((cell, column) => cell.length === 0 || (above[column]!.lines.length > 0 && !isNumeric(cell)));
    if (continuesRow) {
      row.forEach((cell, column) => {
        if (cell.length > 0) above[column]!.lines.push(cell);
      });
    } else joined.push(row.map((cell) => ({ lines: cell.length > 0 ? [cell] : [] })));
  });
  return joined.map((row, at) =>
    row.map(({ lines }) => ({ lines: lines.map(lineOf), columns: 1, rows: 1, header: at === 0 })),
  );
}
