/** Points and boxes as displayed: in points (1/72 inch) from the upper left corner of the page, y downwards. */

/** `[a, b, c, d, e, f]`: x' = ax + cy + e, y' = bx + dy + f. */
export type Matrix = readonly [number, number, number, number, number, number];

/** Applies `inner` first, then `outer`. */
export const multiply = (outer: Matrix, inner: Matrix): Matrix => [
  outer[0] * inner[0] + outer[2] * inner[1],
  outer[1] * inner[0] + outer[3] * inner[1],
  outer[0] * inner[2] + outer[2] * inner[3],
  outer[1] * inner[2] + outer[3] * inner[3],
  outer[0] * inner[4] + outer[2] * inner[5] + outer[4],
  outer[1] * inner[4] + outer[3] * inner[5] + outer[5],
];

/** Reads a matrix from six numbers of a file; null if they are invalid. */
export function toMatrix(value: unknown): Matrix | null {
  if (!Array.isArray(value) && !(value instanceof Float32Array)) return null;
  if (value.length !== 6) return null;
  const numbers = Array.from(value, Number);
  return numbers.every(Number.isFinite) ? (numbers as unknown as Matrix) : null;
}

export interface Box {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

/** The bounding box of a transformed box. */
export function transformBox(matrix: Matrix, x0: number, y0: number, x1: number, y1: number): Box {
  const [a, b, c, d, e, f] = matrix;
  const xs = [a * x0 + c * y0, a * x1 + c * y0, a * x0 + c * y1, a * x1 + c * y1];
  const ys = [b * x0 + d * y0, b * x1 + d * y0, b * x0 + d * y1, b * x1 + d * y1];
  return { x0: Math.min(...xs) + e, y0: Math.min(...ys) + f, x1: Math.max(...xs) + e, y1: Math.max(...ys) + f };
}

export const intersect = (one: Box, two: Box): Box => ({
  x0: Math.max(one.x0, two.x0),
  y0: Math.max(one.y0, two.y0),
  x1: Math.min(one.x1, two.x1),
  y1: Math.min(one.y1, two.y1),
});

export const union = (one: Box, two: Box): Box => ({
  x0: Math.min(one.x0, two.x0),
  y0: Math.min(one.y0, two.y0),
  x1: Math.max(one.x1, two.x1),
  y1: Math.max(one.y1, two.y1),
});

export const area = ({ x0, y0, x1, y1 }: Box): number => Math.max(0, x1 - x0) * Math.max(0, y1 - y0);

export const containsPoint = ({ x0, y0, x1, y1 }: Box, x: number, y: number): boolean =>
  x >= x0 && x <= x1 && y >= y0 && y <= y1;
