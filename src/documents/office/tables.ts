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

/** `header`: whether the first row is a header; `undefined` detects it. */
export function tableHtml(rows: readonly Row[], header: boolean | undefined): string {
  const filled = rows.filter(({ cells }) => cells.length > 0);
  let heads = 0;
  while (heads < filled.length && filled[heads]!.header) heads++;
  if (heads === 0 && filled.length > 1 && (header ?? looksLikeHeader(filled))) heads = 1;
  if (heads === filled.length) heads = 0;
  const html: string[] = ['<table>'];
  if (heads > 0) html.push('<thead>', ...filled.slice(0, heads).map((row) => rowHtml(row, 'th')), '</thead>');
  html.push('<tbody>', ...filled.slice(heads).map((row) => rowHtml(row, 'td')), '</tbody></table>');
  return html.join('');
}

const rowHtml = ({ cells }: Row, tag: 'th' | 'td'): string => {
  const html = cells.map((cell) => {
    const spans =
      (cell.colspan > 1 ? ` colspan="${cell.colspan}"` : '') + (cell.rowspan > 1 ? ` rowspan="${cell.rowspan}"` : '');
    return `<${tag}${spans}>${cellHtml(cell)}</${tag}>`;
  });
  return `<tr>${html.join('')}</tr>`;
};

/** Paragraphs of a cell become lines; lists remain lists. */
function cellHtml({ blocks }: Cell): string {
  let html = '';
  let afterText = false;
  for (const block of blocks) {
    const isLine = block.inline !== '';
    if (isLine)
      html += (afterText ? '<br>' : '') + (block.kind === 'heading' ? `<b>${block.inline}</b>` : block.inline);
    else html += block.html === '<hr>' ? '' : block.html;
    afterText = isLine;
  }
  return html;
}

/**
 * Flattens a table inside a cell: each row becomes a line, `name: value` for two columns, otherwise separated by
 * commas.
 */
export function flattenTable(rows: readonly Row[]): string {
  const lines = rows.map(({ cells }) => {
    const texts = cells.map((cell) => cellHtml(cell).replaceAll('<br>', ' ')).filter((text) => text !== '');
    return texts.join(cells.length === 2 ? ': ' : ', ');
  });
  return lines.filter((text) => text !== '').join('<br>');
}

/** Maximum length of a header cell, in characters. */
const LONGEST_HEADER = 80;

/** Whether all cells of the first row are filled, short and not numbers. */
function looksLikeHeader([first, ...others]: readonly Row[]): boolean {
  const texts = first!.cells.map((cell) =>
    cellHtml(cell)
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
