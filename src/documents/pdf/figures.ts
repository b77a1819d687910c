/**
 * Finds the figures of pages: images of a visible size, also if they are composed of strips. Scans, backgrounds,
 * hairlines and pictures that stand on several pages at the same place are no figures.
 */
import { area, type Box, containsPoint, union } from './geometry.ts';
import type { PageText } from './page.ts';
import { displayed } from './places.ts';

export interface FigureBox {
  readonly page: number;
  /** As in the layout of the page. */
  readonly box: Box;
  /** As displayed. */
  readonly displayed: Box;
}

/** Parts of a figure are at most this far apart, in points. */
const TOUCHING = 1.5;
/** Smallest figure, in points and square points. */
const MIN_SIDE = 28;
const MIN_AREA = 2_000;
/** Largest figure, as a share of the page. */
const MAX_SHARE = 0.85;
/** An image with more than this share of the letters of its page, or more letters than this, is a background. */
const BACKGROUND_SHARE = 0.35;
const BACKGROUND_LETTERS = 400;
/** Number of parts that are joined on one page; on pages with more, each is a tile of a drawing. */
const MAX_PARTS = 400;
const MAX_PER_PAGE = 20;
/** A picture at the same place on this many pages belongs to the design. */
const REPEATED_PAGES = 3;

type FigurePage = Pick<
  PageText,
  'number' | 'width' | 'height' | 'displayed' | 'turn' | 'content' | 'pieces' | 'scanned'
>;

/** The figures of one page, without regard to other pages. */
export function figuresOn(page: FigurePage): FigureBox[] {
  const { number, width, height, content, pieces, scanned } = page;
  if (scanned) return [];
  const whole = width * height;
  const images = content.fills.filter((fill) => fill.image && area(fill) < MAX_SHARE * whole);
  if (images.length === 0 || images.length > MAX_PARTS) return [];
  const letters = pieces.reduce((sum, { text }) => sum + text.length, 0);
  const isFigure = (box: Box) => {
    const size = area(box);
    if (Math.min(box.x1 - box.x0, box.y1 - box.y0) < MIN_SIDE || size < MIN_AREA || size > MAX_SHARE * whole)
      return false;
    let inside = 0;
    for (const { x0, x1, y, text } of pieces) if (containsPoint(box, (x0 + x1) / 2, y)) inside += text.length;
    return inside <= BACKGROUND_LETTERS && inside <= Math.max(40, BACKGROUND_SHARE * letters);
  };
  return joined(images)
    .filter(isFigure)
    .sort((one, two) => one.y0 - two.y0 || one.x0 - two.x0)
    .slice(0, MAX_PER_PAGE)
    .map((box) => ({ page: number, box, displayed: displayed(box, page.displayed, page.turn) }));
}

/** Joins boxes that touch. The number of boxes is limited, so that comparing all pairs stays cheap. */
function joined(boxes: readonly Box[]): Box[] {
  const groups: Box[] = [];
  for (const { x0, y0, x1, y1 } of boxes) {
    let box: Box = { x0, y0, x1, y1 };
    for (let at = 0; at < groups.length; ) {
      if (!isTouching(groups[at]!, box)) at += 1;
      else {
        box = union(groups[at]!, box);
        groups.splice(at, 1);
        // The larger box may touch groups that were compared before.
        at = 0;
      }
    }
    groups.push(box);
  }
  return groups;
}

const isTouching = (one: Box, two: Box): boolean =>
  one.x0 <= two.x1 + TOUCHING &&
  two.x0 <= one.x1 + TOUCHING &&
  one.y0 <= two.y1 + TOUCHING &&
  two.y0 <= one.y1 + TOUCHING;

/** The figures without those that stand at the same place on several pages. */
export function withoutRepeated(figures: readonly FigureBox[]): FigureBox[] {
  const keyOf = ({ displayed: { x0, y0, x1, y1 } }: FigureBox) => [x0, y0, x1, y1].map(Math.round).join(' ');
  const counts = new Map<string, number>();
  for (const figure of figures) counts.set(keyOf(figure), (counts.get(keyOf(figure)) ?? 0) + 1);
  return figures.filter((figure) => counts.get(keyOf(figure))! < REPEATED_PAGES);
}
