/**
 * Groups pieces of text: pieces on a baseline become rows, rows are split at wide gaps into segments, segments form
 * lines.
 */
import type { Piece } from './drawn-content.ts';
import type { Table } from './table.ts';

/** Adjacent pieces, with no gap wider than a word space. */
export interface Segment {
  readonly x0: number;
  readonly x1: number;
  readonly top: number;
  readonly bottom: number;
  readonly baseline: number;
  readonly size: number;
  readonly pieces: readonly Piece[];
  /** Content that replaces the text of the segment: a table or a framed part. */
  readonly inset?: Inset | undefined;
}

export type Inset =
  | { readonly table: Table }
  | { readonly segments: readonly Segment[] }
  /** Alt text of an image. */
  | { readonly alt: string };

/** Minimum gap that separates segments, in ems of the smaller neighbor. */
const SEGMENT_GAP = 0.85;
const WORD_GAP = 0.15;
/** The same gap in files that contain explicit spaces. */
const UNWRITTEN_GAP = 0.17;
const SAME_BASELINE = 0.22;
/** Extent of the text above and below the baseline, as a share of its size. */
const ABOVE = 0.75;
const BELOW = 0.2;

export function toSegments(pieces: readonly Piece[]): Segment[] {
  const rows = attachRaised(toRows(pieces));
  const writesSpaces = hasSpaces(rows);
  return rows.flatMap((row) => splitRow(row, writesSpaces));
}

/** Whether the file contains explicit spaces. If so, a gap without a space separates segments. */
function hasSpaces(rows: readonly Row[]): boolean {
  let gaps = 0;
  let spaces = 0;
  for (const { pieces } of rows) {
    for (let at = 1; at < pieces.length; at++) {
      const gap = pieces[at]!.x0 - pieces[at - 1]!.x1;
      const { size } = pieces[at]!;
      if (gap < WORD_GAP * size || gap > SEGMENT_GAP * size) continue;
      gaps += 1;
      if (pieces[at]!.spaced) spaces += 1;
    }
  }
  return spaces > 0.4 * gaps;
}

interface Row {
  y: number;
  size: number;
  pieces: Piece[];
}

function toRows(pieces: readonly Piece[]): Row[] {
  const rows: Row[] = [];
  for (const piece of pieces.toSorted((one, two) => one.y - two.y || one.x0 - two.x0)) {
    const row = rows[rows.length - 1];
    if (row && piece.y - row.y <= SAME_BASELINE * Math.min(row.size, piece.size)) {
      row.pieces.push(piece);
      row.size = Math.max(row.size, piece.size);
    } else rows.push({ y: piece.y, size: piece.size, pieces: [piece] });
  }
  return rows;
}

/** Number of rows searched on each side for the row to which a raised piece belongs. */
const NEAR_ROWS = 6;
const LONGEST_RAISED = 14;
const LONGEST_ROW = 2_000;
/** Minimum ratio of the text size to that of its raised pieces. */
const SMALLER = 1.12;

/** Moves small pieces that are slightly raised or lowered into the row of the larger text next to them. */
function attachRaised(rows: readonly Row[]): Row[] {
  for (const row of rows) row.pieces.sort((one, two) => one.x0 - two.x0);
  rows.forEach((row, at) => {
    const kept: Piece[] = [];
    for (const piece of row.pieces) {
      const host = piece.text.length <= LONGEST_RAISED ? hostOf(piece, rows, at) : null;
      if (!host) kept.push(piece);
      else host.pieces.push({ ...piece, y: host.y, shift: piece.y < host.y ? 'raised' : 'lowered' });
    }
    if (kept.length !== row.pieces.length) row.pieces = kept;
  });
  for (const row of rows) row.pieces.sort((one, two) => one.x0 - two.x0);
  return rows.filter(({ pieces }) => pieces.length > 0);
}

