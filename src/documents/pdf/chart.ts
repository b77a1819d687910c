/** Recognizes charts among tables: the grid lines of a chart look like those of a table, its labels do not. */
import type { Cell, Table } from './table.ts';

/** The smallest grid that is compared with a chart. */
const MIN_COLUMNS = 4;
const MIN_ROWS = 4;
/** The labels of a chart fill less than this share of its cells, and no more than this share of the first row. */
const DENSITY = 0.35;
const HEAD = 0.5;

const isFilled = ({ lines }: Cell): boolean => lines.length > 0;

/** Whether the text is scattered over the grid, under a first row that is no head. */
export function isChart({ rows }: Table): boolean {
  const columns = Math.max(...rows.map((row) => row.reduce((sum, cell) => sum + cell.columns, 0)));
  if (columns < MIN_COLUMNS || rows.length < MIN_ROWS) return false;
  const cells = rows.flat();
  const first = rows.find((row) => row.some(isFilled)) ?? [];
  return cells.filter(isFilled).length < DENSITY * cells.length && first.filter(isFilled).length <= HEAD * first.length;
}

/** The labels of a chart, from top to bottom. */
export const labelsOf = ({ rows }: Table): string =>
  rows
    .flat()
    .flatMap(({ lines }) => lines.map(({ text }) => text))
    .join(' ');
