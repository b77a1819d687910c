/** Detects tables by their ruling lines: a grid whose cells are merged if no line separates them. */

import type { Piece, Rule } from './drawn-content.ts';
import { type Box, containsPoint, union } from './geometry.ts';
import { toSegments } from './lines.ts';
import { regionOf } from './regions.ts';
import type { Cell, Table } from './table.ts';

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
  readonly table: Table;
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
export function ruledTable({ box, xs, ys, upright, level }: Grid, pieces: readonly Piece[]): RuledTable | null {
  const columns = xs.length - 1;
  const rows = ys.length - 1;
  if (columns < 2 || rows < 2 || columns * rows > MAX_CELLS) return null;
  const areas = joinCells(columns, rows, {
    parts: (column, row) => covered(upright, xs[column]!, ys[row]!, ys[row + 1]!, true),
    splits: (column, row) => covered(level, ys[row]!, xs[column]!, xs[column + 1]!, false),
  });
  const inside = pieces.filter((piece) => containsPoint(box, (piece.x0 + piece.x1) / 2, piece.y - 0.3 * piece.size));
  const contents = new Map<Area, Piece[]>();
  const used = new Set<Piece>();
  const indexOf = (values: readonly number[], at: number) => {
    const index = values.findIndex((value) => value > at) - 1;
    return Math.min(Math.max(index, 0), values.length - 2);
  };
  for (const piece of inside) {
    const column = indexOf(xs, (piece.x0 + piece.x1) / 2);
    const row = indexOf(ys, piece.y - 0.3 * piece.size);
    const area = areas[row * columns + column]!;
    const content = contents.get(area);
    if (content) content.push(piece);
    else contents.set(area, [piece]);
    used.add(piece);
  }
  if (contents.size < 3) return null;
  const table = toTable(areas, columns, rows, contents);
  return table ? { box, table, used } : null;
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
  rows: number,
  contents: ReadonlyMap<Area, Piece[]>,
): Table | null {
  const filledRows = new Set<number>();
  const filledColumns = new Set<number>();
  for (const { row, column } of contents.keys()) {
    filledRows.add(row);
    filledColumns.add(column);
  }
  if (filledRows.size < 2 || filledColumns.size < 2) return null;
  const heads = headRows(areas, columns);
  const out: Cell[][] = [];
  for (let row = 0; row < rows; row++) {
    const cells: Cell[] = [];
    for (let column = 0; column < columns; column++) {
      const area = areas[row * columns + column]!;
      if (area.row !== row || area.column !== column) continue;
      const lines = regionOf(toSegments(contents.get(area) ?? [])).items.filter((item) => 'runs' in item);
      cells.push({ lines, columns: area.columns, rows: area.rows, header: row < heads });
    }
    out.push(cells);
  }
  return { rows: out };
}

/** A header cell that spans two rows makes both rows headers. */
const headRows = (areas: readonly Area[], columns: number): number =>
  Math.min(3, Math.max(...areas.slice(0, columns).map(({ rows }) => rows)));
