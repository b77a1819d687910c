/** A table as rows of cells, however it was detected. */
import type { Line } from './lines.ts';

export interface Cell {
  readonly lines: readonly Line[];
  readonly columns: number;
  readonly rows: number;
  readonly header?: boolean;
}

export interface Table {
  readonly rows: readonly (readonly Cell[])[];
  /** Left and right edge on the page, in points. */
  readonly x0: number;
  readonly x1: number;
}
