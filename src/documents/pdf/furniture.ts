/** Removes headers, footers and page numbers: rows near the page edge that also occur on neighboring pages. */
import type { Piece } from './drawn-content.ts';
import type { PageText } from './page.ts';

/** Share of the page height, at the top and the bottom, that may contain furniture. */
const EDGE = 0.13;
/** Number of pages before and after that are compared. */
const NEAR_PAGES = 2;
/** Rows whose vertical positions differ by less than this, in points, are at the same position. */
const SAME_PLACE = 4;
/** Number of rows examined at each edge. */
const MAX_ROWS = 6;
/** Text larger than this, in multiples of the body text size, is not furniture. */
const MAX_SIZE = 1.3;

interface Row {
  readonly pieces: readonly Piece[];
  readonly y: number;
}

interface EdgeRow extends Row {
  /** The text of the row, and the same text with each number replaced by its difference from the page number. */
  readonly keys: readonly string[];
  /** The text with each number replaced by `#`; empty if it has few letters. */
  readonly shape: string;
  /** Whether no row is closer to the edge of the page. */
  readonly outermost: boolean;
  /** The differences between its numbers and the page number; `alone` marks a row that consists only of a number. */
  readonly distances: readonly number[];
  readonly alone: boolean;
}

export interface Paged {
  readonly number: number;
  readonly pieces: readonly Piece[];
}

/** The largest share of the text that is furniture. */
const MAX_SHARE = 0.5;

/**
 * The pieces of each page without repeated rows. A page without neighbors keeps all its rows. If most of the text would
 * go, it is the content of these pages, and stays.
 */
export function withoutFurniture(pages: readonly PageText[], bodySize: number): Paged[] {
  const nearRows = pages.map(rowsNearEdges);
  const edges = pages.map((page, at) => edgeRows(page, nearRows[at]!, bodySize));
  const bare = pages.map((page, at) => {
    const artifacts = tagged(page);
    const dropped = new Set<Piece>(artifacts);
    const repeated = edges[at]!.filter((row) => isRepeated(row, at, edges));
    for (const row of repeated) {
      if (isInTable(row, nearRows[at]!, page.height, repeated)) continue;
      for (const piece of row.pieces) dropped.add(piece);
    }
    return {
      number: page.number,
      pieces: dropped.size === 0 ? page.pieces : page.pieces.filter((piece) => !dropped.has(piece)),
    };
  });
  return lettersOf(bare) < (1 - MAX_SHARE) * lettersOf(pages) ? [...pages] : bare;
}

const lettersOf = (pages: readonly Pick<Paged, 'pieces'>[]): number =>
  pages.reduce((sum, { pieces }) => sum + pieces.reduce((letters, { text }) => letters + text.trim().length, 0), 0);

/** Pieces near the edge that a tagged file marks as furniture. */
const tagged = ({ pieces, height }: PageText): Piece[] =>
  pieces.some(({ artifact }) => !artifact)
    ? pieces.filter(({ artifact, y }) => artifact && (y < EDGE * height || y > (1 - EDGE) * height))
    : [];

function edgeRows({ height, number }: PageText, rows: readonly Row[], bodySize: number): EdgeRow[] {
  const top = rows.filter(({ y }) => y < EDGE * height).slice(0, MAX_ROWS);
  const bottom = rows.filter(({ y }) => y > (1 - EDGE) * height).slice(-MAX_ROWS);
  const ends = new Set([top[0], bottom[bottom.length - 1]]);
  return [...top, ...bottom]
    .filter((row) => row.pieces.every(({ size }) => size < MAX_SIZE * bodySize))
    .map((row) => ({ ...row, ...keysOf(row.pieces, number), outermost: ends.has(row) }));
}

/** The rows at the edges, and those next to them. */
function rowsNearEdges({ pieces, height }: PageText): Row[] {
  const near = EDGE + TABLE_REACH;
  const rows: { y: number; pieces: Piece[] }[] = [];
  const inReach = pieces.filter(({ y }) => y < near * height || y > (1 - near) * height);
  for (const piece of inReach.toSorted((one, two) => one.y - two.y || one.x0 - two.x0)) {
    const row = rows[rows.length - 1];
    if (row && piece.y - row.y < 0.3 * piece.size) row.pieces.push(piece);
    else rows.push({ y: piece.y, pieces: [piece] });
  }
  return rows;
}

/** Share of the page height beyond the edge in which the rest of a table is searched. */
const TABLE_REACH = 0.12;
/** Largest distance between the rows of a table, and smallest gap between its cells, in multiples of the font size. */
const TABLE_PITCH = 2.6;
const CELL_GAP = 0.85;
/** Number of rows with other text on each page that continue a repeated row of a table. */
const MIN_TABLE_ROWS = 3;
/** Smallest number of cells in the columns of the repeated row. All but one have at most this many letters. */
const MIN_SHARED_CELLS = 2;
const LONGEST_CELL = 30;

