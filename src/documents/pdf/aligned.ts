/** Detects tables without ruling lines: rows on one baseline each, with short cells in common columns. */
import { bodyRows } from './body-rows.ts';
import { isChart, labelsOf } from './chart.ts';
import { type Gutter, guttersOf } from './columns.ts';
import type { Box } from './geometry.ts';
import { headLength, headRows } from './head-rows.ts';
import type { Segment } from './lines.ts';
import { boxOfSegments, insetSegment } from './regions.ts';
import type { Table } from './table.ts';
import {
  columnEdges,
  hasValues,
  segmentRows,
  splitAt,
  splitValues,
  type TextLine,
  textOf,
  toTextLines,
} from './text-lines.ts';

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
/** Share of a table's width that a ruling line between rows covers. */
const FULL_WIDTH = 0.9;
/** A line this close to a gutter, in points, is in it. */
const NEAR = 1;
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
  /** The horizontal ruling lines above, in and below the table. */
  readonly rules?: readonly Box[];
  /** Positions where the ruling lines show that columns meet. */
  readonly joints?: readonly number[];
  /** Positions of vertical ruling lines. There may be more columns than they separate. */
  readonly upright?: readonly number[];
  /** Whether the text is monospaced, so that only columns of values are a table. */
  readonly typed?: boolean;
}

/** Returns the table as one inset, with the lines around it; null if the segments are not a table. */
export function alignedTable(
  unsplit: readonly Segment[],
  bodySize: number,
  { rules = [], joints = [], upright = [], typed = false }: AlignedOptions = {},
): Segment[] | null {
  if (unsplit.length < MIN_SEGMENTS || unsplit.some(({ inset }) => inset)) return null;
  const segments = unsplit.flatMap(splitValues);
  const ruled = rules.length > 0;
  const all = segmentRows(segments);
  const width = (all.length >= MANY_ROWS ? NARROW_GUTTER : MIN_GUTTER) * bodySize;
  const find = (rows: readonly (readonly Segment[])[]) =>
    joints.length > 0 ? joints.map(atLine) : withLines(guttersOf(rows, width), upright).slice(0, MAX_COLUMNS);
  const gutters = find(all);
  if (gutters.length === 0 || gutters.length > MAX_COLUMNS) return null;
  const isRow = ({ cells }: TextLine) => cells.length >= MIN_CELLS;
  const everyLine = toTextLines(all, gutters, []);
  const start = ruled ? 0 : everyLine.findIndex(isRow);
  const end = ruled ? all.length : everyLine.findLastIndex(isRow) + 1;
  if (start < 0) return null;
  const between = all.slice(start, end);
  const inner = between.flat();
  const found = find(between);
  const rows = between.map((row) =>
    row.flatMap((segment) => (row.length === 1 && hasWord(segment) ? [segment] : splitAt(segment, found))),
  );
  const strips = mergeColumns(rows, found);
  if (strips.length === 0) return null;
  const lines = toTextLines(rows, strips, levelsOf(rules, boxOfSegments(inner)));
  const cells = intoColumns(lines, strips.length + 1);
  if (isMarked(cells) || (typed && !isListing(lines))) return null;
  if (ruled ? isRunningColumns(cells, lines) : !isTabular(cells, strips.length + 1)) return null;
  const table = tableOf(lines, strips.length + 1, rules);
  // Lines of two columns of text are at different heights. Only between ruling lines can they be lines of one row.
  const counts = ruled
    ? table.rows.map((row) => row.filter(({ lines: text }) => text.length > 0).length)
    : lines.map(({ cells }) => cells.length);
  const full = counts.filter((count) => count >= MIN_CELLS).length;
  if (full < (ruled ? MIN_RULED_ROWS : MIN_ROWS) || full < FULL_ROWS * counts.length) return null;
  return [
    ...all.slice(0, start).flat(),
    insetSegment(boxOfSegments(inner), isChart(table) ? { alt: labelsOf(table) } : { table }, bodySize),
    ...all.slice(end).flat(),
  ];
}

const atLine = (x: number): Gutter => ({ from: x, to: x });

