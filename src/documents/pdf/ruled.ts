/** Detects tables by their ruling lines: a grid whose cells are merged if no line separates them. */

import { alignedTable } from './aligned.ts';
import { bodyRows } from './body-rows.ts';
import { isChart, labelsOf } from './chart.ts';
import type { Piece, Rule } from './drawn-content.ts';
import { type Box, containsPoint, union } from './geometry.ts';
import { type Inset, type Segment, toSegments } from './lines.ts';
import { regionOf } from './regions.ts';
import type { Cell, Table } from './table.ts';
import { isValue, type Placed, segmentRows, splitValues, type TextLine, textOf } from './text-lines.ts';

/** Lines within this distance, in points, touch; parallel lines within it are the same line. */
const NEAR = 3;
const MAX_LINES = 1_500;
const MAX_CELLS = 20_000;
/** Share of a cell's side that a line must cover to separate it from its neighbor. */
const COVERED = 0.55;

export interface Grid {
  readonly box: Box;
  readonly xs: readonly number[];
  readonly ys: readonly number[];
  readonly upright: readonly Box[];
  readonly level: readonly Box[];
}

export interface RuledTable {
  readonly box: Box;
  /** The table, or the labels of a chart if the lines are the grid of one. */
  readonly content: Inset;
  readonly used: ReadonlySet<Piece>;
}

/** Groups lines that touch each other. */
export function toGrids(rules: readonly Rule[]): Grid[] {
  const upright = mergeLines(
    rules.filter((rule) => rule.upright),
    true,
  );
  const level = mergeLines(
    rules.filter((rule) => !rule.upright),
    false,
  );
  if (upright.length === 0 || level.length === 0) return [];
  const parents = Array.from({ length: upright.length + level.length }, (_, at) => at);
  const rootOf = (at: number): number => {
    let root = at;
    while (parents[root] !== root) {
      parents[root] = parents[parents[root]!]!;
      root = parents[root]!;
    }
    return root;
  };
  upright.forEach((one, a) => {
    level.forEach((two, b) => {
      if (touches(one, two)) parents[rootOf(a)] = rootOf(upright.length + b);
    });
  });
  const groups = new Map<number, { upright: Box[]; level: Box[] }>();
  const groupOf = (at: number) => {
    const root = rootOf(at);
    const group = groups.get(root) ?? { upright: [], level: [] };
    groups.set(root, group);
    return group;
  };
  upright.forEach((line, at) => {
    groupOf(at).upright.push(line);
  });
  level.forEach((line, at) => {
    groupOf(upright.length + at).level.push(line);
  });
  return [...groups.values()].filter((group) => group.upright.length > 0 && group.level.length > 0).map(gridOf);
}

const touches = (one: Box, two: Box): boolean =>
  one.x0 <= two.x1 + NEAR && one.x1 >= two.x0 - NEAR && one.y0 <= two.y1 + NEAR && one.y1 >= two.y0 - NEAR;

/** Merges collinear lines that meet or overlap. */
export function mergeLines(lines: readonly Box[], upright: boolean): Box[] {
  const across = ({ x0, x1, y0, y1 }: Box) => (upright ? (x0 + x1) / 2 : (y0 + y1) / 2);
  const from = ({ x0, y0 }: Box) => (upright ? y0 : x0);
  const to = ({ x1, y1 }: Box) => (upright ? y1 : x1);
  const groups: Box[][] = [];
  let start = Number.NEGATIVE_INFINITY;
  for (const line of lines.toSorted((one, two) => across(one) - across(two))) {
    if (across(line) - start > NEAR / 2) {
      groups.push([]);
      start = across(line);
    }
    groups[groups.length - 1]!.push(line);
  }
  const merged: Box[] = [];
  for (const group of groups) {
    let current: Box | null = null;
    for (const line of group.sort((one, two) => from(one) - from(two))) {
      if (current && from(line) - to(current) <= NEAR) current = union(current, line);
      else {
        if (current) merged.push(current);
        current = line;
      }
    }
    if (current) merged.push(current);
  }
  return merged.length > MAX_LINES ? merged.slice(0, MAX_LINES) : merged;
}

