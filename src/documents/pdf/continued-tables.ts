/** Joins tables that continue on the next page, and drops the head that is repeated there. */
import type { Block } from './blocks.ts';
import type { Cell, Table } from './table.ts';
import { isValue } from './text-lines.ts';

/** Largest difference between the left edges and between the widths of the parts, as a share of the width. */
const SAME_PLACE = 0.06;
const SAME_WIDTH = 0.15;
/** What may stand above the continued part. */
const CONTINUED = /\bcont(?:inued|\.|'d|’d)/i;

type TableBlock = Extract<Block, { kind: 'table' }>;

/** The rows of a continued table move to the page where it begins. Changes `pages`. */
export function joinTables(pages: readonly Block[][]): void {
  let open: { table: Table; rows: (readonly Cell[])[]; page: number; at: number } | null = null;
  pages.forEach((blocks, page) => {
    const at = blocks.findIndex((block) => !isContinuedCaption(block));
    const first = blocks[at];
    const rows = open && first?.kind === 'table' ? continuation(open.table, first.table) : null;
    if (open && rows) {
      if (open.rows.length === 0) open.rows.push(...open.table.rows);
      for (const row of rows) open.rows.push(row);
      const { box } = pages[open.page]![open.at]!;
      pages[open.page]![open.at] = { kind: 'table', table: { ...open.table, rows: open.rows }, box };
      blocks.splice(0, at + 1);
      if (blocks.every(isAside)) return;
    }
    const last = blocks.findLastIndex((block) => !isAside(block));
    const block = blocks[last];
    open = block?.kind === 'table' ? { table: (block as TableBlock).table, rows: [], page, at: last } : null;
  });
}

/** Notes below a table do not end it. */
const isAside = ({ kind }: Block): boolean => kind === 'quote';

const isContinuedCaption = (block: Block): boolean =>
  'runs' in block && CONTINUED.test(block.runs.map(({ text }) => text).join(''));

/** The rows of `next` without its repeated head; null if it is another table. */
function continuation(table: Table, next: Table): (readonly Cell[])[] | null {
  if (columnsOf(table) !== columnsOf(next) || !isSamePlace(table, next)) return null;
  const head = headOf(table);
  const repeated = headOf(next);
  if (repeated.length > 0 && keyOf(repeated) === keyOf(head.slice(0, repeated.length)) && head.length > 0) {
    return next.rows.slice(repeated.length);
  }
  // Without a head, the first row has values like the rows of the part before.
  const hasValues = (row: readonly Cell[]) => row.slice(1).some((cell) => isValue(textOf(cell)));
  const [first] = next.rows;
  if (repeated.length !== 1 || !first || !hasValues(first) || !table.rows.slice(head.length).some(hasValues))
    return null;
  return next.rows.map((row) => row.map((cell) => ({ ...cell, header: false })));
}

function isSamePlace({ x0, x1 }: Table, next: Table): boolean {
  const width = x1 - x0;
  return Math.abs(next.x0 - x0) < SAME_PLACE * width && Math.abs(next.x1 - next.x0 - width) < SAME_WIDTH * width;
}

const columnsOf = ({ rows }: Table): number => (rows[0] ?? []).reduce((sum, { columns }) => sum + columns, 0);

function headOf({ rows }: Table): (readonly Cell[])[] {
  const end = rows.findIndex((row) => !row.every(({ header }) => header));
  return rows.slice(0, end < 0 ? rows.length : end);
}

const textOf = ({ lines }: Cell): string => lines.map(({ text }) => text).join(' ');

const keyOf = (rows: readonly (readonly Cell[])[]): string =>
  rows
    .map((row) => row.map(textOf).join('\t'))
    .join('\n')
    .replace(/\(?\bcont(?:inued|\.|'d|’d)\)?/gi, '')
    .replace(/[^\S\t\n]+/g, '');
