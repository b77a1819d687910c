/**
 * Input and output of the PP-OCR detection network: prepares the image, and derives text boxes from the probability map
 * (Differentiable Binarization, Liao et al. 2020, with the parameters of PaddleOCR's DBPostProcess).
 */
import type { Gray } from '../../image/ink.ts';
import { type Corners, distance, type Point, scaleImage, toChannels } from './picture.ts';

/** Longest side of the network's input, in pixels; small print on an A4 page needs this resolution. */
const LONGEST_SIDE = 1_920;
/**
 * If the height of lines is known, the input is reduced until they have this height, in pixels, but not below
 * `USUAL_SIDE`. The time grows with the number of pixels.
 */
const GOOD_LINE_HEIGHT = 16;
const USUAL_SIDE = 960;
/** The sides of the input must be multiples of this, because the network halves them five times. */
const SIDE_STEP = 32;
/** ImageNet statistics, in PaddleOCR's channel order. */
const MEANS = [0.485, 0.456, 0.406];
const DEVIATIONS = [0.229, 0.224, 0.225];

/** Minimum probability of a text pixel, and minimum score of a text box (PaddleOCR's thresh and box_thresh). */
const THRESHOLD = 0.3;
const BOX_THRESHOLD = 0.6;
/** The network is trained on shrunk boxes; this factor expands them again. */
const UNCLIP_RATIO = 1.5;
const MIN_SIDE = 3;
const MAX_BOXES = 3_000;

export interface DetectionInput {
  readonly data: Float32Array;
  readonly width: number;
  readonly height: number;
}

export function detectionInput(gray: Gray, lineHeight?: number): DetectionInput {
  const longest = Math.max(gray.width, gray.height);
  const wanted = lineHeight ? Math.max(USUAL_SIDE, (longest * GOOD_LINE_HEIGHT) / lineHeight) : LONGEST_SIDE;
  const scale = Math.min(1, Math.min(LONGEST_SIDE, wanted) / longest);
  const side = (length: number) => Math.max(SIDE_STEP, Math.round((length * scale) / SIDE_STEP) * SIDE_STEP);
  const [width, height] = [side(gray.width), side(gray.height)];
  return { data: toChannels(scaleImage(gray, width, height), MEANS, DEVIATIONS), width, height };
}

export interface ProbabilityMap {
  readonly data: Float32Array;
  readonly width: number;
  readonly height: number;
}

/** Text boxes in pixels of an image of size `size`, in no particular order. */
export function boxesOf(map: ProbabilityMap, size: { width: number; height: number }): Corners[] {
  const boxes: Corners[] = [];
  for (const points of blobsOf(map)) {
    const rectangle = smallestRectangle(points);
    if (shortSide(rectangle) < MIN_SIDE || scoreOf(map, rectangle) < BOX_THRESHOLD) continue;
    const whole = expandRectangle(rectangle);
    if (shortSide(whole) < MIN_SIDE + 2) continue;
    boxes.push(within(whole, size.width / map.width, size.height / map.height, size));
    if (boxes.length === MAX_BOXES) break;
  }
  return boxes;
}

/** Connected components above the threshold, with diagonal neighbors. Yields the outermost pixels of each row. */
function* blobsOf({ data, width, height }: ProbabilityMap): Generator<Point[]> {
  const seen = new Uint8Array(width * height);
  const stack: number[] = [];
  for (let start = 0; start < data.length; start++) {
    if (seen[start] || data[start]! <= THRESHOLD) continue;
    const rows = new Map<number, { left: number; right: number }>();
    seen[start] = 1;
    stack.push(start);
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const [x, y] = [at % width, Math.floor(at / width)];
      const row = rows.get(y);
      if (!row) rows.set(y, { left: x, right: x });
      else {
        row.left = Math.min(row.left, x);
        row.right = Math.max(row.right, x);
      }
      for (let dy = y > 0 ? -1 : 0; dy <= (y < height - 1 ? 1 : 0); dy++) {
        for (let dx = x > 0 ? -1 : 0; dx <= (x < width - 1 ? 1 : 0); dx++) {
          const next = at + dy * width + dx;
          if (seen[next] || data[next]! <= THRESHOLD) continue;
          seen[next] = 1;
          stack.push(next);
        }
      }
    }
    yield Array.from(rows).flatMap(([y, { left, right }]) => [
      { x: left, y },
      { x: right, y },
    ]);
  }
}