function gridOf({ upright, level }: { upright: Box[]; level: Box[] }): Grid {
  const box = [...upright, ...level].reduce(union);
  const xs = positions([box.x0, box.x1, ...upright.map(({ x0, x1 }) => (x0 + x1) / 2)]);
  const ys = positions([box.y0, box.y1, ...level.map(({ y0, y1 }) => (y0 + y1) / 2)]);
  return { box, xs, ys, upright, level };
}

function positions(values: readonly number[]): number[] {
  const out: number[] = [];
  for (const value of values.toSorted((one, two) => one - two)) {
    if (out.length === 0 || value - out[out.length - 1]! > NEAR) out.push(value);
  }
  return out;
}

/** The table in a grid; null if it has fewer than two rows and two columns with text. */
export function ruledTable(grid: Grid, pieces: readonly Piece[], bodySize: number): RuledTable | null {
  const { xs, ys, upright, level } = grid;
  const columns = xs.length - 1;
  const rows = ys.length - 1;
  if (columns < 2 || rows < 2 || columns * rows > MAX_CELLS) return null;
  const areas = joinCells(columns, rows, {
    parts: (column, row) => covered(upright, xs[column]!, ys[row]!, ys[row + 1]!, true),
    splits: (column, row) => covered(level, ys[row]!, xs[column]!, xs[column + 1]!, false),
  });
  const filled = fill(grid, areas, pieces);
  const [from, to] = withoutTexts(filled.contents, columns, rows);
  const box = { ...grid.box, y0: from > 0 ? ys[from]! : grid.box.y0, y1: to < rows ? ys[to]! : grid.box.y1 };
  const contents = new Map([...filled.contents].filter(([area]) => area.row >= from && area.row < to));
  const used = new Set([...contents.values()].flat());
  if (contents.size < 3) return null;
  const collapsed = collapsedRows(contents);
  const expanded = new Map<number, Cell[][]>();
  for (const row of collapsed) {
    const found = expandedRow(contents, row, columns);
    if (found) expanded.set(row, found);
  }
  const aligned = expanded.size < collapsed.length ? asAligned({ ...grid, box }, contents, bodySize) : null;
  if (aligned) return { box, content: aligned, used };
  const split = splitAreas(areas, columns, contents, xs);
  const table = toTable(areas, columns, [from, to], split, expanded, box);
  if (!table) return null;
  return { box, content: isChart(table) ? { alt: labelsOf(table) } : { table }, used };
}

function fill({ box, xs, ys }: Grid, areas: readonly Area[], pieces: readonly Piece[]) {
  const contents = new Map<Area, Piece[]>();
  const indexOf = (values: readonly number[], at: number) => {
    const index = values.findIndex((value) => value > at) - 1;
    return Math.min(Math.max(index, 0), values.length - 2);
  };
  for (const piece of pieces) {
    const x = (piece.x0 + piece.x1) / 2;
    const y = piece.y - 0.3 * piece.size;
    if (!containsPoint(box, x, y)) continue;
    const area = areas[indexOf(ys, y) * (xs.length - 1) + indexOf(xs, x)]!;
    const content = contents.get(area);
    if (content) content.push(piece);
    else contents.set(area, [piece]);
  }
  return { contents };
}

const CAPTION = /^\s*(?:table|tab\.|figure|fig\.|exhibit|chart|box)\s*[\dA-Z]/i;
const NOTE = /^\s*(?:(?:sources?|notes?|legend|key)\b.{0,3}[:.]|[*†‡§])/i;
/** Text over the whole width of the table with more letters than this is not a row of it. */
const LONGEST_ROW = 150;

/** The rows without a caption above and notes below that share the frame of the table. */
function withoutTexts(contents: ReadonlyMap<Area, Piece[]>, columns: number, rows: number): [number, number] {
  let from = 0;
  let to = rows;
  const wholeAt = (row: number, isTop: boolean) => {
    for (const [area, pieces] of contents) {
      if (area.columns !== columns || (isTop ? area.row !== row : area.row + area.rows !== row)) continue;
      return { area, text: pieces.map(({ text, spaced }) => (spaced ? ` ${text}` : text)).join('') };
    }
    return null;
  };
  for (let found = wholeAt(from, true); found && from + found.area.rows < to; found = wholeAt(from, true)) {
    if (!CAPTION.test(found.text) && found.text.length <= LONGEST_ROW) break;
    from += found.area.rows;
  }
  for (let found = wholeAt(to, false); found && to - found.area.rows > from; found = wholeAt(to, false)) {
    if (!NOTE.test(found.text) && found.text.length <= LONGEST_ROW) break;
    to -= found.area.rows;
  }
  return [from, to];
}

