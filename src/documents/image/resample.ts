/**
 * Resizes images exactly as Pillow does, byte for byte, because image models were trained and published with images
 * resized by Pillow. The method is separable convolution, columns first, with a kernel that is widened when an image is
 * shrunk. Weights are rounded to 22 fractional bits, and each pass to bytes.
 */

/** Red, green, blue, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

export type Kernel = 'bilinear' | 'bicubic' | 'lanczos';

/** A region within the resized image, in its pixels. */
export interface Window {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

interface KernelShape {
  readonly support: number;
  weigh(distance: number): number;
}

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

const KERNELS: Readonly<Record<Kernel, KernelShape>> = {
  bilinear: { support: 1, weigh: (x) => Math.max(0, 1 - Math.abs(x)) },
  // Keys' cubic with a = -0.5.
  bicubic: {
    support: 2,
    weigh(distance) {
      const x = Math.abs(distance);
      if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
    },
  },
  lanczos: { support: 3, weigh: (x) => (x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0) },
};

/** Fractional bits of the weights, as in Pillow. */
const PRECISION_BITS = 22;
const ONE = 2 ** PRECISION_BITS;
const HALF = 2 ** (PRECISION_BITS - 1);

/** For each output point of a line: the offset and count of its source points, and up to `reach` weights. */
interface Weights {
  readonly starts: Int32Array;
  readonly counts: Int32Array;
  readonly weights: Int32Array;
  readonly reach: number;
}

/** Weights for the points `from` to `to` of a line that is resized from `sourceSize` to `size` points. */
function weightsOf(sourceSize: number, size: number, from: number, to: number, kernel: KernelShape): Weights {
  const scale = sourceSize / size;
  const widening = Math.max(1, scale);
  const support = kernel.support * widening;
  const reach = Math.ceil(support) * 2 + 1;
  const starts = new Int32Array(to - from);
  const counts = new Int32Array(to - from);
  const weights = new Int32Array((to - from) * reach);
  const exact = new Float64Array(reach);
  for (let point = from; point < to; point++) {
    const center = (point + 0.5) * scale;
    const start = Math.max(0, Math.trunc(center - support + 0.5));
    const count = Math.min(sourceSize, Math.trunc(center + support + 0.5)) - start;
    let sum = 0;
    for (let at = 0; at < count; at++) {
      exact[at] = kernel.weigh((at + start - center + 0.5) * (1 / widening));
      sum += exact[at]!;
    }
    starts[point - from] = start;
    counts[point - from] = count;
    for (let at = 0; at < count; at++) {
      const weight = (sum === 0 ? exact[at]! : exact[at]! / sum) * ONE;
      weights[(point - from) * reach + at] = Math.trunc(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
  }
  return { starts, counts, weights, reach };
}

/**
 * Resizes `picture` to `width` x `height` and returns the window. Only the window is computed, so an image of one row
 * costs no more than a square one.
 */
export function resample(
  picture: Pixels,
  { width, height, kernel, window }: { width: number; height: number; kernel: Kernel; window: Window },
): Pixels {
  const shape = KERNELS[kernel];
  const { left, top } = window;
  const columns = weightsOf(picture.width, width, left, left + window.width, shape);
  const rows = weightsOf(picture.height, height, top, top + window.height, shape);
  const keepsRows = height === picture.height;
  const firstRow = keepsRows ? top : rows.starts[0]!;
  const lastRow = keepsRows ? top + window.height : rows.starts.at(-1)! + rows.counts.at(-1)!;
  const narrowed =
    width === picture.width
      ? cutColumns(picture, left, window.width, firstRow, lastRow)
      : acrossColumns(picture, columns, firstRow, lastRow);
  if (keepsRows) return { width: window.width, height: window.height, rgb: narrowed };
  return {
    width: window.width,
    height: window.height,
    rgb: acrossRows(narrowed, rows, window.width * 3, firstRow),
  };
}

function cutColumns({ rgb, width }: Pixels, left: number, columns: number, from: number, to: number): Uint8Array {
  const cut = new Uint8Array((to - from) * columns * 3);
  for (let row = from; row < to; row++) {
    const start = (row * width + left) * 3;
    cut.set(rgb.subarray(start, start + columns * 3), (row - from) * columns * 3);
  }
  return cut;
}

function acrossColumns({ rgb, width }: Pixels, weights: Weights, from: number, to: number): Uint8Array {
  const { starts, counts, reach, weights: all } = weights;
  const columns = starts.length;
  const made = new Uint8Array((to - from) * columns * 3);
  let out = 0;
  for (let row = from; row < to; row++) {
    const line = row * width * 3;
    for (let column = 0; column < columns; column++) {
      let source = line + starts[column]! * 3;
      let red = HALF;
      let green = HALF;
      let blue = HALF;
      const end = column * reach + counts[column]!;
      for (let at = column * reach; at < end; at++) {
        const weight = all[at]!;
        red = (red + Math.imul(weight, rgb[source]!)) | 0;
        green = (green + Math.imul(weight, rgb[source + 1]!)) | 0;
        blue = (blue + Math.imul(weight, rgb[source + 2]!)) | 0;
        source += 3;
      }
      made[out] = byteOf(red);
      made[out + 1] = byteOf(green);
      made[out + 2] = byteOf(blue);
      out += 3;
    }
  }
  return made;
}

/** `lineBytes` is the length of each line. `firstRow` is the index of the first line in the image. */
function acrossRows(lines: Uint8Array, weights: Weights, lineBytes: number, firstRow: number): Uint8Array {
  const { starts, counts, reach, weights: all } = weights;
  const made = new Uint8Array(starts.length * lineBytes);
  const sums = new Float64Array(lineBytes);
  for (let row = 0; row < starts.length; row++) {
    sums.fill(HALF);
    let source = (starts[row]! - firstRow) * lineBytes;
    const end = row * reach + counts[row]!;
    for (let at = row * reach; at < end; at++) {
      const weight = all[at]!;
      for (let byte = 0; byte < lineBytes; byte++) sums[byte] = sums[byte]! + weight * lines[source + byte]!;
      source += lineBytes;
    }
    const out = row * lineBytes;
    for (let byte = 0; byte < lineBytes; byte++) made[out + byte] = byteOf(sums[byte]!);
  }
  return made;
}

function byteOf(sum: number): number {
  const value = sum >> PRECISION_BITS;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}
