/**
 * Splits a sheet into its parts: titles, tables, notes below them, tables side by side. It splits at empty rows and, if
 * both sides are clearly tables, at empty columns.
 */
import { isText, newRow, type Row } from './cell.ts';
import { headerRows } from './header.ts';
import { cellKeyOf, lowerBound, type Region, type Sheet, type TableRegion } from './sheet.ts';

export interface TableBlock {
  readonly kind: 'table';
  readonly rows: readonly Row[];
  readonly headerRows: number;
}

export type Block = TableBlock | { readonly kind: 'text'; readonly html: string };

export type Merges = ReadonlyMap<number, Region>;

/** Merged ranges by the position of their visible cell. */
export const mergesByPlace = (merges: readonly Region[]): Merges =>
  new Map(merges.map((merge) => [cellKeyOf(merge.top, merge.left), merge]));

interface Placed {
  readonly top: number;
  readonly left: number;
  readonly blocks: readonly Block[];
}

/** The blocks in reading order: from top to bottom; those that begin in the same row from left to right. */
export function blocksOf(sheet: Sheet, merges: Merges): Block[] {
  const { rest, placed } = cutTables(sheet.rows, sheet.tables);
  let last: Placed | undefined;
  // A sheet of one column stays in one piece, even with empty cells.
  const runs = rest.length > 1 && rest.every(isAlone) ? [rest] : runsOf(rest, merges);
  const isWhole = runs.length === 1 && placed.length === 0;
  for (const run of runs) {
    const next = { top: run[0]!.index, left: run[0]!.columns[0]!, blocks: blocksOfRun(run, merges, isWhole) };
    const joined = last && join(last, next);
    if (joined) placed.pop();
    last = joined ?? next;
    placed.push(last);
  }
  placed.sort((one, other) => one.top - other.top || one.left - other.left);
  return placed.flatMap(({ blocks }) => blocks);
}

const MAX_TABLES = 500;

function cutTables(rows: readonly Row[], tables: readonly TableRegion[]): { rest: Row[]; placed: Placed[] } {
  const placed: Placed[] = [];
  const rest = [...rows];
  const indexes = rows.map(({ index }) => index);
  for (const table of tables.slice(0, MAX_TABLES)) {
    const inside: Row[] = [];
    for (let at = lowerBound(indexes, table.top); at < rest.length && indexes[at]! <= table.bottom; at++) {
      const row = rest[at]!;
      const from = lowerBound(row.columns, table.left);
      const to = lowerBound(row.columns, table.right + 1);
      if (from === to) continue;
      inside.push(slice(row, from, to));
      rest[at] = without(row, from, to);
    }
    if (inside.length === 0) continue;
    const header = inside[0]!.index === table.top ? table.headerRows : 0;
    const block: Block = { kind: 'table', rows: inside, headerRows: inside.length > header ? header : 0 };
    placed.push({ top: table.top, left: table.left, blocks: [block] });
  }
  return { rest: rest.filter(({ columns }) => columns.length > 0), placed };
}

function slice({ index, columns, html, kinds }: Row, from: number, to: number): Row {
  return { index, columns: columns.slice(from, to), html: html.slice(from, to), kinds: kinds.slice(from, to) };
}

function without(row: Row, from: number, to: number): Row {
  const [before, after] = [slice(row, 0, from), slice(row, to, row.columns.length)];
  return {
    index: row.index,
    columns: [...before.columns, ...after.columns],
    html: [...before.html, ...after.html],
    kinds: [...before.kinds, ...after.kinds],
  };
}

/** Runs of rows without an empty row between them. Rows that a merged range spans stay in one run. */
function runsOf(rows: readonly Row[], merges: Merges): Row[][] {
  const runs: Row[][] = [];
  let reach = -2;
  for (const row of rows) {
    if (row.index > reach + 1) runs.push([]);
    runs.at(-1)!.push(row);
    reach = Math.max(reach, row.index);
    if (merges.size === 0) continue;
    for (const column of row.columns) {
      reach = Math.max(reach, merges.get(cellKeyOf(row.index, column))?.bottom ?? 0);
    }
  }
  return runs;
}

/** A long cell alone in its row is a sentence about the table, not part of it. */
const SENTENCE = 60;
const MAX_TITLES = 6;

const isAlone = (row: Row): boolean => row.columns.length === 1;

/** `isWhole`: whether the sheet has no other content. */
function blocksOfRun(run: readonly Row[], merges: Merges, isWhole: boolean): Block[] {
  let first = 0;
  while (first < run.length && first < MAX_TITLES && isAlone(run[first]!)) first++;
  if (first === run.length || (first === MAX_TITLES && run.every(isAlone))) return columnBlocks(run, merges, isWhole);
  // A cell above its own column only, such as the second name of a grouped header, is not a title.
  while (first > 0 && !isTitle(run[first - 1]!, run[first]!)) first--;
  // Several cells above a single row are a column with a last row of more cells.
  if (first > 1 && first + 1 === run.length && !isProse(run.slice(0, first))) first = 0;
  let end = run.length;
  while (end > first + 2 && run.length - end < MAX_TITLES && isNote(run[end - 1]!, merges)) end--;
  const titles = run.slice(0, first).map(textBlock);
  const notes = run.slice(end).map(textBlock);
  const parts = sidesOf(run.slice(first, end), merges);
  return [...titles, ...parts.map((rows) => tableBlock(rows, merges)), ...notes];
}

const isTitle = (row: Row, below: Row): boolean => isText(row.kinds[0]!) && row.columns[0]! <= below.columns[0]! + 1;

