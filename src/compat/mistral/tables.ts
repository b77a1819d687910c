/** Takes the tables out of the Markdown of a page. */
import type { ContentElement, TableCell } from '#reader/index.ts';
import { tableXhtml } from '../documents/xhtml.ts';

export interface OcrTable {
  readonly id: string;
  readonly content: string;
  readonly format: 'markdown' | 'html';
}

const ROW = /^\|.*\|$/;
const RULE = /^\|(?:\s*:?-+:?\s*\|)+$/;

/** `first` is the number of the first table. A table is replaced by a link with its id. */
export function takeTables(
  markdown: string,
  elements: readonly ContentElement[],
  { format, first }: { readonly format: 'markdown' | 'html'; readonly first: number },
): { markdown: string; tables: OcrTable[] } {
  const lines = markdown.split('\n');
  const blocks: { from: number; to: number }[] = [];
  for (let at = 0; at + 1 < lines.length; at++) {
    if (!ROW.test(lines[at]!) || !RULE.test(lines[at + 1]!)) continue;
    let to = at + 2;
    while (to < lines.length && ROW.test(lines[to]!)) to += 1;
    blocks.push({ from: at, to });
    at = to - 1;
  }
  const placed = elements.filter(({ rows }) => rows);
  const out: string[] = [];
  let after = 0;
  const tables = blocks.map(({ from, to }, at): OcrTable => {
    const own = lines.slice(from, to);
    const id = `tbl-${first + at}.${format === 'html' ? 'html' : 'md'}`;
    out.push(...lines.slice(after, from), `[${id}](${id})`);
    after = to;
    // Tables that are not written as such make the lists differ. Then the rows of the Markdown are the table.
    const rows = placed.length === blocks.length ? placed[at]!.rows! : rowsOf(own);
    return { id, content: format === 'html' ? tableXhtml(rows) : own.join('\n'), format };
  });
  return { markdown: [...out, ...lines.slice(after)].join('\n'), tables };
}

const rowsOf = (lines: readonly string[]): TableCell[][] =>
  lines
    .filter((_, at) => at !== 1)
    .map((line, at) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => ({ text: cell.trim().replaceAll('\\|', '|'), isHeader: at === 0, colspan: 1, rowspan: 1 })),
    );
