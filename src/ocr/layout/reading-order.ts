/**
 * Splits a page into tables and columns of lines, in reading order. The longest gutter (`gutters.ts`) is searched
 * first: long lines on both sides are text columns, short ones are cells of a table. The parts above, inside and below
 * it are then split in the same way.
 */
import { createGutters, type Gutter } from './gutters.ts';
import type { OcrCell, OcrTable } from './layout.ts';
import { boundsOf, joinSegments, type Segment, textOf } from './segments.ts';

export interface LinesRegion {
  readonly kind: 'lines';
  /** From top to bottom. */
  readonly lines: readonly Segment[];
}

export type Region = LinesRegion | OcrTable;

/** Segments side by side, from left to right. */
type Row = readonly Segment[];

interface Gap {
  readonly left: number;
  readonly right: number;
}

interface Band {
  readonly rows: readonly Row[];
  /** Gaps that all its rows leave free between segments. */
  readonly gaps: readonly Gap[];
}

/** Minimum width of a gap, in multiples of the letter size. */
const GAP = 0.8;
/** Minimum number of lines of a text column. In fewer lines, wide word spaces may be aligned by chance. */
const MIN_LINES = 4;
/** Gaps at least this wide, in multiples of the letter size, are not word spaces. */
const WIDE_GAP = 2;
/** Minimum number of letters of a line of text; cells have fewer. */
const LINE_LENGTH = 18;
/** Cells with fewer letters than this and without neighboring lines are read row by row if they do not form a table. */
const CELL_LENGTH = 8;
/** Minimum vertical distance between rows that separates text from tables, in multiples of the letter size. */
const STRIP = 1.3;
/** Lines of one cell are closer than this share of the row pitch. */
const CLOSER = 0.85;
/** Minimum share of rows that must span several columns for a table above text columns. */
const OVER = 0.75;

export function regionsOf(segments: readonly Segment[]): Region[] {
  const regions: Region[] = [];
  const gutters = createGutters();
  type Part = { readonly kind: 'part'; readonly segments: readonly Segment[] };
  const part = (some: readonly Segment[]): Part => ({ kind: 'part', segments: some });
  const waiting: (Region | Part)[] = [part(segments)];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (next.kind !== 'part') {
      regions.push(next);
      continue;
    }
    if (next.segments.length === 0) continue;
    const gutter = gutters.longest(next.segments);
    if (!gutter) {
      regions.push(asLines(rowsOf(next.segments)));
      continue;
    }
    const pieces = piecesOf(gutter).map((piece) => ('kind' in piece ? piece : part(piece)));
    waiting.push(...[part(gutter.above), ...pieces, part(gutter.below)].reverse());
  }
  return regions;
}

/** Splits both sides of a gutter as a table, as plain lines, or as columns one after the other. */
function piecesOf({ left, right }: Gutter): (Region | readonly Segment[])[] {
  const edge = boundsOf(left.map(({ box }) => box)).right;
  const whole = bandOf(rowsOf([...left, ...right]));
  const strips = stripsOf(whole.rows).map(bandOf);
  if (strips.length === 1) return partsOf(whole);
  if (isTextBand(whole)) return [...outerOf(strips, whole, edge)].flatMap(partsOf);
  const isMixed = new Set(strips.map(isTextBand)).size > 1;
  return (isMixed ? joined(strips) : [whole]).flatMap(partsOf);
}

/**
 * Text columns, separated from the parts that span them at the top or bottom: a table that happens to leave the gutter
 * free, or a running header.
 */
function outerOf(strips: readonly Band[], whole: Band, edge: number): Band[] {
  const body = median(whole.rows.flat().map(({ size }) => size));
  const isHead = ({ rows }: Band) =>
    rows.length === 1 && rows[0]!.every((segment) => segment.size <= body && textOf(segment).length < LINE_LENGTH * 2);
  const isTable = (band: Band) => band.gaps.length > 1 && !isTextBand(band) && isTableOver(edge, band);
  const first = strips.findIndex((strip, at) => !(isTable(strip) || (at === 0 && isHead(strip))));
  const last = strips.findLastIndex((strip) => !isTable(strip));
  if (first < 0) return [...strips];
  const inner = strips.slice(first, last + 1).flatMap(({ rows }) => rows);
  return [...strips.slice(0, first), bandOf(inner), ...strips.slice(last + 1)];
}

/** Whether a band is a table with rows on both sides of an edge, and not a figure next to a table in one column. */
function isTableOver(edge: number, band: Band): boolean {
  const table = tableOf(band)?.find((region) => region.kind === 'table');
  if (!table) return false;
  const isFilled = ({ text }: OcrCell) => text !== '';
  const first = band.gaps.findIndex(({ right }) => right > edge) + 1;
  const over = table.rows.filter((row) => row.slice(0, first).some(isFilled) && row.slice(first).some(isFilled));
  return over.length >= OVER * table.rows.length;
}