interface Cell {
  readonly x0: number;
  x1: number;
  letters: number;
}

function cellsOf({ pieces }: Row): Cell[] {
  const cells: Cell[] = [];
  for (const { x0, x1, size, text } of pieces.toSorted((one, two) => one.x0 - two.x0)) {
    const cell = cells[cells.length - 1];
    if (cell && x0 - cell.x1 < CELL_GAP * size) {
      cell.x1 = Math.max(cell.x1, x1);
      cell.letters += text.length;
    } else cells.push({ x0, x1, letters: text.length });
  }
  return cells;
}

/** Whether a row is the head of a table, or another row of it: rows that are not repeated continue its columns. */
function isInTable(row: Row, rows: readonly Row[], height: number, repeated: readonly Row[]): boolean {
  const cells = cellsOf(row);
  if (cells.length < MIN_SHARED_CELLS) return false;
  const others = row.y < height / 2 ? rows.filter(({ y }) => y > row.y) : rows.filter(({ y }) => y < row.y).reverse();
  let before = row;
  let shared = 0;
  for (const other of others) {
    const size = Math.max(...other.pieces.map((piece) => piece.size));
    if (Math.abs(other.y - before.y) > TABLE_PITCH * size) return false;
    before = other;
    if (repeated.some(({ y }) => y === other.y)) continue;
    const common = cellsOf(other).filter(({ x0, x1 }) => cells.some((cell) => cell.x0 < x1 && cell.x1 > x0));
    const short = common.filter(({ letters }) => letters <= LONGEST_CELL).length;
    if (common.length >= MIN_SHARED_CELLS && short >= common.length - 1) shared += 1;
    if (shared >= MIN_TABLE_ROWS) return true;
  }
  return false;
}

const MAX_NUMBERS = 4;

const MIN_SHAPE_LETTERS = 5;

function keysOf(pieces: readonly Piece[], page: number): Pick<EdgeRow, 'keys' | 'shape' | 'distances' | 'alone'> {
  const text = pieces
    .toSorted((one, two) => one.x0 - two.x0)
    .map((piece) => piece.text)
    .join('');
  const keys = [text];
  const distances: number[] = [];
  for (const found of [...text.matchAll(/\d{1,5}/g)].slice(0, MAX_NUMBERS)) {
    const from = found.index;
    const distance = Number(found[0]) - page;
    distances.push(distance);
    keys.push(`${text.slice(0, from)}\0${distance}\0${text.slice(from + found[0].length)}`);
  }
  const roman = /^[\W_]*([ivxlc]{1,7})[\W_]*$/i.exec(text)?.[1];
  if (roman) distances.push(romanValue(roman) - page);
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return {
    keys,
    shape: letters >= MIN_SHAPE_LETTERS ? text.replace(/\d+/g, '#') : '',
    distances,
    alone: roman !== undefined || /^[^\p{L}\p{N}]*\d{1,5}[^\p{L}\p{N}]*$/u.test(text),
  };
}

const ROMAN: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10, l: 50, c: 100 };

const romanValue = (roman: string): number =>
  Array.from(roman.toLowerCase(), (sign) => ROMAN[sign]!).reduce(
    (sum, value, at, all) => sum + (value < (all[at + 1] ?? 0) ? -value : value),
    0,
  );

/** Page numbers without other text can be anywhere near the edge, at different positions on each page. */
const NEAR_NUMBERS = 6;

/** Number of nearby pages on which a row with other numbers must be repeated: the slug of a printer, a date. */
const SHAPE_PAGES = 2;

function isRepeated(row: EdgeRow, at: number, edges: readonly (readonly EdgeRow[])[]): boolean {
  let alike = 0;
  const reach = row.alone ? NEAR_NUMBERS : NEAR_PAGES;
  for (let near = Math.max(0, at - reach); near <= Math.min(edges.length - 1, at + reach); near++) {
    if (near === at) continue;
    const same = edges[near]!.some((other) =>
      row.alone
        ? other.distances.some((distance) => row.distances.includes(distance))
        : Math.abs(other.y - row.y) < SAME_PLACE && other.keys.some((key) => row.keys.includes(key)),
    );
    if (same) return true;
    if (row.outermost && row.shape !== '' && edges[near]!.some((other) => isAlike(row, other))) alike += 1;
    if (alike >= SHAPE_PAGES) return true;
  }
  return false;
}

const isAlike = (one: EdgeRow, two: EdgeRow): boolean =>
  two.outermost && one.shape === two.shape && Math.abs(one.y - two.y) < SAME_PLACE;
