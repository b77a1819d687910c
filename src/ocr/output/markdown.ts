/** Writes recognized blocks as Markdown, with GFM tables and escaped special characters. */
import type { OcrBlock, OcrCell, OcrListItem, OcrTable } from '../layout/layout.ts';

export const blocksToMarkdown = (blocks: readonly OcrBlock[]): string => blocks.map(markdown).join('\n\n');

function markdown(block: OcrBlock): string {
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(block.level)} ${escaped(block.text)}`;
    case 'paragraph':
      return atLineStart(escaped(block.text));
    case 'list':
      return listMarkdown(block.items);
    case 'table':
      return tableMarkdown(block);
  }
}

/** Escapes characters that form emphasis, code, links, tags or references anywhere (CommonMark 0.31, section 2.4). */
const escaped = (text: string): string =>
  text
    .replace(/[\\`*[\]]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/<(?=[a-z/!?])/gi, '\\<')
    .replace(/&(?=#?\w{1,31};)/g, '\\&')
    .replace(/~~/g, '\\~\\~');

/** Escapes characters that form a heading, list, quote or rule at the start of a line. */
const atLineStart = (text: string): string =>
  text
    .replace(/^(?:#{1,6}(?=\s|$)|[-+](?=\s|$)|>|-{3,}$|={1,}$)/, '\\$&')
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2');

/** A number in a format that Markdown does not support, such as `(b)`, becomes text in an item of a bullet list. */
function listMarkdown(items: readonly OcrListItem[]): string {
  const indents: number[] = [];
  return items
    .map(({ depth, mark, text }) => {
      const number = /^\(?(\d{1,9})[.)]$/.exec(mark ?? '')?.[1];
      const lead = number === undefined ? '- ' : `${number}. `;
      const indent = depth === 0 ? 0 : (indents[depth - 1] ?? 0);
      indents.length = depth;
      indents[depth] = indent + lead.length;
      const kept = mark !== undefined && number === undefined ? `${escaped(mark)} ` : '';
      return `${' '.repeat(indent)}${lead}${kept}${kept ? escaped(text) : atLineStart(escaped(text))}`;
    })
    .join('\n');
}

/**
 * GFM does not support spans and requires a header, so spans are followed by empty cells, and the header may be empty.
 */
function tableMarkdown({ rows, header }: OcrTable): string {
  const grid = spread(rows);
  const columns = Math.max(1, ...grid.map((row) => row.length));
  const line = (cells: readonly string[]) =>
    `| ${Array.from({ length: columns }, (_, at) => cells[at] ?? '').join(' | ')} |`;
  const [first = [], ...rest] = grid;
  const [head, body] = header ? [first, rest] : [[], grid];
  return [line(head), `|${' --- |'.repeat(columns)}`, ...body.map(line)].join('\n');
}

/** Places every cell in its column. */
function spread(rows: readonly (readonly OcrCell[])[]): string[][] {
  const grid: string[][] = rows.map(() => []);
  for (const [at, row] of rows.entries()) {
    let column = 0;
    for (const { text, columns, rows: down } of row) {
      while (grid[at]![column] !== undefined) column++;
      for (let y = at; y < Math.min(grid.length, at + down); y++)
        for (let x = column; x < column + columns; x++) grid[y]![x] = '';
      grid[at]![column] = escaped(text).replaceAll('|', '\\|');
      column += columns;
    }
  }
  return grid;
}
