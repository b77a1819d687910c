/** A sheet as it is seen: hidden rows and columns are gone, and what is left counts from 0. */
import type { Row } from './cell.ts';

/** Cells from one corner to the other, both included. */
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
  /** From top to bottom, those without content left out. */
  readonly rows: readonly Row[];
  /** Merged cells, each shown as the one at its top left. */
  readonly merges: readonly Region[];
  /** Regions that the author declared to be a table. */
  readonly tables: readonly TableRegion[];
}

/** Rows of a sheet that are read. */
export const MAX_ROWS = 200_000;
/** The most columns that a sheet of any program has. */
export const MAX_COLUMNS = 16_384;

/** What a cell costs of the bytes that all sheets together may become, its tags included. */
export const costOf = (html: string): number => html.length + 9;

/** A number for a cell's place. */
export const placeOf = (row: number, column: number): number => row * MAX_COLUMNS + column;

/** The index of the first number that is at least `value`, in numbers that rise. */
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
