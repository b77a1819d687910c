/** Detects tables with horizontal ruling lines only, all of the same width. */
import { alignedTable } from './aligned.ts';
import type { Rule } from './drawn-content.ts';
import type { Box } from './geometry.ts';
import type { Segment } from './lines.ts';
import { boxOfSegments } from './regions.ts';
import { mergeLines } from './ruled.ts';
import { segmentRows, textOf } from './text-lines.ts';

/** Shortest ruling line of a table, in points. */
const MIN_LINE_WIDTH = 60;
/** Largest difference between the ends of a table's lines, in points. */
const SAME_EDGE = 4;
const MAX_LEVEL_LINES = 400;
/** Text between two tables: minimum number of rows, share of them with several segments, width as a share of the table. */
const MIN_TEXT_ROWS = 2;
const MAX_SPLIT_ROWS = 0.34;
const MIN_TEXT_WIDTH = 0.5;
/** A caption has at most two segments: its number and its text. */
const CAPTION_PARTS = 2;
const CAPTION = /^\s*(?:table|tab\.|figure|fig\.|exhibit|chart)\s*[\dA-Z]/i;

export function withLevelLineTables(segments: readonly Segment[], rules: readonly Rule[], bodySize: number): Segment[] {
  const level = rules.filter(({ upright }) => !upright);
  const lines = mergeLines(level, false).slice(0, MAX_LEVEL_LINES);
  let rest = [...segments];
  for (const group of groupsOf(lines.filter(({ x0, x1 }) => x1 - x0 > MIN_LINE_WIDTH))) {
    for (const part of partsOf(group, rest)) rest = withTable(part, lines, level, rest, bodySize);
  }
  return rest;
}

/** Lines with the same ends, from top to bottom. */
function groupsOf(lines: readonly Box[]): Box[][] {
  const groups: Box[][] = [];
  for (const line of lines) {
    const group = groups.find(
      ([first]) => Math.abs(first!.x0 - line.x0) < SAME_EDGE && Math.abs(first!.x1 - line.x1) < SAME_EDGE,
    );
    if (group) group.push(line);
    else groups.push([line]);
  }
  return groups;
}

/** Parts a group where running text or a caption between two lines shows that one table ends and another begins. */
function partsOf(group: readonly Box[], segments: readonly Segment[]): Box[][] {
  const parts: Box[][] = [];
  const inside = segments.filter(
    ({ x0, x1, inset }) => !inset && x0 > group[0]!.x0 - SAME_EDGE && x1 < group[0]!.x1 + SAME_EDGE,
  );
  const sections: Segment[][] = group.map(() => []);
  for (const segment of inside) {
    const at = group.findLastIndex(({ y0 }) => y0 < segment.baseline - 1);
    if (at >= 0) sections[at]!.push(segment);
  }
  let part: Box[] = [];
  group.forEach((line, at) => {
    part.push(line);
    if (at < group.length - 1 && !isText(sections[at]!, line)) return;
    if (part.length > 1) parts.push(part);
    part = [];
  });
  return parts;
}

function isText(segments: readonly Segment[], { x0, x1 }: Box): boolean {
  const rows = segmentRows(segments);
  const whole = rows.filter((row) => row.length === 1);
  if (rows.some((row) => row.length <= CAPTION_PARTS && CAPTION.test(textOf(row)))) return true;
  return (
    rows.length >= MIN_TEXT_ROWS &&
    rows.length - whole.length <= MAX_SPLIT_ROWS * rows.length &&
    whole.some(([segment]) => segment!.x1 - segment!.x0 > MIN_TEXT_WIDTH * (x1 - x0))
  );
}

function withTable(
  part: readonly Box[],
  lines: readonly Box[],
  level: readonly Rule[],
  rest: readonly Segment[],
  bodySize: number,
): Segment[] {
  const box = { x0: part[0]!.x0, x1: part[0]!.x1, y0: part[0]!.y0, y1: part[part.length - 1]!.y1 };
  const isInside = ({ x0, x1, baseline, top, inset }: Segment) =>
    !inset && x0 > box.x0 - SAME_EDGE && x1 < box.x1 + SAME_EDGE && top > box.y0 - 3 && baseline < box.y1 + 1;
  const isWithin = ({ x0, x1, y0, y1 }: Box) =>
    x0 > box.x0 - SAME_EDGE && x1 < box.x1 + SAME_EDGE && y0 > box.y0 - 1 && y1 < box.y1 + 1;
  const inside = rest.filter(isInside);
  const joints = jointsOf(part, level.filter(isWithin));
  const table = alignedTable(inside, bodySize, { rules: lines.filter(isWithin), joints });
  if (!table) return [...rest];
  const covers = boxOfSegments(inside);
  const crossed = rest.some(
    (segment) =>
      !isInside(segment) &&
      segment.baseline > covers.y0 &&
      segment.baseline < covers.y1 &&
      segment.x1 > covers.x0 &&
      segment.x0 < covers.x1,
  );
  return crossed ? [...rest] : [...rest.filter((segment) => !isInside(segment)), ...table];
}

/** The ends of two lines this close, in points, are a joint. */
const NEAR = 3.5;
/** A joint is in at least this share of the lines. */
const COMMON = 0.6;

/** Many programs draw the border of each cell, so lines are joined where columns meet: the positions of these joints. */
function jointsOf(part: readonly Box[], level: readonly Rule[]): number[] {
  const counts: { x: number; count: number }[] = [];
  for (const line of part) {
    const pieces = level.filter(({ y0 }) => Math.abs(y0 - line.y0) < 1).sort((one, two) => one.x0 - two.x0);
    for (let at = 1; at < pieces.length; at++) {
      const x = (pieces[at - 1]!.x1 + pieces[at]!.x0) / 2;
      if (Math.abs(pieces[at]!.x0 - pieces[at - 1]!.x1) > NEAR) continue;
      const known = counts.find((one) => Math.abs(one.x - x) < NEAR);
      if (known) known.count += 1;
      else counts.push({ x, count: 1 });
    }
  }
  return counts
    .filter(({ count }) => count > 1 && count >= COMMON * part.length)
    .map(({ x }) => x)
    .sort((one, two) => one - two);
}
