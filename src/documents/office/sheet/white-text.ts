/** White text on an unknown background, which is invisible in a sheet with a white background. */
import { type CellKind, newRow, type Row, WHITE } from './cell.ts';

const isWhite = (kind: CellKind): boolean => (kind & WHITE) !== 0;

/**
 * Removes white cells, unless they are more than half of the sheet: then the sheet has a background from a source that
 * is not read here, such as a picture.
 */
export function removeWhiteText(rows: readonly Row[]): { readonly rows: Row[]; readonly removed: number } {
  let cells = 0;
  let white = 0;
  for (const { kinds } of rows) {
    cells += kinds.length;
    for (const kind of kinds) if (isWhite(kind)) white++;
  }
  if (white === 0 || white * 2 > cells) return { rows: [...rows], removed: 0 };
  const kept = rows.map((row) => (row.kinds.some(isWhite) ? withoutWhite(row) : row));
  return { rows: kept.filter(({ columns }) => columns.length > 0), removed: white };
}

function withoutWhite({ index, columns, html, kinds }: Row): Row {
  const row = newRow(index);
  for (const [at, kind] of kinds.entries()) {
    if (isWhite(kind)) continue;
    row.columns.push(columns[at]!);
    row.html.push(html[at]!);
    row.kinds.push(kind);
  }
  return row;
}
