/** Finds gutters: vertical strips of white between lines. Also finds the lines next to, above and below them. */
import type { Segment } from './segments.ts';

export interface Gutter {
  /** Lines next to the gutter, from top to bottom. */
  readonly left: readonly Segment[];
  readonly right: readonly Segment[];
  readonly above: readonly Segment[];
  readonly below: readonly Segment[];
}

interface Gutters {
  /**
   * The gutter with the most lines on both sides; `undefined` if no two lines are side by side with a gutter between
   * them.
   */
  longest(segments: readonly Segment[]): Gutter | undefined;
}

/** Minimum width of a gutter, in multiples of the letter size. */
const WIDTH = 0.8;
const MIN_LINES = 2;
/** Candidates tried in one part of the page; each is followed up and down as far as possible. */
const MAX_TRIALS = 60;
/**
 * Maximum number of line comparisons in total; without it, a page of a thousand segments would be scanned a thousand
 * times.
 */
const MAX_LOOKS = 1_000_000;
/**
 * Maximum distance between lines of one column, in multiples of the letter size. Lines that are further apart must have
 * other lines next to them.
 */
const TOGETHER = 1.2;
const STILL_TOGETHER = 2.5;
const HEADING = 1.15;

interface Run {
  readonly left: number;
  readonly right: number;
  /** Index of the first line next to the gutter, and the index after the last one. */
  readonly start: number;
  readonly end: number;
}

const middleOf = ({ box }: Segment): number => (box.top + box.bottom) / 2;

/** Counts the comparisons. After too many, the rest of the page is not searched for gutters. */
export function createGutters(): Gutters {
  let looks = 0;
  return {
    longest(segments) {
      const lines = [...segments].sort((a, b) => middleOf(a) - middleOf(b));
      const tried: Run[] = [];
      looks += lines.length;
      let best: { run: Run; worth: number } | undefined;
      for (let at = 0; at < lines.length && tried.length < MAX_TRIALS && looks < MAX_LOOKS; at++) {
        const seed = seedAt(lines, at);
        if (!seed || tried.some((run) => covers(run, seed, at))) continue;
        const run = followed(lines, at, seed);
        tried.push(run);
        looks += 3 * (run.end - run.start);
        const worth = worthOf(lines, run);
        if (worth >= MIN_LINES && (!best || worth > best.worth)) best = { run, worth };
      }
      return best && gutterOf(lines, best.run);
    },
  };
}

interface Space {
  readonly left: number;
  readonly right: number;
}

/** Number of lines up and down among which neighbors of a line are searched. */
const NEAR = 24;

/** The free space to the right of a line, up to its next neighbor. */
function seedAt(lines: readonly Segment[], at: number): Space | undefined {
  const { box, size } = lines[at]!;
  let right = Infinity;
  for (let near = Math.max(0, at - NEAR); near < Math.min(lines.length, at + NEAR); near++) {
    const other = lines[near]!.box;
    const beside = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
    if (near !== at && beside > 0.3 * (box.bottom - box.top) && other.left >= box.right)
      right = Math.min(right, other.left);
  }
  return right < Infinity && right - box.right >= WIDTH * size ? { left: box.right, right } : undefined;
}

const covers = (run: Run, seed: Space, at: number): boolean =>
  at >= run.start && at < run.end && run.left >= seed.left && run.right <= seed.right;

/** Follows a strip up and down as long as part of its space is free. */
function followed(lines: readonly Segment[], at: number, seed: Space): Run {
  let space = seed;
  let end = at + 1;
  for (; end < lines.length; end++) {
    const left = narrowed(space, lines[end]!);
    if (!left) break;
    space = left;
  }
  let start = at;
  for (; start > 0; start--) {
    const left = narrowed(space, lines[start - 1]!);
    if (!left) break;
    space = left;
  }
  // Lines level with the line that ends the strip belong to it.
  const isLevel = (a: Segment, b: Segment) => Math.abs(middleOf(a) - middleOf(b)) < 0.5 * a.size;
  const [above, below] = [lines[start - 1], lines[end]];
  while (below && end > at + 1 && isLevel(below, lines[end - 1]!)) end--;
  while (above && start < at && isLevel(above, lines[start]!)) start++;
  return { ...space, start, end };
}

