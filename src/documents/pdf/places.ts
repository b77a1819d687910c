/** Boxes of blocks as they appear on the displayed page, and their marks in the HTML. */
import { boxMark } from '../marks.ts';
import { type Box, intersect } from './geometry.ts';

export interface PlacedPage {
  readonly number: number;
  /** The size as displayed, in points. */
  readonly size: { readonly width: number; readonly height: number };
  /** The rotation, in degrees, by which the layout has turned the page to the left. */
  readonly turn: number;
}

/** Returns a function that writes the mark of a box; '' for a box outside the page. */
export function placer({ number, size, turn }: PlacedPage): (box: Box) => string {
  const page: Box = { x0: 0, y0: 0, x1: size.width, y1: size.height };
  return (box) => {
    const { x0, y0, x1, y1 } = intersect(displayed(box, size, turn), page);
    if (!(x1 > x0 && y1 > y0)) return '';
    return boxMark({ page: number, x: x0, y: y0, width: x1 - x0, height: y1 - y0 });
  };
}

/** Turns a box of the layout to the coordinates of the displayed page. */
export function displayed({ x0, y0, x1, y1 }: Box, { width, height }: PlacedPage['size'], turn: number): Box {
  if (turn === 90) return { x0: width - y1, y0: x0, x1: width - y0, y1: x1 };
  if (turn === 180) return { x0: width - x1, y0: height - y1, x1: width - x0, y1: height - y0 };
  if (turn === 270) return { x0: y0, y0: height - x1, x1: y1, y1: height - x0 };
  return { x0, y0, x1, y1 };
}