/** Number of lines with values in several cells of a row, from which the row holds as many rows without lines between. */
const COLLAPSED = 2;
/** The number from which it does so even if other rows have lines between them. */
const SURELY_COLLAPSED = 6;

/** The rows of the grid with several rows of values. */
function collapsedRows(contents: ReadonlyMap<Area, Piece[]>): number[] {
  const cellsAt = new Map<string, number>();
  const lines = new Map<number, number>();
  for (const [{ row }, pieces] of contents) {
    const seen = new Set<string>();
    for (const { y, text } of pieces) {
      const key = `${row} ${Math.round(y)}`;
      if (!isValue(text) || !/\d/.test(text) || seen.has(key)) continue;
      seen.add(key);
      const count = (cellsAt.get(key) ?? 0) + 1;
      cellsAt.set(key, count);
      if (count === 2) lines.set(row, (lines.get(row) ?? 0) + 1);
    }
  }
  const found = [...lines].filter(([, count]) => count >= COLLAPSED).map(([row]) => row);
  // If most rows below the head have their own lines, the others are cells with several values.
  const rows = new Set([...contents.keys()].map(({ row }) => row)).size;
  return found.length >= (rows - 1) / 2 ? found : found.filter((row) => lines.get(row)! >= SURELY_COLLAPSED);
}

/** The rows of values in one row of the grid; null if the text has more columns than the grid. */
function expandedRow(contents: ReadonlyMap<Area, Piece[]>, row: number, columns: number): Cell[][] | null {
  const cells: { column: number; last: number; segment: Segment }[] = [];
  for (const [area, pieces] of contents) {
    if (area.row > row || area.row + area.rows <= row) continue;
    if (area.rows > 1) return null;
    for (const segment of toSegments(pieces).flatMap(splitValues)) {
      cells.push({ column: area.column, last: area.column + area.columns - 1, segment });
    }
  }
  const placeOf = new Map(cells.map(({ segment, ...place }) => [segment, place]));
  const lines: TextLine[] = [];
  for (const segments of segmentRows([...placeOf.keys()])) {
    const placed = segments.map((segment): Placed => {
      const { column: first, last } = placeOf.get(segment)!;
      return { first, last, segments: [segment], text: textOf([segment]) };
    });
    if (placed.some(({ first }, at) => at > 0 && first <= placed[at - 1]!.last)) return null;
    const size = Math.max(...segments.map((segment) => segment.size));
    lines.push({ cells: placed, baseline: segments[0]!.baseline, size, band: 0 });
  }
  return bodyRows(lines, columns);
}

/** The table by the positions of its text; the lines only separate columns and rows. */
function asAligned(
  { box, xs, upright, level }: Grid,
  contents: ReadonlyMap<Area, Piece[]>,
  bodySize: number,
): Inset | null {
  const inner = xs.slice(1, -1).filter((x) => covered(upright, x, box.y0, box.y1, true));
  const rules = level.filter(({ y0, y1 }) => y1 > box.y0 - NEAR && y0 < box.y1 + NEAR);
  const segments = [...contents.values()].flatMap((pieces) => toSegments(pieces));
  const [found, ...others] = alignedTable(segments, bodySize, { rules, upright: inner }) ?? [];
  return others.length === 0 ? (found?.inset ?? null) : null;
}

/** Splits cells without lines between them where the text stands in the columns that other rows have lines for. */
function splitAreas(
  areas: Area[],
  columns: number,
  contents: ReadonlyMap<Area, Piece[]>,
  xs: readonly number[],
): Map<Area, Piece[]> {
  const out = new Map<Area, Piece[]>();
  for (const [area, pieces] of contents) {
    const parts = area.columns > 1 ? partsOf(area, pieces, xs) : null;
    if (!parts) {
      out.set(area, pieces);
      continue;
    }
    for (let at = 0; at < area.columns; at++) {
      const { row, rows } = area;
      const part = { row, rows, column: area.column + at, columns: 1 };
      for (let y = row; y < row + rows; y++) areas[y * columns + part.column] = part;
      if (parts[at]!.length > 0) out.set(part, parts[at]!);
    }
  }
  return out;
}

