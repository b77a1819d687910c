/** Gray images for PP-OCR: scaling, cutting out boxes at any angle, and conversion to network input. */
import type { Gray } from '../../image/ink.ts';

/** Corners in text direction: from left to right, then from top to bottom. */
export interface Corners {
  readonly topLeft: Point;
  readonly topRight: Point;
  readonly bottomRight: Point;
  readonly bottomLeft: Point;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

/** Scales an image bilinearly, like OpenCV's INTER_LINEAR, with pixel centers at half coordinates. */
export function scaleImage(gray: Gray, width: number, height: number): Gray {
  const pixels = new Uint8Array(width * height);
  const [stepX, stepY] = [gray.width / width, gray.height / height];
  for (let y = 0; y < height; y++) {
    const fromY = (y + 0.5) * stepY - 0.5;
    for (let x = 0; x < width; x++) {
      pixels[y * width + x] = Math.round(levelAt(gray, (x + 0.5) * stepX - 0.5, fromY));
    }
  }
  return { pixels, width, height };
}

/** Cuts out the area between the corners as a level image of the requested size. */
export function cropCorners(
  gray: Gray,
  { topLeft, topRight, bottomLeft }: Corners,
  width: number,
  height: number,
): Gray {
  const pixels = new Uint8Array(width * height);
  const across = { x: (topRight.x - topLeft.x) / width, y: (topRight.y - topLeft.y) / width };
  const down = { x: (bottomLeft.x - topLeft.x) / height, y: (bottomLeft.y - topLeft.y) / height };
  for (let v = 0; v < height; v++) {
    for (let u = 0; u < width; u++) {
      const x = topLeft.x + (u + 0.5) * across.x + (v + 0.5) * down.x - 0.5;
      const y = topLeft.y + (u + 0.5) * across.y + (v + 0.5) * down.y - 0.5;
      pixels[v * width + u] = Math.round(levelAt(gray, x, y));
    }
  }
  return { pixels, width, height };
}

/** Interpolates bilinearly. Positions beyond the edge have the value of the edge pixel. */
function levelAt({ pixels, width, height }: Gray, x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [partX, partY] = [x - left, y - top];
  const x0 = Math.max(0, Math.min(width - 1, left));
  const x1 = Math.max(0, Math.min(width - 1, left + 1));
  const y0 = Math.max(0, Math.min(height - 1, top)) * width;
  const y1 = Math.max(0, Math.min(height - 1, top + 1)) * width;
  const above = pixels[y0 + x0]! * (1 - partX) + pixels[y0 + x1]! * partX;
  const below = pixels[y1 + x0]! * (1 - partX) + pixels[y1 + x1]! * partX;
  return above * (1 - partY) + below * partY;
}

/** Three channels, one after the other, normalized as in training: (level / 255 - mean) / deviation. */
export function toChannels(
  { pixels, width, height }: Gray,
  means: readonly number[],
  deviations: readonly number[],
  into: Float32Array = new Float32Array(3 * width * height),
  stride = width,
): Float32Array {
  for (const [channel, mean] of means.entries()) {
    const deviation = deviations[channel]!;
    for (let y = 0; y < height; y++) {
      const start = (channel * height + y) * stride;
      for (let x = 0; x < width; x++) into[start + x] = (pixels[y * width + x]! / 255 - mean) / deviation;
    }
  }
  return into;
}