/** The convex hull, counter-clockwise (Andrew's monotone chain). */
function hullOf(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  const cross = (o: Point, a: Point, b: Point) => (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
  const half = (along: readonly Point[]) => {
    const chain: Point[] = [];
    for (const point of along) {
      while (chain.length > 1 && cross(chain.at(-2)!, chain.at(-1)!, point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

/** The smallest rectangle around the points at any angle; one of its sides contains a side of their convex hull. */
export function smallestRectangle(points: readonly Point[]): Corners {
  const hull = hullOf(points);
  let best: { area: number; corners: Point[] } | undefined;
  for (const [at, from] of hull.entries()) {
    const to = hull[(at + 1) % hull.length]!;
    const length = distance(from, to) || 1;
    const along = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
    const [u, v] = [spanOf(hull, along), spanOf(hull, { x: -along.y, y: along.x })];
    const area = (u.most - u.least) * (v.most - v.least);
    if (best && area >= best.area) continue;
    const corner = (a: number, b: number) => ({ x: a * along.x - b * along.y, y: a * along.y + b * along.x });
    best = {
      area,
      corners: [corner(u.least, v.least), corner(u.most, v.least), corner(u.most, v.most), corner(u.least, v.most)],
    };
  }
  return inOrder(best?.corners ?? Array.from({ length: 4 }, () => points[0]!));
}

function spanOf(points: readonly Point[], axis: Point) {
  let [least, most] = [Infinity, -Infinity];
  for (const { x, y } of points) {
    const at = x * axis.x + y * axis.y;
    least = Math.min(least, at);
    most = Math.max(most, at);
  }
  return { least, most };
}

/** Orders corners: the two on the left, upper one first, then the two on the right. */
function inOrder(corners: readonly Point[]): Corners {
  const [a, b, c, d] = [...corners].sort((one, other) => one.x - other.x) as [Point, Point, Point, Point];
  const [topLeft, bottomLeft] = a.y <= b.y ? [a, b] : [b, a];
  const [topRight, bottomRight] = c.y <= d.y ? [c, d] : [d, c];
  return { topLeft, topRight, bottomRight, bottomLeft };
}

const shortSide = ({ topLeft, topRight, bottomLeft }: Corners): number =>
  Math.min(distance(topLeft, topRight), distance(topLeft, bottomLeft));

/** The mean probability within a rectangle. */
function scoreOf({ data, width, height }: ProbabilityMap, rectangle: Corners): number {
  const corners = Object.values(rectangle) as Point[];
  const { topLeft, topRight, bottomLeft } = rectangle;
  const [long, high] = [distance(topLeft, topRight) || 1, distance(topLeft, bottomLeft) || 1];
  const across = { x: (topRight.x - topLeft.x) / long, y: (topRight.y - topLeft.y) / long };
  const down = { x: (bottomLeft.x - topLeft.x) / high, y: (bottomLeft.y - topLeft.y) / high };
  const clamp = (value: number, most: number) => Math.max(0, Math.min(most, value));
  const xs = corners.map(({ x }) => x);
  const ys = corners.map(({ y }) => y);
  let [sum, count] = [0, 0];
  for (
    let y = clamp(Math.floor(Math.min(...ys)), height - 1);
    y <= clamp(Math.ceil(Math.max(...ys)), height - 1);
    y++
  ) {
    for (
      let x = clamp(Math.floor(Math.min(...xs)), width - 1);
      x <= clamp(Math.ceil(Math.max(...xs)), width - 1);
      x++
    ) {
      const [dx, dy] = [x - topLeft.x, y - topLeft.y];
      const [u, v] = [dx * across.x + dy * across.y, dx * down.x + dy * down.y];
      if (u < -0.5 || v < -0.5 || u > long + 0.5 || v > high + 0.5) continue;
      sum += data[y * width + x]!;
      count++;
    }
  }
  return count === 0 ? 0 : sum / count;
}

/** Expands a rectangle on every side by area times ratio divided by perimeter. */
function expandRectangle(rectangle: Corners): Corners {
  const { topLeft, topRight, bottomRight, bottomLeft } = rectangle;
  const [long, high] = [distance(topLeft, topRight), distance(topLeft, bottomLeft)];
  const by = (long * high * UNCLIP_RATIO) / (2 * (long + high));
  const across = { x: ((topRight.x - topLeft.x) / long) * by, y: ((topRight.y - topLeft.y) / long) * by };
  const down = { x: ((bottomLeft.x - topLeft.x) / high) * by, y: ((bottomLeft.y - topLeft.y) / high) * by };
  const moved = ({ x, y }: Point, right: number, below: number) => ({
    x: x + right * across.x + below * down.x,
    y: y + right * across.y + below * down.y,
  });
  return {
    topLeft: moved(topLeft, -1, -1),
    topRight: moved(topRight, 1, -1),
    bottomRight: moved(bottomRight, 1, 1),
    bottomLeft: moved(bottomLeft, -1, 1),
  };
}

function within(corners: Corners, timesX: number, timesY: number, size: { width: number; height: number }): Corners {
  const clip = ({ x, y }: Point) => ({
    x: Math.max(0, Math.min(size.width, Math.round(x * timesX))),
    y: Math.max(0, Math.min(size.height, Math.round(y * timesY))),
  });
  const { topLeft, topRight, bottomRight, bottomLeft } = corners;
  return {
    topLeft: clip(topLeft),
    topRight: clip(topRight),
    bottomRight: clip(bottomRight),
    bottomLeft: clip(bottomLeft),
  };
}