function partsOf(band: Band): (Region | readonly Segment[])[] {
  if (band.gaps.length === 0) return [asLines(band.rows)];
  const columns = columnsOf(band);
  if (columns.slice(0, -1).every((column) => column.every(isMark))) return [asLines(band.rows)];
  if (isTextBand(band)) return columns;
  const table = columns.flat().some((segment) => segment.table) ? undefined : tableOf(band);
  if (table) return table;
  const hasLines = columns.some((column) => lengthOf(column) >= LINE_LENGTH);
  const hasCells = columns.some((column) => lengthOf(column) < CELL_LENGTH);
  const isLong = columns.every((column) => column.length >= minLines(band));
  return isLong && (hasLines || !hasCells) ? columns : [asLines(band.rows)];
}

/** A band of rows with the gaps that all of them leave free. */
function bandOf(rows: readonly Row[]): Band {
  let free: readonly Gap[] = [{ left: -Infinity, right: Infinity }];
  for (const row of rows) free = common(free, freeOf(row));
  const bounds = boundsOf(rows.flat().map(({ box }) => box));
  const sizes = rows.flat().map(({ size }) => size);
  const inner = free.filter(({ left, right }) => left >= bounds.left && right <= bounds.right);
  return { rows, gaps: inner.filter(({ left, right }) => right - left >= GAP * median(sizes)) };
}

/** Splits rows where the distance is larger than between lines. */
function stripsOf(rows: readonly Row[]): Row[][] {
  const strips: Row[][] = [];
  let bottom = Infinity;
  for (const row of rows) {
    const { top, bottom: end } = boundsOf(row.map(({ box }) => box));
    if (strips.length === 0 || top - bottom > STRIP * row[0]!.size) strips.push([row]);
    else strips.at(-1)!.push(row);
    bottom = strips.at(-1)!.length === 1 ? end : Math.max(bottom, end);
  }
  return strips;
}

const isTextBand = (band: Band): boolean => band.gaps.length > 0 && isText(columnsOf(band), minLines(band));

function minLines({ rows, gaps }: Band): number {
  const size = median(rows.flat().map((segment) => segment.size));
  return gaps.every(({ left, right }) => right - left >= WIDE_GAP * size) ? 2 : MIN_LINES;
}

/** Merges neighboring strips of one kind. */
function joined(strips: readonly Band[]): Band[] {
  const bands: Row[][] = [];
  for (const [at, strip] of strips.entries()) {
    const before = strips[at - 1];
    if (before && isTextBand(before) === isTextBand(strip)) bands.at(-1)!.push(...strip.rows);
    else bands.push([...strip.rows]);
  }
  return bands.map(bandOf);
}

const asLines = (rows: readonly Row[]): LinesRegion => ({
  kind: 'lines',
  lines: rows.flatMap((row) => (row.some(({ table }) => table) ? row : [joinSegments(row)])),
});

/** Rows from top to bottom; segments at the same height share a row. */
function rowsOf(segments: readonly Segment[]): Row[] {
  const middle = ({ box }: Segment) => (box.top + box.bottom) / 2;
  const sorted = [...segments].sort((a, b) => middle(a) - middle(b));
  const rows: { segments: Segment[]; middles: number }[] = [];
  for (const segment of sorted) {
    const row = rows.at(-1);
    const away = row ? middle(segment) - row.middles / row.segments.length : Infinity;
    if (row && away < 0.5 * Math.min(segment.size, row.segments[0]!.size)) {
      row.segments.push(segment);
      row.middles += middle(segment);
    } else rows.push({ segments: [segment], middles: middle(segment) });
  }
  return rows.map((row) => row.segments.sort((a, b) => a.box.left - b.box.left));
}

/** The gaps of a row, including the infinite margins. */
function freeOf(row: Row): Gap[] {
  const free: Gap[] = [];
  let left = -Infinity;
  for (const { box } of row) {
    if (box.left > left) free.push({ left, right: box.left });
    left = Math.max(left, box.right);
  }
  return [...free, { left, right: Infinity }];
}

function common(a: readonly Gap[], b: readonly Gap[]): Gap[] {
  const both: Gap[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const left = Math.max(a[i]!.left, b[j]!.left);
    const right = Math.min(a[i]!.right, b[j]!.right);
    if (left < right) both.push({ left, right });
    if (a[i]!.right < b[j]!.right) i++;
    else j++;
  }
  return both;
}

/** The segments between the gaps of a band, from left to right. */
function columnsOf({ rows, gaps }: Band): Segment[][] {
  const columns: Segment[][] = Array.from({ length: gaps.length + 1 }, () => []);
  for (const segment of rows.flat()) columns[columnAt(segment, gaps)]!.push(segment);
  return columns;
}

