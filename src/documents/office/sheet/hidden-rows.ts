/**
 * The hidden rows of a sheet. Rows are added in ascending order, and stored as ranges, because one attribute can hide
 * all rows that a file does not list.
 */
import { lowerBound } from './sheet.ts';

export class HiddenRows {
  /** First row of each range. */
  private readonly starts: number[] = [];
  /** The row after each range. */
  private readonly ends: number[] = [];
  /** Number of hidden rows before each range. */
  private readonly before: number[] = [];
  private total = 0;

  /** Number of hidden rows. */
  get count(): number {
    return this.total;
  }

  /** Hides the rows from `start` up to `end`, which is not included. */
  add(start: number, end: number): void {
    if (end <= start) return;
    const last = this.ends.length - 1;
    if (this.ends[last] === start) this.ends[last] = end;
    else {
      this.starts.push(start);
      this.ends.push(end);
      this.before.push(this.total);
    }
    this.total += end - start;
  }

  /** Number of hidden rows above a row. */
  above(row: number): number {
    const at = lowerBound(this.starts, row) - 1;
    return at < 0 ? 0 : this.before[at]! + Math.min(row, this.ends[at]!) - this.starts[at]!;
  }
}