/** The pieces in each column of an area; null if text crosses a column or all is in one. */
function partsOf({ column, columns }: Area, pieces: readonly Piece[], xs: readonly number[]): Piece[][] | null {
  const parts: Piece[][] = Array.from({ length: columns }, () => []);
  for (const segment of toSegments(pieces).flatMap(splitValues)) {
    const at = xs.findLastIndex((x) => x <= segment.x0 + NEAR) - column;
    if (at < 0 || at >= columns || segment.x1 > xs[column + at + 1]! + NEAR) return null;
    parts[at]!.push(...segment.pieces);
  }
  return parts.filter((part) => part.length > 0).length > 1 ? parts : null;
}

interface Area {
  row: number;
  column: number;
  rows: number;
  columns: number;
}

interface Borders {
  /** Whether a line is left of the cell. */
  parts(column: number, row: number): boolean;
  /** Whether a line is above the cell. */
  splits(column: number, row: number): boolean;
}

/** For each cell of the grid, the merged area that contains it. */
function joinCells(columns: number, rows: number, borders: Borders): Area[] {
  const areas: (Area | undefined)[] = new Array(columns * rows);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      if (areas[row * columns + column]) continue;
      let width = 1;
      while (
        column + width < columns &&
        !areas[row * columns + column + width] &&
        !borders.parts(column + width, row)
      ) {
        width += 1;
      }
      let height = 1;
      while (row + height < rows && isOpen(borders, column, width, row + height)) height += 1;
      const area: Area = { row, column, rows: height, columns: width };
      for (let y = row; y < row + height; y++) areas.fill(area, y * columns + column, y * columns + column + width);
    }
  }
  return areas as Area[];
}

/** Whether no line separates a row of cells from the one above it, over the whole width. */
function isOpen(borders: Borders, column: number, width: number, row: number): boolean {
  for (let at = column; at < column + width; at++) {
    if (borders.splits(at, row) || (at > column && borders.parts(at, row))) return false;
  }
  return true;
}

function covered(lines: readonly Box[], position: number, from: number, to: number, upright: boolean): boolean {
  let sum = 0;
  for (const { x0, y0, x1, y1 } of lines) {
    const across = upright ? (x0 + x1) / 2 : (y0 + y1) / 2;
    if (Math.abs(across - position) > NEAR) continue;
    sum += Math.max(0, Math.min(to, upright ? y1 : x1) - Math.max(from, upright ? y0 : x0));
  }
  return sum >= COVERED * (to - from);
}

function toTable(
  areas: readonly Area[],
  columns: number,
  [from, to]: readonly [number, number],
  contents: ReadonlyMap<Area, Piece[]>,
  expanded: ReadonlyMap<number, Cell[][]>,
  edges: Pick<Box, 'x0' | 'x1'>,
): Table | null {
  const filledRows = new Set<number>();
  const filledColumns = new Set<number>();
  for (const { row, column } of contents.keys()) {
    filledRows.add(row);
    filledColumns.add(column);
  }
  if (filledRows.size < 2 || filledColumns.size < 2) return null;
  const heads = from + headRows(areas.slice(from * columns), columns);
  const out: Cell[][] = [];
  for (let row = from; row < to; row++) {
    const several = expanded.get(row);
    if (several) {
      out.push(...several);
      continue;
    }
    const cells: Cell[] = [];
    for (let column = 0; column < columns; column++) {
      const area = areas[row * columns + column]!;
      if (area.row !== row || area.column !== column) continue;
      const lines = regionOf(toSegments(contents.get(area) ?? [])).items.filter((item) => 'runs' in item);
      cells.push({ lines, columns: area.columns, rows: area.rows, header: row < heads });
    }
    out.push(cells);
  }
  return { rows: out, x0: edges.x0, x1: edges.x1 };
}

/** A header cell that spans two rows makes both rows headers. */
const headRows = (areas: readonly Area[], columns: number): number =>
  Math.min(3, Math.max(...areas.slice(0, columns).map(({ rows }) => rows)));