const columnAt = ({ box }: Segment, gaps: readonly Gap[]): number => {
  const at = gaps.findIndex((gap) => box.right <= gap.left);
  return at < 0 ? gaps.length : at;
};

const isMark = (segment: Segment): boolean => /^(?:\P{L}|e|o|\(?[\p{L}\p{N}]{1,3}[.)])$/u.test(textOf(segment));

/** Text columns contain lines; cells contain words. */
const isText = (columns: readonly (readonly Segment[])[], least: number): boolean =>
  columns.every((column) => {
    const lines = column.filter(({ table }) => !table);
    // The cells of a table within the column count as one line.
    const lengths = rowsOf(lines).map((row) => row.map(textOf).join(' ').length);
    return column.length >= least && median(lengths) >= LINE_LENGTH;
  });

/** Median number of letters of its segments. */
const lengthOf = (column: readonly Segment[]): number => median(column.map((segment) => textOf(segment).length));

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** A table if the cells of a band are aligned, with the lines above and below that are not part of it. */
function tableOf(band: Band): Region[] | undefined {
  const start = band.rows.findIndex((row) => row.length > 1);
  const end = band.rows.findLastIndex((row) => row.length > 1 || columnAt(row[0]!, band.gaps) > 0) + 1;
  const lines = band.rows.slice(start, end).map((row) => cellsOf(row, band.gaps));
  const rows = mergeWrapped(lines, band.rows.slice(start, end));
  const columns = band.gaps.length + 1;
  const filled = rows.flat().filter((cell) => cell !== '').length / (rows.length * columns);
  if (rows.length < (columns > 2 ? 2 : 3) || filled < 0.5 || !isAligned(band)) return undefined;
  const around = (from: number, to: number) => (to > from ? [asLines(band.rows.slice(from, to))] : []);
  const table: OcrTable = {
    kind: 'table',
    rows: rows.map((row) => row.map((text) => ({ text, columns: 1, rows: 1 }))),
    header: isHeader(rows),
    lines: band.rows.slice(start, end).map((row) => row.flatMap(({ words }) => words)),
  };
  return [...around(0, start), table, ...around(end, band.rows.length)];
}

function cellsOf(row: Row, gaps: readonly Gap[]): string[] {
  const cells: string[][] = Array.from({ length: gaps.length + 1 }, () => []);
  for (const segment of row) cells[columnAt(segment, gaps)]!.push(textOf(segment));
  return cells.map((texts) => texts.join(' '));
}

/**
 * Merges wrapped lines of cells. The second line of a wrapped cell is empty in the first column, and is closer to the
 * line above than rows are to each other.
 */
function mergeWrapped(lines: readonly string[][], rows: readonly Row[]): string[][] {
  const pitchAt = (at: number) => rows[at]![0]!.box.bottom - rows[at - 1]![0]!.box.bottom;
  const isRow = (at: number) => at > 0 && lines[at]![0] !== '';
  const rowPitch = median(lines.flatMap((_, at) => (isRow(at) ? [pitchAt(at)] : [])));
  const merged: string[][] = [];
  for (const [at, cells] of lines.entries()) {
    const before = merged.at(-1);
    const isNear = before && rows[at]![0]!.box.top - rows[at - 1]![0]!.box.bottom < 0.5 * rows[at]![0]!.size;
    if (before && cells[0] === '' && (isNear || pitchAt(at) < CLOSER * rowPitch))
      for (const [column, text] of cells.entries()) before[column] = `${before[column]} ${text}`.trim();
    else merged.push([...cells]);
  }
  return merged;
}

/** Whether in most columns most cells share their left edge, right edge or center. */
function isAligned(band: Band): boolean {
  const columns = columnsOf(band);
  const aligned = columns.filter((column) => {
    const edges = [
      (segment: Segment) => segment.box.left,
      (segment: Segment) => segment.box.right,
      (segment: Segment) => (segment.box.left + segment.box.right) / 2,
    ];
    return edges.some((edge) => {
      const middle = median(column.map(edge));
      return (
        column.filter((segment) => Math.abs(edge(segment) - middle) < 0.6 * segment.size).length >= 0.6 * column.length
      );
    });
  });
  return aligned.length >= 0.6 * columns.length;
}

const isNumber = (cell: string): boolean => /^[-+(]?[$€£¥]?\s?\d[\d\s.,:/%-]*[)%€]?$/.test(cell);

/** Whether a filled first row has words above numbers, or only words. */
function isHeader(rows: readonly (readonly string[])[]): boolean {
  const [first, ...rest] = rows;
  return first !== undefined && rest.length > 0 && first.slice(1).every((cell) => cell !== '') && !first.some(isNumber);
}
