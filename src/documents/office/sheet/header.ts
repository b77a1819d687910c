/** Detects whether the first row of a table names its columns. */
import { isStrong, isText, type Row } from './cell.ts';
import { lowerBound } from './sheet.ts';

/** Number of rows examined below a header. */
const SAMPLE_ROWS = 50;
const LONGEST_NAME = 120;

/**
 * Returns the number of header rows: 0 or 1. The cells of a header are distinct texts (years count as text) in nearly
 * every column. Such a row is a header if a column below it contains non-text, if only this row is bold, or if there is
 * no evidence against it.
 */
export function headerRows(rows: readonly Row[]): 0 | 1 {
  const [first, ...rest] = rows.slice(0, SAMPLE_ROWS);
  if (!first || rest.length === 0) return 0;
  const columns = new Set<number>();
  let corner = first.columns[0]!;
  for (const row of rest) {
    corner = Math.min(corner, row.columns[0]!);
    for (const column of row.columns) columns.add(column);
  }
  const named = new Set(first.columns);
  const unnamed = [...columns].filter((column) => !named.has(column));
  // The corner of a table with names on both sides is often empty.
  if (unnamed.some((column) => column !== corner) && unnamed.length > columns.size / 10) return 0;
  if (first.columns.length < 2 && columns.size > 1) return 0;
  if (new Set(first.html).size < first.html.length || first.html.some((html) => html.length > LONGEST_NAME)) return 0;
  if (!first.kinds.every((kind, at) => isText(kind) || isYear(first.html[at]!))) return 0;
  const bold = first.kinds.every(isStrong);
  if (bold && !rest[0]!.kinds.every(isStrong)) return 1;
  const years = first.kinds.filter((kind) => !isText(kind)).length;
  const differs = first.columns.some((column, at) => isUnlike(rest, column, !isText(first.kinds[at]!)));
  if (years > 0) return differs ? 1 : 0;
  return differs || (!rest.some((row) => row.kinds.some((kind) => !isText(kind))) && columns.size > 1) ? 1 : 0;
}

const isYear = (html: string): boolean => /^(?:19|20)\d\d$/.test(html);

/** Whether the cells below in this column are mostly non-text, and not years below a year. */
function isUnlike(rows: readonly Row[], column: number, isYearColumn: boolean): boolean {
  let unlike = 0;
  let filled = 0;
  for (const { columns, kinds, html } of rows) {
    const at = lowerBound(columns, column);
    if (columns[at] !== column) continue;
    filled++;
    if (!isText(kinds[at]!) && !(isYearColumn && isYear(html[at]!))) unlike++;
  }
  return unlike > 0 && unlike * 2 >= filled;
}
