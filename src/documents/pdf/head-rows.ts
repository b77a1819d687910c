/** Arranges the lines of a table's head in cells: wrapped lines are joined, headings over several columns span them. */
import type { Box } from './geometry.ts';
import type { Segment } from './lines.ts';
import { lineOf } from './runs.ts';
import type { Cell } from './table.ts';
import { hasValues, isValue, type Placed, type TextLine } from './text-lines.ts';

interface Edges {
  readonly x0: number;
  readonly x1: number;
}

interface Heading {
  first: number;
  last: number;
  readonly lines: Placed[];
  baseline: number;
  readonly size: number;
  /** Position among the rows of the head, and number of rows. */
  row: number;
  rows: number;
}

/** A head has at most this many lines. */
const MAX_HEAD_LINES = 8;
/** Lines of one heading are this close, in multiples of the font size. */
const HEADING_PITCH = 1.65;
/** A ruling line this far below a heading, in multiples of the font size, underlines it. */
const UNDERLINE = 1;
/** Error of the center of a heading over several columns, in multiples of the font size. */
const CENTERED = 0.8;

/** Number of lines at the top that are the head. */
export function headLength(lines: readonly TextLine[]): number {
  const limit = Math.min(MAX_HEAD_LINES, lines.length - 1);
  const values = lines.map((line) => hasValues(line) && !isCounted(line));
  const firstValues = values.indexOf(true);
  const band = lines[0]!.band;
  const below = lines.findIndex((line) => line.band !== band);
  if (below > 0 && below <= limit && !values.slice(0, below).includes(true)) {
    if (firstValues < 0) return below;
    // The head may have rules of its own, between its rows.
    let end = below;
    for (let at = below; at < firstValues && at <= limit; at++) {
      if (at + 1 < lines.length && lines[at + 1]!.band !== lines[at]!.band && lines[at]!.cells.length > 1) end = at + 1;
    }
    return end;
  }
  if (firstValues < 0) return 1;
  let end = Math.min(firstValues, limit);
  // A single text at the left, just above the values, is the heading of a group of rows.
  while (end > 1 && lines[end - 1]!.cells.length === 1 && lines[end - 1]!.cells[0]!.last === 0) {
    if (!lines.slice(0, end - 1).some(({ cells }) => cells.length > 1 && cells[0]!.first === 0)) break;
    end -= 1;
  }
  return Math.max(end, 1);
}

/** Whether the values of a line are years or are counted up, as in a head. */
function isCounted({ cells }: TextLine): boolean {
  const texts = cells.filter(({ first }) => first > 0).map(({ text }) => text);
  if (texts.length === 0 || !texts.every((text) => /\d/.test(text))) return false;
  if (cells[0]!.first === 0 && isValue(cells[0]!.text) && !/^(?:19|20)\d\d/.test(cells[0]!.text)) return false;
  if (texts.every((text) => /^(?:FY ?)?(?:19|20)\d\d(?:[-–/]\d{2,4})?[*\d]?$/.test(text.trim()))) return true;
  return texts.length > 2 && texts.every((text, at) => /^\d+$/.test(text) && Number(text) === Number(texts[0]) + at);
}

/** The rows of the head. `edges`: of the text of each column; `rules`: those that cover only some of the columns. */
export function headRows(lines: readonly TextLine[], edges: readonly Edges[], rules: readonly Box[]): Cell[][] {
  const headings: Heading[] = [];
  lines.forEach((line, at) => {
    for (const cell of line.cells) {
      const range = spanOf(cell, line, edges, rules);
      const { baseline, size } = line;
      const above = headings.findLast((one) => one.first <= range.last && one.last >= range.first);
      const joined = above && at > 0 && continues(above, range, line, cell, rules);
      if (joined) {
        above.lines.push(cell);
        above.baseline = baseline;
        above.first = Math.min(above.first, range.first);
        above.last = Math.max(above.last, range.last);
      } else headings.push({ ...range, lines: [cell], baseline, size, row: 0, rows: 1 });
    }
  });
  return arranged(headings, edges.length);
}

