/** References to cells, such as `AB12` and `B2:D5`. */
import { MAX_COLUMNS, type Region } from './sheet.ts';

/** The column of a reference such as `AB12`, from 0; -1 if invalid. */
export function columnOf(ref: string): number {
  let column = 0;
  for (let at = 0; at < ref.length; at++) {
    const code = ref.charCodeAt(at) | 0x20;
    if (code < 0x61 || code > 0x7a) break;
    column = column * 26 + code - 0x60;
    if (column > MAX_COLUMNS) return -1;
  }
  return column - 1;
}

/** The letters of a column, counted from 0. */
export function lettersOf(column: number): string {
  let name = '';
  for (let left = column + 1; left > 0; left = Math.floor((left - 1) / 26)) {
    name = String.fromCharCode(65 + ((left - 1) % 26)) + name;
  }
  return name;
}

/** The reference of a cell whose row and column are counted from 0. */
export const refOf = (row: number, column: number): string => `${lettersOf(column)}${row + 1}`;

/** Parses `B2:D5` or `B2`, with or without dollar signs. */
export function regionOf(ref: string | undefined): Region | undefined {
  const found = /^\$?([a-z]{1,3})\$?(\d{1,7})(?::\$?([a-z]{1,3})\$?(\d{1,7}))?$/i.exec(ref ?? '');
  if (!found) return undefined;
  const [, left, top, right = left!, bottom = top!] = found as unknown as [string, string, string, string?, string?];
  const region = {
    top: Number(top) - 1,
    left: columnOf(left),
    bottom: Number(bottom) - 1,
    right: columnOf(right),
  };
  return region.left >= 0 && region.right >= region.left && region.bottom >= region.top ? region : undefined;
}
