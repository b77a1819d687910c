/** What a cell holds, as far as the shape of a table can be told from it. */

export const TEXT = 0;
export const NUMBER = 1;
/** Dates, times, truth values, errors. */
export const OTHER = 2;
/** Set beside one of the above when the whole cell is bold. */
export const STRONG = 4;

/** One of the above, with or without STRONG. */
export type CellKind = number;

export const isText = (kind: CellKind): boolean => (kind & 3) === TEXT;
export const isStrong = (kind: CellKind): boolean => (kind & STRONG) !== 0;

/** A row with its cells that are not empty, from left to right. Rows and columns count from 0, hidden ones left out. */
export interface Row {
  readonly index: number;
  readonly columns: number[];
  /** Inline HTML, as long as `columns`. */
  readonly html: string[];
  readonly kinds: CellKind[];
}

export const newRow = (index: number): Row => ({ index, columns: [], html: [], kinds: [] });
