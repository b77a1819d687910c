/** Tables in running text as HTML. */
import type { Block } from './text-builder.ts';

export interface Cell {
  readonly blocks: Block[];
  readonly colspan: number;
  rowspan: number;
}

export interface Row {
  readonly header: boolean;
  readonly cells: Cell[];
}

/** Returns the next number of a nested table. */
export type NextNumber = () => number;

/**
 * A table as blocks. A layout table is replaced with the content of its cells. In other tables, a cell names the tables
 * that it contains, and they follow the table. `header`: whether the first row is a header; `undefined` detects it.
 */
export function tableBlocks(rows: readonly Row[], header: boolean | undefined, nextNumber: NextNumber): Block[] {
  if (isLayout(rows)) return rows.flatMap(({ cells }) => cells.flatMap(({ blocks }) => blocks));
  const nested: Block[] = [];
  const cells = rows.flatMap((row) => row.cells);
  const items = itemsOf(cells);
  const contents = new Map(cells.map((cell) => [cell, items?.get(cell) ?? cellHtml(cell, nested, nextNumber)]));
  const html = tableHtml(rows, header, contents);
  const lines = isLine(rows) && nested.length === 0 ? linesOf(rows, contents) : undefined;
  return [{ kind: 'table', html, inline: '', lines }, ...nested];
}

const ITEM = /^<ul><li>((?:(?!<\/?(?:li|[uo]l)\b).)*)<\/li><\/ul>$/s;

/** The texts of the cells if each filled cell is a list of one item, whose bullets then say nothing. */
function itemsOf(cells: readonly Cell[]): ReadonlyMap<Cell, string> | undefined {
  const items = new Map<Cell, string>();
  const filled = cells.filter(({ blocks }) => blocks.length > 0);
  for (const cell of filled) {
    const text = cell.blocks.length === 1 ? ITEM.exec(cell.blocks[0]!.html)?.[1] : undefined;
    if (text === undefined) return undefined;
    items.set(cell, text);
  }
  return filled.length > 1 ? items : undefined;
}

/**
 * A table that only arranges content: of one cell; of one row or column that holds a table; or one in which at least
 * half of the filled cells hold a table or a heading, and at least one a table.
 */
function isLayout(rows: readonly Row[]): boolean {
  const cells = rows.flatMap(({ cells }) => cells).filter(({ blocks }) => blocks.length > 0);
  if (rows.length === 1 && rows[0]!.cells.length === 1) return true;
  const holders = cells.filter(({ blocks }) => blocks.some(isTable)).length;
  if (holders === 0 || isLine(rows)) return holders > 0;
  const titled = cells.filter(({ blocks }) =>
    blocks.some((block) => isTable(block) || block.kind === 'heading'),
  ).length;
  return titled * 2 >= cells.length;
}

/** Whether a table has only one row or one column. */
const isLine = (rows: readonly Row[]): boolean =>
  rows.filter(({ cells }) => cells.length > 0).length < 2 || rows.every(({ cells }) => cells.length < 2);

/** Tables of one row or column are short enough for a cell. */
const isTable = ({ kind, lines }: Block): boolean => kind === 'nested' || (kind === 'table' && lines === undefined);

function tableHtml(rows: readonly Row[], header: boolean | undefined, contents: ReadonlyMap<Cell, string>): string {
  const first = rows.findIndex(({ cells }) => cells.length > 0);
  let heads = 0;
  while (heads < rows.length && rows[heads]!.header) heads++;
  const filled = rows.filter(({ cells }) => cells.length > 0);
  if (heads === 0 && filled.length > 1 && (header ?? looksLikeHeader(filled, contents))) heads = first + 1;
  if (heads === rows.length) heads = 0;
  const write = (some: readonly Row[], tag: 'th' | 'td') => some.map((row) => rowHtml(row, tag, contents)).join('');
  const head = heads > 0 ? `<thead>${write(rows.slice(0, heads), 'th')}</thead>` : '';
  return `<table>${head}<tbody>${write(rows.slice(heads), 'td')}</tbody></table>`;
}

/** A row without cells of its own, which merged cells above it cover, is kept: the merged cells count it. */
const rowHtml = ({ cells }: Row, tag: 'th' | 'td', contents: ReadonlyMap<Cell, string>): string => {
  const html = cells.map((cell) => {
    const spans =
      (cell.colspan > 1 ? ` colspan="${cell.colspan}"` : '') + (cell.rowspan > 1 ? ` rowspan="${cell.rowspan}"` : '');
    return `<${tag}${spans}>${contents.get(cell)}</${tag}>`;
  });
  return `<tr>${html.join('')}</tr>`;
};

/** Paragraphs of a cell become lines; lists remain lists. Tables are moved to `nested`. */
function cellHtml({ blocks }: Cell, nested: Block[], nextNumber: NextNumber): string {
  const pieces: string[] = [];
  let afterText = false;
  for (const block of blocks) {
    if (block.kind === 'nested') {
      nested.push(block);
      continue;
    }
    const line = lineOf(block) ?? (block.kind === 'table' ? moveTable(block, nested, nextNumber) : undefined);
    if (line !== undefined) pieces.push(afterText ? `<br>${line}` : line);
    else if (block.html !== '<hr>') pieces.push(block.html);
    afterText = line !== undefined;
  }
  return pieces.join('');
}

/** A block as a line of a cell; `undefined` if it is none. */
function lineOf({ kind, inline, lines }: Block): string | undefined {
  if (kind === 'table') return lines;
  if (inline === '') return undefined;
  return kind === 'heading' ? `<b>${inline}</b>` : inline;
}

/** Returns the text that stands for the table in its cell. */
function moveTable({ html }: Block, nested: Block[], nextNumber: NextNumber): string {
  const number = nextNumber();
  nested.push({ kind: 'nested', html: `<p>Nested table ${number}:</p>\n${html}`, inline: '' });
  return `(nested table ${number})`;
}

/** The rows of a table as lines, for a table of one row or column inside a cell. */
function linesOf(rows: readonly Row[], contents: ReadonlyMap<Cell, string>): string {
  const lines = rows.map(({ cells }) => {
    const texts = cells.map((cell) => contents.get(cell)!.replaceAll('<br>', ' ')).filter((text) => text !== '');
    return texts.join(cells.length === 2 ? ': ' : ', ');
  });
  return lines.filter((text) => text !== '').join('<br>');
}

/** Maximum length of a header cell, in characters. */
const LONGEST_HEADER = 80;

/** Whether all cells of the first row are filled, short and not numbers. */
function looksLikeHeader([first, ...others]: readonly Row[], contents: ReadonlyMap<Cell, string>): boolean {
  const texts = first!.cells.map((cell) =>
    contents
      .get(cell)!
      .replace(/<[^>]*>/g, '')
      .trim(),
  );
  const width = Math.max(...others.slice(0, 100).map(({ cells }) => cells.length));
  return (
    width > 1 &&
    texts.length > 1 &&
    texts.every((text) => text !== '' && text.length <= LONGEST_HEADER && !/^[\d\s.,:%€$£¥()+\-/]+$/.test(text))
  );
}
