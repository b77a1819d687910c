/** Tables with ruling lines: crossing lines form a grid; cells without a line between them are merged. */
import type { OcrBox, OcrLine, OcrPage, OcrWord } from '../hocr.ts';
import type { Rule, Rules } from '../image/ruling-lines.ts';
import type { OcrCell, OcrTable } from './layout.ts';
import { joinTexts } from './segments.ts';

export interface RuledTable {
  readonly box: OcrBox;
  readonly table: OcrTable;
}

/** Tolerance in pixels at which line ends and crossings meet; images are scaled to one size before. */
const SLACK = 14;
const MAX_CELLS = 5_000;
const MAX_RULES = 2_000;

/** The tables of a page, and the lines outside all tables. */
export function ruledTablesOf(page: OcrPage): { tables: RuledTable[]; lines: OcrLine[] } {
  let lines = [...page.lines];
  const tables: RuledTable[] = [];
  for (const grid of gridsOf(page.rules)) {
    const inside = lines.map(({ words }) => words.filter((word) => isIn(word, grid)));
    const table = tableOf(grid, inside);
    if (!table) continue;
    tables.push({
      box: { left: grid.xs[0]!, right: grid.xs.at(-1)!, top: grid.ys[0]!, bottom: grid.ys.at(-1)! },
      table,
    });
    lines = lines.flatMap((line) => {
      const words = line.words.filter((word) => !isIn(word, grid));
      return words.length === 0 ? [] : [words.length === line.words.length ? line : { ...line, words }];
    });
  }
  return { tables, lines };
}

interface Grid {
  readonly xs: readonly number[];
  readonly ys: readonly number[];
  readonly rules: Rules;
}

/** Groups crossing lines into grids. A frame without inner lines is not a grid. */
function gridsOf({ horizontal, vertical }: Rules): Grid[] {
  if (horizontal.length + vertical.length > MAX_RULES) return [];
  const group = new Map<Rule, number>();
  const members: { horizontal: Rule[]; vertical: Rule[] }[] = [];
  for (const start of horizontal) {
    if (group.has(start)) continue;
    const found = { horizontal: [] as Rule[], vertical: [] as Rule[] };
    const waiting: { rule: Rule; isHorizontal: boolean }[] = [{ rule: start, isHorizontal: true }];
    group.set(start, members.length);
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { rule, isHorizontal } = next;
      (isHorizontal ? found.horizontal : found.vertical).push(rule);
      for (const other of isHorizontal ? vertical : horizontal) {
        if (group.has(other) || !crosses(rule, other)) continue;
        group.set(other, members.length);
        waiting.push({ rule: other, isHorizontal: !isHorizontal });
      }
    }
    members.push(found);
  }
  return members
    .map((rules) => ({ rules, xs: linePositions(rules.vertical), ys: linePositions(rules.horizontal) }))
    .filter(({ xs, ys }) => xs.length > 2 && ys.length > 2 && (xs.length - 1) * (ys.length - 1) <= MAX_CELLS);
}

const crosses = (a: Rule, b: Rule): boolean =>
  a.at >= b.from - SLACK && a.at <= b.to + SLACK && b.at >= a.from - SLACK && b.at <= a.to + SLACK;

/** Positions of lines; adjacent lines count once. */
function linePositions(rules: readonly Rule[]): number[] {
  const sorted = rules.map(({ at }) => at).sort((a, b) => a - b);
  return sorted.filter((at, index) => index === 0 || at - sorted[index - 1]! > SLACK);
}

const middleOf = ({ box }: OcrWord) => ({ x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 });

function isIn(word: OcrWord, { xs, ys }: Grid): boolean {
  const { x, y } = middleOf(word);
  return x > xs[0]! && x < xs.at(-1)! && y > ys[0]! && y < ys.at(-1)!;
}

/** Returns `undefined` if too few cells are filled: a chart on squared paper, an empty form. */
function tableOf(grid: Grid, lines: readonly (readonly OcrWord[])[]): OcrTable | undefined {
  const { xs, ys } = grid;
  const merged = mergedCells(grid);
  const texts = new Map<number, string[]>();
  for (const words of lines) {
    const parts = new Map<number, string[]>();
    for (const word of words) {
      const { x, y } = middleOf(word);
      const cell = merged[indexAt(ys, y) * (xs.length - 1) + indexAt(xs, x)]!;
      parts.set(cell, [...(parts.get(cell) ?? []), word.text]);
    }
    for (const [cell, part] of parts) texts.set(cell, [...(texts.get(cell) ?? []), joinTexts(part, false)]);
  }
  const rows = rowsOf(grid, merged, texts);
  const filled = rows.filter((row) => row.some(({ text }) => text !== '')).length;
  if (texts.size < 3 || filled < rows.length / 2) return undefined;
  const [first] = rows;
  return {
    kind: 'table',
    rows,
    header: first!.length > 1 && first!.every(({ text }) => /\p{L}/u.test(text)),
    lines: lines.filter((words) => words.length > 0),
  };
}

const indexAt = (places: readonly number[], at: number): number =>
  Math.max(
    0,
    places.findLastIndex((place) => place <= at),
  );

/** For each cell of the grid, row by row, the top left cell of the merged area that contains it. */
function mergedCells({ xs, ys, rules }: Grid): number[] {
  const columns = xs.length - 1;
  const merged = Array.from({ length: columns * (ys.length - 1) }, (_, index) => index);
  const isDrawn = (lines: readonly Rule[], at: number, along: number) =>
    lines.some((rule) => Math.abs(rule.at - at) <= SLACK && along >= rule.from - SLACK && along <= rule.to + SLACK);
  for (let index = 0; index < merged.length; index++) {
    const column = index % columns;
    const row = Math.floor(index / columns);
    const x = (xs[column]! + xs[column + 1]!) / 2;
    const y = (ys[row]! + ys[row + 1]!) / 2;
    if (column > 0 && !isDrawn(rules.vertical, xs[column]!, y)) merged[index] = merged[index - 1]!;
    else if (row > 0 && !isDrawn(rules.horizontal, ys[row]!, x)) merged[index] = merged[index - columns]!;
  }
  return merged;
}

/** An area that is not a rectangle becomes the rectangle around its first row. */
function rowsOf(
  { xs, ys }: Grid,
  merged: readonly number[],
  texts: ReadonlyMap<number, readonly string[]>,
): OcrCell[][] {
  const columns = xs.length - 1;
  return Array.from({ length: ys.length - 1 }, (_, row) =>
    Array.from({ length: columns }, (_, column) => row * columns + column)
      .filter((index) => merged[index] === index)
      .map((index) => {
        let across = 1;
        while ((index + across) % columns !== 0 && merged[index + across] === index) across++;
        let down = 1;
        while (merged[index + down * columns] === index) down++;
        return { text: joinTexts(texts.get(index) ?? []), columns: across, rows: down };
      }),
  );
}
