/** Writes recognized blocks as HTML and as plain text. */
import { escapeText } from '#html/serialize.ts';
import type { OcrBlock, OcrCell, OcrListItem } from '../layout/layout.ts';

export const blocksToHtml = (blocks: readonly OcrBlock[]): string => blocks.map(html).join('\n');

export const blocksToText = (blocks: readonly OcrBlock[]): string => blocks.map(text).join('\n\n');

function html(block: OcrBlock): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level}>${escapeText(block.text)}</h${block.level}>`;
    case 'paragraph':
      return `<p>${escapeText(block.text)}</p>`;
    case 'list':
      return listHtml(block.items);
    case 'table':
      return tableHtml(block.rows, block.header);
  }
}

function text(block: OcrBlock): string {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return block.text;
    case 'list':
      return block.items.map(({ depth, mark, text }) => `${'  '.repeat(depth)}${mark ?? '-'} ${text}`).join('\n');
    case 'table':
      return block.rows.map((row) => row.map((cell) => cell.text).join('\t')).join('\n');
  }
}

/** Deeper items form a list inside the item before them. */
function listHtml(items: readonly OcrListItem[]): string {
  const open: string[] = [];
  let out = '';
  for (const { depth, mark, text } of items) {
    const tag = mark === undefined ? 'ul' : 'ol';
    while (open.length > depth + 1) out += `</li></${open.pop()}>`;
    if (open.length === depth + 1) out += '</li>';
    else {
      out += startTag(tag, mark);
      open.push(tag);
    }
    out += `<li>${escapeText(text)}`;
  }
  while (open.length > 0) out += `</li></${open.pop()}>`;
  return out;
}

function startTag(tag: string, mark: string | undefined): string {
  const first = Number.parseInt(mark?.replace(/\D/g, '') ?? '', 10);
  return first > 1 ? `<${tag} start="${first}">` : `<${tag}>`;
}

const spans = ({ columns, rows }: OcrCell): string =>
  (columns > 1 ? ` colspan="${columns}"` : '') + (rows > 1 ? ` rowspan="${rows}"` : '');

function tableHtml(rows: readonly (readonly OcrCell[])[], header: boolean): string {
  const line = (row: readonly OcrCell[], tag: string) =>
    `<tr>${row.map((cell) => `<${tag}${spans(cell)}>${escapeText(cell.text)}</${tag}>`).join('')}</tr>`;
  const [first, ...rest] = rows;
  if (!header || !first) return `<table><tbody>${rows.map((row) => line(row, 'td')).join('')}</tbody></table>`;
  const body = rest.map((row) => line(row, 'td')).join('');
  return `<table><thead>${line(first, 'th')}</thead><tbody>${body}</tbody></table>`;
}
