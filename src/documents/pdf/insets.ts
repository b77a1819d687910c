/** Detects insets, which are not part of the text flow: tables between lines, framed parts. */
import type { DrawnContent, Piece } from './drawn-content.ts';
import { type Box, containsPoint } from './geometry.ts';
import { withLevelLineTables } from './level-lines.ts';
import { type Segment, toSegments } from './lines.ts';
import type { PageText } from './page.ts';
import { insetSegment } from './regions.ts';
import { ruledTable, toGrids } from './ruled.ts';

type InsetSources = Pick<PageText, 'content' | 'figures'>;

/** The page's segments, with each table and frame replaced by one inset segment. */
export function segmentsWithInsets(pieces: readonly Piece[], page: InsetSources, bodySize: number): Segment[] {
  const { content, figures } = page;
  const insets: Segment[] = figures.map(({ alt, ...box }) => insetSegment(box, { alt }, bodySize));
  let rest = pieces;
  for (const grid of toGrids(content.rules)) {
    const found = ruledTable(grid, rest, bodySize);
    if (!found) continue;
    insets.push(insetSegment(found.box, found.content, bodySize));
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
  return [...withLevelLineTables(toSegments(rest), content.rules, bodySize), ...insets];
}

const MIN_FRAMED_ROWS = 3;
const MAX_FRAMES = 40;
/** Smallest frame, in points. */
const MIN_FRAME_WIDTH = 60;
const MIN_FRAME_HEIGHT = 36;
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