const isNote = (row: Row, merges: Merges): boolean => {
  if (row.columns.length !== 1 || !isText(row.kinds[0]!)) return false;
  const merge = merges.get(cellKeyOf(row.index, row.columns[0]!));
  return row.html[0]!.length > SENTENCE || (merge !== undefined && merge.right > merge.left);
};

const textBlock = ({ html }: Row): Block => ({ kind: 'text', html: html[0]! });

/**
 * Rows of one cell each are a table, unless they are prose. Two lines of text beside other content are titles.
 */
function columnBlocks(run: readonly Row[], merges: Merges, isWhole: boolean): Block[] {
  const isData = run.some((row) => !isText(row.kinds[0]!));
  const isColumn = run.length > 2 || (run.length === 2 && (isWhole || isData));
  return isColumn && !isProse(run) ? [tableBlock(run, merges)] : run.map(textBlock);
}

/** Whether most of the text is in long cells of several words. */
function isProse(rows: readonly Row[]): boolean {
  let all = 0;
  let long = 0;
  for (const { html } of rows) {
    const { length } = html[0]!;
    all += length;
    if (length > SENTENCE && /\s\S+\s\S+\s/.test(html[0]!)) long += length;
  }
  return long * 2 > all;
}

function tableBlock(rows: readonly Row[], merges: Merges): Block {
  if (rows.length === 1 && rows[0]!.columns.length === 1) return textBlock(rows[0]!);
  return { kind: 'table', rows, headerRows: headerOf(rows, merges) };
}

/** A row of group names above the row of column names. */
function headerOf(rows: readonly Row[], merges: Merges): number {
  const [first, second] = rows;
  if (!first || !second || merges.size === 0) return headerRows(rows);
  const over = first.columns.map((column) => merges.get(cellKeyOf(first.index, column)));
  const hasGroups = over.some((merge) => merge && merge.right > merge.left);
  const reachesDown = over.some((merge) => merge && merge.bottom > first.index);
  if ((!hasGroups && !reachesDown) || !first.kinds.every(isText) || first.columns.length < 2) {
    return headerRows(rows);
  }
  if (second.index !== first.index + 1) return 1;
  const lower = withNamesAbove(first, second, merges);
  return 1 + headerRows([lower, ...rows.slice(2)]);
}

/** The second row, including cells of the first that extend down into it. */
function withNamesAbove(first: Row, second: Row, merges: Merges): Row {
  const cells = second.columns.map((column, at) => ({ column, html: second.html[at]!, kind: second.kinds[at]! }));
  for (const [at, column] of first.columns.entries()) {
    const merge = merges.get(cellKeyOf(first.index, column));
    if (merge && merge.bottom >= second.index) cells.push({ column, html: first.html[at]!, kind: first.kinds[at]! });
  }
  cells.sort((one, other) => one.column - other.column);
  const row = newRow(second.index);
  for (const { column, html, kind } of cells) {
    row.columns.push(column);
    row.html.push(html);
    row.kinds.push(kind);
  }
  return row;
}

/** Splits tables side by side, if an empty column separates two clear tables. Each loses its own empty edges. */
function sidesOf(rows: readonly Row[], merges: Merges): Row[][] {
  const bounds = gapsOf(rows, merges);
  if (bounds.length === 0) return [[...rows]];
  const sides = [0, ...bounds].map((left, at) => {
    const right = bounds[at] ?? Number.POSITIVE_INFINITY;
    return rows
      .map((row) => slice(row, lowerBound(row.columns, left), lowerBound(row.columns, right)))
      .filter(({ columns }) => columns.length > 0);
  });
  return sides.every(isTable) ? sides : [[...rows]];
}

const isTable = (rows: readonly Row[]): boolean =>
  rows.length > 1 && rows[0]!.columns.length > 1 && rows[0]!.kinds.every(isText) && headerRows(rows) > 0;

const MAX_SIDES = 20;

/** Returns each non-empty column that follows an empty one. */
function gapsOf(rows: readonly Row[], merges: Merges): number[] {
  const reach = new Map<number, number>();
  for (const { index, columns } of rows) {
    for (const column of columns) {
      const right = (merges.size > 0 && merges.get(cellKeyOf(index, column))?.right) || column;
      if ((reach.get(column) ?? -1) < right) reach.set(column, right);
    }
  }
  const columns = [...reach.keys()].sort((one, other) => one - other);
  const gaps: number[] = [];
  let right = columns[0] ?? 0;
  for (const column of columns) {
    if (column > right + 1) gaps.push(column);
    right = Math.max(right, reach.get(column)!);
  }
  return gaps.length > MAX_SIDES ? [] : gaps;
}

/** Rows after an empty one that continue the table above: the same columns and no header. */
function join(above: Placed, below: Placed): Placed | undefined {
  const [table, ...more] = below.blocks;
  const last = above.blocks.at(-1);
  if (more.length > 0 || table?.kind !== 'table' || last?.kind !== 'table') return undefined;
  if (last.headerRows === 0 || table.headerRows > 0 || !haveSameEdges(last.rows, table.rows)) return undefined;
  const rows = [...last.rows, ...table.rows];
  return { ...above, blocks: [...above.blocks.slice(0, -1), { ...last, rows }] };
}

function haveSameEdges(one: readonly Row[], other: readonly Row[]): boolean {
  const [first, second] = [edgesOf(one), edgesOf(other)];
  return first[0] === second[0] && first[1] === second[1];
}

function edgesOf(rows: readonly Row[]): [left: number, right: number] {
  let left = Number.POSITIVE_INFINITY;
  let right = 0;
  for (const { columns } of rows) {
    left = Math.min(left, columns[0]!);
    right = Math.max(right, columns.at(-1)!);
  }
  return [left, right];
}
