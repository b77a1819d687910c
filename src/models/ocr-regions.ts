/**
 * The page parted into tables and columns of lines, in reading order. Rows that leave the same gap free from top to
 * bottom form a band; what stands on either side of its gaps are columns of text when they are long, cells when short.
 */
import type { OcrTable } from './ocr-layout.ts';
import { boundsOf, joinSegments, type Segment, textOf } from './ocr-segments.ts';

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
  /** What all its rows leave free between something and something else; none in plain lines. */
  readonly gaps: readonly Gap[];
}

/** A gap is at least so wide, in sizes of letters. */
const GAP = 1.1;
/** Columns in columns in columns; no page has more. */
const MAX_DEPTH = 4;

export function regionsOf(segments: readonly Segment[]): Region[] {
  const regions: Region[] = [];
  type Rows = { readonly kind: 'rows'; readonly rows: readonly Row[]; readonly depth: number };
  const waiting: (Region | Rows)[] = [{ kind: 'rows', rows: rowsOf(segments), depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (next.kind !== 'rows') {
      regions.push(next);
      continue;
    }
    const { depth } = next;
    const parts = depth === MAX_DEPTH ? [asLines(next.rows)] : bandsOf(next.rows).flatMap(partsOf);
    const inner = parts.map((part) =>
      'kind' in part ? part : ({ kind: 'rows', rows: part, depth: depth + 1 } as const),
    );
    waiting.push(...inner.reverse());
  }
  return regions;
}

/** A band as a table, as plain lines, or as the rows of its columns one after the other. */
function partsOf(band: Band): (Region | readonly Row[])[] {
  if (band.gaps.length === 0) return [asLines(band.rows)];
  const columns = columnsOf(band);
  if (columns.slice(0, -1).every((column) => column.every(isMark))) return [asLines(band.rows)];
  if (isText(columns)) return columns.map(rowsOf);
  const table = columns.flat().some((segment) => segment.table) ? undefined : tableOf(band);
  if (table) return table;
  return columns.every((column) => column.length > 1) ? columns.map(rowsOf) : [asLines(band.rows)];
}

const asLines = (rows: readonly Row[]): LinesRegion => ({
  kind: 'lines',
  lines: rows.flatMap((row) => (row.some(({ table }) => table) ? row : [joinSegments(row)])),
});

/** From top to bottom; what is level stands in one row. */
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

function bandsOf(rows: readonly Row[]): Band[] {
  const bands: { rows: Row[]; gaps: readonly Gap[] }[] = [];
  for (let at = 0; at < rows.length; ) {
    const band = bandFrom(rows, at);
    const last = bands.at(-1);
    if (band.gaps.length > 0 || last === undefined || last.gaps.length > 0)
      bands.push({ ...band, rows: [...band.rows] });
    else last.rows.push(...band.rows);
    at += band.rows.length;
  }
  return bands;
}

/** The rows from one on that share a gap; just that row when the next has none in common with it. */
function bandFrom(rows: readonly Row[], start: number): Band {
  const first = rows[start]!;
  let gaps: readonly Gap[] = [];
  let free = freeOf(first);
  let end = start + 1;
  if (first.length > 1) {
    for (; end < rows.length; end++) {
      const shared = common(free, freeOf(rows[end]!));
      const inner = innerGaps(shared, first[0]!.size);
      if (inner.length === 0 || isApart(rows[end - 1]!, rows[end]!)) break;
      free = shared;
      gaps = inner;
    }
  }
  while (end - start > 1 && rows[end - 1]!.length === 1 && startsAnew(rows, end - 1)) end--;
  const taken = rows.slice(start, end);
  return taken.filter((row) => row.length > 1).length > 1 ? { rows: taken, gaps } : { rows: taken, gaps: [] };
}

/** A row that stands far below the one before it belongs to something else. */
const isApart = (above: Row, below: Row): boolean =>
  boundsOf(below.map(({ box }) => box)).top - boundsOf(above.map(({ box }) => box)).bottom > 4 * below[0]!.size;

/** Whether a lone line at the end of a band is set off from it. */
function startsAnew(rows: readonly Row[], at: number): boolean {
  const above = boundsOf(rows[at - 1]!.map(({ box }) => box));
  return rows[at]![0]!.box.top - above.bottom > 1.2 * rows[at]![0]!.size;
}

/** What a row leaves free, the endless margins included. */
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

const innerGaps = (free: readonly Gap[], size: number): Gap[] =>
  free.filter(({ left, right }) => right - left >= GAP * size && right - left < Infinity);

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

/** Columns of text have lines, cells have words. */
const isText = (columns: readonly (readonly Segment[])[]): boolean =>
  columns.every((column) => {
    const lines = column.filter(({ table }) => !table);
    return column.length >= 2 && median(lines.map((segment) => textOf(segment).length)) >= 18;
  });

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** A band whose cells stand under each other, and the lines above and below that are none of it. */
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

/** The second line of a cell has nothing beside it in the first column, and stands close below the first. */
function mergeWrapped(lines: readonly string[][], rows: readonly Row[]): string[][] {
  const merged: string[][] = [];
  for (const [at, cells] of lines.entries()) {
    const before = merged.at(-1);
    const wraps =
      before && cells[0] === '' && rows[at]![0]!.box.top - rows[at - 1]![0]!.box.bottom < 0.5 * rows[at]![0]!.size;
    if (wraps) for (const [column, text] of cells.entries()) before[column] = `${before[column]} ${text}`.trim();
    else merged.push([...cells]);
  }
  return merged;
}

/** Whether in most columns most cells share their left edge, their right edge or their middle. */
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

/** A first row that is filled and has words above numbers, or words all over. */
function isHeader(rows: readonly (readonly string[])[]): boolean {
  const [first, ...rest] = rows;
  return first !== undefined && rest.length > 0 && first.slice(1).every((cell) => cell !== '') && !first.some(isNumber);
}
