/** The visible part of a sheet: hidden rows and columns are removed, and the rest is counted from 0. */
import type { Row } from './cell.ts';

/** A range of cells, both corners included. */
export interface Region {
  readonly top: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
}

export interface TableRegion extends Region {
  readonly headerRows: 0 | 1;
}

export interface Sheet {
  /** From top to bottom, without empty rows. */
  readonly rows: readonly Row[];
  /** Merged ranges; each shows its top left cell. */
  readonly merges: readonly Region[];
  /** Ranges that the author declared as tables. */
  readonly tables: readonly TableRegion[];
}

/** Maximum number of rows read from a sheet. */
export const MAX_ROWS = 200_000;
/** The largest number of columns that spreadsheet programs support. */
export const MAX_COLUMNS = 16_384;

/** Number of bytes by which a cell reduces the shared output limit, including its tags. */
export const outputBytesOf = (html: string): number => html.length + 9;

/** A number that identifies the position of a cell. */
export const cellKeyOf = (row: number, column: number): number => row * MAX_COLUMNS + column;

/** The index of the first number that is at least `value`, in ascending numbers. */
export function lowerBound(numbers: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
