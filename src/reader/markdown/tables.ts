/**
 * Pipe tables. Cells covered by a span remain empty, so that columns keep their meaning and no text is repeated.
 * Columns and rows without text are omitted. In tables of files, where they are rarely used for spacing, they are only
 * omitted at the edges.
 */
import type { Element } from '#html/node.ts';
import { attribute } from '#html/node.ts';

export type Align = 'left' | 'center' | 'right' | null;

interface Cell {
  readonly text: string;
  readonly align: Align;
  readonly header: boolean;
}

const EMPTY: Cell = { text: '', align: null, header: false };
const MAX_SPAN = 1000;
/**
 * Maximum number of cells that spans may add. Beyond this number, spans count as 1, so that huge spans cannot multiply
 * the size of the table.
 */
const MAX_ADDED_CELLS = 20_000;

export class TableGrid {
  private readonly rows: Cell[][] = [];
  /** For each column, the number of rows that a cell above still covers. */
  private covered: number[] = [];
  private readonly headRows = new Set<number>();
  /** Whether a cell begins in the column, rather than only a span covering it. */
  private readonly begun: boolean[] = [];
  private readonly keepsEmpty: boolean;
  private added = 0;

  constructor({ keepsEmpty }: { readonly keepsEmpty: boolean }) {
    this.keepsEmpty = keepsEmpty;
  }

  startRow(inHead: boolean): void {
    if (inHead) this.headRows.add(this.rows.length);
    this.rows.push([]);
  }

  addCell(text: string, element: Element, align: Align): void {
    if (this.rows.length === 0) this.startRow(false);
    const row = this.rows.at(-1)!;
    this.fillCovered(row);
    const columns = this.span(element, 'colspan');
    const below = this.span(element, 'rowspan') - 1;
    const cell = { text: escapePipes(text), align, header: element.name === 'th' };
    this.begun[row.length] = true;
    for (let at = 0; at < columns; at++) {
      if (below > 0) this.covered[row.length] = below;
      row.push(at === 0 ? cell : EMPTY);
    }
    this.added += columns - 1;
  }

  endRow(): void {
    const row = this.rows.at(-1);
    if (!row) return;
    this.fillCovered(row);
    this.covered.length = Math.min(this.covered.length, row.length);
  }

  /** The table as Markdown; '' if it has no text. */
  toString(): string {
    const rows: { cells: Cell[]; head: boolean }[] = [];
    const hasText = (cells: readonly Cell[]) => cells.some((cell) => cell.text !== '');
    const last = this.rows.findLastIndex(hasText);
    for (const [index, cells] of this.rows.entries()) {
      const isInside = this.keepsEmpty && rows.length > 0 && index < last;
      if (isInside || hasText(cells)) rows.push({ cells, head: this.headRows.has(index) });
    }
    if (rows.length === 0) return '';
    const used: boolean[] = [];
    for (const { cells } of rows) {
      for (const [column, cell] of cells.entries()) used[column] ||= cell.text !== '';
    }
    const [from, to] = [used.indexOf(true), used.lastIndexOf(true)];
    const isKept = (column: number) =>
      used[column] || (this.keepsEmpty && this.begun[column] === true && column > from && column < to);
    const columns = [...used.keys()].filter(isKept);
    const first = rows[0]!;
    const hasHeader = isHeader(first.cells, first.head);
    const header = hasHeader ? first.cells : [];
    const body = hasHeader ? rows.slice(1) : rows;
    const lines = [line(columns.map((column) => plainHeader(header[column]?.text ?? '')))];
    lines.push(line(columns.map((column) => rule((header[column] ?? first.cells[column])?.align ?? null))));
    // Whether rows are padded with empty cells. In huge tables, rows may end early, since GFM treats missing cells as
    // empty.
    const pads = rows.length * columns.length < 4 * MAX_ADDED_CELLS;
    for (const { cells } of body) {
      const shown = pads ? columns : columns.filter((column) => column < cells.length);
      lines.push(line(shown.map((column) => cells[column]?.text ?? '')));
    }
    return lines.join('\n');
  }

  /** Adds empty cells for the columns that a cell of an earlier row covers. */
  private fillCovered(row: Cell[]): void {
    while ((this.covered[row.length] ?? 0) > 0) {
      this.covered[row.length]! -= 1;
      row.push(EMPTY);
      this.added += 1;
    }
  }

  private span(element: Element, name: 'colspan' | 'rowspan'): number {
    const value = Number.parseInt(attribute(element, name) ?? '', 10);
    if (!(value > 1) || this.added > MAX_ADDED_CELLS) return 1;
    return Math.min(value, MAX_SPAN);
  }
}

/** Escapes pipes. A pipe after an odd number of backslashes, as in code, would otherwise still separate cells. */
function escapePipes(text: string): string {
  if (!text.includes('|')) return text;
  return text
    .split('|')
    .map((part, index, { length }) => (index < length - 1 && endsInEscape(part) ? `${part}\\` : part))
    .join('\\|');
}

function endsInEscape(text: string): boolean {
  let start = text.length;
  while (text[start - 1] === '\\') start -= 1;
  return (text.length - start) % 2 === 1;
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const rule = (align: Align): string =>
  align === 'center' ? ':---:' : align === 'right' ? '---:' : align === 'left' ? ':---' : '---';

/** A row is the header if it is in thead, if all its cells with text are th, or if all are bold. */
const isHeader = (cells: readonly Cell[], inHead: boolean): boolean => {
  const filled = cells.filter((cell) => cell.text !== '');
  return inHead || filled.every((cell) => cell.header) || filled.every((cell) => isAllBold(cell.text));
};

const isAllBold = (text: string): boolean => /^(\*\*|__)[^*_]+\1$/.test(text);

/** Removes bold from a header cell, because headers are bold anyway. */
const plainHeader = (text: string): string => (isAllBold(text) ? text.slice(2, -2) : text);

/** The alignment of a cell's text: its `align` attribute, else its own style. */
export function alignOf(cell: Element): Align {
  const style = attribute(cell, 'style');
  const word = attribute(cell, 'align') ?? /text-align\s*:\s*(\w+)/i.exec(style ?? '')?.[1] ?? '';
  const align = word.trim().toLowerCase();
  return align === 'left' || align === 'center' || align === 'right' ? align : null;
}
