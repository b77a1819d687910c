/** The elements of a document as plain text: one line each, tables as tab-separated lines, an empty line between pages. */
import type { ContentElement } from '#reader/index.ts';

export function elementsText(elements: readonly ContentElement[]): string {
  let out = '';
  let page: number | undefined;
  for (const element of elements) {
    const text = textOf(element);
    if (!text) continue;
    const gap = out === '' ? '' : element.page !== undefined && element.page !== page ? '\n\n' : '\n';
    out += gap + text;
    page = element.page ?? page;
  }
  return out;
}

function textOf({ kind, text, rows }: ContentElement): string {
  if (kind === 'picture') return '';
  if (rows) return rows.map((cells) => cells.map((cell) => cell.text).join('\t')).join('\n');
  return text;
}