function hostOf(piece: Piece, rows: readonly Row[], at: number): Row | null {
  for (let step = 1; step <= NEAR_ROWS; step++) {
    for (const index of [at + step, at - step]) {
      const row = rows[index];
      if (!row || row.size < piece.size * SMALLER || row.pieces.length > LONGEST_ROW) continue;
      const rise = row.y - piece.y;
      if (rise > 0.65 * row.size || rise < -0.35 * row.size) continue;
      const beside = row.pieces.some(
        (other) =>
          other.shift === undefined &&
          other.size > piece.size * SMALLER &&
          (Math.abs(piece.x0 - other.x1) < 0.45 * other.size || Math.abs(other.x0 - piece.x1) < 0.4 * other.size),
      );
      if (beside) return row;
    }
  }
  return null;
}

function splitRow(row: Row, writesSpaces: boolean): Segment[] {
  const segments: Segment[] = [];
  let current: Piece[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const piece of row.pieces) {
    const before = current[current.length - 1];
    if (before && isRepeated(before, piece)) {
      current[current.length - 1] = { ...before, style: { ...before.style, bold: true } };
      continue;
    }
    const size = before ? Math.max(Math.min(before.size, piece.size), 0.6 * row.size) : row.size;
    const isPlain = piece.shift === undefined && before?.shift === undefined && !piece.rightToLeft;
    const widest = writesSpaces && isPlain && !piece.spaced ? UNWRITTEN_GAP : SEGMENT_GAP;
    if (before && piece.x0 - end > widest * size && !leads(current, piece, end, segments.length === 0)) {
      segments.push(segmentOf(current));
      current = [];
      end = Number.NEGATIVE_INFINITY;
    }
    current.push(piece);
    end = Math.max(end, piece.x1);
  }
  if (current.length > 0) segments.push(segmentOf(current));
  return segments;
}

/** Bold simulated by printing the text twice. */
const isRepeated = (before: Piece, piece: Piece): boolean =>
  before.text === piece.text && Math.abs(before.x0 - piece.x0) < 0.12 * piece.size;

const MARKER = /^(?:[•◦▪▫●○■□–—‣⁃➢✓❑❖∙·*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxlc]{1,5})[.)])$/;
const MARKER_GAP = 4;
const HEADING_NUMBER = /^\d{1,2}(?:\.\d{1,2}){1,3}\.?$/;
const NUMBER_GAP = 2.5;

/** Whether the pieces so far are a list marker or heading number, which belongs to the text that follows. */
function leads(current: readonly Piece[], piece: Piece, end: number, isFirst: boolean): boolean {
  if (current.length > 2) return false;
  const text = current.map((one) => one.text).join('');
  const gap = piece.x0 - end;
  return (
    (gap < MARKER_GAP * piece.size && MARKER.test(text)) ||
    (isFirst && gap < NUMBER_GAP * piece.size && HEADING_NUMBER.test(text) && /^\p{L}/u.test(piece.text))
  );
}

export function segmentOf(pieces: readonly Piece[]): Segment {
  let x0 = Number.POSITIVE_INFINITY;
  let x1 = Number.NEGATIVE_INFINITY;
  let size = 0;
  let letters = 0;
  let baseline = pieces[0]!.y;
  for (const piece of pieces) {
    x0 = Math.min(x0, piece.x0);
    x1 = Math.max(x1, piece.x1);
    if (piece.shift !== undefined && letters > 0) continue;
    if (piece.text.length >= letters || piece.size > size) {
      letters = piece.text.length;
      size = Math.max(size, piece.size);
      baseline = piece.y;
    }
  }
  return { x0, x1, top: baseline - ABOVE * size, bottom: baseline + BELOW * size, baseline, size, pieces };
}

/** A line of running text, made up of the segments side by side. */
export interface Line extends Segment {
  /** The text in reading order, with spaces. */
  readonly text: string;
  readonly runs: readonly Run[];
}

/** Consecutive text in one style. */
export interface Run {
  readonly text: string;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly mono: boolean;
  readonly shift?: 'raised' | 'lowered' | undefined;
  readonly href?: string | undefined;
}
