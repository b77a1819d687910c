/** Converts the pieces of a line to text in reading order, with spaces, as runs of one style. */
import { ownValue } from '#own-value.ts';
import { isRightToLeft, isUnspaced } from './characters.ts';
import type { Piece } from './drawn-content.ts';
import { type Line, type Run, type Segment, segmentOf } from './lines.ts';

/** The minimum gap that counts as a space, in ems. */
const SPACE = 0.15;
/** The minimum gap, in ems, that counts as a space between characters of scripts without spaces. */
const WIDE_SPACE = 0.6;

export function lineOf(segments: readonly Segment[]): Line {
  const pieces = segments.flatMap((segment) => segment.pieces).sort((one, two) => one.x0 - two.x0);
  const runs = runsOf(pieces);
  return { ...segmentOf(pieces), runs, text: runs.map(({ text }) => text).join('') };
}

interface Unit {
  readonly text: string;
  readonly piece: Piece;
}

/** `pieces` are in visual order, from left to right. */
export function runsOf(pieces: readonly Piece[]): Run[] {
  const units: Unit[] = [];
  let before: Piece | null = null;
  let end = Number.NEGATIVE_INFINITY;
  let hasRightToLeft = false;
  for (const piece of pieces) {
    if (before && isSpaceBetween(before, piece, end)) units.push({ text: ' ', piece });
    units.push({ text: piece.text, piece });
    hasRightToLeft ||= piece.rightToLeft;
    end = before ? Math.max(end, piece.x1) : piece.x1;
    before = piece;
  }
  return merge(hasRightToLeft ? inReadingOrder(units) : units);
}

function isSpaceBetween(before: Piece, piece: Piece, end: number): boolean {
  const gap = piece.x0 - end;
  const size = Math.min(before.size, piece.size);
  if (isUnspaced(before.text.slice(-1)) && isUnspaced(piece.text.slice(0, 1))) return gap > WIDE_SPACE * size;
  if (piece.shift !== before.shift) return gap > 2 * SPACE * size || (piece.spaced && gap > SPACE * size);
  return gap > SPACE * size || (piece.spaced && !piece.rightToLeft && gap > 0.04 * size);
}

/**
 * Converts visual order to reading order: the Unicode bidirectional algorithm in reverse, simplified. The direction of
 * the line is that of most of its letters; runs of the other direction are reversed.
 */
function inReadingOrder(units: readonly Unit[]): Unit[] {
  const letters = units.reduce((sum, { text, piece }) => sum + (piece.rightToLeft ? text.length : 0), 0);
  const others = units.reduce((sum, { text, piece }) => sum + (piece.rightToLeft ? 0 : latinLetters(text)), 0);
  if (letters < others) return reverseRuns(units, ({ piece }) => piece.rightToLeft, true);
  const reversed = units.toReversed().map(mirrored);
  return reverseRuns(reversed, ({ text, piece }) => !piece.rightToLeft && /[\p{L}\p{N}]/u.test(text), false);
}

const latinLetters = (text: string): number => text.replace(/[^\p{L}]/gu, '').length;

/** Reverses each run of units of one kind, including the neutral units inside it. */
function reverseRuns(units: readonly Unit[], isOfKind: (unit: Unit) => boolean, mirror: boolean): Unit[] {
  const out: Unit[] = [];
  let stretch: Unit[] = [];
  let neutral: Unit[] = [];
  const close = () => {
    for (const unit of stretch.toReversed()) out.push(mirror ? mirrored(unit) : mirrored(mirrored(unit)));
    out.push(...neutral);
    stretch = [];
    neutral = [];
  };
  for (const unit of units) {
    if (isOfKind(unit)) {
      if (stretch.length > 0) stretch.push(...neutral);
      else out.push(...neutral);
      neutral = [];
      stretch.push(unit);
    } else if (isNeutral(unit)) neutral.push(unit);
    else {
      close();
      out.push(unit);
    }
  }
  close();
  return out;
}

const isNeutral = ({ text, piece }: Unit): boolean => !piece.rightToLeft && !/[\p{L}\p{N}]/u.test(text);

const MIRRORED: Readonly<Record<string, string>> = {
  '(': ')',
  ')': '(',
  '[': ']',
  ']': '[',
  '{': '}',
  '}': '{',
  '«': '»',
  '»': '«',
  '<': '>',
  '>': '<',
};

const mirrored = (unit: Unit): Unit =>
  unit.text.length === 1 && ownValue(MIRRORED, unit.text) ? { ...unit, text: MIRRORED[unit.text]! } : unit;

function merge(units: readonly Unit[]): Run[] {
  const runs: Run[] = [];
  let parts: string[] = [];
  let look: Piece | null = null;
  const close = () => {
    if (!look) return;
    const { style, shift, href } = look;
    const text = parts.join('');
    // CJK fonts have a fixed width by nature, which does not make the text code.
    runs.push({ text, ...style, mono: style.mono && !isUnspaced(text), shift, href });
    parts = [];
  };
  for (const { text, piece } of units) {
    if (look && !isSameLook(look, piece)) {
      close();
      look = piece;
    }
    look ??= piece;
    parts.push(text);
  }
  close();
  return runs;
}

const isSameLook = (one: Piece, two: Piece): boolean =>
  one === two ||
  (one.style.bold === two.style.bold &&
    one.style.italic === two.style.italic &&
    one.style.mono === two.style.mono &&
    one.shift === two.shift &&
    one.href === two.href);

export const hasRightToLeftText = (line: Line): boolean => isRightToLeft(line.text);
