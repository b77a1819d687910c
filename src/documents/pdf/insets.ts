/** Detects insets, which are not part of the text flow: tables between lines, framed parts. */
import { alignedTable } from './aligned.ts';
import type { DrawnContent, Piece } from './drawn-content.ts';
import { type Box, containsPoint } from './geometry.ts';
import { type Segment, toSegments } from './lines.ts';
import type { PageText } from './page.ts';
import { boxOfSegments, insetSegment } from './regions.ts';
import { mergeLines, ruledTable, toGrids } from './ruled.ts';

type InsetSources = Pick<PageText, 'content' | 'figures'>;

/** The page's segments, with each table and frame replaced by one inset segment. */
export function segmentsWithInsets(pieces: readonly Piece[], page: InsetSources, bodySize: number): Segment[] {
  const { content, figures } = page;
  const insets: Segment[] = figures.map(({ alt, ...box }) => insetSegment(box, { alt }, bodySize));
  let rest = pieces;
  for (const grid of toGrids(content.rules)) {
    const found = ruledTable(grid, rest);
    if (!found) continue;
    insets.push(insetSegment(found.box, { table: found.table }, bodySize));
    rest = rest.filter((piece) => !found.used.has(piece));
  }
  for (const frame of framesOf(content)) {
    const inside = rest.filter((piece) =>
      containsPoint(frame, (piece.x0 + piece.x1) / 2, piece.y - LETTER_CENTRE * piece.size),
    );
    const segments = toSegments(inside);
    const rows = new Set(segments.map(({ baseline }) => Math.round(baseline)));
    if (rows.size < MIN_FRAMED_ROWS || inside.length > 0.7 * pieces.length) continue;
    insets.push(insetSegment(frame, { segments }, bodySize));
    const used = new Set(inside);
    rest = rest.filter((piece) => !used.has(piece));
  }
  return [...betweenLevelLines(toSegments(rest), content, bodySize), ...insets];
}

const MIN_FRAMED_ROWS = 3;
const MAX_FRAMES = 40;
/** Smallest frame, in points. */
const MIN_FRAME_WIDTH = 60;
const MIN_FRAME_HEIGHT = 36;
/** Shortest ruling line of a table, in points. */
const MIN_LINE_WIDTH = 60;
/** Height of the center of lower-case letters above the baseline, in multiples of the font size. */
const LETTER_CENTRE = 0.3;

/** Painted areas next to the text: narrower than the page and higher than a table row. */
const framesOf = ({ fills, width, height }: DrawnContent): Box[] =>
  fills
    .filter(
      ({ image, color, x0, y0, x1, y1 }) =>
        !image &&
        color !== null &&
        color !== '#ffffff' &&
        x1 - x0 < 0.6 * width &&
        x1 - x0 > MIN_FRAME_WIDTH &&
        y1 - y0 > MIN_FRAME_HEIGHT &&
        y1 - y0 < 0.9 * height,
    )
    .slice(0, MAX_FRAMES);

/** Largest difference between the ends of a table's lines, in points. */
const SAME_EDGE = 4;
const MAX_LEVEL_LINES = 400;

/** Detects tables with horizontal lines only, all of the same width. */
function betweenLevelLines(segments: readonly Segment[], { rules }: DrawnContent, bodySize: number): Segment[] {
  const lines = mergeLines(
    rules.filter(({ upright }) => !upright),
    false,
  ).slice(0, MAX_LEVEL_LINES);
  let rest = [...segments];
  const groups: Box[][] = [];
  for (const line of lines.filter(({ x0, x1 }) => x1 - x0 > MIN_LINE_WIDTH)) {
    const group = groups.find(
      ([first]) => Math.abs(first!.x0 - line.x0) < SAME_EDGE && Math.abs(first!.x1 - line.x1) < SAME_EDGE,
    );
    if (group) group.push(line);
    else groups.push([line]);
  }
  for (const group of groups) {
    if (group.length < 2) continue;
    const box = { x0: group[0]!.x0, x1: group[0]!.x1, y0: group[0]!.y0, y1: group[group.length - 1]!.y1 };
    const isInside = ({ x0, x1, baseline, top, inset }: Segment) =>
      !inset && x0 > box.x0 - SAME_EDGE && x1 < box.x1 + SAME_EDGE && top > box.y0 - 3 && baseline < box.y1 + 1;
    const inside = rest.filter(isInside);
    const table = alignedTable(inside, bodySize, { ruled: true });
    if (!table) continue;
    const covers = boxOfSegments(inside);
    const crossed = rest.some(
      (segment) =>
        !isInside(segment) &&
        segment.baseline > covers.y0 &&
        segment.baseline < covers.y1 &&
        segment.x1 > covers.x0 &&
        segment.x0 < covers.x1,
    );
    if (!crossed) rest = [...rest.filter((segment) => !isInside(segment)), ...table];
  }
  return rest;
}
