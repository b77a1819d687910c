/** Fits an image into the fixed size that a model expects: resized, then cropped or padded. */
import { type Kernel, type Pixels, resample, type Window } from './resample.ts';

export interface ImageFit {
  /** Output size in pixels. */
  readonly width: number;
  readonly height: number;
  /**
   * `shortest`: the shorter side becomes `resizeTo` and the center is cropped. `longest`: the longer side becomes
   * `resizeTo` and the rest is padded. `squash`: both sides are resized to the output size, regardless of the
   * proportions.
   */
  readonly resize: 'shortest' | 'longest' | 'squash';
  /** In pixels. */
  readonly resizeTo: number;
  readonly kernel: Kernel;
  /** How a center between two pixels is rounded: down, or to the even pixel like Python's `round`. */
  readonly middle: 'floor' | 'even';
  /** Gray level of the padding, 0 to 255. */
  readonly fill: number;
}

/** Returns the same pixels as Pillow. */
export function fitImage(picture: Pixels, fitting: ImageFit): Pixels {
  const { width, height } = resizedSize(picture, fitting);
  const target = { width: fitting.width, height: fitting.height };
  const [left, right] = overlap(width, target.width, fitting.middle);
  const [top, bottom] = overlap(height, target.height, fitting.middle);
  const window: Window = {
    left: Math.max(0, left),
    top: Math.max(0, top),
    width: right - Math.max(0, left),
    height: bottom - Math.max(0, top),
  };
  const part = resample(picture, { width, height, kernel: fitting.kernel, window });
  if (part.width === target.width && part.height === target.height) return part;
  return padded(part, target, { left: Math.max(0, -left), top: Math.max(0, -top), fill: fitting.fill });
}

/**
 * Position of the target along one axis: its start, negative if it is longer than the source, and the end of their
 * overlap.
 */
function overlap(size: number, target: number, middle: ImageFit['middle']): readonly [number, number] {
  const start = target > size ? -Math.ceil((target - size) / 2) : middleOf(size - target, middle);
  return [start, Math.min(size, start + target)];
}

const middleOf = (rest: number, middle: ImageFit['middle']): number => {
  const half = Math.floor(rest / 2);
  return middle === 'even' && rest % 2 === 1 && half % 2 === 1 ? half + 1 : half;
};

function resizedSize(picture: Pixels, fitting: ImageFit): { width: number; height: number } {
  const { width, height } = picture;
  if (fitting.resize === 'squash') return { width: fitting.width, height: fitting.height };
  const measure = fitting.resize === 'shortest' ? Math.min(width, height) : Math.max(width, height);
  const scaled = (side: number) =>
    side === measure ? fitting.resizeTo : Math.max(1, Math.trunc((fitting.resizeTo * side) / measure));
  return { width: scaled(width), height: scaled(height) };
}

function padded(
  part: Pixels,
  { width, height }: { width: number; height: number },
  { left, top, fill }: { left: number; top: number; fill: number },
): Pixels {
  const rgb = new Uint8Array(width * height * 3).fill(fill);
  for (let row = 0; row < part.height; row++) {
    const line = part.rgb.subarray(row * part.width * 3, (row + 1) * part.width * 3);
    rgb.set(line, ((row + top) * width + left) * 3);
  }
  return { width, height, rgb };
}
