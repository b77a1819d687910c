/**
 * Finds ruling lines, because they form the grid of tables, and removes them, because text is read better without them.
 * They are straight, level, and thinner than letters are high.
 */
import type { Gray } from './ink.ts';

/** A straight line along x (or y), from `from` to `to`, at the middle of its thickness. */
export interface Rule {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

export interface Rules {
  readonly horizontal: readonly Rule[];
  readonly vertical: readonly Rule[];
}

export const NO_RULES: Rules = { horizontal: [], vertical: [] };

interface Run {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

interface Bundle {
  readonly runs: Run[];
  readonly first: number;
  last: number;
  from: number;
  to: number;
}

/**
 * Maximum size of a hole in a line, in pixels. Scanned lines have small holes but are mostly dark; a row of letters has
 * more holes.
 */
const HOLE = 5;
const DENSE = 0.9;
/** Maximum share of dark pixels next to a line; next to a row of letters, the share is higher. */
const BESIDE = 0.3;
/** Pieces of a line up to this far apart, in multiples of the text line height, are joined. */
const BREAK = 2;
/** Lengths and thickness in multiples of the text line height. */
const MIN_HORIZONTAL = 3;
const MIN_VERTICAL = 1.1;
const FREE_VERTICAL = 4;
const MAX_THICKNESS = 0.3;
const MAX_RUNS = 200_000;
/** Maximum number of pieces; a page with more shows hatching or squared paper. */
const MAX_PIECES = 5_000;

interface Page {
  /** Height of a line of text, in pixels. */
  readonly lineHeight: number;
  /** Levels of the background, and of the faintest lines. */
  readonly background: number;
  readonly faint: number;
}

/** Returns the lines and paints over them with the background, in place. */
export function removeRules({ pixels, width, height }: Gray, { lineHeight, background, faint }: Page): Rules {
  const size = Math.max(16, lineHeight);
  const isDark = new Uint8Array(pixels.length);
  for (let i = 0; i < pixels.length; i++) isDark[i] = pixels[i]! <= faint ? 1 : 0;
  const thick = Math.max(8, size * MAX_THICKNESS);
  const isAlone = (lines: number, step: number, along: number) => (bundle: Bundle) =>
    [bundle.first - 1, bundle.last + 1].every((edge, side) =>
      BESIDE_AT.some((away) => {
        const line = edge + (side === 0 ? -away : away);
        return line < 0 || line >= lines || darkShare(isDark, line * step, along, bundle) < BESIDE;
      }),
    );
  const rows = bundles(rowRuns(isDark, width, height, size * MIN_HORIZONTAL), thick).filter(isAlone(height, width, 1));
  const columns = bundles(columnRuns(isDark, width, height, size * MIN_VERTICAL), thick).filter(
    isAlone(width, 1, width),
  );
  if (rows.length + columns.length > MAX_PIECES) return NO_RULES;
  const horizontal = joinPieces(rows.map(ruleOf), size * BREAK);
  // The stem of a large letter can be as long as the side of a cell, but does not connect two lines.
  const kept = columns.filter((bundle) => {
    const { from, to, at } = ruleOf(bundle);
    if (to - from >= size * FREE_VERTICAL) return true;
    return [from, to].every((end) => horizontal.some((rule) => meets(rule, at, end, thick)));
  });
  const paint = (area: Area) => fill({ pixels, width, height }, area, background);
  for (const { at, from, to } of rows.flatMap(({ runs }) => runs))
    paint({ top: at, bottom: at, left: from, right: to });
  for (const { at, from, to } of kept.flatMap(({ runs }) => runs))
    paint({ left: at, right: at, top: from, bottom: to });
  return { horizontal, vertical: joinPieces(kept.map(ruleOf), size * BREAK) };
}

const ruleOf = ({ from, to, first, last }: Bundle): Rule => ({ from, to, at: (first + last) / 2 });

/** Distances in pixels at which the neighborhood is checked. There are two distances, because lines may be double. */
const BESIDE_AT = [3, 7];

function darkShare(isDark: Uint8Array, start: number, step: number, { from, to }: Bundle): number {
  let dark = 0;
  for (let at = from; at <= to; at++) dark += isDark[start + at * step]!;
  return dark / (to - from + 1);
}

/** Joins the pieces of one line. */
function joinPieces(pieces: readonly Rule[], maxBreak: number): Rule[] {
  const rules: Rule[] = [];
  for (const piece of pieces.toSorted((a, b) => a.from - b.from)) {
    const at = rules.findIndex((rule) => Math.abs(rule.at - piece.at) <= 4 && piece.from - rule.to <= maxBreak);
    const rule = rules[at];
    if (rule) rules[at] = { ...rule, to: Math.max(rule.to, piece.to) };
    else rules.push(piece);
  }
  return rules;
}

const meets = (rule: Rule, across: number, end: number, slack: number): boolean =>
  Math.abs(rule.at - end) <= slack && across >= rule.from - slack && across <= rule.to + slack;

function rowRuns(isDark: Uint8Array, width: number, height: number, minLength: number): Run[] {
  const runs: Run[] = [];
  for (let y = 0; y < height; y++) {
    let from = -1;
    let last = -1;
    let dark = 0;
    for (let x = 0; x <= width; x++) {
      if (x < width && isDark[y * width + x] !== 0) {
        if (from < 0) [from, dark] = [x, 0];
        last = x;
        dark++;
      } else if (from >= 0 && (x === width || x - last > HOLE)) {
        if (isLine(last - from + 1, dark, minLength) && runs.length < MAX_RUNS) runs.push({ from, to: last, at: y });
        from = -1;
      }
    }
  }
  return runs;
}

const isLine = (length: number, dark: number, minLength: number): boolean =>
  length >= minLength && dark >= DENSE * length;

/** Reads row by row, in memory order; returns the runs column by column. */
function columnRuns(isDark: Uint8Array, width: number, height: number, minLength: number): Run[] {
  const runs: Run[] = [];
  const from = new Int32Array(width).fill(-1);
  const last = new Int32Array(width);
  const dark = new Int32Array(width);
  for (let y = 0; y <= height; y++) {
    for (let x = 0; x < width; x++) {
      if (y < height && isDark[y * width + x] !== 0) {
        if (from[x]! < 0) {
          from[x] = y;
          dark[x] = 0;
        }
        last[x] = y;
        dark[x]!++;
      } else if (from[x]! >= 0 && (y === height || y - last[x]! > HOLE)) {
        if (isLine(last[x]! - from[x]! + 1, dark[x]!, minLength) && runs.length < MAX_RUNS)
          runs.push({ from: from[x]!, to: last[x]!, at: x });
        from[x] = -1;
      }
    }
  }
  return runs.sort((a, b) => a.at - b.at || a.from - b.from);
}

/** Groups adjacent runs into lines. Bundles that are too thick are not lines. */
function bundles(runs: readonly Run[], thick: number): Bundle[] {
  const done: Bundle[] = [];
  let open: Bundle[] = [];
  let at = -1;
  for (const run of runs) {
    if (run.at !== at) {
      at = run.at;
      done.push(...open.filter((bundle) => bundle.last < at - 2));
      open = open.filter((bundle) => bundle.last >= at - 2);
    }
    const bundle = open.find(
      (each) => Math.min(each.to, run.to) - Math.max(each.from, run.from) > 0.5 * (run.to - run.from),
    );
    if (!bundle) {
      open.push({ runs: [run], first: at, last: at, from: run.from, to: run.to });
      continue;
    }
    bundle.runs.push(run);
    bundle.last = at;
    bundle.from = Math.min(bundle.from, run.from);
    bundle.to = Math.max(bundle.to, run.to);
  }
  return [...done, ...open].filter(({ first, last }) => last - first < thick);
}

/** Width of the soft edge that is removed with a line, in pixels. */
const EDGE = 2;

interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function fill({ pixels, width, height }: Gray, { left, right, top, bottom }: Area, level: number): void {
  const from = Math.max(0, left - EDGE);
  const to = Math.min(width, right + EDGE + 1);
  for (let y = Math.max(0, top - EDGE); y <= Math.min(height - 1, bottom + EDGE); y++) {
    pixels.fill(level, y * width + from, y * width + to);
  }
}
