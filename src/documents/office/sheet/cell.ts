/** The kind of a cell's content, used to detect the structure of tables. */

export const TEXT = 0;
export const NUMBER = 1;
/** Dates, times, boolean values and errors. */
export const OTHER = 2;
/** Flag added to a kind if the whole cell is bold. */
export const STRONG = 4;
/** Flag added to a kind if the cell is white on an unknown background. */
export const WHITE = 8;

/** One of the kinds above, with or without flags. */
export type CellKind = number;

export const isText = (kind: CellKind): boolean => (kind & 3) === TEXT;
export const isStrong = (kind: CellKind): boolean => (kind & STRONG) !== 0;

/** The non-empty cells of a row, from left to right. Rows and columns are counted from 0, without hidden ones. */
export interface Row {
  readonly index: number;
  readonly columns: number[];
  /** Inline HTML, parallel to `columns`. */
  readonly html: string[];
  readonly kinds: CellKind[];
}

export const newRow = (index: number): Row => ({ index, columns: [], html: [], kinds: [] });