function narrowed({ left, right }: Space, { box, size }: Segment): Space | undefined {
  if (box.right <= left || box.left >= right) return { left, right };
  const [before, after] = [box.left - left, right - box.right];
  if (Math.max(before, after) < WIDTH * size) return undefined;
  return before > after ? { left, right: box.left } : { left: box.right, right };
}

/**
 * Area of text on the side that has less, counting only lines with neighbors. This value ranks text columns above
 * cells.
 */
function worthOf(lines: readonly Segment[], run: Run): number {
  const { left, right } = sidesOf(lines.slice(run.start, run.end), run);
  if (left.length === 0 || right.length === 0) return 0;
  const top = Math.max(topOf(left), topOf(right));
  const bottom = Math.min(bottomOf(left), bottomOf(right));
  const within = (side: readonly Segment[]) => {
    const beside = side.filter(({ box }) => box.bottom > top && box.top < bottom);
    return beside.reduce((sum, { box }) => sum + (box.bottom - box.top) * (box.right - box.left), 0);
  };
  const count = (side: readonly Segment[]) => side.filter(({ box }) => box.bottom > top && box.top < bottom).length;
  return Math.min(count(left), count(right)) < MIN_LINES ? 0 : Math.min(within(left), within(right));
}

const sidesOf = (lines: readonly Segment[], { left }: Space) => ({
  left: lines.filter(({ box }) => box.right <= left),
  right: lines.filter(({ box }) => box.right > left),
});

const topOf = (lines: readonly Segment[]): number => lines.reduce((top, { box }) => Math.min(top, box.top), Infinity);
const bottomOf = (lines: readonly Segment[]): number =>
  lines.reduce((bottom, { box }) => Math.max(bottom, box.bottom), -Infinity);

/**
 * Lines that are only on one side at the ends of a gutter belong to its column if they are near. For the left column at
 * the top and the right column at the bottom, the reading order is the same either way, so those lines must be nearer.
 */
function gutterOf(lines: readonly Segment[], run: Run): Gutter {
  const beside = lines.slice(run.start, run.end);
  const { left, right } = sidesOf(beside, run);
  const top = Math.max(topOf(left), topOf(right));
  const bottom = Math.min(bottomOf(left), bottomOf(right));
  const body = median(beside.map(({ size }) => size));
  const isCore = ({ box }: Segment) => box.bottom > top && box.top < bottom;
  const kept = new Set(beside.filter(isCore));
  const reach = (side: readonly Segment[], isDown: boolean, far: number) => {
    const outer = side.filter(({ box }) => (isDown ? box.top >= bottom : box.bottom <= top));
    let edge = isDown ? bottomOf(side.filter(isCore)) : topOf(side.filter(isCore));
    const taken: Segment[] = [];
    for (const line of isDown ? outer : outer.toReversed()) {
      const space = isDown ? line.box.top - edge : edge - line.box.bottom;
      if (space > far * Math.max(line.size, body)) break;
      taken.push(line);
      edge = isDown ? line.box.bottom : line.box.top;
    }
    // A heading with nothing below it belongs to the text that follows.
    while (isDown && taken.length > 0 && taken.at(-1)!.size > HEADING * body) taken.pop();
    for (const line of taken) kept.add(line);
  };
  reach(left, false, TOGETHER);
  reach(right, false, STILL_TOGETHER);
  reach(left, true, STILL_TOGETHER);
  reach(right, true, TOGETHER);
  const isAbove = (line: Segment) => middleOf(line) < (top + bottom) / 2;
  const apart = beside.filter((line) => !kept.has(line));
  return {
    left: left.filter((line) => kept.has(line)),
    right: right.filter((line) => kept.has(line)),
    above: [...lines.slice(0, run.start), ...apart.filter(isAbove)],
    below: [...apart.filter((line) => !isAbove(line)), ...lines.slice(run.end)],
  };
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