/** Gutters and lines: a line stands for the gutter around it. */
const withLines = (gutters: readonly Gutter[], lines: readonly number[]): Gutter[] =>
  [
    ...gutters.filter(({ from, to }) => !lines.some((x) => x > from - NEAR && x < to + NEAR)),
    ...lines.map(atLine),
  ].sort((one, two) => one.from - two.from);

/** Positions of the lines that cover nearly the whole width of a table. */
const levelsOf = (rules: readonly Box[], { x0, x1 }: Box): number[] =>
  rules.filter((rule) => isFullWidth(rule, x0, x1)).map(({ y0, y1 }) => (y0 + y1) / 2);

const isFullWidth = (rule: Box, x0: number, x1: number): boolean =>
  Math.min(rule.x1, x1) - Math.max(rule.x0, x0) > FULL_WIDTH * (x1 - x0);

function tableOf(lines: readonly TextLine[], columns: number, rules: readonly Box[]): Table {
  const edges = columnEdges(lines, columns);
  const box = { x0: edges[0]!.x0, x1: edges[columns - 1]!.x1 };
  const partial = rules.filter((rule) => !isFullWidth(rule, box.x0, box.x1));
  const length = headLength(lines);
  return {
    ...box,
    rows: [...headRows(lines.slice(0, length), edges, partial), ...bodyRows(lines.slice(length), columns)],
  };
}

/** Signs of code: operators, and punctuation at the end of statements. */
const CODE = /[;{}]\s*$|[=!<>]=|\w\(|\/\/|^\s*[#@]\w/;
/** Minimum share of the rows of monospaced text that have values. */
const LISTED = 0.6;

const isListing = (lines: readonly TextLine[]): boolean =>
  lines.filter(hasValues).length >= Math.max(MIN_ROWS, LISTED * lines.length) &&
  lines.every(({ cells }) => cells.every(({ text }) => !CODE.test(text)));

const hasWord = (segment: Segment): boolean => /\p{L}{3}/u.test(textOf([segment]));

/** Whether the first column has only the markers of a list. */
function isMarked(cells: readonly (readonly (readonly Segment[])[])[]): boolean {
  const markers = cells.flatMap(([first]) => (first!.length > 0 ? [textOf(first!).trim()] : []));
  return (
    markers.length > 0 &&
    markers.every((marker) => /^[^\p{Lu}\p{N}]$/u.test(marker)) &&
    new Set(markers).size <= Math.max(1, markers.length / 2)
  );
}

/** Whether text between two lines is in columns that are read one after the other. */
const isRunningColumns = (cells: readonly (readonly (readonly Segment[])[])[], lines: readonly TextLine[]): boolean =>
  !lines.some(hasValues) &&
  cells[0]!.map((_, at) => cells.map((row) => row[at]!)).filter(isRunningText).length >= MIN_CELLS;

/** Merges columns that are almost never both filled: headers are sometimes offset from their cells. */
function mergeColumns(rows: readonly (readonly Segment[])[], gutters: readonly Gutter[]): Gutter[] {
  const remaining = [...gutters];
  const filled = intoColumns(toTextLines(rows, gutters, []), gutters.length + 1).map((row) =>
    row.map((cell) => cell.length > 0),
  );
  const countOf = (column: number) => filled.filter((row) => row[column]).length;
  for (let at = 0; at < remaining.length; ) {
    const both = filled.some((row) => row[at] && row[at + 1]);
    if (!both && Math.min(countOf(at), countOf(at + 1)) <= Math.max(1, RARELY_FILLED * rows.length)) {
      remaining.splice(at, 1);
      for (const row of filled) row.splice(at, 2, row[at]! || row[at + 1]!);
    } else at += 1;
  }
  return remaining;
}

/** The segments of each line by their first column. */
function intoColumns(lines: readonly TextLine[], columns: number): (readonly Segment[])[][] {
  return lines.map(({ cells }) => {
    const out: (readonly Segment[])[] = Array.from({ length: columns }, () => []);
    for (const { first, segments } of cells) out[first] = segments;
    return out;
  });
}

const lengthOf = (cell: readonly Segment[]): number =>
  cell.reduce((sum, { pieces }) => sum + pieces.reduce((all, { text }) => all + text.length + 1, 0), 0);

function isTabular(cells: readonly (readonly (readonly Segment[])[])[], columns: number): boolean {
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
