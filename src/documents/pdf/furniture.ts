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

interface EdgeRow {
  readonly pieces: readonly Piece[];
  readonly y: number;
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

/** The pieces of each page without repeated rows. A page without neighbors keeps all its rows. */
export function withoutFurniture(pages: readonly PageText[], bodySize: number): Paged[] {
  const edges = pages.map((page) => edgeRows(page, bodySize));
  return pages.map((page, at) => {
    const artifacts = tagged(page);
    const dropped = new Set<Piece>(artifacts);
    for (const row of edges[at]!) {
      if (isRepeated(row, at, edges)) for (const piece of row.pieces) dropped.add(piece);
    }
    return {
      number: page.number,
      pieces: dropped.size === 0 ? page.pieces : page.pieces.filter((piece) => !dropped.has(piece)),
    };
  });
}

/** Pieces near the edge that a tagged file marks as furniture. */
const tagged = ({ pieces, height }: PageText): Piece[] =>
  pieces.some(({ artifact }) => !artifact)
    ? pieces.filter(({ artifact, y }) => artifact && (y < EDGE * height || y > (1 - EDGE) * height))
    : [];

function edgeRows({ pieces, height, number }: PageText, bodySize: number): EdgeRow[] {
  const rows: { y: number; pieces: Piece[] }[] = [];
  const atEdge = pieces.filter(({ y }) => y < EDGE * height || y > (1 - EDGE) * height);
  for (const piece of atEdge.toSorted((one, two) => one.y - two.y || one.x0 - two.x0)) {
    const row = rows[rows.length - 1];
    if (row && piece.y - row.y < 0.3 * piece.size) row.pieces.push(piece);
    else rows.push({ y: piece.y, pieces: [piece] });
  }
  const outer = rows.length > 2 * MAX_ROWS ? [...rows.slice(0, MAX_ROWS), ...rows.slice(-MAX_ROWS)] : rows;
  const ends = new Set([rows[0], rows[rows.length - 1]]);
  return outer
    .filter((row) => row.pieces.every(({ size }) => size < MAX_SIZE * bodySize))
    .map((row) => ({ ...row, ...keysOf(row.pieces, number), outermost: ends.has(row) }));
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
