/** Converts a painted path to upright areas and to horizontal and vertical lines. */

import type { Rule } from './drawn-content.ts';
import { type Box, type Matrix, transformBox } from './geometry.ts';

/** PDF.js packs a path into numbers: one of these codes, then its coordinates. */
const MOVE = 0;
const LINE = 1;
const CURVE = 2;
const QUADRATIC = 3;
const CLOSE = 4;

/** An area up to this thickness, in points, is a line that was filled instead of stroked. */
const THIN = 2.5;
const STRAIGHT = 0.7;
const SHORTEST = 3;
const MAX_PARTS = 5_000;

interface Painting {
  readonly fill: boolean;
  readonly stroke: boolean;
  readonly lineWidth: number;
}

export function paintedPath(
  points: Float32Array,
  matrix: Matrix,
  { fill, stroke, lineWidth }: Painting,
): { areas: Box[]; rules: Rule[] } {
  const areas: Box[] = [];
  const rules: Rule[] = [];
  const thickness = lineWidth * Math.sqrt(Math.abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]));
  let startX = 0;
  let startY = 0;
  let x = 0;
  let y = 0;
  let bounds = emptyBounds();

  const finishArea = () => {
    if (fill && bounds.x1 >= bounds.x0 && areas.length + rules.length < MAX_PARTS) {
      const box = transformBox(matrix, bounds.x0, bounds.y0, bounds.x1, bounds.y1);
      const width = box.x1 - box.x0;
      const height = box.y1 - box.y0;
      if (Math.min(width, height) > THIN) areas.push(box);
      else if (Math.max(width, height) > SHORTEST) rules.push({ ...box, upright: height > width });
    }
    bounds = emptyBounds();
  };
  const reach = (px: number, py: number) => {
    if (px < bounds.x0) bounds.x0 = px;
    if (px > bounds.x1) bounds.x1 = px;
    if (py < bounds.y0) bounds.y0 = py;
    if (py > bounds.y1) bounds.y1 = py;
  };
  const lineTo = (px: number, py: number) => {
    if (stroke && thickness < 6 && rules.length < MAX_PARTS) {
      const box = transformBox(matrix, x, y, px, py);
      const width = box.x1 - box.x0;
      const height = box.y1 - box.y0;
      if (Math.min(width, height) < STRAIGHT && Math.max(width, height) > SHORTEST) {
        rules.push({ ...box, upright: height > width });
      }
    }
    x = px;
    y = py;
    reach(x, y);
  };

  for (let at = 0; at < points.length; ) {
    switch (points[at++]) {
      case MOVE:
        finishArea();
        x = startX = points[at++]!;
        y = startY = points[at++]!;
        reach(x, y);
        break;
      case LINE:
        lineTo(points[at++]!, points[at++]!);
        break;
      case CURVE:
        at += 4;
        x = points[at++]!;
        y = points[at++]!;
        reach(x, y);
        break;
      case QUADRATIC:
        at += 2;
        x = points[at++]!;
        y = points[at++]!;
        reach(x, y);
        break;
      case CLOSE:
        lineTo(startX, startY);
        break;
      default:
        at = points.length;
    }
  }
  finishArea();
  return { areas, rules };
}

const emptyBounds = () => ({
  x0: Number.POSITIVE_INFINITY,
  y0: Number.POSITIVE_INFINITY,
  x1: Number.NEGATIVE_INFINITY,
  y1: Number.NEGATIVE_INFINITY,
});
