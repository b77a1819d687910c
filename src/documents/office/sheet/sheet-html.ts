/** Writes a sheet as HTML: its blocks one below another, and tables with merged cells. */
import type { HtmlOutput } from '../html-output.ts';
import { blocksOf, type Merges, mergesByPlace, type TableBlock } from './blocks.ts';
import type { Row } from './cell.ts';
import { cellKeyOf, lowerBound, type Sheet } from './sheet.ts';

/** Content beyond the output limit is left out; `output.full` is then true. */
export function writeSheet(sheet: Sheet, output: HtmlOutput): void {
  const merges = mergesByPlace(sheet.merges);
  for (const block of blocksOf(sheet, merges)) {
    if (block.kind === 'text') output.write(`<p>${block.html}</p>\n`);
    else writeTable(block, merges, output);
    if (output.full) return;
  }
}

function writeTable({ rows, headerRows }: TableBlock, merges: Merges, output: HtmlOutput): void {
  const columns = columnsOf(rows);
  const indexes = rows.map(({ index }) => index);
  // One very wide row among narrow ones would make most of the table padding.
  const width = columns.length * rows.length <= 2 * cellCount(rows) + 10_000 ? columns.length : 0;
  const grid: Grid = { columns, indexes, merges, width, covered: new Map() };
  // The role says that a single row or column is a table too.
  output.write(`<table role="table"><${headerRows > 0 ? 'thead' : 'tbody'}>\n`);
  for (const [at, row] of rows.entries()) {
    if (headerRows > 0 && at === headerRows) output.write('</thead><tbody>\n');
    if (!output.write(`<tr>${rowHtml(row, at < headerRows ? 'th' : 'td', grid)}</tr>\n`)) break;
  }
  output.close(headerRows > 0 && headerRows >= rows.length ? '</thead></table>\n' : '</tbody></table>\n');
}

/** The columns with content, from left to right. */
function columnsOf(rows: readonly Row[]): number[] {
  const used = new Set<number>();
  for (const { columns } of rows) for (const column of columns) used.add(column);
  return [...used].sort((one, other) => one - other);
}

const cellCount = (rows: readonly Row[]): number => rows.reduce((sum, { columns }) => sum + columns.length, 0);

interface Grid {
  readonly columns: readonly number[];
  readonly indexes: readonly number[];
  readonly merges: Merges;
  /** Number of cells to which rows are padded. */
  readonly width: number;
  /** For each index in `columns`, the last row that a cell above covers. */
  readonly covered: Map<number, number>;
}

function rowHtml({ index, columns: filled, html }: Row, tag: 'td' | 'th', grid: Grid): string {
  const { columns, indexes, merges, width, covered } = grid;
  const out: string[] = [];
  let next = 0;
  for (let at = 0; at < Math.max(width, columns.length) && (at < width || next < filled.length); at++) {
    const column = columns[at]!;
    const isFilled = filled[next] === column;
    if (isFilled) next++;
    if ((covered.get(at) ?? -1) >= index) continue;
    if (!isFilled) {
      out.push(`<${tag}></${tag}>`);
      continue;
    }
    const merge = merges.size > 0 ? merges.get(cellKeyOf(index, column)) : undefined;
    if (!merge) {
      out.push(`<${tag}>${html[next - 1]}</${tag}>`);
      continue;
    }
    const right = lowerBound(columns, merge.right + 1);
    const down = lowerBound(indexes, merge.bottom + 1) - lowerBound(indexes, index);
    const across = right - at;
    if (down > 1) for (let under = at; under < right; under++) covered.set(under, merge.bottom);
    const spans = (across > 1 ? ` colspan="${across}"` : '') + (down > 1 ? ` rowspan="${down}"` : '');
    out.push(`<${tag}${spans}>${html[next - 1]}</${tag}>`);
    // Cells covered by the merged one are invisible.
    while (next < filled.length && filled[next]! <= merge.right) next++;
    at = right - 1;
  }
  return out.join('');
}
