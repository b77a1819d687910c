/** Recognizes charts among tables: the grid lines of a chart look like those of a table, its labels do not. */
import type { Cell, Table } from './table.ts';

/** The smallest grid that is compared with a chart. */
const MIN_COLUMNS = 4;
const MIN_ROWS = 4;
/** The labels of a chart fill less than this share of its cells, and no more than this share of the first row. */
const DENSITY = 0.35;
const HEAD = 0.5;

const isFilled = ({ lines }: Cell): boolean => lines.length > 0;

/** Lines of bars meet at few places of their grid: a table has at least this share of its cells, or most of them filled. */
const MERGED = 0.34;
const MERGED_FILLED = 0.6;
/** An axis: minimum number of rows with its numbers, and share of all rows. */
const MIN_AXIS_ROWS = 4;
const AXIS_ROWS = 0.6;

/** Whether the text is scattered over the grid, under a first row that is no head, or is an axis. */
export function isChart({ rows }: Pick<Table, 'rows'>): boolean {
  const columns = Math.max(...rows.map((row) => row.reduce((sum, cell) => sum + cell.columns, 0)));
  if (columns < MIN_COLUMNS || rows.length < MIN_ROWS) return false;
  const cells = rows.flat();
  const filled = cells.filter(isFilled).length;
  const first = rows.find((row) => row.some(isFilled)) ?? [];
  const isScattered = filled < DENSITY * cells.length && first.filter(isFilled).length <= HEAD * first.length;
  const isStepped = cells.length < MERGED * columns * rows.length && filled < MERGED_FILLED * cells.length;
  return isScattered || isStepped || hasAxis(rows, columns);
}

/** Whether most rows have no more than the numbers of an axis, in equal steps, at one or both sides. */
function hasAxis(rows: Table['rows'], columns: number): boolean {
  const marks: number[] = [];
  for (const row of rows) {
    const texts = row.filter(isFilled).map(textOf);
    if (texts.length > Math.min(2, columns - 2) || !texts.every((text) => NUMBER.test(text))) continue;
    if (texts.length > 0) marks.push(Number(texts[0]!.replace(/[,%\s$]/g, '').replace('−', '-')));
  }
  if (marks.length < MIN_AXIS_ROWS || marks.length < AXIS_ROWS * rows.length) return false;
  const step = marks[1]! - marks[0]!;
  return (
    step !== 0 && marks.every((mark, at) => at === 0 || Math.abs(mark - marks[at - 1]! - step) < STEP * Math.abs(step))
  );
}

const NUMBER = /^\s*[-−$]?[\d.,]+\s*%?\s*$/;
/** Tolerance of a step, as a share of it: labels are rounded. */
const STEP = 0.05;

const textOf = ({ lines }: Cell): string => lines.map(({ text }) => text).join(' ');

/** The labels of a chart, from top to bottom. */
export const labelsOf = ({ rows }: Table): string =>
  rows
    .flat()
    .flatMap(({ lines }) => lines.map(({ text }) => text))
    .join(' ');
