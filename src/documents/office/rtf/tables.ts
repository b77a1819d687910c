/** RTF tables: the shape of the cells is defined after their text, by their right edges. */
import type { Block, TextBuilder } from '../text-builder.ts';

export interface CellShape {
  /** In twentieths of a point. */
  readonly right: number;
  readonly mergesLeft: boolean;
  readonly mergesUp: boolean;
}

export interface RowShape {
  readonly cells: CellShape[];
  header: boolean;
  left: number;
}

interface Row {
  readonly cells: (readonly Block[])[];
  readonly shape: RowShape;
}

/** Edges closer than this, in twentieths of a point, count as the same edge. */
const NEAR = 20;
const MAX_EDGES = 500;

export class RtfTable {
  readonly #rows: Row[] = [];
  #cells: (readonly Block[])[] = [];
  /** Whether a cell has begun. Its text is collected outside the flow. */
  open = false;

  endCell(blocks: readonly Block[]): void {
    this.#cells.push(blocks);
    this.open = false;
  }

  endRow({ cells, header, left }: RowShape): void {
    if (this.#cells.length > 0) this.#rows.push({ cells: this.#cells, shape: { cells: [...cells], header, left } });
    this.#cells = [];
  }

  write(builder: TextBuilder): void {
    this.endRow({ cells: [], header: false, left: 0 });
    const edges = edgesOf(this.#rows);
    builder.startTable();
    for (const { cells, shape } of this.#rows) {
      builder.startRow({ header: shape.header });
      let from = columnOf(edges, shape.left);
      for (let at = 0; at < cells.length; ) {
        const { right = Number.NaN, mergesUp = false } = shape.cells[at] ?? {};
        let end = at + 1;
        while (end < cells.length && shape.cells[end]?.mergesLeft) end++;
        const edge = shape.cells[end - 1]?.right ?? right;
        const to = Number.isNaN(edge) ? from + (end - at) : Math.max(from + 1, columnOf(edges, edge));
        builder.startCell({ colspan: to - from, continues: mergesUp });
        builder.blocks(cells.slice(at, end).flat());
        builder.endCell();
        from = to;
        at = end;
      }
    }
    builder.endTable();
  }
}

/** All distinct edges of a table, in order. */
function edgesOf(rows: readonly Row[]): readonly number[] {
  const all = new Set<number>();
  for (const { shape } of rows) {
    if (shape.cells.length > 0) all.add(shape.left);
    for (const { right } of shape.cells) if (all.size < MAX_EDGES) all.add(right);
  }
  const edges: number[] = [];
  for (const edge of [...all].sort((one, other) => one - other)) {
    if (edges.length === 0 || edge - edges.at(-1)! > NEAR) edges.push(edge);
  }
  return edges;
}

/** The number of columns to the left of an edge. */
function columnOf(edges: readonly number[], edge: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle]! + NEAR < edge) low = middle + 1;
    else high = middle;
  }
  return low;
}
