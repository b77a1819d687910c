/** The plain Tesseract program, and the tables that can be derived from its output. */
import { execFileSync } from 'node:child_process';
import type { Table } from './score.ts';

const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Tesseract's text in its own line order. */
export const plainText = (file: string): string => tesseract(file);

/**
 * Rows of cells, derived in two ways: from lines split at two or more spaces, with `preserve_interword_spaces`; and
 * from word boxes split at gaps wider than the line height.
 */
export const plainTables = (file: string): Table[] => [
  tesseract(file, '-c', 'preserve_interword_spaces=1')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().split(/\s{2,}/)),
  rowsOfBoxes(tesseract(file, 'tsv')),
];

function tesseract(file: string, ...more: readonly string[]): string {
  const env = { ...process.env, OMP_THREAD_LIMIT: '1' };
  const args = [file, 'stdout', '-l', 'eng', ...more];
  const text = execFileSync('tesseract', args, { env, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: MAX_TEXT_BYTES });
  return text.toString('utf8');
}

interface Box {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Words at the same height form a row, even if they are in different blocks. */
function rowsOfBoxes(tsv: string): Table {
  const boxes = tsv
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
    .filter((fields) => fields[0] === '5' && fields[11]?.trim())
    .map(([, , , , , , left, top, width, height, , text]): Box => {
      const [x, y] = [Number(left), Number(top)];
      return { text: text!.trim(), left: x, right: x + Number(width), top: y, bottom: y + Number(height) };
    })
    .sort((a, b) => a.top + a.bottom - b.top - b.bottom);
  const rows: Box[][] = [];
  for (const box of boxes) {
    const row = rows.at(-1);
    const middle = (box.top + box.bottom) / 2;
    if (row && middle > row[0]!.top && middle < row[0]!.bottom) row.push(box);
    else rows.push([box]);
  }
  return rows.map((row) => cut(row.sort((a, b) => a.left - b.left)));
}

function cut(row: readonly Box[]): string[] {
  const cells: string[] = [];
  for (const [at, box] of row.entries()) {
    const before = row[at - 1];
    if (before && box.left - before.right <= box.bottom - box.top) cells.push(`${cells.pop()} ${box.text}`);
    else cells.push(box.text);
  }
  return cells;
}
