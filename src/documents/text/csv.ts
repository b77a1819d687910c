/** CSV and TSV (RFC 4180 and common deviations) as a table. */
import { decodeText } from '#html/decode.ts';
import type { DocumentKind } from '../document.ts';
import { cellHtml, HtmlOutput } from '../office/html-output.ts';
import { type CellKind, NUMBER, newRow, OTHER, TEXT } from '../office/sheet/cell.ts';
import { headerRows } from '../office/sheet/header.ts';

/** Maximum number of rows. Further rows are left out, and a note reports this. */
const MAX_ROWS = 100_000;
const DELIMITERS = [',', ';', '\t', '|'] as const;
/** Characters and rows examined to detect the delimiter. */
const SNIFF_CHARS = 64 * 1024;
const SNIFF_ROWS = 200;

export const kind: DocumentKind = {
  async parse(file, bytes) {
    const { text } = decodeText(bytes, file.contentType);
    const { delimiter, start } = delimiterOf(text, file.mediaType, file.name);
    const { rows, more } = readRows(text, { delimiter, start, maxRows: MAX_ROWS });
    const output = new HtmlOutput();
    writeTable(rows, output);
    const notes: string[] = [];
    if (more) notes.push(`Only the first ${MAX_ROWS.toLocaleString('en')} rows are shown`);
    else if (output.full) notes.push('The table is too large to be shown in full');
    return { title: '', pages: [{ number: 1, html: output.takeHtml() }], metadata: {}, notes, hiddenCount: 0 };
  },
};

interface Reading {
  readonly delimiter: string;
  /** Offset of the first row. */
  readonly start?: number;
  readonly maxRows: number;
}

/** Reads the rows that are not blank. `more` is true if rows remain after `maxRows`. */
export function readRows(
  text: string,
  { delimiter, start = 0, maxRows }: Reading,
): { rows: string[][]; more: boolean } {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = start;
  const end = text.length;
  while (at < end) {
    let field: string;
    if (text[at] === '"') ({ field, at } = readQuoted(text, at, delimiter));
    else {
      const from = at;
      while (at < end && !isEnd(text, at, delimiter)) at++;
      field = text.slice(from, at);
    }
    row.push(field);
    if (text[at] === delimiter) {
      at++;
      if (at < end) continue;
      row.push('');
    }
    if (text[at] === '\r') at++;
    if (text[at] === '\n') at++;
    if (row.some((value) => value.trim() !== '')) {
      if (rows.length === maxRows) return { rows, more: true };
      rows.push(row);
    }
    row = [];
  }
  return { rows, more: false };
}

const isEnd = (text: string, at: number, delimiter: string): boolean => {
  const unit = text[at];
  return unit === delimiter || unit === '\n' || unit === '\r';
};

/** Reads a quoted field. If the quote is never closed, it is literal and the field ends with its line. */
function readQuoted(text: string, from: number, delimiter: string): { field: string; at: number } {
  const parts: string[] = [];
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return readRest(text, from, delimiter);
    parts.push(text.slice(at, quote));
    at = quote + 1;
    if (text[at] !== '"') break;
    parts.push('"');
    at++;
  }
  const tail = at;
  while (at < text.length && !isEnd(text, at, delimiter)) at++;
  parts.push(text.slice(tail, at));
  return { field: parts.join(''), at };
}

function readRest(text: string, from: number, delimiter: string): { field: string; at: number } {
  let at = from;
  while (at < text.length && !isEnd(text, at, delimiter)) at++;
  return { field: text.slice(from, at), at };
}

/** Returns a tab if the type or name indicates TSV; otherwise the delimiter that splits the rows most evenly. */
function delimiterOf(text: string, mediaType: string, name = ''): { delimiter: string; start: number } {
  // Excel declares the delimiter on a line before the first row.
  const declared = /^sep=([^\r\n])(?:\r\n|\r|\n)/i.exec(text.slice(0, 10));
  if (declared) return { delimiter: declared[1]!, start: declared[0].length };
  if (mediaType === 'text/tab-separated-values' || /\.(?:tsv|tab)$/i.test(name)) return { delimiter: '\t', start: 0 };
  const sample = text.slice(0, SNIFF_CHARS);
  let best: { delimiter: string; score: number } = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const score = evenness(readRows(sample, { delimiter, maxRows: SNIFF_ROWS }).rows);
    if (score > best.score) best = { delimiter, score };
  }
  return { delimiter: best.delimiter, start: 0 };
}

/** From 0 (rows are not split) to 1 (many rows of equal width). Wider tables get slightly higher scores. */
function evenness(rows: readonly string[][]): number {
  const widths = new Map<number, number>();
  for (const { length } of rows) widths.set(length, (widths.get(length) ?? 0) + 1);
  let score = 0;
  for (const [width, count] of widths) {
    if (width > 1) score = Math.max(score, (count / rows.length) * (1 - 0.2 / width));
  }
  return score;
}

function writeTable(rows: readonly string[][], output: HtmlOutput): void {
  if (rows.length === 0) return;
  const width = paddedWidth(rows);
  const header = headerRows(rows.slice(0, 100).map(sampleRow));
  output.write(header ? '<table><thead>' : '<table><tbody>');
  for (const [index, row] of rows.entries()) {
    if (header && index === header) output.write('</thead><tbody>');
    const cell = index < header ? 'th' : 'td';
    const cells = row.map((value) => `<${cell}>${cellHtml(value)}</${cell}>`).join('');
    const padding = `<${cell}></${cell}>`.repeat(Math.max(0, width - row.length));
    if (!output.write(`<tr>${cells}${padding}</tr>\n`)) break;
  }
  output.close(header && rows.length === header ? '</thead></table>' : '</tbody></table>');
}

/** The width to which rows are padded; 0 if one long row would make most of the table padding. */
function paddedWidth(rows: readonly string[][]): number {
  let width = 0;
  let cells = 0;
  for (const { length } of rows) {
    width = Math.max(width, length);
    cells += length;
  }
  return width * rows.length <= cells * 2 + 10_000 ? width : 0;
}

function sampleRow(values: readonly string[], index: number) {
  const row = newRow(index);
  for (const [column, value] of values.entries()) {
    const text = value.trim();
    if (text === '') continue;
    row.columns.push(column);
    row.html.push(text);
    row.kinds.push(kindOf(text));
  }
  return row;
}

function kindOf(text: string): CellKind {
  if (/^[-+(]?\s*[$€£¥]?\s*[-+]?\d[\d.,' \u00a0\u202f]{0,40}(?:[eE][-+]?\d+)?\s*[%€$£¥]?\)?$/.test(text)) return NUMBER;
  return /^(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ].{0,30})?|true|false|\d{1,2}:\d\d(?::\d\d)?)$/i.test(text)
    ? OTHER
    : TEXT;
}