/** Whether a cell is the next line of the heading above it. */
function continues(
  above: Heading,
  range: { first: number; last: number },
  { baseline, size }: TextLine,
  { segments }: Placed,
  rules: readonly Box[],
): boolean {
  if (baseline - above.baseline > HEADING_PITCH * size || baseline === above.baseline) return false;
  const isSame = above.first === range.first && above.last === range.last;
  const areWide = above.first < above.last && range.first < range.last;
  if (!isSame && !areWide) return false;
  const between = rules.some(
    ({ x0, x1, y0 }) => y0 > above.baseline && y0 < baseline && x0 < segments[0]!.x1 && x1 > segments[0]!.x0,
  );
  return !between;
}

/** The columns of a heading: those above its underline, or those over whose middle it is centered. */
function spanOf(
  { first, last, segments }: Placed,
  { cells, baseline, size }: TextLine,
  edges: readonly Edges[],
  rules: readonly Box[],
): { first: number; last: number } {
  const x0 = segments[0]!.x0;
  const x1 = segments[segments.length - 1]!.x1;
  const below = rules.find(
    (rule) =>
      rule.y0 > baseline - 1 &&
      rule.y0 < baseline + UNDERLINE * size &&
      rule.x0 < x0 + 0.5 * size &&
      rule.x1 > x1 - 0.5 * size,
  );
  const others = cells.filter((cell) => cell.segments !== segments);
  const isFree = (column: number) => !others.some((cell) => cell.first <= column && cell.last >= column);
  if (below) {
    const covered = edges.flatMap((edge, column) =>
      (edge.x0 + edge.x1) / 2 > below.x0 && (edge.x0 + edge.x1) / 2 < below.x1 && isFree(column) ? [column] : [],
    );
    if (covered.length > 0) return { first: covered[0]!, last: covered[covered.length - 1]! };
  }
  if (first === 0 && last === 0) return { first, last };
  const center = (x0 + x1) / 2;
  const errorOf = (from: number, to: number) => Math.abs((edges[from]!.x0 + edges[to]!.x1) / 2 - center);
  let best = { first, last, error: errorOf(first, last) };
  for (let from = first; from > 0 && (from === first || isFree(from)); from--) {
    for (let to = last; to < edges.length && (to === last || isFree(to)); to++) {
      const error = errorOf(from, to);
      const isWider = to - from > best.last - best.first;
      if (
        isWider ? error < best.error - CENTERED * size || (error < CENTERED * size && first < last) : error < best.error
      )
        best = { first: from, last: to, error };
    }
  }
  return best;
}

function arranged(headings: readonly Heading[], columns: number): Cell[][] {
  const overlap = (one: Heading, two: Heading) => one.first <= two.last && one.last >= two.first;
  headings.forEach((heading, at) => {
    for (const above of headings.slice(0, at)) {
      if (overlap(above, heading)) heading.row = Math.max(heading.row, above.row + 1);
    }
  });
  const depth = Math.max(...headings.map(({ row }) => row)) + 1;
  headings.forEach((heading, at) => {
    const below = headings.slice(at + 1).filter((other) => other.row > heading.row && overlap(heading, other));
    heading.rows = Math.min(depth, ...below.map(({ row }) => row)) - heading.row;
  });
  const covered = Array.from({ length: depth }, () => new Array<Heading | undefined>(columns));
  for (const heading of headings) {
    for (let row = heading.row; row < heading.row + heading.rows; row++)
      covered[row]!.fill(heading, heading.first, heading.last + 1);
  }
  return covered.map((line, row) => {
    const cells: Cell[] = [];
    for (let column = 0; column < columns; column++) {
      const heading = line[column];
      if (!heading) cells.push({ lines: [], columns: 1, rows: 1, header: true });
      else if (heading.first === column && heading.row === row) {
        const lines = heading.lines.map(({ segments }) => lineOf(segments as Segment[]));
        cells.push({ lines, columns: heading.last - heading.first + 1, rows: heading.rows, header: true });
      }
    }
    return cells;
  });
}
