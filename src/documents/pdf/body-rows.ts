/** Joins the lines of a table's body to rows: a cell may be wrapped over several lines. */
import { lineOf } from './runs.ts';
import type { Cell } from './table.ts';
import { cellAt, hasValues, isValue, type Placed, type TextLine } from './text-lines.ts';

/** Lines this close, in multiples of the font size, overlap: they are cells of one row that are centered. */
const OVERLAPPING = 0.8;
/** Wrapped lines are this close, in multiples of the font size. */
const WRAPPED_PITCH = 1.6;
/** Wrapped lines are closer than rows by this factor. */
const CLOSER = 0.87;
/** Lines of values closer than this factor of the smallest pitch are rows of the same group. */
const CLOSE_TO_TIGHTEST = 1.15;
/** If fewer first cells than this share begin with a small letter, such a cell continues the one above. */
const FEW_SMALL = 0.34;
/** Rules separate rows if there are this many, and this share of them have at most one line of values between them. */
const MIN_BANDS = 3;
const MOSTLY = 0.7;

type Row = TextLine[];

export function bodyRows(lines: readonly TextLine[], columns: number): Cell[][] {
  return joined(lines).map((row) => cellsOf(row, columns));
}

/** The lines of each row. */
export function joined(lines: readonly TextLine[]): Row[] {
  const bands = bandsOf(lines);
  const single = bands.filter((band) => band.filter(hasValues).length < 2).length;
  const isRuled = bands.length >= MIN_BANDS && single >= MOSTLY * bands.length;
  const spacing = spacingOf(lines);
  return bands.flatMap((band) =>
    isRuled && band.filter(hasValues).length < 2 ? [band] : joinedByPosition(band, spacing),
  );
}

function bandsOf(lines: readonly TextLine[]): Row[] {
  const bands: Row[] = [];
  for (const line of lines) {
    const band = bands[bands.length - 1];
    if (band && band[0]!.band === line.band) band.push(line);
    else bands.push([line]);
  }
  return bands;
}

interface Spacing {
  /** Usual distance between lines of values. */
  readonly pitch: number;
  readonly tightest: number;
  /** Whether a small letter at the start of a line tells that the line continues another. */
  readonly smallContinues: boolean;
}

function spacingOf(lines: readonly TextLine[]): Spacing {
  const pitches = lines.slice(1).map((line, at) => line.baseline - lines[at]!.baseline);
  const between = pitches.filter((_, at) => hasValues(lines[at]!) && hasValues(lines[at + 1]!)).sort((a, b) => a - b);
  const firsts = lines.flatMap((line) => (line.cells[0]!.first === 0 ? [line.cells[0]!.text] : []));
  const small = firsts.filter(startsSmall).length;
  return {
    pitch: between[Math.floor(between.length / 2)] ?? Number.POSITIVE_INFINITY,
    tightest: Math.min(...pitches),
    smallContinues: small < FEW_SMALL * firsts.length,
  };
}

const startsSmall = (text: string): boolean => /^[\s(]*\p{Ll}{2}/u.test(text);

function joinedByPosition(lines: readonly TextLine[], spacing: Spacing): Row[] {
  const rows: Row[] = [];
  for (const line of lines) {
    const row = rows[rows.length - 1];
    if (row && continuesRow(line, row, spacing)) row.push(line);
    else rows.push([line]);
  }
  return rows;
}

function continuesRow(line: TextLine, row: Row, { pitch, tightest, smallContinues }: Spacing): boolean {
  const before = row[row.length - 1]!;
  const { size } = line;
  const distance = line.baseline - before.baseline;
  if (distance < OVERLAPPING * size && isApart(line, before)) {
    // A wrapped label has lines above and below its values.
    const isLabel = line.cells.length === 1 && line.cells[0]!.first === 0;
    return (isLabel && hasValues(before)) || row.every((one) => isApart(line, one));
  }
  if (distance > WRAPPED_PITCH * size) return false;
  const rowHasValues = row.some(hasValues);
  const below = line.cells.every(({ first }) => row.some((one) => cellAt(one, first)));
  const [head] = line.cells as [Placed];
  const isLabel = head.first === 0;
  if (hasValues(line)) {
    // The last line of a wrapped label has the values, or they stand below it.
    if (rowHasValues || row.some(({ cells }) => cells.length > 1 || cells[0]!.last > 0)) return false;
    return isLabel ? smallContinues && startsSmall(head.text) : true;
  }
  if (!below || line.cells.some(({ text }) => isValue(text))) return false;
  if (!isLabel) return distance <= Math.max(tightest * CLOSE_TO_TIGHTEST, CLOSER * pitch);
  if (distance < CLOSER * pitch && pitch < Number.POSITIVE_INFINITY && rowHasValues) return true;
  return smallContinues && line.cells.every(({ text }) => startsSmall(text));
}

/** Whether no column has text in both lines. */
const isApart = (one: TextLine, two: TextLine): boolean =>
  one.cells.every(({ first, last }) => !two.cells.some((cell) => cell.first <= last && cell.last >= first));

function cellsOf(row: Row, columns: number): Cell[] {
  const placed: ({ last: number; lines: Placed[] } | undefined)[] = new Array(columns);
  for (const { cells } of row) {
    for (const cell of cells) {
      const at = placed.findIndex((one, first) => one && first <= cell.first && one.last >= cell.first);
      if (at >= 0) placed[at]!.lines.push(cell);
      else placed[cell.first] = { last: cell.last, lines: [cell] };
    }
  }
  const out: Cell[] = [];
  for (let column = 0; column < columns; ) {
    const cell = placed[column];
    let end = cell ? cell.last + 1 : column + 1;
    for (let next = column + 1; next < end; next++) if (placed[next]) end = next;
    const lines = cell?.lines.map(({ segments }) => lineOf(segments)) ?? [];
    out.push({ lines, columns: end - column, rows: 1 });
    column = end;
  }
  return out;
}
