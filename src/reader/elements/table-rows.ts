/** The cells of a table. */
import { attribute, type Child, ELEMENT, type Element, following, textOf } from '#html/node.ts';
import type { TableCell } from './content-element.ts';

/** Limit of the HTML standard for colspan. */
const MAX_SPAN = 1_000;

/** Tables inside a cell are part of its text. */
export function tableRows(table: Element): TableCell[][] {
  const rows: TableCell[][] = [];
  let row: TableCell[] | undefined;
  let node: Child | null = following(table, table);
  while (node) {
    let skip = false;
    if (node.type === ELEMENT) {
      if (node.name === 'tr') {
        row = [];
        rows.push(row);
      } else if (node.name === 'td' || node.name === 'th') {
        row?.push(cellOf(node));
        skip = true;
      } else if (node.name === 'caption') skip = true;
    }
    node = following(node, table, skip);
  }
  return rows.filter((cells) => cells.length > 0);
}

const cellOf = (cell: Element): TableCell => ({
  text: textOf(cell).replace(/\s+/g, ' ').trim(),
  isHeader: cell.name === 'th',
  colspan: spanOf(cell, 'colspan'),
  rowspan: spanOf(cell, 'rowspan'),
});

function spanOf(cell: Element, name: string): number {
  const span = Number.parseInt(attribute(cell, name) ?? '', 10);
  return span >= 1 ? Math.min(span, MAX_SPAN) : 1;
}
